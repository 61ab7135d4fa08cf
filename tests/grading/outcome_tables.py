"""Outcome matrices written down as small tables: one line a test, one letter a column."""

from __future__ import annotations

from collections.abc import Mapping

from stalebench.grading.outcomes import Outcomes
from stalebench.grading.records import Assigned, ColumnRun, Instance
from stalebench.outcomes import Outcome
from stalebench.records import Cell

LETTERS = {"P": Outcome.PASSED, "F": Outcome.FAILED, "-": Outcome.SKIPPED, "N": Outcome.NOT_COLLECTED}
REPEATS = 4


def assigned(pull: str, f2p: tuple[str, ...], p2p: tuple[str, ...] = ()) -> Assigned:
    """A task with these gold tests, each a function of its own."""
    gold = tuple(sorted({*f2p, *p2p}))
    files = tuple(sorted({test.partition("::")[0] for test in gold}))
    return Assigned("shop", pull, f"Pull {pull}", "", gold, files, f2p, p2p, "c", "t")


def instance(*tasks: Assigned, by_function: bool = False, flaky: tuple[str, ...] = ()) -> Instance:
    """An instance of these tasks."""
    name = "+".join(task.pull for task in reversed(tasks))
    return Instance(name, "shop", "mined", "b" * 40, "t" * 40, "e", by_function, None, tasks, flaky)


def table(columns: str, rows: Mapping[str, str], suite: str = "gold", repeat: int = 0) -> list[Cell]:
    """Cells of the columns named in one text, with a letter for each in every row."""
    return [
        Cell("x/0", column, suite, repeat, test, test, LETTERS[letter], "", "tree")
        for test, letters in rows.items()
        for column, letter in zip(columns.split(), letters.replace(" ", ""), strict=True)
    ]


def stored(
    *cells: list[Cell],
    reasons: Mapping[str, str] | None = None,
    unloaded: Mapping[tuple[str, str], tuple[str, ...]] | None = None,
) -> Outcomes:
    """These cells, with the columns that did not run and why, and the files that did not load."""
    flat = [cell for group in cells for cell in group]
    keys = sorted({(cell.column, cell.suite, cell.repeat) for cell in flat})
    broken = unloaded or {}
    ran = [
        ColumnRun("x/0", column, suite, repeat, "tree", "e", None, unloaded=broken.get((column, suite), ()))
        for column, suite, repeat in keys
    ]
    missing = [
        ColumnRun("x/0", column, "", 0, None, None, reason) for column, reason in (reasons or {}).items()
    ]
    return Outcomes([*ran, *missing], flat)


def confirmed(columns: str, rows: Mapping[str, str], suite: str = "gold") -> list[Cell]:
    """The same table in every repeat that a confirmation asks for."""
    return [cell for repeat in range(REPEATS) for cell in table(columns, rows, suite, repeat)]


def alone(columns: str, test: str, letters: str) -> list[Cell]:
    """The test's own run, alone, as a confirmation asks for it."""
    from stalebench.suites import suite  # noqa: PLC0415 - for the label only

    label = f"alone {suite([test.partition('::')[0]], [test]).id[:12]}"
    return table(columns, {test: letters}, label)
