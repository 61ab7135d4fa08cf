"""The outcome matrix of one subject as it is stored: what ran, what could not, and what nobody has run yet.

What is not there is asked for by an exception: it is run, and asked for again, or the grade is incomplete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from stalebench.columns import Missing, Needed
from stalebench.grading.records import ColumnRun
from stalebench.measures import Column
from stalebench.outcomes import CLASS_OF, Class
from stalebench.records import Cell, Suite

Key = tuple[str, str, int]
"""A column, the label of a selection, and a repeat."""


class Outcomes:
    """The columns of one subject."""

    def __init__(self, runs: Iterable[ColumnRun] = (), cells: Iterable[Cell] = ()) -> None:
        self._columns: dict[Key, dict[str, Class]] = {}
        self._missing: dict[Key, ColumnRun] = {}
        self._functions: dict[str, str] = {}
        self._unloaded: dict[tuple[str, str], tuple[str, ...]] = {}
        for run in runs:
            if run.reason is None:
                self._columns[run.column, run.suite, run.repeat] = {}
                if run.unloaded:
                    self._unloaded[run.column, run.suite] = run.unloaded
            else:
                self._missing[run.column, run.suite, run.repeat] = run
        for cell in cells:
            self._columns[cell.column, cell.suite, cell.repeat][cell.test] = CLASS_OF[cell.outcome]
            self._functions[cell.test] = cell.function

    def columns(
        self, names: Sequence[str], selection: str, suite: Suite | None = None, repeat: int = 0
    ) -> list[Column]:
        """These columns of one selection. Raises Missing for what cannot be had, else Needed."""
        for name in names:
            gone = self._missing.get((name, "", 0)) or self._missing.get((name, selection, repeat))
            if gone is not None:
                raise Missing(name, gone.reason or "", gone.detail)
        lacking = tuple(name for name in names if (name, selection, repeat) not in self._columns)
        if lacking:
            raise Needed(lacking, selection, suite, repeat)
        return [self._columns[name, selection, repeat] for name in names]

    def functions(self, tests: Collection[str]) -> dict[str, str]:
        """The function of each of these tests."""
        return {test: self._functions[test] for test in tests if test in self._functions}

    def unloaded(self, name: str, selection: str) -> tuple[str, ...]:
        """The files of a column that did not load."""
        return self._unloaded.get((name, selection), ())

    def has(self, name: str) -> bool:
        """Whether anything is known of a column: that it ran, or why it could not."""
        return any(key[0] == name for key in (*self._columns, *self._missing))
