"""Work in processes of this machine, each with a checkout of its own.

A worker that dies (killed, out of memory, a crash in a native library) takes no result with it: its job, and
those that were under way beside it, are done again by fresh workers, a bounded number of times.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from stalebench.errors import InfraError
from stalebench.validate.workspace import Site, Workspace

Job = TypeVar("Job")
Result = TypeVar("Result")

MOST_ATTEMPTS = 3
"""A job whose worker died so often is given up, and the command fails: what is done stays done."""

_place: Workspace | None = None


class LocalEngine:
    """A pool of worker processes, with a bounded number of jobs in flight."""

    def __init__(self, site: Site, workers: int) -> None:
        self.site = site
        self.workers = workers
        self.pool: ProcessPoolExecutor | None = None

    def map(
        self, function: Callable[[Workspace, Job], Result], jobs: Iterable[Job]
    ) -> Iterator[tuple[Job, Result]]:
        """Yield each job with its result, as they are done."""
        waiting: Iterator[tuple[Job, int]] = ((job, 1) for job in jobs)
        flying: dict[Future[Result], tuple[Job, int]] = {}
        while True:
            for job, attempt in itertools.islice(waiting, 2 * self.workers - len(flying)):
                flying[self._submit(function, job)] = (job, attempt)
            if not flying:
                return
            done, _ = wait(flying, return_when=FIRST_COMPLETED)
            lost = [flying.pop(future) for future in done if _died(future)]
            yield from ((flying.pop(future)[0], future.result()) for future in done if not _died(future))
            if lost:
                lost += list(flying.values())
                flying.clear()
                self.close()
                waiting = itertools.chain(map(_once_more, lost), waiting)

    def _submit(self, function: Callable[[Workspace, Job], Result], job: Job) -> Future[Result]:
        try:
            return self._pool().submit(_work, function, job)
        except BrokenProcessPool:
            self.close()
            return self._pool().submit(_work, function, job)

    def _pool(self) -> ProcessPoolExecutor:
        if self.pool is None:
            context = multiprocessing.get_context("spawn")
            slots = context.Queue()
            for slot in range(self.workers):
                slots.put(slot)
            self.pool = ProcessPoolExecutor(self.workers, context, _settle, (self.site, slots, os.getpid()))
        return self.pool

    def close(self) -> None:
        """End the workers at once; what they run dies with them."""
        if self.pool is None:
            return
        workers = list((self.pool._processes or {}).values())  # noqa: SLF001 - there is no public way
        for worker in workers:
            worker.terminate()
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.pool = None


def _settle(site: Site, slots: Any, parent: int) -> None:
    """Set up a worker: its place, and that the terminal's interrupt is the parent's to handle."""
    global _place  # noqa: PLW0603 - a worker process is its place
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with(parent)
    _place = Workspace(site, slots.get())


def _work(function: Callable[[Workspace, Job], Result], job: Job) -> Result:
    if _place is None:
        raise InfraError("a worker has no workspace", "its set-up was skipped", "report this as a bug")
    return function(_place, job)


def _died(future: Future[Any]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


def _once_more(lost: tuple[Job, int]) -> tuple[Job, int]:
    job, attempt = lost
    if attempt >= MOST_ATTEMPTS:
        raise InfraError(
            f"the worker of {getattr(job, 'id', job)} died {attempt} times",
            "the machine is out of memory, or something kills its processes",
            "free memory or use fewer workers, then run the same command again: finished work is kept",
        )
    return job, attempt + 1


def die_with(parent: int) -> None:
    """Have the kernel end this process when its parent ends, however that ends (Linux)."""
    import ctypes  # noqa: PLC0415 - workers only

    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
