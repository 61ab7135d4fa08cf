"""A suite and a result for tests of unittest that send each outcome as it comes. Knows no Django."""

from __future__ import annotations

import importlib
import time
import unittest
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .channel import Channel
from .naming import Namer, Tree, functions, selection
from .outcomes import ERROR, FAILED, PASSED, SKIPPED, XFAILED, Verdict, tail, tail_of

CHUNK = 500
_RANK = (ERROR, FAILED, XFAILED, SKIPPED, PASSED)


class Session:
    """The tests of one process: which there are, which are wanted, and how each is called."""

    def __init__(self, channel: Channel, orders: Dict[str, Any]) -> None:
        self.channel = channel
        self.tree = Tree(orders["root"])
        self.namer = Namer()
        self.selected = selection(orders["functions"])
        self.only = None if orders["only"] is None else frozenset(orders["only"])
        self.names: Dict[int, str] = {}
        self.rows: Dict[int, Tuple[str, str, str]] = {}

    def load(self, loader: unittest.TestLoader, path: str, module: str) -> List[unittest.TestCase]:
        """The wanted tests of a file; one that does not load is reported, and has none."""
        self.channel.send("loading", path=path)
        try:
            suite = loader.loadTestsFromModule(importlib.import_module(module))
        except unittest.SkipTest:
            self.channel.send("skipped_file", path=path)
            return []
        except BaseException as error:  # noqa: BLE001 - also what would end the process
            self.channel.send("unloaded", path=path, tail=tail_of(error))
            return []
        self.channel.send("loaded", path=path)
        return [test for test in cases(suite) if self._wanted(test, path)]

    def _wanted(self, test: unittest.TestCase, path: str) -> bool:
        if isinstance(test, unittest.loader._FailedTest):  # type: ignore[attr-defined] # noqa: SLF001
            error = getattr(test, "_exception", None)
            self.channel.send("unloaded", path=path, tail=tail_of(error) if error else str(test))
            return False
        kind, method = type(test), getattr(test, "_testMethodName", "")
        name = self.namer.name("::".join((path, kind.__qualname__, method or test.id())))
        names = functions(self.tree, getattr(kind, method, None), kind, method, path) if method else [name]
        function = self.selected(names)
        if function is None or (self.only is not None and name not in self.only):
            return False
        self.names[id(test)] = name
        self.rows[id(test)] = (name, function or name, path)
        return True

    def announce(self, tests: List[unittest.TestCase]) -> None:
        """Say which tests will run, in their order."""
        rows = [self.rows[id(test)] for test in tests]
        for start in range(0, len(rows), CHUNK):
            self.channel.send("tests", tests=rows[start : start + CHUNK])
        self.channel.send("ready")


def cases(suite: Any) -> Iterator[unittest.TestCase]:
    """The tests of a suite, in order."""
    for test in suite:
        if isinstance(test, unittest.TestCase):
            yield test
        else:
            yield from cases(test)


class StreamingResult(unittest.TestResult):
    """Sends one outcome for each test that was opened, when it is closed."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.results = 0
        self.verdicts: List[Verdict] = []
        self.fixture: Optional[Verdict] = None
        self.last: Optional[Tuple[str, Verdict]] = None
        self.started = 0.0

    def open(self, test: unittest.TestCase) -> None:
        """A test begins, with the fixtures of its module and class before it."""
        self.session.channel.send("start", id=self.session.names[id(test)])
        self.verdicts = []
        self.started = time.monotonic()

    def close(self, test: unittest.TestCase, *, reached: bool) -> None:
        """A test has ended; one whose class or module could not be set up was never reached."""
        nothing = Verdict(ERROR, "NotRun", "the test reported no outcome")
        own = self.verdicts if reached else [self.fixture or nothing]
        verdict = min(own or [nothing], key=lambda verdict: _RANK.index(verdict.outcome))
        self.results += 1
        self._send(self.session.names[id(test)], verdict)

    def reopen(self) -> None:
        """The fixtures of the last test's class are about to be torn down: it is not over yet."""
        if self.last is not None:
            self.session.channel.send("start", id=self.last[0])

    def reclose(self) -> None:
        """They have been."""
        if self.last is not None:
            self._send(*self.last)

    def _send(self, name: str, verdict: Verdict) -> None:
        seconds = round(time.monotonic() - self.started, 6)
        self.last = (name, verdict)
        self.session.channel.send("result", id=name, seconds=seconds, **verdict._asdict())

    def _add(self, test: Any, verdict: Verdict) -> None:
        description = getattr(test, "description", None)
        if not isinstance(description, str) or isinstance(test, unittest.TestCase):
            self.verdicts.append(verdict)
        elif description.startswith("tearDown"):
            if self.last is not None and self.last[1].outcome not in (FAILED, ERROR):
                self._send(self.last[0], verdict)
        else:
            self.fixture = verdict

    def addError(self, test: Any, err: Any) -> None:  # noqa: D102, N802
        self._add(test, _verdict(ERROR, err))

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: D102, N802
        self._add(test, _verdict(FAILED, err))

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: ARG002, D102, N802
        if err is not None:
            outcome = FAILED if issubclass(err[0], test.failureException) else ERROR
            self._add(test, _verdict(outcome, err))

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: ARG002, D102, N802
        self._add(test, Verdict(SKIPPED))

    def addSuccess(self, test: Any) -> None:  # noqa: D102, N802
        self._add(test, Verdict(PASSED))

    def addExpectedFailure(self, test: Any, err: Any) -> None:  # noqa: ARG002, D102, N802
        self._add(test, Verdict(XFAILED))

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: D102, N802
        self._add(test, Verdict(FAILED, "UnexpectedSuccess", "passed, and was expected to fail"))


def _verdict(outcome: str, err: Any) -> Verdict:
    kind, error, _ = err
    return Verdict(
        outcome, kind.__name__, tail_of(error) if isinstance(error, BaseException) else tail(str(error))
    )


def run(suite: unittest.TestSuite, tests: List[unittest.TestCase], result: StreamingResult) -> None:
    """Run tests one after the other, as `TestSuite.run` does, and tell when each begins and ends."""
    fixtures: Any = suite
    state: Any = result
    state._testRunEntered = True  # noqa: SLF001
    for test in tests:
        _end_class(fixtures, state, test)
        result.open(test)
        fixtures._handleModuleFixture(test, result)  # noqa: SLF001
        fixtures._handleClassSetUp(test, result)  # noqa: SLF001
        state._previousTestClass = type(test)  # noqa: SLF001
        failed = getattr(type(test), "_classSetupFailed", False) or state._moduleSetUpFailed  # noqa: SLF001
        if not failed:
            test(result)
        result.close(test, reached=not failed)
    _end_class(fixtures, state, None)
    fixtures._handleModuleTearDown(result)  # noqa: SLF001
    state._testRunEntered = False  # noqa: SLF001


def _end_class(fixtures: Any, state: Any, test: Optional[unittest.TestCase]) -> None:
    if state._previousTestClass in (None, type(test)):  # noqa: SLF001
        return
    state.reopen()
    fixtures._tearDownPreviousClass(test, state)  # noqa: SLF001
    state.reclose()
