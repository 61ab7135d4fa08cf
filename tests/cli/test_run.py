"""`stalebench run` and `stalebench grade` as typed, on the mined demo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stalebench import tables
from stalebench.grading.records import Attempt
from stalebench.predictions import written
from stalebench.tables.dataset import patch_path
from tests.cli.command import Ran, stalebench

LINK = "11+10"


@pytest.fixture(name="data", scope="session")
def _data(mined_demo: tuple[Path, dict[str, Any]]) -> Path:
    return mined_demo[0]


@pytest.fixture(name="graded", scope="module")
def _graded(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    out = tmp_path_factory.mktemp("run") / "gold"
    return out, stalebench("run", data, "--instance", LINK, "--condition", "solo,blind", "--out", out)


def document(ran: Ran) -> dict[str, Any]:
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    assert found["schema_version"] == 1
    return found


def test_it_ends_with_a_table_the_folder_and_what_to_try_next(graded: tuple[Path, Ran]) -> None:
    out, ran = graded
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0] == "gold on 1 instances of demo"
    (blind,) = [line.split() for line in lines if line.startswith("blind ")][:1]
    assert blind[:6] == ["blind", "1", "1", "1", "1", "100.0%"]
    assert "solo: 2 of 2 tasks solved" in lines
    assert lines[-2] == f"run   {out}"
    assert lines[-1].startswith(f"next  stalebench query {out} ")


def test_what_it_proposes_to_try_works(graded: tuple[Path, Ran]) -> None:
    query = graded[1].out.splitlines()[-1].partition('"')[2].rstrip('"')
    ran = stalebench("query", graded[0], query, "--json")
    rows = json.loads(ran.out)["rows"]
    assert {row["subject"] for row in rows} == {f"{LINK}/0"}
    (link,) = [row for row in rows if row["test"] == "tests/test_link.py::test_a_link_ends_in_the_name"]
    assert link["pattern"] == "G0=fail G1=fail G2=pass M=fail"


def test_it_is_graded_again_without_running_anything(graded: tuple[Path, Ran]) -> None:
    out, first = graded
    ran = stalebench("grade", out)
    assert (ran.code, ran.out) == (0, first.out)


def test_one_document_tells_the_same(graded: tuple[Path, Ran]) -> None:
    found = document(stalebench("grade", graded[0], "--json", "--grading", "own-tests-only"))
    assert set(found["by_condition"]) == {"solo", "blind"}
    blind = found["by_condition"]["blind"]
    assert (blind["interfering"]["events"], blind["interfering"]["n"]) == (1, 1)
    assert blind["interfering"]["wilson_of"] == "clusters"
    assert set(found["as_reported_by"]) == {"own-tests-only"}
    (row,) = [each for each in found["instances"] if each["condition"] == "blind"]
    assert (row["instance"], row["delta"]) == (LINK, ["tests/test_link.py::test_a_link_ends_in_the_name"])


def test_known_mistakes_are_printed_below(graded: tuple[Path, Ran]) -> None:
    ran = stalebench("grade", graded[0], "--grading", "own-tests-only,keep-test-edits")
    assert "as own-tests-only would have reported it: blind +0 interfere" in ran.out
    assert "as keep-test-edits would have reported it: blind +0 interfere" in ran.out


def test_solo_is_also_a_report_of_swe_bench(graded: tuple[Path, Ran], tmp_path: Path) -> None:
    path = tmp_path / "gold.report.json"
    assert stalebench("grade", graded[0], "--swe-bench", path).code == 0
    assert json.loads(path.read_text())["resolved_ids"] == ["11+10:10", "11+10:11"]


def test_patches_of_one_run_are_predictions_of_another(
    data: Path, graded: tuple[Path, Ran], tmp_path: Path
) -> None:
    file = tmp_path / "preds.jsonl"
    lines = [
        (f"{LINK}:{pull}", patch_path(graded[0], str(made.patch)).read_bytes())
        for made in tables.read(graded[0], "patches", Attempt)
        for pull in [["10", "11"][made.task - 1]]
    ]
    file.write_text("".join(written("theirs", [*lines, ("django__django-1", b"")])))
    ran = stalebench(
        "run",
        data,
        "--predictions",
        file,
        "--instance",
        LINK,
        "--no-clash",
        "--out",
        tmp_path / "r",
        "--json",
    )
    found = document(ran)
    assert f"1 of 3 predictions name no task of {data}, as django__django-1: left out" in ran.err
    assert found["agent"] == "theirs"
    assert found["by_condition"]["blind"]["interfering"]["events"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--agent", "nobody"], "there is no agent 'nobody'"),
        (["--condition", "alone"], "no condition is called 'alone'"),
        (["--orders", "random"], "no order is called 'random'"),
        (["--instance", "99+98"], "no valid pair: 99+98"),
        (["--predictions", "none.jsonl"], "none.jsonl cannot be read"),
        (["--model-option", "x"], "'x' is no option of a model"),
        (["--engine", "abacus"], "no engine is called 'abacus'"),
    ],
)
def test_what_cannot_be_is_bad_usage(data: Path, tmp_path: Path, arguments: list[str], said: str) -> None:
    ran = stalebench("run", data, *arguments, "--out", tmp_path / "run")
    assert ran.code == 2
    assert said in ran.err
    assert "way out: " in ran.err
    assert ran.out == ""


def test_a_folder_that_is_no_dataset_is_bad_input(tmp_path: Path) -> None:
    for command in ("run", "grade"):
        ran = stalebench(command, tmp_path)
        assert (ran.code, ran.out) == (2, "")
        assert "Traceback" not in ran.err


def test_a_dataset_of_pairs_cannot_be_graded_as_it_is(data: Path) -> None:
    ran = stalebench("grade", data)
    assert ran.code == 2
    assert "not a graded run" in ran.err


def test_neither_the_pairs_nor_another_agents_run_are_overwritten(
    data: Path, graded: tuple[Path, Ran], tmp_path: Path
) -> None:
    for out, there in ((data, "pairs"), (graded[0], "a run of gold")):
        before = (out / "dataset.json").read_bytes()
        ran = stalebench("run", data, "--agent", "noop", "--out", out)
        assert (ran.code, ran.out) == (2, "")
        assert f"{out} holds {there}, and is to hold a run of noop" in ran.err
        assert (out / "dataset.json").read_bytes() == before
    ran = stalebench("mine", "--repo", "demo", "--out", graded[0])
    assert ran.code == 2
    assert "holds a run of gold, and is to hold pairs" in ran.err
    (tmp_path / "file").touch()
    assert "is no folder" in stalebench("run", data, "--out", tmp_path / "file").err


def test_without_a_group_of_five_there_is_nothing_to_do(data: Path, tmp_path: Path) -> None:
    ran = stalebench("run", data, "--tasks", "5", "--out", tmp_path / "run")
    assert ran.code == 3
    assert "no valid group of 5" in ran.err
