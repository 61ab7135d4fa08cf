"""Work in processes of this machine, each with a checkout of its own.

A worker that dies (killed, out of memory, a crash in a native library) takes no result with it: its job is
done again by a fresh worker, a bounded number of times. The other workers go on.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from stalebench.errors import InfraError
from stalebench.run.scratch import clear_after
from stalebench.validate.workspace import Site, Workspace

Job = TypeVar("Job")
Result = TypeVar("Result")

MOST_ATTEMPTS = 3
"""A job whose worker died so often is given up, and the command fails: what is done stays done."""

LEAVE_SECONDS = 10.0
"""How long a worker may take to give its place back."""

PR_SET_PDEATHSIG = 1


class LocalEngine:
    """Worker processes, started when there is work for them; each has one job at a time."""

    def __init__(self, site: Site, workers: int) -> None:
        self.site = site
        self.idle = list(range(workers))
        """Slots without a job."""
        self.workers: dict[int, _Worker] = {}

    def map(
        self, function: Callable[[Workspace, Job], Result], jobs: Iterable[Job]
    ) -> Iterator[tuple[Job, Result]]:
        """Yield each job with its result, as they are done. A job is taken only when a worker is free."""
        waiting: Iterator[tuple[Job, int]] = ((job, 1) for job in jobs)
        flying: dict[Connection[Any, Any], tuple[int, Job, int]] = {}
        while True:
            while self.idle and (taken := next(waiting, None)) is not None:
                slot = self.idle.pop()
                flying[self._given(slot, function, taken[0])] = (slot, *taken)
            if not flying:
                return
            for connection in wait(list(flying)):
                assert isinstance(connection, Connection)  # noqa: S101 - no other kind was waited for
                slot, job, attempt = flying.pop(connection)
                self.idle.append(slot)
                try:
                    result = _received(connection)
                except (EOFError, ConnectionError):
                    self._bury(slot)
                    waiting = _before(_once_more(job, attempt), waiting)
                    continue
                yield job, result

    def _given(self, slot: int, function: Callable[..., Any], job: object) -> Connection[Any, Any]:
        """Hand a job to the worker of a slot; a worker that died unseen is replaced."""
        if slot in self.workers and not self.workers[slot].process.is_alive():
            self._bury(slot)
        if slot not in self.workers:
            self.workers[slot] = _Worker(self.site, slot)
        with suppress(ConnectionError):  # it died this moment: reading from it will say so
            self.workers[slot].connection.send((function, job))
        return self.workers[slot].connection

    def _bury(self, slot: int) -> None:
        self.workers.pop(slot).end()

    def close(self) -> None:
        """Let idle workers give their places back, and end the others at once with all that they run."""
        for slot in self.idle:
            if slot in self.workers:
                self.workers[slot].dismiss()
        for slot in list(self.workers):
            self._bury(slot)


class _Worker:
    """One process and the connection to it."""

    def __init__(self, site: Site, slot: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(site, slot, theirs, os.getpid()), daemon=True)
        self.process.start()
        self.is_dismissed = False
        theirs.close()

    def dismiss(self) -> None:
        """Say that there is no more work."""
        self.connection.close()
        self.is_dismissed = True

    def end(self) -> None:
        """Wait for a worker that was dismissed, and kill any other."""
        if self.is_dismissed:
            self.process.join(LEAVE_SECONDS)
        self.process.kill()
        self.process.join()
        self.connection.close()
        clear_after(self.process.pid)


def _work(site: Site, slot: int, jobs: Connection[Any, Any], parent: int) -> None:
    """Do jobs until the other end closes. The terminal's interrupt is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(parent)
    workspace = Workspace(site, slot)
    while True:
        try:
            function, job = jobs.recv()
        except (EOFError, ConnectionError):
            workspace.close()
            return
        try:
            answer = (True, function(workspace, job))
        except Exception as error:  # noqa: BLE001 - raised again where the result is taken
            answer = (False, _sendable(error))
        jobs.send(answer)


def _sendable(error: Exception) -> Exception:
    """The error itself, or what it says where it would not arrive: extension modules have such."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - whatever its class does on the way
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _received(connection: Connection[Any, Any]) -> Any:
    done, answer = connection.recv()
    if not done:
        raise answer
    return answer


def _before(first: tuple[Job, int], rest: Iterator[tuple[Job, int]]) -> Iterator[tuple[Job, int]]:
    yield first
    yield from rest


def _once_more(job: Job, attempt: int) -> tuple[Job, int]:
    if attempt >= MOST_ATTEMPTS:
        raise InfraError(
            f"the worker of {getattr(job, 'id', job)} died {attempt} times",
            "the machine is out of memory, or something kills its processes",
            "free memory or use fewer workers, then run the same command again: finished work is kept",
        )
    return job, attempt + 1


def die_with(parent: int) -> None:
    """Have the kernel end this process when its parent ends, however that ends (Linux)."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
