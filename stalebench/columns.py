"""Where columns of an outcome matrix come from: run when asked for, or stored. Only the interface.

Whoever draws conclusions asks for columns by name; what is not there is told by an exception, so that the
same conclusions can be drawn while runs are made and long after.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Protocol

from stalebench.measures import Column
from stalebench.records import Suite

GOLD: Final = "gold"
"""The label of the combined suite of all tasks."""
TOUCHED: Final = "touched"
FAILING: Final = "failing"
"""What fails merged, of the touched suite."""


def own(task: int) -> str:
    """The label of one task's own gold suite."""
    return f"own {task}"


class Columns(Protocol):
    """The columns of one subject."""

    def columns(
        self, names: Sequence[str], selection: str, suite: Suite | None = None, repeat: int = 0
    ) -> list[Column]:
        """These columns of one selection, comparable. The suite is given where the label does not say it.

        Raises Missing for a column that cannot be had, Needed for one that nobody has run.
        """
        ...

    def functions(self, tests: Collection[str]) -> Mapping[str, str]:
        """The function of each of these tests."""
        ...

    def unloaded(self, name: str, selection: str) -> Collection[str]:
        """The files of a column that did not load."""
        ...

    def has(self, name: str) -> bool:
        """Whether anything is known of a column: that it ran, or why it could not."""
        ...


class Needed(Exception):
    """Columns that nobody has run yet: a question to whoever can."""

    def __init__(self, names: tuple[str, ...], selection: str, suite: Suite | None, repeat: int) -> None:
        super().__init__(names, selection, suite, repeat)
        self.names = names
        self.selection = selection
        self.suite = suite
        """The suite to run; None where the selection's label says which."""
        self.repeat = repeat


class Missing(Exception):
    """A column that cannot be had, and why: a finding."""

    def __init__(self, column: str, reason: str, detail: str = "") -> None:
        super().__init__(column, reason, detail)
        self.column = column
        self.reason = reason
        self.detail = detail
