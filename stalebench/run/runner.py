"""Runs that are done once: the store is asked first. Knows neither columns nor verdicts."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from stalebench.compose.objects import Objects
from stalebench.environments import Built
from stalebench.records import Run, Suite
from stalebench.run.checkout import Checkout
from stalebench.run.session import RUNNER_VERSION, run
from stalebench.run.store import RunStore
from stalebench.spec import Spec


class Runner:
    """Runs suites in one checkout, and remembers every result."""

    def __init__(self, objects: Objects, checkout: Checkout, store: RunStore, spec: Spec) -> None:
        self.objects = objects
        self.checkout = checkout
        self.store = store
        self.spec = spec

    def run(self, tree: str, suite: Suite, built: Built, repeat: int = 0) -> Run:
        """The stored run, or a new one, which is then stored. Raises RunBroken, which is never stored."""
        stored = self.store.get(tree, suite.id, built.record.key, RUNNER_VERSION, repeat)
        if stored is not None:
            return stored
        made = run(self.objects, tree, suite, built, self.spec, self.checkout, repeat)
        self.store.put(made)
        return made

    def close(self) -> None:
        """Give the checkout back."""
        self.checkout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
