"""Which of the tests that are about to be counted keep their outcome, again and alone."""

from __future__ import annotations

from stalebench.confirm import MOST_ALONE, REPEATS, unstable
from stalebench.outcomes import Outcome
from stalebench.suites import suite
from tests.validate.scripted import Scripted, matrix_of

FILE = suite(["tests/test_a.py"], None)
A, B = "tests/test_a.py::test_a", "tests/test_a.py::test_b"
PASSED, FAILED = Outcome.PASSED, Outcome.FAILED
BOTH = {A: PASSED, B: PASSED}


def flaky(script: Scripted, *suspects: str) -> frozenset[str]:
    return unstable(matrix_of(script), list(script.trees), "touched", FILE, frozenset(suspects))


def test_nothing_is_run_for_no_suspect() -> None:
    script = Scripted({"W0": BOTH, "M": BOTH})
    assert flaky(script) == frozenset()
    assert script.ran == []


def test_each_column_is_run_again_three_times_and_once_alone() -> None:
    script = Scripted({"W0": BOTH, "M": {A: FAILED, B: PASSED}})
    assert flaky(script, A) == frozenset()
    again = [(tree, repeat) for tree, chosen, repeat in script.ran if chosen == FILE]
    assert sorted(again) == [(tree, repeat) for tree in ("M", "W0") for repeat in range(REPEATS + 1)]
    alone = [(tree, chosen.functions) for tree, chosen, _ in script.ran if chosen != FILE]
    assert alone == [("W0", (A,)), ("M", (A,))]


def test_a_suspect_that_differs_once_in_the_last_repeat_is_unstable() -> None:
    steady = {A: FAILED, B: FAILED}
    script = Scripted({"W0": BOTH, "M": [*[steady] * REPEATS, {A: PASSED, B: FAILED}]})
    script.alone = {"W0": BOTH, "M": steady}
    assert flaky(script, A, B) == {A}


def test_a_suspect_that_differs_in_a_column_it_rests_on_is_unstable() -> None:
    script = Scripted({"W0": [BOTH, {A: PASSED}], "M": {A: FAILED, B: FAILED}})
    script.alone = {"W0": BOTH}
    assert flaky(script, A, B) == {B}


def test_what_is_no_suspect_may_differ() -> None:
    script = Scripted({"M": [{A: FAILED, B: PASSED}, {A: FAILED, B: FAILED}]})
    assert flaky(script, A) == frozenset()


def test_a_suspect_that_fails_in_company_only_is_unstable() -> None:
    script = Scripted({"W0": BOTH, "M": {A: FAILED, B: FAILED}})
    script.alone = {"M": {A: FAILED, B: PASSED}}
    assert flaky(script, A, B) == {B}


def test_two_ways_to_fail_are_one_outcome() -> None:
    script = Scripted({"M": [{A: FAILED}, {A: Outcome.ERROR}, {A: Outcome.TIMED_OUT}]})
    assert flaky(script, A) == frozenset()


def test_many_suspects_run_alone_by_file() -> None:
    names = [f"tests/test_a.py::test_{number}" for number in range(MOST_ALONE + 1)]
    script = Scripted({"M": dict.fromkeys(names, FAILED)})
    assert flaky(script, *names) == frozenset()
    assert len([chosen for _, chosen, _ in script.ran if chosen != FILE]) == 1
    script = Scripted({"M": dict.fromkeys(names, FAILED)})
    flaky(script, *names[:MOST_ALONE])
    assert len([chosen for _, chosen, _ in script.ran if chosen != FILE]) == MOST_ALONE
