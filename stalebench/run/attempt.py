"""One process that runs a suite, or a part of it: started, watched, and what it said. Judges no test.

A message counts if it carries the nonce that only this process was given. Silence that lasts longer than
one test may take ends the process.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from stalebench.environments import Built
from stalebench.run.process import Ending, Line, Process, ProcessLimits, Status, environment
from stalebench.spec import Limits

INSIDE: Final = Path(__file__).parent / "inside"
START_SECONDS: Final = 60.0
"""How long an interpreter may take to start on a busy machine, at least."""


class End(StrEnum):
    """How a process ended."""

    CLOSED = "closed"
    """With a closing message that agrees with everything else."""
    STOPPED = "stopped"
    """The runner said why it could not go on."""
    DIED = "died"
    HUNG = "hung"
    DOUBTFUL = "doubtful"
    """The closing message disagrees with the exit code or with the messages before it."""
    LATE = "late"
    """The time of the whole run is over."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a process runs, and under which limits."""

    root: Path
    paths: tuple[str, ...]
    runner: str
    built: Built
    limits: Limits
    hash_seed: int


@dataclass(frozen=True, slots=True)
class Job:
    """What one process is asked to run; `only` are test ids, None for all tests of the functions."""

    files: tuple[str, ...]
    functions: tuple[str, ...] | None
    only: frozenset[str] | None = None
    alone: bool = False
    """Whether its one test, or its one file, is suspected of ending an earlier process."""
    again: bool = False
    """Whether an earlier process with the same job was doubtful."""


@dataclass(frozen=True, slots=True)
class Test:
    """A test that a process has announced."""

    __test__ = False

    id: str
    function: str
    path: str


@dataclass(slots=True)
class Attempt:
    """What a process said, and how it ended."""

    end: End = End.DIED
    started: bool = False
    ready: bool = False
    tests: dict[str, Test] = field(default_factory=dict)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    running: str | None = None
    loading: str | None = None
    loaded_any: bool = False
    unloaded: dict[str, str] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    reason: str = ""
    """The last lines of why it stopped, or of its output."""
    ignored: int = 0
    """Lines that carry no nonce."""
    received: int = 0
    closing: dict[str, Any] | None = None

    def take(self, message: dict[str, Any]) -> None:
        """Take one message in."""
        self.received += 1
        _TAKE[message["kind"]](self, message)

    def _tests(self, message: dict[str, Any]) -> None:
        for name, function, path in message["tests"]:
            self.tests[name] = Test(name, function, path)

    def _loading(self, message: dict[str, Any]) -> None:
        self.loading, self.loaded_any = message["path"], True

    def _unloaded(self, message: dict[str, Any]) -> None:
        self.unloaded[message["path"] or ""] = message["tail"]
        self.loading = None

    def _skipped(self, message: dict[str, Any]) -> None:
        self.skipped.add(message["path"])
        self.loading = None

    def _ready(self, message: dict[str, Any]) -> None:
        del message
        self.ready, self.loading = True, None

    def _start(self, message: dict[str, Any]) -> None:
        self.running = message["id"]

    def _result(self, message: dict[str, Any]) -> None:
        self.results[message["id"]] = message
        if self.running == message["id"]:
            self.running = None

    def agrees(self, status: Status) -> bool:
        """Whether the closing message, the exit code and the messages before it say the same."""
        closing = self.closing
        return (
            closing is not None
            and status.ending is Ending.EXITED
            and closing["exit"] == status.code
            and closing["number"] == self.received - 1
            and closing["results"] == len(self.results)
            and self.running is None
        )


_TAKE: Final[dict[str, Callable[[Attempt, dict[str, Any]], None]]] = {
    "hello": lambda attempt, _: setattr(attempt, "started", True),
    "loading": Attempt._loading,  # noqa: SLF001
    "loaded": lambda attempt, _: setattr(attempt, "loading", None),
    "unloaded": Attempt._unloaded,  # noqa: SLF001
    "skipped_file": Attempt._skipped,  # noqa: SLF001
    "tests": Attempt._tests,  # noqa: SLF001
    "ready": Attempt._ready,  # noqa: SLF001
    "start": Attempt._start,  # noqa: SLF001
    "result": Attempt._result,  # noqa: SLF001
    "stopped": lambda attempt, message: setattr(attempt, "reason", message["tail"]),
    "closing": lambda attempt, message: setattr(attempt, "closing", message),
}


def attempt(place: Place, job: Job, deadline: float) -> Attempt:
    """Run one process to its end, whichever that is."""
    nonce = secrets.token_hex(16)
    made = Attempt()
    with _process(place, job, nonce, deadline) as process:
        status = _watch(process, made, nonce, place.limits.test_seconds)
    made.end = _end(made, status)
    if made.end is not End.STOPPED:
        made.reason = "\n".join(status.output.rstrip().splitlines()[-20:])[-4000:]
    return made


def _process(place: Place, job: Job, nonce: str, deadline: float) -> Process:
    orders = {
        "nonce": nonce,
        "runner": place.runner,
        "root": str(place.root),
        "paths": place.paths,
        "files": job.files,
        "functions": job.functions,
        "only": None if job.only is None else sorted(job.only),
    }
    return Process(
        [place.built.python, INSIDE / "main.py"],
        cwd=place.root,
        env=environment(place.built.python, place.built.variables, hash_seed=place.hash_seed),
        payload=json.dumps(orders).encode("ascii"),
        writable=[place.root],
        readable=[INSIDE],
        limits=ProcessLimits(
            wall_seconds=max(0.1, deadline - time.monotonic()),
            memory_mib=place.limits.memory_mib,
            output_mib=place.limits.output_mib,
        ),
    )


def _watch(process: Process, made: Attempt, nonce: str, seconds: float) -> Status:
    heard = time.monotonic()
    while True:
        patience = seconds if made.started else max(seconds, START_SECONDS)
        event = process.next(max(0.0, heard + patience - time.monotonic()))
        if isinstance(event, Status):
            return event
        if event is None:
            made.end = End.HUNG
            process.kill()
            heard = time.monotonic()
        elif _heard(event, made, nonce):
            heard = event.at


def _heard(line: Line, made: Attempt, nonce: str) -> bool:
    if not line.data:
        return False
    try:
        message = json.loads(line.data)
        genuine = secrets.compare_digest(str(message["nonce"]), nonce) and message["kind"] in _TAKE
    except (ValueError, TypeError, KeyError, RecursionError):
        genuine = False
    if not genuine:
        made.ignored += 1
        return False
    made.take(message)
    return True


def _end(made: Attempt, status: Status) -> End:
    if made.end is End.HUNG:
        return End.HUNG
    if status.ending is Ending.WALL_TIMEOUT:
        return End.LATE
    if made.closing is not None:
        return End.CLOSED if made.agrees(status) else End.DOUBTFUL
    return End.STOPPED if made.reason else End.DIED
