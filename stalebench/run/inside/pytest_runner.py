"""pytest with one more plugin: it keeps the wanted tests and sends what becomes of each.

An outcome rests on the exceptions that the plugin sees itself, and on the reports that other plugins may
have changed. A report can make an outcome worse, never better: what raised has not passed.
"""

from __future__ import annotations

import sys
import unittest
from typing import Any, Dict, Generator, List, Optional, Tuple

import pytest

from . import pytest_options
from .channel import Channel
from .naming import Namer, Tree, functions, layers, selection
from .outcomes import ERROR, FAILED, PASSED, SKIPPED, XFAILED, XPASSED, Verdict, tail, tail_of

CHUNK = 500
_wrapper = pytest.hookimpl(hookwrapper=True, tryfirst=True)


def run(channel: Channel, orders: Dict[str, Any]) -> None:
    """Collect the files and run the wanted tests; does not return if pytest gets as far as its session."""
    files = []
    for path in orders["files"]:
        if "[" in path or "::" in path:
            channel.send("unloaded", path=path, tail="pytest cannot be given a file of this name")
        else:
            files.append(path)
    plugin = Plugin(channel, orders)
    if not files:
        channel.leave(0, results=0)
    arguments = pytest_options.arguments(orders["root"], files, whole=orders["functions"] is None)
    code = pytest.main(arguments, plugins=[plugin])
    raise plugin.stopped or RuntimeError(
        "pytest ended with exit code {} before its session".format(int(code))
    )


class Phase:
    """What one of setup, call and teardown came to."""

    def __init__(self, report: Any, raised: Optional[BaseException]) -> None:
        self.report = report
        self.raised = raised

    @property
    def verdict(self) -> Verdict:
        """The worse of what was raised and what is reported."""
        report, raised = self.report, self.raised
        expected = hasattr(report, "wasxfail")
        if report.skipped:
            return Verdict(XFAILED if expected else SKIPPED)
        name = type(raised).__name__ if raised is not None else ""
        if report.failed:
            name = name or ("XPASS(strict)" if "XPASS(strict)" in str(report.longrepr) else "")
            return Verdict(FAILED, name, tail(str(report.longrepr)))
        if raised is not None:
            outcome = SKIPPED if _is_skip(raised) else FAILED
            return Verdict(outcome, name, tail_of(raised))
        return Verdict(XPASSED if expected else PASSED)


class Plugin:
    """Selects tests and streams their outcomes."""

    def __init__(self, channel: Channel, orders: Dict[str, Any]) -> None:
        self.channel = channel
        self.tree = Tree(orders["root"])
        self.selected = selection(orders["functions"])
        self.only = None if orders["only"] is None else frozenset(orders["only"])
        self.tests: Dict[int, Tuple[str, str]] = {}
        self.phases: Dict[str, Phase] = {}
        self.others: List[Any] = []
        self.running: Optional[str] = None
        self.chosen = False
        self.ready = False
        self.results = 0
        self.stopped: Optional[BaseException] = None

    # Starting and stopping

    @_wrapper
    def pytest_cmdline_parse(self) -> Generator[None, Any, None]:
        """Keep what stops pytest before its session: a broken conftest, or a broken configuration."""
        answer = yield
        error = answer.excinfo[1] if answer.excinfo else None
        if error is None:
            return
        self.stopped = error
        path = self.tree.relative(str(getattr(error, "path", "")))
        if type(error).__name__ == "ConftestImportFailure" and path is not None:
            cause = getattr(error, "cause", None) or getattr(error, "excinfo", (None, error))[1]
            self.channel.send("unloaded", path=path, tail=tail_of(cause))

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        """Keep what ended the session."""
        self.stopped = excinfo.value

    def pytest_internalerror(self, excinfo: Any) -> None:
        """Keep what ended the session."""
        self.stopped = excinfo.value

    @_wrapper
    def pytest_sessionfinish(self, exitstatus: int) -> Generator[None, Any, None]:
        """Leave: all fixtures are torn down by the last test, and no report is wanted from anyone."""
        if self.ready and self.stopped is None:
            self.channel.leave(int(exitstatus), results=self.results)
        if self.stopped is not None:
            raise self.stopped
        yield

    # Collecting

    def pytest_collectstart(self, collector: Any) -> None:
        """Say which file is being loaded, in case that it is the end of the process."""
        if isinstance(collector, pytest.File):
            self.channel.send("loading", path=self.tree.relative(str(collector.path)))

    def pytest_collectreport(self, report: Any) -> None:
        """Say which files did not load, and which do not want to be run here."""
        path = self.tree.relative(report.nodeid.split("::")[0])
        if report.failed:
            self.channel.send("unloaded", path=path, tail=tail(str(report.longrepr)))
        elif report.skipped and "::" not in report.nodeid:
            self.channel.send("skipped_file", path=path)
        elif "::" not in report.nodeid:
            self.channel.send("loaded", path=path)

    @_wrapper
    def pytest_collection_modifyitems(self, config: Any, items: List[Any]) -> Generator[None, Any, None]:
        """Keep the wanted tests, in the order of collection."""
        namer = Namer()
        named = {id(item): namer.name(self._id(item)) for item in items}
        answer = yield
        if answer.excinfo:
            return
        for item in items:
            if id(item) not in named:  # made by a hook of the repository
                named[id(item)] = namer.name(self._id(item))
        kept = [item for item in items if self._wanted(item, named[id(item)])]
        dropped = [item for item in items if id(item) not in self.tests]
        items[:] = kept
        if dropped:
            config.hook.pytest_deselected(items=dropped)
        for item in kept:
            steady_hypothesis(item)
        self.chosen = True

    def _id(self, item: Any) -> str:
        path = self.tree.relative(str(item.path)) or str(item.path)
        _, separator, rest = str(item.nodeid).partition("::")
        return path + separator + rest

    def _wanted(self, item: Any, name: str) -> bool:
        path = self.tree.relative(str(item.path)) or str(item.path)
        attribute = getattr(item, "originalname", None) or item.name
        names = [name]
        if isinstance(item, pytest.Function):
            names = functions(self.tree, item.obj, item.cls, attribute, path)
        function = self.selected(names)
        if function is None or (self.only is not None and name not in self.only):
            return False
        self.tests[id(item)] = (name, function or name)
        return True

    def pytest_collection_finish(self, session: Any) -> None:
        """Say which tests will run. Called in any case, also when collecting has been broken off."""
        if not self.chosen:
            return
        rows = [[*self.tests[id(item)], self._id(item).split("::")[0]] for item in session.items]
        for start in range(0, len(rows), CHUNK):
            self.channel.send("tests", tests=rows[start : start + CHUNK])
        self.ready = True
        self.channel.send("ready")

    # Running

    @_wrapper
    def pytest_runtest_protocol(self, item: Any) -> Generator[None, Any, None]:
        """Say that a test starts, and what became of it."""
        name, _ = self.tests[id(item)]
        self.phases, self.others, self.running = {}, [], str(item.nodeid)
        self.channel.send("start", id=name)
        answer = yield
        if answer.excinfo or self.stopped is not None:
            return
        verdict = self._verdict()
        self.results += 1
        seconds = sum(phase.report.duration for phase in self.phases.values())
        self.channel.send("result", id=name, seconds=round(seconds, 6), **verdict._asdict())

    @_wrapper
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, None]:
        """Keep what was raised beside what is reported."""
        raised = _raised(item, call)
        answer = yield
        if answer.excinfo:
            return
        if call.when == "setup":
            self.phases = {}
        self.phases[call.when] = Phase(answer.get_result(), raised or _raised(item, call))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep failures that are reported beside the three phases: subtests."""
        known = [phase.report for phase in self.phases.values()]
        if report.failed and report.nodeid == self.running and not any(report is one for one in known):
            self.others.append(report)

    def _verdict(self) -> Verdict:
        setup, call, teardown = (
            self.phases[when].verdict if when in self.phases else None
            for when in ("setup", "call", "teardown")
        )
        if setup is not None and setup.outcome != PASSED:
            return setup._replace(outcome=ERROR) if setup.outcome == FAILED else setup
        verdict = call or Verdict(ERROR, "NotRun", "no plugin let the test run")
        if verdict.outcome != FAILED and self.others:
            return Verdict(FAILED, _named(self.others[0].longrepr), tail(str(self.others[0].longrepr)))
        if verdict.outcome != FAILED and teardown is not None and teardown.outcome == FAILED:
            return teardown._replace(outcome=ERROR)
        return verdict


def _raised(item: Any, call: Any) -> Optional[BaseException]:
    """What a phase raised. The tests of unittest keep theirs on the item until a report is made."""
    kept = getattr(item, "_excinfo", None)
    excinfo = call.excinfo or (kept[0] if kept and call.when != "setup" else None)
    return None if excinfo is None else excinfo.value


def _named(longrepr: Any) -> str:
    """The exception's class, from the one line that a report keeps of it."""
    message = str(getattr(getattr(longrepr, "reprcrash", None), "message", ""))
    name = message.partition(":")[0].rpartition(".")[2]
    return name if name.isidentifier() else "AssertionError"


def _is_skip(raised: BaseException) -> bool:
    return isinstance(raised, (pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest))


def steady_hypothesis(item: Any) -> None:
    """Draw the same examples each time, with no memory of other runs and no limit that depends on load."""
    hypothesis = sys.modules.get("hypothesis")
    if hypothesis is None or not isinstance(item, pytest.Function):
        return
    steady = {"derandomize": True, "database": None, "deadline": None}
    own = "_hypothesis_internal_use_settings"
    for layer in layers(item.obj):
        if "hypothesis" in getattr(layer, "__dict__", {}):
            given = getattr(layer, own, None) or hypothesis.settings.default
            setattr(layer, own, hypothesis.settings(given, **steady))
    declared = getattr(item.cls, "settings", None)
    if isinstance(declared, hypothesis.settings):
        item.cls.settings = hypothesis.settings(declared, **steady)
