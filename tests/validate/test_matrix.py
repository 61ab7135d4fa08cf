"""Columns of one pair: run once, comparable with each other, and the same in the table."""

from __future__ import annotations

from collections.abc import Sequence

from stalebench.measures import Column
from stalebench.outcomes import CLASS_OF, Outcome
from stalebench.suites import suite
from stalebench.validate.matrix import Matrix
from tests.validate.scripted import Scripted, matrix_of

FILE = suite(["tests/test_a.py"], None)
A, B = "tests/test_a.py::test_a", "tests/test_a.py::test_b"
PASSED, FAILED = Outcome.PASSED, Outcome.FAILED


def in_the_table(matrix: Matrix, names: Sequence[str], selection: str) -> list[Column]:
    """The columns as the cells have them."""
    cells = [cell for cell in matrix.cells() if cell.suite == selection and cell.repeat == 0]
    return [{cell.test: CLASS_OF[cell.outcome] for cell in cells if cell.column == name} for name in names]


def test_a_column_is_run_once_for_each_selection_and_repeat() -> None:
    script = Scripted({"W0": {A: PASSED}, "M": {A: FAILED}})
    matrix = matrix_of(script)
    for _ in range(2):
        matrix.columns(["W0", "M"], "touched", FILE)
        matrix.columns(["M"], "touched", FILE, 1)
        matrix.columns(["M"], "gold", suite(["tests/test_a.py"], [A]))
    assert [(tree, repeat) for tree, _, repeat in script.ran] == [("W0", 0), ("M", 0), ("M", 1), ("M", 0)]


def test_a_column_stands_in_the_table_as_it_was_judged() -> None:
    matrix = matrix_of(Scripted({"W0": {A: PASSED}, "M": {A: FAILED}, "H1": {A: PASSED, B: PASSED}}))
    judged = matrix.columns(["W0", "M"], "touched", FILE)
    assert in_the_table(matrix, ["W0", "M"], "touched") == judged
    matrix.columns(["H1"], "touched", FILE)
    assert in_the_table(matrix, ["W0", "M"], "touched") == matrix.columns(["W0", "M"], "touched", FILE)


def test_a_column_asked_for_alone_fails_the_tests_that_an_earlier_one_found_in_its_unloaded_file() -> None:
    matrix = matrix_of(Scripted({"W1": {A: PASSED}, "H1": {}}, {"H1": "tests/test_a.py"}))
    matrix.columns(["W1"], "touched", FILE)
    assert matrix.columns(["H1"], "touched", FILE) == [{A: "fail"}]
    outcomes = {cell.column: cell.outcome for cell in matrix.cells()}
    assert outcomes == {"W1": Outcome.PASSED, "H1": Outcome.NOT_COLLECTED}


def test_selections_and_repeats_are_not_mixed() -> None:
    matrix = matrix_of(Scripted({"M": [{A: PASSED}, {A: PASSED, B: PASSED}]}))
    matrix.columns(["M"], "touched", FILE)
    matrix.columns(["M"], "touched", FILE, 1)
    matrix.columns(["M"], "gold", suite(["tests/test_a.py"], [A]))
    cells = [(cell.suite, cell.repeat, cell.test) for cell in matrix.cells()]
    assert cells == [("gold", 0, A), ("touched", 0, A), ("touched", 1, A), ("touched", 1, B)]


def test_a_cell_names_the_tree_of_its_column_and_the_function_of_its_test() -> None:
    test = f"{A}[1]"
    matrix = matrix_of(Scripted({"4" * 40: {test: FAILED}}), {"M": "4" * 40})
    matrix.columns(["M"], "touched", FILE)
    (cell,) = matrix.cells()
    assert (cell.subject, cell.column, cell.tree) == ("2+1", "M", "4" * 40)
    assert (cell.test, cell.function, cell.outcome) == (test, A, FAILED)
    assert matrix.functions({test, B}) == {test: A}
