"""All work in this process, one job after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from stalebench.validate.workspace import Site, Workspace

Job = TypeVar("Job")
Result = TypeVar("Result")


class SerialEngine:
    """One workspace, no other process but those that run tests."""

    def __init__(self, site: Site) -> None:
        self.workspace = Workspace(site)

    def map(
        self, function: Callable[[Workspace, Job], Result], jobs: Iterable[Job]
    ) -> Iterator[tuple[Job, Result]]:
        """Yield each job with its result, in order."""
        for job in jobs:
            yield job, function(self.workspace, job)

    def close(self) -> None:
        """Give the checkout back."""
        self.workspace.close()
