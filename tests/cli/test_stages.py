from __future__ import annotations

import json
from pathlib import Path

import pytest

from stalebench import tables
from stalebench.cli import requests
from tests.cli.command import Ran, stalebench


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clone") / "demo"
    ran = stalebench("demo", path)
    assert (ran.code, ran.out) == (0, f"{path}\n"), ran.err
    return path


def counts(ran: Ran) -> dict[str, int]:
    assert ran.code == 0, ran.err
    read = json.loads(ran.out)
    assert read["schema_version"] == 1
    assert read["entered"] == read["passed"] + sum(read["rejected"].values())
    return {"entered": read["entered"], "passed": read["passed"]}


def test_each_stage_works_on_the_output_of_the_one_before(clone: Path, tmp_path: Path) -> None:
    out = tmp_path / "data"
    where = ("--clone", clone, "--out", out, "--quiet", "--json")
    pulls = counts(stalebench("pulls", "--repo", "demo", *where))
    candidates = counts(stalebench("candidates", *where, "--within", 3000, "--limit", 9))
    composed = counts(stalebench("compose", *where))
    assert pulls["passed"] > 0
    assert candidates["passed"] == composed["entered"] == 9
    parameters = tables.describe(out).parameters
    assert (parameters["within"], parameters["limit"]) == (3000, 9)


def test_an_earlier_stage_that_runs_again_removes_what_rested_on_it(clone: Path, tmp_path: Path) -> None:
    out = tmp_path / "data"
    where = ("--clone", clone, "--out", out, "--quiet")
    for stage in ("pulls", "candidates", "compose"):
        assert stalebench(stage, *where).code == 0
    assert stalebench("candidates", *where, "--limit", 1).code == 0
    assert tables.parts(out, "candidates")
    assert not tables.parts(out, "compositions")


def test_named_pairs_are_taken_alone_and_stay_told(clone: Path, tmp_path: Path) -> None:
    out = tmp_path / "data"
    where = ("--clone", clone, "--out", out, "--quiet", "--json")
    assert stalebench("pulls", "--repo", "demo", *where).code == 0
    assert counts(stalebench("candidates", *where, "--pair", "5+4"))["passed"] == 1
    assert counts(stalebench("compose", *where)) == {"entered": 1, "passed": 1}
    assert tables.describe(out).parameters["pairs"] == "5+4"


def test_progress_goes_to_stderr_and_the_count_to_stdout(clone: Path, tmp_path: Path) -> None:
    ran = stalebench("pulls", "--repo", "demo", "--clone", clone, "--out", tmp_path / "data")
    assert ran.err.startswith("pulls\n")
    assert ran.out.splitlines()[0].split() == ["stage", "in", "out", "rejected", "reason"]
    assert ran.out.splitlines()[-1] == f"dataset  {tmp_path / 'data'}"


@pytest.mark.parametrize("stage", ["candidates", "compose", "validate"])
def test_a_stage_without_a_dataset_says_what_to_name(clone: Path, tmp_path: Path, stage: str) -> None:
    ran = stalebench(stage, "--repo", "demo", "--clone", clone, "--out", tmp_path / "data")
    assert ran.code == 2
    assert "is no dataset" in ran.err
    assert "way out: " in ran.err


def test_a_stage_whose_input_is_missing_names_the_command_that_makes_it(clone: Path, tmp_path: Path) -> None:
    where = ("--repo", "demo", "--clone", clone, "--out", tmp_path / "data", "--quiet")
    assert stalebench("pulls", *where).code == 0
    ran = stalebench("compose", *where)
    assert ran.code == 2
    assert "stalebench candidates" in ran.err


@pytest.mark.parametrize("stage", ["mine", "pulls", "candidates", "compose", "validate"])
def test_no_repository_at_all_is_bad_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = stalebench(stage)
    assert ran.code == 2
    assert "no repository is named" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_clone_named_by_a_dot_has_a_dataset_of_its_own_name(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop").symlink_to(clone)
    monkeypatch.chdir(tmp_path / "shop")
    assert requests.default_out(None, ".", None) == Path("data") / clone.name


EMPTY_FUNNEL = (
    ("pulls", "0", "0"),
    ("candidates", "0", "0"),
    ("compose", "0", "0"),
    ("validate", "0", "0"),
)


def test_with_nothing_to_do_the_funnel_is_shown_before_the_error(clone: Path, tmp_path: Path) -> None:
    out = tmp_path / "data"
    where = ("--repo", "demo", "--clone", clone, "--out", out, "--quiet")
    ran = stalebench("mine", *where, "--since", "2030-01-01")
    assert ran.code == 3
    assert ran.err.startswith("stalebench: no candidate pair composes cleanly\nusual cause: ")
    shown = [tuple(line.split()) for line in ran.out.splitlines()]
    assert set(EMPTY_FUNNEL) < set(shown)
    assert f"dataset  {out}" in ran.out
    assert stalebench("query", out, "select count(*) as n from pairs", "--csv").out == "n\n0\n"


def test_with_nothing_to_do_the_document_has_the_reasons(clone: Path, tmp_path: Path) -> None:
    where = ("--repo", "demo", "--clone", clone, "--out", tmp_path / "data", "--quiet", "--json")
    ran = stalebench("mine", *where, "--pair", "27+26")
    assert ran.code == 3
    read = json.loads(ran.out)
    assert read["funnel"]["candidates"] == 1
    assert (read["funnel"]["clean"], read["funnel"]["valid"]) == (0, 0)
    assert sum(read["rejected"].values()) == read["funnel"]["pulls"] - read["funnel"]["eligible"] + 1
    assert read["gold_delta"] == {"pairs": 0, "interfering": 0, "clashing": 0, "kinds": {}}
    again = stalebench("validate", "--clone", clone, "--out", tmp_path / "data", "--quiet", "--json")
    assert again.code == 3
    assert json.loads(again.out) == {
        "schema_version": 1,
        "stage": "validate",
        "out": str(tmp_path / "data"),
        "entered": 0,
        "passed": 0,
        "rejected": {},
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--since", "2024-02-01", "--until", "2024-02-01"), "no day is in"),
        (("--since", "2024-02-02", "--until", "2024-02-01"), "no day is in"),
        (("--within", "nan"), "within"),
        (("--within", "inf"), "is no number of days"),
    ],
)
def test_what_can_select_nothing_is_bad_usage(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    ran = stalebench("mine", "--repo", "demo", "--out", tmp_path / "data", *options)
    assert ran.code == 2
    assert said in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stage", ["mine", "pulls"])
def test_a_folder_of_something_else_is_left_untouched(tmp_path: Path, stage: str) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    ran = stalebench(stage, "--repo", "demo", "--out", tmp_path)
    assert ran.code == 2
    assert "files that are not a dataset's" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_dataset_of_another_repository_is_left_untouched(tmp_path: Path) -> None:
    tables.create(tmp_path, "toy", {})
    ran = stalebench("mine", "--repo", "demo", "--out", tmp_path)
    assert ran.code == 2
    assert "holds a dataset of toy, not of demo" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["dataset.json"]


def test_a_clone_that_is_refused_leaves_no_folder(tmp_path: Path) -> None:
    ran = stalebench("mine", "--clone", tmp_path / "nowhere", "--out", tmp_path / "data", "--quiet")
    assert ran.code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_may_not_be_written_to_is_no_bug(tmp_path: Path) -> None:
    (tmp_path / "work").touch()
    ran = stalebench("mine", "--repo", "demo", "--out", tmp_path)
    assert ran.code == 1
    assert f"cannot write {tmp_path / 'work' / 'lock'}" in ran.err
    assert "this is a bug" not in ran.err


def test_an_unknown_repository_lists_the_known_ones(tmp_path: Path) -> None:
    ran = stalebench("pulls", "--repo", "seaborne", "--out", tmp_path / "data")
    assert ran.code == 2
    assert "seaborn" in ran.err


def test_a_clone_that_is_none_is_bad_input(tmp_path: Path) -> None:
    ran = stalebench("pulls", "--repo", "demo", "--clone", tmp_path, "--out", tmp_path / "data", "--quiet")
    assert ran.code == 2
    assert "Traceback" not in ran.err


def test_a_specification_can_be_listed_shown_and_derived(clone: Path, tmp_path: Path) -> None:
    assert "demo" in stalebench("spec", "list").out.splitlines()
    shown = stalebench("spec", "show", "demo")
    assert shown.code == 0
    assert 'name = "demo"' in shown.out
    derived = stalebench("spec", "derive", "--clone", clone, "--name", "mine")
    assert derived.code == 0, derived.err
    assert derived.out.startswith('name = "mine"\n')
    (tmp_path / "mine.toml").write_text(derived.out, encoding="utf-8")
    assert stalebench("spec", "show", tmp_path / "mine.toml").out == derived.out


def test_the_doctor_gives_one_document(tmp_path: Path) -> None:
    ran = stalebench("doctor", "--json")
    read = json.loads(ran.out)
    assert ran.code == (0 if read["ok"] else 1)
    assert {"name", "ok", "detail", "fix"} <= set(read["findings"][0])
