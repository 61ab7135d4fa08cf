"""The table of a run, from grades that are written down: who is counted where, who is left out and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from stalebench import tables
from stalebench.errors import DatasetError
from stalebench.grading.records import (
    Attempt,
    Condition,
    Grade,
    Grading,
    Instance,
    SetAside,
    Status,
    Unobservable,
)
from stalebench.grading.report import Report, Row, is_recovered, report
from stalebench.grading.swebench import swebench
from stalebench.records import Clash
from stalebench.statistics import wilson
from tests.grading.outcome_tables import assigned, instance

EVERY = tuple(Condition)


def pair(number: int) -> Instance:
    """A pair that shares no pull with any other."""
    return instance(assigned(f"{2 * number}", ("t::a",)), assigned(f"{2 * number + 1}", ("t::b",)))


def grade(one: Instance, condition: Condition, **values: Any) -> Grade:
    """A complete, observable grade in which nothing fails, but for what is given."""
    known: dict[str, Any] = dict.fromkeys(field.name for field in fields(Grade))
    known |= {"instance": one.id, "agent": "a", "condition": condition, "trial": 0, "order": ""}
    known |= {"grading": Grading.STANDARD, "detail": "", "flaky": (), "cost": 0.0}
    known |= {"observable": True, "solved": (True, True)}
    known |= {"delta": None if condition is Condition.SOLO else ()} | values
    known["id"] = f"{one.id}/{condition}/{known['trial']}/{known['order']}"
    return Grade(**known)


def attempt(one: Instance, task: int, condition: Condition = Condition.SOLO, **values: Any) -> Attempt:
    known: dict[str, Any] = {"trial": 0, "order": "", "agent": "a", "status": Status.PATCH, "detail": ""}
    known |= {"workspace_tree": "t", "patch": "p", "cost": 0.0} | values
    name = f"{one.id}/{condition}/{known['trial']}/{known['order']}/{task}"
    return Attempt(id=name, instance=one.id, condition=condition, task=task, **known)


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


def written(
    folder: Path,
    instances: Iterable[Instance],
    grades: Iterable[Grade],
    attempts: Iterable[Attempt] = (),
    conditions: Iterable[Condition] = EVERY,
) -> Path:
    asked = {"conditions": ",".join(conditions), "orders": "1.2,2.1", "clash": True, "agent": "a"}
    tables.create(folder, "shop", asked)
    tables.write(folder, "instances", instances)
    tables.write(folder, "patches", attempts)
    by_grading: dict[Grading, list[Grade]] = {Grading.STANDARD: []}
    for each in grades:
        by_grading.setdefault(each.grading, []).append(each)
    for grading, found in by_grading.items():
        tables.write(folder, "grades", found, part=str(grading))
    return folder


def rows(found: Report, grading: Grading = Grading.STANDARD) -> dict[Condition, Row]:
    return {row.condition: row for row in found.by_grading[grading]}


FAILS = {"delta": ("t::a", "t::b")}


def test_the_rate_is_over_instances_with_numerator_denominator_and_intervals(folder: Path) -> None:
    pairs = [pair(number) for number in range(10)]
    grades = [
        grade(one, Condition.BLIND, **(FAILS if number < 3 else {})) for number, one in enumerate(pairs)
    ]
    row = rows(report(written(folder, pairs, grades)))[Condition.BLIND]
    assert (row.instances, row.observable, row.graded, row.excluded) == (10, 10, 10, {})
    assert row.interfering is not None
    assert (row.interfering.events, row.interfering.n, row.interfering.clusters) == (3, 10, 20)
    assert row.interfering.wilson == wilson(3, 10)
    assert row.interfering.interval is not None
    assert row.median_delta == 2


def test_repeats_and_orders_are_averaged_within_an_instance(folder: Path) -> None:
    one, other = pair(1), pair(2)
    grades = [
        grade(one, Condition.INFORMED, order="1.2", **FAILS),
        grade(one, Condition.INFORMED, order="2.1"),
        grade(one, Condition.INFORMED, order="1.2", trial=1),
        grade(one, Condition.INFORMED, order="2.1", trial=1),
        grade(other, Condition.INFORMED, order="1.2", delta=("t::a",)),
    ]
    row = rows(report(written(folder, [one, other], grades)))[Condition.INFORMED]
    assert row.interfering is not None
    assert (row.interfering.events, row.interfering.n) == (1.25, 2)
    assert row.median_delta == 0.75  # of a mean of 0.5 tests, and one of 1


def test_whoever_is_left_out_is_so_by_reason(folder: Path) -> None:
    pairs = [pair(number) for number in range(5)]
    grades = [
        grade(pairs[0], Condition.BLIND, **FAILS),
        grade(pairs[1], Condition.BLIND, observable=False, unobservable=Unobservable.UNSOLVED),
        grade(pairs[2], Condition.BLIND, reason="merge_conflict", delta=None),
        grade(pairs[3], Condition.BLIND, reason="infra", observable=None, delta=None),
        grade(pairs[4], Condition.BLIND, observable=False, unobservable=Unobservable.UNSOLVED, **FAILS),
    ]
    row = rows(report(written(folder, pairs, grades)))[Condition.BLIND]
    assert (row.instances, row.observable, row.graded) == (5, 2, 1)
    assert row.excluded == {"unsolved": 2, "infra": 1, "merge_conflict": 1}
    assert (row.conflicts, row.infra) == (1, 1)


def test_an_instance_that_was_set_aside_is_told_and_counted_nowhere(folder: Path) -> None:
    aside = replace(pair(1), set_aside=SetAside.GOLD_FAILS)
    found = report(written(folder, [aside, pair(2)], [grade(pair(2), Condition.BLIND)]))
    assert (found.instances, found.set_aside) == (2, {"gold_fails": 1})
    assert rows(found)[Condition.BLIND].instances == 1


def test_recovery_has_two_denominators(folder: Path) -> None:
    """A textual conflict is not recovered in the main rate, and left out among clean merges."""
    pairs = [pair(number) for number in range(4)]
    grades = [grade(one, Condition.BLIND, **FAILS) for one in pairs[:3]]
    grades += [
        grade(pairs[3], Condition.BLIND),
        grade(pairs[0], Condition.COMM),
        grade(pairs[1], Condition.COMM, delta=("t::a",)),
        grade(pairs[2], Condition.COMM, reason="merge_conflict", delta=None),
        grade(pairs[3], Condition.COMM),
    ]
    row = rows(report(written(folder, pairs, grades)))[Condition.COMM]
    assert row.recovered is not None
    assert row.recovered_clean is not None
    assert (row.recovered.events, row.recovered.n) == (1, 3)
    assert (row.recovered_clean.events, row.recovered_clean.n) == (1, 2)
    assert row.headroom == pytest.approx((2 + 1 + 0) / 3)


BLIND = grade(pair(1), Condition.BLIND, **FAILS)


@pytest.mark.parametrize(
    ("blind", "values", "recovered"),
    [
        (BLIND, {}, True),
        (BLIND, FAILS, False),
        (BLIND, {"reason": "merge_conflict", "delta": None}, False),
        (BLIND, {"reason": "infra", "delta": None}, None),
        (replace(BLIND, delta=()), {}, None),
        (replace(BLIND, delta=None, reason="merge_conflict"), {}, None),
        (replace(BLIND, observable=False), {}, None),
        (None, {}, None),
    ],
)
def test_what_is_recovered(blind: Grade | None, values: dict[str, Any], recovered: bool | None) -> None:
    assert is_recovered(blind, grade(pair(1), Condition.COMM, **values)) is recovered


def test_headroom_may_be_negative(folder: Path) -> None:
    one = pair(1)
    grades = [grade(one, Condition.BLIND), grade(one, Condition.INFORMED, order="1.2", delta=("t::a",))]
    assert rows(report(written(folder, [one], grades)))[Condition.INFORMED].headroom == -1


def test_conditions_are_compared_on_the_instances_that_both_have(folder: Path) -> None:
    pairs = [pair(number) for number in range(12)]
    grades = [grade(one, Condition.BLIND, **FAILS) for one in pairs]
    grades += [
        grade(one, Condition.COMM, **(FAILS if number < 3 else {})) for number, one in enumerate(pairs[:10])
    ]
    (found,) = report(written(folder, pairs, grades)).differences
    assert (found.first, found.second, found.n) == (Condition.BLIND, Condition.COMM, 10)
    assert (found.mean, found.only_first, found.only_second) == (0.7, 7, 0)
    assert found.p == pytest.approx(2 / 2**7)
    assert found.interval is not None
    assert found.interval.low < 0.7 < found.interval.high


def test_clashes_are_counted_by_instance_with_their_kinds(folder: Path) -> None:
    pairs = [pair(number) for number in range(3)]
    clashes = (Clash("t::a", "joint"), Clash("t::c", "joint"), Clash("t::d", "tests"))
    grades = [
        grade(pairs[0], Condition.BLIND, clash=clashes),
        grade(pairs[1], Condition.BLIND, clash=()),
        grade(pairs[2], Condition.BLIND, clash=None),
    ]
    row = rows(report(written(folder, pairs, grades)))[Condition.BLIND]
    assert row.clashing is not None
    assert (row.clashing.events, row.clashing.n) == (1, 2)
    assert row.clash_kinds == {"joint": 1, "tests": 1}


@pytest.mark.parametrize(("costs", "total"), [((1.5, 0.25), 1.75), ((1.5, None), None)])
def test_a_cost_that_nobody_tells_is_no_zero(
    folder: Path, costs: tuple[float | None, ...], total: float | None
) -> None:
    pairs = [pair(1), pair(2)]
    grades = [grade(one, Condition.SOLO, cost=cost) for one, cost in zip(pairs, costs, strict=True)]
    assert rows(report(written(folder, pairs, grades)))[Condition.SOLO].cost == total


def test_solo_says_how_many_tasks_are_solved_and_who_is_not_observable(folder: Path) -> None:
    pairs = [pair(1), pair(2)]
    grades = [
        grade(pairs[0], Condition.SOLO),
        grade(
            pairs[1],
            Condition.SOLO,
            solved=(True, False),
            observable=False,
            unobservable=Unobservable.UNSOLVED,
        ),
    ]
    row = rows(report(written(folder, pairs, grades)))[Condition.SOLO]
    assert (row.solved, row.tasks, row.observable, row.excluded) == (3, 4, 1, {"unsolved": 1})
    assert row.interfering is None


def test_attempts_are_told_by_how_they_ended_and_blind_has_those_of_solo(folder: Path) -> None:
    one = pair(1)
    attempts = [attempt(one, 1), attempt(one, 2, status=Status.TIMED_OUT), attempt(one, 1, Condition.COMM)]
    found = rows(report(written(folder, [one], [grade(one, each) for each in EVERY], attempts)))
    assert found[Condition.SOLO].attempts == found[Condition.BLIND].attempts == {"patch": 1, "timed_out": 1}
    assert found[Condition.COMM].attempts == {"patch": 1}


def test_a_known_mistake_stands_beside_the_right_way(folder: Path) -> None:
    one = pair(1)
    wrong = grade(one, Condition.BLIND, grading=Grading.OWN_TESTS_ONLY, **FAILS)
    out = written(folder, [one], [grade(one, Condition.BLIND), wrong])
    found = report(out, [Grading.OWN_TESTS_ONLY])
    assert list(found.by_grading) == [Grading.STANDARD, Grading.OWN_TESTS_ONLY]
    right, mistaken = (rows(found, each)[Condition.BLIND].interfering for each in found.by_grading)
    assert right is not None
    assert mistaken is not None
    assert (right.events, mistaken.events) == (0, 1)
    assert [each.grading for each in found.grades] == [Grading.STANDARD]


def test_a_dataset_of_pairs_is_no_run(folder: Path) -> None:
    tables.create(folder, "shop", {"spec": "s"})
    with pytest.raises(DatasetError, match="not a graded run"):
        report(folder)


def test_the_report_for_swe_bench_puts_every_task_where_its_harness_would(folder: Path) -> None:
    pairs = [pair(1), pair(2), pair(3)]
    aside = replace(pair(4), set_aside=SetAside.FLAKY)
    grades = [
        grade(pairs[0], Condition.SOLO, solved=(True, False)),
        grade(pairs[1], Condition.SOLO, solved=(None, False), reason="agent_failed"),
        grade(pairs[2], Condition.SOLO, solved=(None, True), reason="no_prediction"),
        grade(pairs[0], Condition.SOLO, trial=1, solved=(False, True)),
    ]
    attempts = [
        attempt(pairs[0], 1),
        attempt(pairs[0], 2),
        attempt(pairs[1], 1, status=Status.FAILED, patch=None),
        attempt(pairs[1], 2, status=Status.EMPTY, patch=None),
        attempt(pairs[2], 1, status=Status.NO_PREDICTION, patch=None),
        attempt(pairs[2], 2),
        attempt(pairs[0], 1, trial=1, status=Status.EMPTY, patch=None),
    ]
    found = swebench(written(folder, [*pairs, aside], grades, attempts))
    assert found == {
        "total_instances": 6,
        "submitted_instances": 5,
        "completed_instances": 3,
        "resolved_instances": 2,
        "unresolved_instances": 1,
        "empty_patch_instances": 1,
        "error_instances": 1,
        "completed_ids": ["3+2:2", "3+2:3", "7+6:7"],
        "incomplete_ids": ["7+6:6"],
        "empty_patch_ids": ["5+4:5"],
        "submitted_ids": ["3+2:2", "3+2:3", "5+4:4", "5+4:5", "7+6:7"],
        "resolved_ids": ["3+2:2", "7+6:7"],
        "unresolved_ids": ["3+2:3"],
        "error_ids": ["5+4:4"],
        "schema_version": 2,
    }
