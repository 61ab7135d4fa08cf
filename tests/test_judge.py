"""Grades as set algebra on stored outcomes: every rule of the design, one table each."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from stalebench.columns import Missing, Needed
from stalebench.grading.grades import Asked, grades
from stalebench.grading.outcomes import Outcomes
from stalebench.grading.records import Condition, Grade, Grading, Instance, Unobservable
from stalebench.judge import Judge
from stalebench.records import Cell
from tests.grading.outcome_tables import alone, assigned, confirmed, instance, stored, table

A, B = "tests/test_a.py::test_a", "tests/test_b.py::test_b"
PAIR = instance(assigned("1", (A,)), assigned("2", (B,)))
SOLVED = [*table("W1", {A: "P"}, "own 1"), *table("W2", {B: "P"}, "own 2")]
BLIND = Asked((Condition.BLIND,), clash=False)


def graded(
    outcomes: Outcomes, asked: Asked = BLIND, one: Instance = PAIR, grading: Grading = Grading.STANDARD
) -> Grade:
    found = list(grades(one, (), {0: outcomes}, asked, grading))
    assert len(found) == 1
    return found[0]


def blind(rows: Mapping[str, str], *further: list[Cell]) -> Outcomes:
    return stored(SOLVED, confirmed("G0 G1 G2 M", rows), *further)


def test_a_test_that_one_made_pass_and_the_merge_lost_is_delta_blind() -> None:
    found = graded(blind({A: "F P F P", B: "F F P F"}, alone("G0 G2 M", B, "F P F")))
    assert found.reason is None
    assert found.observable is True
    assert found.delta == (B,)
    assert found.delta_strict == ()
    assert found.solved == (True, True)


def test_a_test_that_nobody_lost_is_in_no_delta() -> None:
    found = graded(blind({A: "F P F P", B: "F F P P"}))
    assert (found.delta, found.delta_strict, found.vanished, found.repaired_together) == ((), (), (), ())


def test_a_test_that_both_make_pass_alone_is_also_in_the_published_delta() -> None:
    found = graded(blind({A: "F P P F", B: "F F P P"}, alone("G0 G1 G2 M", A, "F P P F")))
    assert (found.delta, found.delta_strict) == ((A,), (A,))


def test_a_test_that_is_gone_from_the_merge_vanished_and_is_in_no_blind_delta() -> None:
    found = graded(blind({A: "F P F P", B: "F F P -"}, alone("G0 G2 M", B, "F P -")))
    assert (found.delta, found.vanished) == ((), (B,))


def test_what_one_patch_breaks_alone_is_named_and_in_no_delta() -> None:
    kept = "tests/test_b.py::test_kept"
    pair = instance(assigned("1", (A,)), assigned("2", (B,), (kept,)))
    outcomes = stored(
        table("W1", {A: "P"}, "own 1"),
        table("W2", {B: "P", kept: "P"}, "own 2"),
        confirmed("G0 G1 G2 M", {A: "FPFP", B: "FFPP", kept: "PFPF"}),
    )
    found = graded(outcomes, one=pair)
    assert (found.delta, found.broken_alone) == ((), ((kept,), ()))


def test_a_test_that_passes_merged_though_nobody_promised_it_is_repaired_together() -> None:
    kept = "tests/test_b.py::test_kept"
    found = graded(blind({A: "FPFP", B: "FFPP", kept: "PFFP"}))
    assert (found.repaired_together, found.delta) == ((kept,), ())


@pytest.mark.parametrize(
    ("written", "rows", "reason", "solved"),
    [
        (("F", "P"), {A: "FFFF", B: "FFPP"}, Unobservable.UNSOLVED, (False, True)),
        (("P", "P"), {A: "FFFP", B: "FFPP"}, Unobservable.TESTS_INTERACT, (False, True)),
        (("P", "P"), {A: "FPFP", B: "FFPP"}, None, (True, True)),
    ],
)
def test_a_pair_is_observable_if_each_patch_passes_its_own_tests_both_ways(
    written: tuple[str, str], rows: dict[str, str], reason: Unobservable | None, solved: tuple[bool, ...]
) -> None:
    outcomes = stored(
        table("W1", {A: written[0]}, "own 1"),
        table("W2", {B: written[1]}, "own 2"),
        confirmed("G0 G1 G2 M", rows),
    )
    found = graded(outcomes)
    assert (found.unobservable, found.observable, found.solved) == (reason, reason is None, solved)


def test_a_test_that_differs_when_run_again_counts_nowhere_and_empties_the_instance() -> None:
    rows = {A: "FPFP", B: "FFPF"}
    again = table("G0 G1 G2 M", {A: "FPFP", B: "FFPP"}, repeat=2)
    steady = [cell for cell in confirmed("G0 G1 G2 M", rows) if cell.repeat != 2]
    found = graded(stored(SOLVED, steady, again, alone("G0 G2 M", B, "FPF")))
    assert found.flaky == (B,)
    assert found.delta == ()
    assert found.unobservable is Unobservable.FLAKY


def test_a_test_that_is_flaky_in_one_trial_counts_in_none() -> None:
    rows = {A: "FPFP", B: "FFPF"}
    steady = stored(SOLVED, confirmed("G0 G1 G2 M", rows), alone("G0 G2 M", B, "FPF"))
    shaky = stored(SOLVED, confirmed("G0 G1 G2 M", rows), alone("G0 G2 M", B, "FPP"))
    found = list(grades(PAIR, (), {0: steady, 1: shaky}, BLIND))
    assert [grade.flaky for grade in found] == [(B,), (B,)]
    assert [grade.delta for grade in found] == [(), ()]


def test_a_verdict_that_nobody_confirmed_is_none() -> None:
    found = graded(stored(SOLVED, table("G0 G1 G2 M", {A: "FPFP", B: "FFPF"})))
    assert (found.reason, found.delta) == ("not_run", None)


def test_a_textual_conflict_leaves_the_delta_null_and_the_rest_known() -> None:
    outcomes = stored(SOLVED, table("G0 G1 G2", {A: "FPF", B: "FFP"}), reasons={"M": "merge_conflict"})
    found = graded(outcomes)
    assert (found.reason, found.delta, found.observable) == ("merge_conflict", None, True)


def test_a_missing_patch_is_neither_success_nor_failure() -> None:
    outcomes = stored(
        table("W1", {A: "P"}, "own 1"),
        table("G0 G1", {A: "FP", B: "FF"}),
        reasons={"G2": "agent_failed", "W2": "agent_failed", "M": "agent_failed"},
    )
    found = graded(outcomes)
    assert (found.reason, found.observable, found.delta) == ("agent_failed", None, None)
    assert found.solved == (True, None)


def test_the_other_conditions_are_held_to_the_promise_of_the_solo_patches() -> None:
    rows = {A: "FPFP", B: "FFPF"}
    asked = Asked((Condition.BLIND, Condition.INFORMED, Condition.COMM), ("1.2", "2.1"), clash=False)
    finals = {"I1.2": {A: "P", B: "P"}, "I2.1": {A: "P", B: "-"}, "C": {A: "F", B: "P"}}
    cells = [
        *blind_cells(rows),
        *(cell for name, row in finals.items() for cell in confirmed(name, row)),
        *alone("G0 G2 I2.1", B, "FP-"),
        *alone("G0 G1 C", A, "FPF"),
    ]
    found = list(grades(PAIR, (), {0: stored(cells)}, asked))
    assert {(grade.condition, grade.order): grade.delta for grade in found} == {
        (Condition.BLIND, ""): (B,),
        (Condition.INFORMED, "1.2"): (),
        (Condition.INFORMED, "2.1"): (B,),
        (Condition.COMM, ""): (A,),
    }


def blind_cells(rows: Mapping[str, str]) -> list[Cell]:
    return [*SOLVED, *confirmed("G0 G1 G2 M", rows), *alone("G0 G2 M", B, "FPF")]


def test_grading_each_patch_on_its_own_tests_only_reports_what_one_patch_breaks() -> None:
    rows = {A: "FPFP", B: "PFPF"}
    pair = instance(assigned("1", (A,)), assigned("2", (B,)))
    outcomes = stored(SOLVED, confirmed("G0 G1 G2 M", rows))
    assert graded(outcomes, one=pair).delta == ()
    assert graded(outcomes, one=pair, grading=Grading.OWN_TESTS_ONLY).delta == (B,)


def test_keeping_the_edits_to_tests_reports_what_they_break() -> None:
    rows = {A: "FPFP", B: "FFPP"}
    edited = {A: "FPFP", B: "FFPF"}
    outcomes = stored(
        SOLVED,
        confirmed("G0 G1 G2 M", rows),
        confirmed("K1 K2 KM", {test: letters[1:] for test, letters in edited.items()}),
        alone("G0 K2 KM", B, "FPF"),
    )
    assert graded(outcomes).delta == ()
    assert graded(outcomes, grading=Grading.KEEP_TEST_EDITS).delta == (B,)


def test_without_edits_to_tests_keeping_them_changes_nothing() -> None:
    outcomes = blind({A: "F P F P", B: "F F P F"}, alone("G0 G2 M", B, "F P F"))
    assert graded(outcomes, grading=Grading.KEEP_TEST_EDITS).delta == (B,)


@pytest.mark.parametrize(
    ("graded_row", "overlaid", "kind"),
    [
        ("FFPF", "NN", "joint"),
        ("PFPF", "FF", "one_sided"),
        ("FFFF", "FP", "tests"),
        ("FFFF", "FF", "unclear"),
    ],
)
def test_a_clash_has_the_first_kind_that_applies(graded_row: str, overlaid: str, kind: str) -> None:
    asked = Asked((Condition.BLIND,), clash=True)
    golds = {A: "FPFP", B: graded_row}
    outcomes = stored(
        SOLVED,
        confirmed("G0 G1 G2 M", golds),
        alone("G0 G2 M", B, graded_row[0] + graded_row[2:]),
        alone("W0 W2", B, "FP"),
        table("M", {A: "P", B: "F"}, "touched"),
        confirmed("W0 W1 W2 M", {B: "FFPF"}, "failing"),
        confirmed("H1 H2", {B: overlaid}, "failing"),
    )
    found = graded(outcomes, asked)
    assert found.clash is not None
    assert [(clash.test, clash.kind) for clash in found.clash] == [(B, kind)]


def test_where_nothing_fails_merged_no_other_column_is_asked_for() -> None:
    golds = confirmed("G0 G1 G2 M", {A: "FPFP", B: "FFPP"})
    outcomes = stored(SOLVED, golds, table("M", {A: "P", B: "P"}, "touched"))
    assert graded(outcomes, Asked((Condition.BLIND,), clash=True)).clash == ()


def test_a_file_that_does_not_load_merged_is_asked_for_whole() -> None:
    golds = confirmed("G0 G1 G2 M", {A: "FPFP", B: "FFPP"})
    cells = [*SOLVED, *golds, *table("M", {A: "P"}, "touched")]
    outcomes = stored(cells, unloaded={("M", "touched"): ("tests/test_b.py",)})
    judge = Judge(PAIR, outcomes)
    with pytest.raises(Needed) as needed:
        judge.unstable([(Condition.BLIND, "")])
    assert needed.value.names == ("W0", "W1", "W2", "M")
    assert needed.value.suite is not None
    assert (needed.value.suite.files, needed.value.suite.functions) == (("tests/test_b.py",), None)


def test_where_the_tests_were_composed_by_function_there_is_no_clash_to_be_known() -> None:
    pair = instance(assigned("1", (A,)), assigned("2", (B,)), by_function=True)
    outcomes = stored(SOLVED, confirmed("G0 G1 G2 M", {A: "FPFP", B: "FFPP"}))
    assert graded(outcomes, Asked((Condition.BLIND,), clash=True), pair).clash is None


C = "tests/test_c.py::test_c"
THREE = instance(assigned("1", (A,)), assigned("2", (B,)), assigned("3", (C,)))
THREE_SOLVED = [*SOLVED, *table("W3", {C: "P"}, "own 3")]


def test_of_three_that_interfere_a_smallest_subset_that_still_fails_is_named() -> None:
    rows = {A: "FPFFP", B: "FFPFP", C: "FFFPF"}
    outcomes = stored(
        THREE_SOLVED,
        confirmed("G0 G1 G2 G3 M", rows),
        alone("G0 G3 M", C, "FPF"),
        table("S1.2", {A: "P", B: "P", C: "F"}),
        table("S1.3", {A: "P", B: "F", C: "P"}),
        table("S2.3", {A: "F", B: "P", C: "F"}),
    )
    found = graded(outcomes, one=THREE)
    assert (found.delta, found.smallest) == ((C,), (2, 3))
    assert found.leave_one_out == ((C,), (), ())


def test_three_that_only_fail_all_together_are_their_own_smallest_subset() -> None:
    rows = {A: "FPFFP", B: "FFPFP", C: "FFFPF"}
    outcomes = stored(
        THREE_SOLVED,
        confirmed("G0 G1 G2 G3 M", rows),
        alone("G0 G3 M", C, "FPF"),
        table("S1.2", {A: "P", B: "P", C: "F"}),
        table("S1.3", {A: "P", B: "F", C: "P"}),
        reasons={"S2.3": "merge_conflict"},
    )
    found = graded(outcomes, one=THREE)
    assert (found.smallest, found.leave_one_out) == ((1, 2, 3), (None, (), ()))


def test_what_nobody_ran_is_asked_for_and_what_cannot_be_had_is_said() -> None:
    outcomes = stored(SOLVED, table("G0 G1", {A: "FP"}), reasons={"M": "merge_conflict"})
    judge = Judge(PAIR, outcomes, with_clash=False)
    with pytest.raises(Needed) as needed:
        judge.observability()
    assert (needed.value.names, needed.value.selection, needed.value.repeat) == (("G2",), "gold", 0)
    with pytest.raises(Missing, match="merge_conflict"):
        judge.outcomes.columns(["M"], "gold")
