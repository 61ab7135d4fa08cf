"""Plain unittest: loads the files as modules and runs the wanted tests in the order of the files."""

from __future__ import annotations

import os
import sys
import unittest
import warnings
from typing import Any, Dict, Tuple

from .channel import Channel
from .unittest_stream import Session, StreamingResult
from .unittest_stream import run as run_tests


def run(channel: Channel, orders: Dict[str, Any]) -> None:
    """Run the wanted tests; does not return."""
    session = Session(channel, orders)
    tests = []
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for path in orders["files"]:
            folder, module = _module(orders["root"], path)
            if folder not in sys.path:
                sys.path.insert(0, folder)
            tests += session.load(unittest.defaultTestLoader, path, module)
        session.announce(tests)
        result = StreamingResult(session)
        result.startTestRun()
        run_tests(unittest.TestSuite(), tests, result)
        result.stopTestRun()
    channel.leave(0, results=result.results)


def _module(root: str, path: str) -> Tuple[str, str]:
    """The folder to import the file from, above all packages that it is in, and its name from there."""
    parts = path[: -len(".py")].split("/")
    start = len(parts) - 1
    while start > 0 and os.path.isfile(os.path.join(root, *parts[:start], "__init__.py")):
        start -= 1
    return os.path.join(root, *parts[:start]), ".".join(parts[start:])
