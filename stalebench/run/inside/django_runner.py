"""Django's own test suite, through its `tests/runtests.py`, with a runner that selects and streams.

The settings are those of `test_sqlite`, databases in memory included. The runner's class is put into that
module after it is loaded, so that processes which tests start see the settings as they are written.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
import types
import unittest
import warnings
from typing import Any, Dict, List

from .channel import Channel
from .unittest_stream import Session, StreamingResult
from .unittest_stream import run as run_tests

FOLDER = "tests"
SETTINGS = "test_sqlite"
SHOWN = "stalebench_shown"
DEFAULT_RUNNER = "django.test.runner.DiscoverRunner"


def run(channel: Channel, orders: Dict[str, Any]) -> None:
    """Run the wanted tests; does not return."""
    folder = os.path.join(orders["root"], FOLDER)
    labels = {_label(path): path for path in orders["files"]}
    script = os.path.join(folder, "runtests.py")
    sys.path.insert(0, folder)
    os.chdir(folder)
    settings: Any = importlib.import_module(SETTINGS)
    sys.argv = [script, "--settings=" + SETTINGS, "--parallel=1", "--noinput", "--verbosity=0", *labels]
    runner_class = _runner_class(Session(channel, orders), labels)
    shown = types.ModuleType(SHOWN)  # Django imports its runner by name; no other module of ours has one
    setattr(shown, runner_class.__name__, runner_class)
    sys.modules[SHOWN] = shown
    settings.TEST_RUNNER = "{}.{}".format(SHOWN, runner_class.__name__)
    runpy.run_path(script, run_name="__main__")


def _label(path: str) -> str:
    inner = path[len(FOLDER) + 1 :] if path.startswith(FOLDER + "/") else path
    label = inner[: -len(".py")].replace("/", ".")
    return label[: -len(".__init__")] if label.endswith(".__init__") else label  # noqa: FURB188 - from 3.9


def _runner_class(session: Session, labels: Dict[str, str]) -> type:
    """A runner whose class can only be made once Django can be imported."""
    base: Any = importlib.import_module("django.test.runner").DiscoverRunner

    class StreamingRunner(base):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            importlib.import_module("django.conf").settings.TEST_RUNNER = DEFAULT_RUNNER

        def load_tests_for_label(self, label: str, discover_kwargs: Any) -> unittest.TestSuite:
            del discover_kwargs
            return unittest.TestSuite(session.load(self.test_loader, labels[label], label))

        def run_suite(self, suite: Any, **kwargs: Any) -> None:
            del kwargs
            tests: List[unittest.TestCase] = list(suite)
            session.announce(tests)
            result = StreamingResult(session)
            with warnings.catch_warnings():
                result.startTestRun()
                run_tests(unittest.TestSuite(), tests, result)
                result.stopTestRun()
            # The databases are in memory, and every class has been torn down: nothing is left to clean up.
            session.channel.leave(0, results=result.results)

    return StreamingRunner
