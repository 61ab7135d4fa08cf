"""The outcome matrix of one pair: its columns as trees, run on a suite when first asked for.

Holds which tree a column is and keeps every cell that was run; it draws no conclusion.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from stalebench.environments import Built
from stalebench.measures import Column, aligned, column
from stalebench.records import Cell, Run, Suite
from stalebench.validate.check import cell
from stalebench.validate.workspace import Workspace


class Matrix:
    """The columns of one pair in one environment."""

    def __init__(self, workspace: Workspace, built: Built, subject: str, trees: Mapping[str, str]) -> None:
        self.workspace = workspace
        self.built = built
        self.subject = subject
        self.trees = dict(trees)
        self._runs: dict[tuple[str, str, int], Run] = {}

    def columns(self, names: Sequence[str], selection: str, suite: Suite, repeat: int = 0) -> list[Column]:
        """Comparable columns of one suite. `selection` labels the suite in the table."""
        runs = [self._run(name, selection, suite, repeat) for name in names]
        return [column(results) for results in aligned(runs)]

    def functions(self, tests: Collection[str]) -> dict[str, str]:
        """The function of each of these tests."""
        results = (result for run in self._runs.values() for result in run.results)
        return {result.id: result.function for result in results if result.id in tests}

    def cells(self) -> Iterable[Cell]:
        """Every cell run so far, comparable within each selection and repeat."""
        for group in sorted({(selection, repeat) for _, selection, repeat in self._runs}):
            names = [name for name, *rest in self._runs if tuple(rest) == group]
            tables = aligned([self._runs[(name, *group)] for name in names])
            for name, table in zip(names, tables, strict=True):
                for result in table.values():
                    yield cell(
                        self.subject, name, group[0], repeat=group[1], tree=self.trees[name], result=result
                    )

    def _run(self, name: str, selection: str, suite: Suite, repeat: int) -> Run:
        key = (name, selection, repeat)
        if key not in self._runs:
            self._runs[key] = self.workspace.run(self.trees[name], suite, self.built, repeat)
        return self._runs[key]
