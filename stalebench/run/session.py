"""From a tree and a suite to one outcome for each requested test, whatever ends a process on the way.

A test or a file that ends its process takes no other with it: the rest runs in a new process without it,
and it runs again alone. What did not run has no outcome; if that cannot be mended the run is broken, and
says nothing about the code under test.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from stalebench.compose.objects import Objects
from stalebench.environments import Built
from stalebench.errors import RunBroken
from stalebench.outcomes import Outcome
from stalebench.records import Run, Suite, TestResult
from stalebench.run.attempt import Attempt, End, Job, Place, Test, attempt
from stalebench.run.checkout import Checkout
from stalebench.spec import Limits, Spec

RUNNER_VERSION: Final = 1
"""Raised whenever the same run could come to other outcomes; stored runs of another version do not count."""

MOST_PROCESSES: Final = 200


def run(  # noqa: PLR0917 - in the order in which a run is named
    objects: Objects,
    tree: str,
    suite: Suite,
    environment: Built,
    spec: Spec,
    checkout: Checkout,
    repeat: int = 0,
) -> Run:
    """One outcome for each test of the suite on the tree. Raises RunBroken if the machine fails."""
    began = time.monotonic()
    place = Place(
        root=checkout.root,
        paths=tuple(str(checkout.root / folder) for folder in _search_path(objects, tree, spec)),
        runner=spec.runner,
        built=environment,
        limits=spec.limits,
        hash_seed=repeat,
    )

    def attempted(job: Job, deadline: float) -> Attempt:
        # Each process finds the tree as it is: the one before may have changed or removed any file.
        checkout.switch(objects, tree, environment.python)
        return attempt(place, job, deadline)

    session = Session(suite, spec.limits, attempted)
    session.work_off(path for path in suite.files if objects.find(tree, path) is not None)
    results = {result.id: result for result in session.requested()}
    return Run(
        tree=tree,
        suite=suite.id,
        environment=environment.record.key,
        version=RUNNER_VERSION,
        repeat=repeat,
        results=tuple(results[name] for name in sorted(results)),
        unloaded=tuple(sorted(session.unloaded.items())),
        seconds=round(time.monotonic() - began, 3),
    )


def _search_path(objects: Objects, tree: str, spec: Spec) -> tuple[str, ...]:
    """What goes first on the search path: the root, and before it a folder that holds the package."""
    package = spec.import_name.replace(".", "/")
    above = (folder for folder in ("src", "lib") if objects.find(tree, f"{folder}/{package}") is not None)
    return (*above, "")


class Session:
    """Works off jobs, each in a process of its own, until every test has an outcome."""

    def __init__(self, suite: Suite, limits: Limits, attempt: Callable[[Job, float], Attempt]) -> None:
        self.suite = suite
        self.limits = limits
        self.attempt = attempt
        self.jobs: deque[Job] = deque()
        self.tests: dict[str, Test] = {}
        self.results: dict[str, TestResult] = {}
        self.unloaded: dict[str, str] = {}
        self.skipped: set[str] = set()

    def work_off(self, files: Iterable[str]) -> None:
        """Run all wanted tests of the files."""
        deadline = time.monotonic() + self.limits.run_seconds
        self._add(Job(tuple(files), self.suite.functions))
        for _ in range(MOST_PROCESSES):
            if not self.jobs:
                return
            job = self.jobs.popleft()
            self._absorb(job, self.attempt(job, deadline))
        raise RunBroken(
            f"{MOST_PROCESSES} processes did not get to the end of one suite",
            "tests that end their process, one after the other",
            "run a smaller suite",
        )

    def requested(self) -> Iterable[TestResult]:
        """One result for each test that ran, and for each requested function of which none did."""
        yield from self.results.values()
        ran = {result.function for result in self.results.values()}
        for function in self.suite.functions or ():
            if function not in ran:
                yield TestResult(function, function, self._absent(function))

    def _absent(self, function: str) -> Outcome:
        path = function.partition("::")[0]
        if path in self.unloaded:
            return Outcome.NOT_COLLECTED
        if path in self.skipped:
            return Outcome.SKIPPED
        # A function of a file that is not collected is reached through files that inherit it.
        reached_elsewhere = path not in self.suite.files and self.unloaded
        return Outcome.NOT_COLLECTED if reached_elsewhere else Outcome.MISSING

    def _absorb(self, job: Job, made: Attempt) -> None:
        _check(made)
        if made.end is End.DOUBTFUL:
            self._doubt(job)
            return
        for path, tail in made.unloaded.items():
            self._unload(job, path, tail)
        self.skipped |= made.skipped
        self.tests |= made.tests
        for name, message in made.results.items():
            if name not in made.tests:
                continue
            self._keep(
                name, Outcome(message["outcome"]), message["error"], message["seconds"], message["tail"]
            )
        if not made.ready:
            self._not_collected(job, made)
        elif made.end is not End.CLOSED:
            self._ended(job, made)
        else:
            self._rest(job, made)

    def _add(self, job: Job) -> None:
        if job.files and job.only != frozenset():
            self.jobs.append(job)

    def _keep(
        self, name: str, outcome: Outcome, error: str = "", seconds: float = 0.0, tail: str = ""
    ) -> None:
        self.results[name] = TestResult(name, self.tests[name].function, outcome, error, seconds, tail)

    def _unload(self, job: Job, path: str, tail: str) -> None:
        """A file has not loaded; a conftest or a folder takes the files below it along."""
        self.unloaded[path] = tail
        for file in job.files:
            if file != path and _below(path, file):
                self.unloaded[file] = f"{path} did not load\n{tail}"

    def _doubt(self, job: Job) -> None:
        if job.again:
            raise RunBroken(
                "the results of a run do not agree with how its process ended, twice",
                "code under test that writes to the results' channel, or ends the process itself",
                "run it again; if it stays, look at what the tests do when they end",
            )
        self._add(Job(job.files, job.functions, job.only, job.alone, again=True))

    # A process that did not get as far as its tests

    def _not_collected(self, job: Job, made: Attempt) -> None:
        """Blame a file where one is known; otherwise try smaller parts."""
        suspect = made.loading
        left = tuple(file for file in job.files if file not in self.unloaded)
        if suspect in left:
            if made.end is not End.DIED or job.alone or job.files == (suspect,):
                self.unloaded[suspect] = made.reason
            else:
                self._add(Job((suspect,), job.functions, job.only, alone=True))
            self._add(Job(tuple(file for file in left if file != suspect), job.functions, job.only))
        elif left != job.files:
            self._add(Job(left, job.functions, job.only))
        else:
            self._divide(job, made)

    def _divide(self, job: Job, made: Attempt) -> None:
        parts = _by_folder(job.files)
        if len(parts) == 1 and made.loaded_any:
            parts = [(file,) for file in job.files]
        if len(parts) == 1:
            self.unloaded |= dict.fromkeys(job.files, made.reason)
        for part in parts if len(parts) > 1 else ():
            self._add(Job(part, job.functions, job.only))

    # A process that did not get to the end of its tests

    def _ended(self, job: Job, made: Attempt) -> None:
        """Blame a test: the one that was running, else the one that had just ended."""
        suspect = made.running or next(reversed(made.results), None)
        if suspect is None and job.only is None:
            self._divide(job, made)
            return
        suspect = suspect or next(iter(made.tests), None)
        if suspect is None:
            self._vanished(job, made)
            return
        self.results.pop(suspect, None)
        if made.end is End.HUNG:
            self._keep(suspect, Outcome.TIMED_OUT, tail=made.reason)
        elif job.alone and job.only == frozenset({suspect}):
            self._keep(suspect, Outcome.CRASHED, tail=made.reason)
        else:
            path = self.tests[suspect].path
            self._add(Job((path,), job.functions, frozenset({suspect}), alone=True))
        self._rest(job, made, suspect)

    def _rest(self, job: Job, made: Attempt, suspect: str | None = None) -> None:
        """Run what the process announced, or was asked for, and did not come to."""
        left = [test for name, test in made.tests.items() if name not in made.results and name != suspect]
        self._vanished(job, made)
        if not left:
            return
        if suspect is None and not made.results:
            raise RunBroken(
                f"a process ended well without running {left[0].id}",
                "a hook of the code under test that stops the session",
                "look at its conftest files",
            )
        files = frozenset(test.path for test in left)
        only = frozenset(test.id for test in left)
        kept = tuple(file for file in job.files if file in files)
        self._add(Job(kept, job.functions, only))

    def _vanished(self, job: Job, made: Attempt) -> None:
        """What one process announced and the next no longer knows has no outcome that could be trusted."""
        lost = [
            name
            for name in sorted((job.only or frozenset()) - made.tests.keys())
            if self.tests[name].path not in self.unloaded
        ]
        if lost:
            raise RunBroken(
                f"{lost[0]} is not collected again",
                "tests whose names differ from one start to the next",
                "leave them out of the suite",
            )
        for name in (job.only or frozenset()) - made.tests.keys():
            self._keep(name, Outcome.NOT_COLLECTED)


def _check(made: Attempt) -> None:
    if made.end is End.LATE:
        raise RunBroken(
            "the suite did not end within the time that a run may take",
            "slow tests, or many that hang",
            "raise run_seconds, or lower test_seconds, in the specification's limits",
        )
    if not made.started:
        raise RunBroken(
            f"the test runner did not start:\n{made.reason}",
            "an environment without the runner, or a sandbox that this machine does not grant",
            "stalebench doctor tells what is missing",
        )


def _below(path: str, file: str) -> bool:
    if not path:
        return True
    folder = path[: -len("conftest.py")] if path.endswith("conftest.py") else f"{path}/"
    return file.startswith(folder)


def _by_folder(files: Iterable[str]) -> list[tuple[str, ...]]:
    parts: dict[str, list[str]] = {}
    for file in files:
        parts.setdefault(file.rpartition("/")[0], []).append(file)
    return [tuple(part) for part in parts.values()]
