"""Every condition on the demo, with the scripted agent: what it comes to is found by running it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stalebench import demo, tables
from stalebench.agents import scripted
from stalebench.agents.scripted import Scripted
from stalebench.compose import Objects
from stalebench.grading import attempting
from stalebench.grading.records import Attempt, Condition, Grade
from stalebench.grading.report import report
from stalebench.grading.running import RunRequest, run
from stalebench.progress import Silent
from stalebench.syntax import definitions

FAIL_TOGETHER = {"5+4", "11+10", "13+12", "15+14"}


@pytest.fixture(scope="module", name="graded")
def _graded(mined_demo: tuple[Path, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("scripted") / "run"
    run(RunRequest(mined_demo[0], out, Scripted(), tuple(Condition), engine="serial"), Silent())
    return out


def interfering(out: Path, condition: Condition, order: str = "") -> set[str]:
    chosen = [
        grade
        for grade in tables.read(out, "grades", Grade)
        if (grade.condition, grade.order) == (condition, order)
    ]
    assert {grade.reason for grade in chosen} == {None}
    assert all(grade.observable for grade in chosen)
    return {grade.instance for grade in chosen if grade.delta}


def test_blind_interferes_where_the_demo_says(graded: Path) -> None:
    assert interfering(graded, Condition.BLIND) == FAIL_TOGETHER


@pytest.mark.parametrize("order", ["1.2", "2.1"])
def test_whoever_is_informed_does_not(graded: Path, order: str) -> None:
    assert interfering(graded, Condition.INFORMED, order) == set()


def test_a_message_recovers_all_of_them(graded: Path) -> None:
    assert interfering(graded, Condition.COMM) == set()


def test_the_report_says_so(graded: Path) -> None:
    found = report(graded)
    assert (found.agent, found.instances, found.set_aside) == ("scripted", 8, {"tests_interact": 1})
    rows = {row.condition: row for row in found.by_grading[next(iter(found.by_grading))]}
    blind, comm = rows[Condition.BLIND].interfering, rows[Condition.COMM]
    assert blind is not None
    assert (blind.events, blind.n) == (4, 7)
    assert comm.recovered is not None
    assert (comm.recovered.events, comm.recovered.n) == (4, 4)
    assert rows[Condition.INFORMED].headroom == pytest.approx(4 / 7)


def test_a_message_that_says_nothing_recovers_nothing(
    mined_demo: tuple[Path, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempting, "message_about", lambda *_: "Somebody works on the same files.")
    request = RunRequest(
        mined_demo[0],
        tmp_path / "run",
        Scripted(),
        (Condition.BLIND, Condition.COMM),
        only=tuple(FAIL_TOGETHER),
        clash=False,
        engine="serial",
    )
    run(request, Silent())
    assert interfering(tmp_path / "run", Condition.COMM) == FAIL_TOGETHER


def test_the_exact_prompt_and_message_are_kept(graded: Path) -> None:
    attempts = list(tables.read(graded, "patches", Attempt))
    for attempt in attempts:
        assert attempt.prompt is not None
        prompt = (graded / "texts" / attempt.prompt[:2] / f"{attempt.prompt}.txt").read_text()
        if attempt.condition is Condition.COMM:
            assert attempt.message is not None
            message = (graded / "texts" / attempt.message[:2] / f"{attempt.message}.txt").read_text()
            assert message in prompt
        else:
            assert attempt.message is None
    (told,) = [each for each in attempts if each.id == "11+10/comm/0//2"]
    assert told.message is not None
    said = (graded / "texts" / told.message[:2] / f"{told.message}.txt").read_text()
    assert said == "- `shop/text.py`: `slug` is now called `as_address`"


def symbols(folder: Path) -> Iterator[str]:
    repository = demo.build(folder)
    objects = Objects(repository)
    for path, entry in objects.files(objects.tree_of(demo.TIP), "shop/"):
        if path.endswith(".py"):
            yield from (each.name.rpartition(".")[2] for each in definitions(objects.blob(entry.id)))


def test_the_scripted_agent_does_not_know_the_demo(tmp_path: Path) -> None:
    assert scripted.__file__
    source = "".join(path.read_text() for path in Path(scripted.__file__).parent.glob("*.py"))
    words = set(re.findall(r"\w+", source))
    assert {"as_address", "parse_line", "format_amount", "PriceBook"} <= (
        known := set(symbols(tmp_path / "git"))
    )
    everyday = {"get", "set", "names", "count", "old", "first"}
    assert {word for word in known & words if not word.startswith("__")} <= everyday
