"""Whole runs on the demo: controls, conditions, resuming, cost. Real git, real pytest."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from stalebench import connect, tables
from stalebench.agents import Agent, Assignment, Worked
from stalebench.agents.fixed import GOLD, NOOP, FixedPatch
from stalebench.errors import NothingToDo, UsageError
from stalebench.grading.grading import write_grades
from stalebench.grading.records import Attempt, Condition, Grade, Instance, SetAside, Status, Unobservable
from stalebench.grading.running import RunRequest, run
from stalebench.progress import Silent

EVERY = tuple(Condition)
LINK, CACHE = "11+10", "5+4"
"""The demo's pairs of a renamed helper and a new caller, and of a price cache and a bulk update."""
FAIL_TOGETHER = {"5+4", "11+10", "13+12", "15+14"}


@pytest.fixture(name="data")
def _data(mined_demo: tuple[Path, dict[str, Any]]) -> Path:
    return mined_demo[0]


def ran(data: Path, out: Path, source: Agent | FixedPatch = GOLD, **choices: Any) -> Path:
    run(RunRequest(data, out, source, engine="serial", **choices), Silent())
    return out


def grades(out: Path) -> list[Grade]:
    return list(tables.read(out, "grades", Grade))


def files(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and "work" not in path.relative_to(out).parts
    }


def test_the_human_patches_of_the_demo_interfere_where_the_control_says(data: Path, tmp_path: Path) -> None:
    out = ran(data, tmp_path / "gold", conditions=(Condition.SOLO, Condition.BLIND))
    found = grades(out)
    assert {grade.instance for grade in found if grade.delta} == FAIL_TOGETHER
    assert {grade.reason for grade in found} == {None}
    assert all(grade.solved == (True, True) for grade in found if grade.condition is Condition.SOLO)
    with connect(data) as pairs, connect(out) as graded:
        told = pairs.execute(
            "select id, delta_blind, clash from pairs where unobservable is null order by id"
        )
        again = graded.execute(
            "select instance, delta, clash from grades where condition = 'blind' order by instance"
        )
        assert told.fetchall() == again.fetchall()


def test_an_instance_whose_tests_interact_is_set_aside_before_anybody_is_paid(
    data: Path, tmp_path: Path
) -> None:
    out = ran(data, tmp_path / "gold", only=("9+8", "17+16"))
    aside = {one.id: one.set_aside for one in tables.read(out, "instances", Instance)}
    assert aside == {"9+8": SetAside.TESTS_INTERACT, "17+16": None}
    assert {attempt.instance for attempt in tables.read(out, "patches", Attempt)} == {"17+16"}


def test_an_empty_patch_solves_nothing_and_shows_nothing(data: Path, tmp_path: Path) -> None:
    out = ran(data, tmp_path / "noop", NOOP, only=(LINK,))
    assert {attempt.status for attempt in tables.read(out, "patches", Attempt)} == {Status.EMPTY}
    found = grades(out)
    assert {grade.unobservable for grade in found} == {Unobservable.UNSOLVED}
    assert {grade.solved for grade in found} == {(False, False)}


def test_a_run_again_makes_the_same_files_and_so_does_another_engine(data: Path, tmp_path: Path) -> None:
    out = ran(data, tmp_path / "gold", only=(LINK, CACHE), conditions=EVERY)
    first = files(out)
    assert files(ran(data, out, only=(LINK, CACHE), conditions=EVERY)) == first
    other = tmp_path / "other"
    run(RunRequest(data, other, GOLD, EVERY, only=(LINK, CACHE), engine="local", jobs=2), Silent())
    assert files(other) == first


def test_the_grades_are_made_again_from_what_is_stored(data: Path, tmp_path: Path) -> None:
    out = ran(data, tmp_path / "gold", only=(LINK,), conditions=EVERY)
    before = files(out)
    shutil.rmtree(out / "grades")
    shutil.rmtree(out / "work")
    write_grades(out, Silent())
    assert files(out) == before


@dataclass(frozen=True)
class Priced:
    """Writes the plan into the workspace for a price, and notes each time that it was started."""

    started: Path
    price: float = 1.0
    text: str = ""
    name: str = "priced"
    wants_plan: bool = True
    settings: dict[str, str | int | float | bool | None] = field(default_factory=dict)

    def work(self, assignment: Assignment) -> Worked:
        assert assignment.plan is not None
        with self.started.open("a") as file:
            file.write(f"{assignment.id}\n")
        for path, content in assignment.plan.after.items():
            assert content is not None
            target = assignment.workspace / path
            target.write_bytes(content + self.text.encode())
        (assignment.log / "said.json").write_text(json.dumps({"format": 1}))
        return Worked(Status.PATCH, cost=self.price, trajectory="said.json")


def starts(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_a_limit_of_cost_holds_and_a_higher_one_goes_on_from_there(data: Path, tmp_path: Path) -> None:
    agent = Priced(tmp_path / "started")
    out = ran(data, tmp_path / "run", agent, only=(LINK, CACHE), max_cost=3.0)
    statuses = [attempt.status for attempt in tables.read(out, "patches", Attempt)]
    assert sorted(statuses) == [Status.NOT_STARTED, Status.PATCH, Status.PATCH, Status.PATCH]
    reasons = {(grade.instance, grade.reason) for grade in grades(out) if grade.condition is Condition.BLIND}
    assert {reason for _, reason in reasons} == {None, "not_started"}
    assert starts(agent.started) == 3
    ran(data, out, agent, only=(LINK, CACHE), max_cost=10.0)
    assert starts(agent.started) == 4
    assert {grade.reason for grade in grades(out)} == {None}


def test_an_attempt_is_made_once_and_a_changed_agent_is_never_served_the_old_one(
    data: Path, tmp_path: Path
) -> None:
    agent = Priced(tmp_path / "started")
    out = ran(data, tmp_path / "run", agent, only=(LINK,))
    ran(data, out, agent, only=(LINK,))
    assert starts(agent.started) == 2
    changed = replace(agent, text="\n\nNEW = 1\n", settings={"text": "new"})
    before = {attempt.patch for attempt in tables.read(out, "patches", Attempt)}
    ran(data, out, changed, only=(LINK,))
    assert starts(agent.started) == 4
    assert before.isdisjoint({attempt.patch for attempt in tables.read(out, "patches", Attempt)})


def test_blind_merges_exactly_the_solo_patches(data: Path, tmp_path: Path) -> None:
    agent = Priced(tmp_path / "started")
    out = ran(data, tmp_path / "run", agent, only=(LINK,))
    attempts = list(tables.read(out, "patches", Attempt))
    assert {attempt.condition for attempt in attempts} == {Condition.SOLO}
    assert {grade.delta for grade in grades(out) if grade.condition is Condition.BLIND} == {
        ("tests/test_link.py::test_a_link_ends_in_the_name",)
    }
    assert all((out / str(attempt.trajectory)).is_file() for attempt in attempts)


def test_a_patch_made_elsewhere_that_does_not_apply_is_no_verdict(data: Path, tmp_path: Path) -> None:
    given = {(LINK, 1): b"--- a/shop/none.py\n+++ b/shop/none.py\n@@ -1 +1 @@\n-a\n+b\n"}
    out = ran(data, tmp_path / "run", FixedPatch("theirs", "given"), only=(LINK,), given=given)
    told = {attempt.task: attempt.status for attempt in tables.read(out, "patches", Attempt)}
    assert told == {1: Status.UNAPPLIABLE, 2: Status.NO_PREDICTION}
    assert {(grade.observable, grade.delta) for grade in grades(out)} == {(None, None)}


def test_a_name_that_is_no_pair_is_refused_and_a_dataset_without_pairs_is_nothing_to_do(
    data: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="99\\+98"):
        ran(data, tmp_path / "run", only=("99+98",))
    with pytest.raises(NothingToDo, match="group of 5"):
        ran(data, tmp_path / "run", tasks=5)
