"""Where work is done: one function over many jobs, in this process, in local processes, later on a cluster.

An engine knows nothing of pulls or tests. The order in which results arrive is its own affair; whoever
writes a table sorts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from stalebench.errors import UsageError
from stalebench.validate.workspace import Site, Workspace

Job = TypeVar("Job")
Result = TypeVar("Result")


class Engine(Protocol):
    """One function over many jobs, each with a workspace to do it in."""

    def map(
        self, function: Callable[[Workspace, Job], Result], jobs: Iterable[Job]
    ) -> Iterator[tuple[Job, Result]]:
        """Yield each job with its result, as they are done. Errors of the function are raised here."""
        ...

    def close(self) -> None:
        """End every process that the engine started."""
        ...


def engine(name: str, site: Site, workers: int) -> Engine:
    """The engine of that name: `serial` or `local`. Raises UsageError."""
    from stalebench.engines.local import LocalEngine  # noqa: PLC0415 - only what is asked for
    from stalebench.engines.serial import SerialEngine  # noqa: PLC0415

    if name == "serial" or (name == "local" and workers == 1):
        return SerialEngine(site)
    if name == "local":
        return LocalEngine(site, workers)
    raise UsageError(f"no engine is called {name!r}", "a slip of the pen", "use one of: serial, local")
