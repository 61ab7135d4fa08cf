"""The outcome matrix of one pair: its columns as trees, run on a suite when first asked for.

Holds which tree a column is and keeps every cell that was run; it draws no conclusion.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from stalebench.environments import Built
from stalebench.measures import Column, aligned, column
from stalebench.records import Cell, Run, Suite, TestResult
from stalebench.validate.check import cell
from stalebench.validate.workspace import Workspace


class Matrix:
    """The columns of one pair in one environment; `suites` are those that a label alone says."""

    def __init__(
        self,
        workspace: Workspace,
        built: Built,
        subject: str,
        trees: Mapping[str, str],
        suites: Mapping[str, Suite] | None = None,
    ) -> None:
        self.workspace = workspace
        self.built = built
        self.subject = subject
        self.trees = dict(trees)
        self.suites = dict(suites or {})
        self._runs: dict[tuple[str, str, int], Run] = {}

    def columns(
        self, names: Sequence[str], selection: str, suite: Suite | None = None, repeat: int = 0
    ) -> list[Column]:
        """Columns of one suite, comparable with all that ran of it. `selection` is its label in the table.

        A column that runs later can name further tests: in the earlier ones they are absent, or fail where
        their file does not load. No measure changes by that, since nobody promised them.
        """
        for name in names:
            self._run(name, selection, suite or self.suites[selection], repeat)
        tables = self._comparable(selection, repeat)
        return [column(tables[name]) for name in names]

    def functions(self, tests: Collection[str]) -> dict[str, str]:
        """The function of each of these tests."""
        results = (result for run in self._runs.values() for result in run.results)
        return {result.id: result.function for result in results if result.id in tests}

    def unloaded(self, name: str, selection: str) -> tuple[str, ...]:
        """The files of a column that did not load."""
        return tuple(path for path, _ in self._runs[name, selection, 0].unloaded)

    def has(self, name: str) -> bool:
        """Whether a column can be run."""
        return name in self.trees

    def cells(self) -> Iterable[Cell]:
        """Every cell run so far, each as `columns` has it."""
        for selection, repeat in sorted({(selection, repeat) for _, selection, repeat in self._runs}):
            for name, table in self._comparable(selection, repeat).items():
                for result in table.values():
                    yield cell(
                        self.subject, name, selection, repeat=repeat, tree=self.trees[name], result=result
                    )

    def _comparable(self, selection: str, repeat: int) -> dict[str, dict[str, TestResult]]:
        """The results of each column that ran of a selection, all with the same tests."""
        group = {name: run for (name, *which), run in self._runs.items() if which == [selection, repeat]}
        return dict(zip(group, aligned(list(group.values())), strict=True))

    def _run(self, name: str, selection: str, suite: Suite, repeat: int) -> None:
        key = (name, selection, repeat)
        if key not in self._runs:
            self._runs[key] = self.workspace.run(self.trees[name], suite, self.built, repeat)
