"""The demo's story, and what must come out of it: written from the story, not from the output."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from stalebench import connect, demo
from stalebench.demo.history import Landing, Writer, add, replace
from stalebench.errors import UsageError
from stalebench.reasons import Reason

NUMBERLESS = "87960683696a+51436e96bcdc"
"""Two plain commits, «First aisle again» and «First aisle»: named by the commits that landed."""

REJECTED = {
    NUMBERLESS: Reason.CODE_CONFLICTS_WITH_BASE,
    "23+22": Reason.FILE_MISSING_ON_BASE,
    "25+24": Reason.ALREADY_APPLIED,
    "27+26": Reason.CODES_CONFLICT,
    "29+28": Reason.TESTS_CONFLICT_WITH_BASE,
    "31+30": Reason.TESTS_CONFLICT,
    "41+40": Reason.PASSES_ON_BASE,
    "43+42": Reason.FAILS_WITH_PATCH,
    "45+44": Reason.NO_GOLD_TESTS,
    "47+46": Reason.FLAKY,
    "53+52": Reason.UNSUPPORTED_CHANGE,
}


JOINT = {
    "5+4": "tests/test_price_bulk.py::test_prices_can_be_changed_together",
    "11+10": "tests/test_link.py::test_a_link_ends_in_the_name",
    "13+12": "tests/test_receipt.py::test_a_line_names_good_and_price",
    "15+14": "tests/test_goods.py::test_a_line_names_a_good",
}
CLASHES = {
    **{pair: [(test, "joint")] for pair, test in JOINT.items()},
    "7+6": [("tests/test_discounts.py::test_shelf_prices_stay_whole_tens", "one_sided")],
    "9+8": [("tests/test_scarcest.py::test_the_good_of_which_there_is_least", "tests")],
    "51+50": [],
}
COMPATIBLE = {"17+16", "51+50"}
VALID = {*CLASHES, "17+16"}

NEVER_IN_A_LINE_OF_COMMITS = {Reason.UNRELATED}
"""The bases are first parents on one line of first parents: of two, one is the other's ancestor."""

ONLY_BY_BAD_LUCK = {Reason.INFRA_ENVIRONMENT, Reason.INFRA_RUN}


@pytest.fixture(name="mined")
def _mined(mined_demo: tuple[Path, dict[str, Any]]) -> tuple[Path, dict[str, Any]]:
    return mined_demo


def rows(out: Path, query: str) -> list[tuple[Any, ...]]:
    with connect(out) as connection:
        return connection.execute(query).fetchall()


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_the_history_has_the_same_ids_everywhere(tmp_path: Path) -> None:
    folder = demo.build(tmp_path / "demo")
    assert git(folder, "rev-parse", "main") == demo.TIP
    git(folder, "fsck", "--strict")


def test_every_kind_of_landing_occurs_with_and_without_a_known_head(tmp_path: Path) -> None:
    folder = demo.build(tmp_path / "demo")
    merges = git(folder, "rev-list", "--first-parent", "--merges", "--count", "main")
    subjects = git(folder, "log", "--first-parent", "--no-merges", "--format=%s", "main").splitlines()
    squashed = [subject for subject in subjects if subject.endswith(")")]
    assert int(merges) > 0
    assert 0 < len(squashed) < len(subjects)
    heads = git(folder, "for-each-ref", "--format=%(refname)", "refs/pull").splitlines()
    assert "refs/pull/4/head" in heads
    assert "refs/pull/50/head" not in heads


def test_a_demo_that_is_there_is_kept_with_all_that_was_done_to_it(tmp_path: Path) -> None:
    folder = demo.build(tmp_path / "demo")
    git(folder, "branch", "mine", "main~1")
    git(folder, "pack-refs", "--all")
    demo.build(folder)
    assert git(folder, "branch", "--list", "mine") == "mine"


@pytest.mark.parametrize("name", ["thesis.txt", "HEAD", "refs/heads/main"])
def test_a_folder_in_use_is_refused_and_nothing_in_it_is_touched(tmp_path: Path, name: str) -> None:
    file = tmp_path / "folder" / name
    file.parent.mkdir(parents=True)
    file.write_text("precious")
    with pytest.raises(UsageError, match="something else is there"):
        demo.build(tmp_path / "folder")
    assert [path for path in (tmp_path / "folder").rglob("*") if path.is_file()] == [file]
    assert file.read_text() == "precious"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(UsageError):
        demo.build(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "precious"


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    assert git(demo.build(tmp_path), "rev-parse", "main") == demo.TIP


def test_a_build_that_was_killed_is_made_again(tmp_path: Path) -> None:
    left = tmp_path / ".demo.unfinished-demo"
    left.mkdir()
    (left / "HEAD.lock").write_text("")
    assert git(demo.build(tmp_path / "demo"), "rev-parse", "main") == demo.TIP
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]


def test_what_each_landing_replaces_stands_there_once(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "repo")
    writer.land(Landing("One", [add("a.py", "x = 1\nx = 1\n")]))
    with pytest.raises(ValueError, match=r"a\.py does not hold the text to replace once"):
        writer.land(Landing("Two", [replace("a.py", "x = 1", "x = 2")]))


def test_every_candidate_comes_out_as_the_story_says(mined: tuple[Path, dict[str, Any]]) -> None:
    out, _ = mined
    assert {pair for (pair,) in rows(out, "select id from pairs")} == VALID
    rejected = dict(rows(out, "select subject, reason from rejections where stage <> 'pulls'"))
    assert rejected == {pair: str(reason) for pair, reason in REJECTED.items()}


def test_every_reason_occurs(mined: tuple[Path, dict[str, Any]]) -> None:
    _, report = mined
    expected = set(Reason) - NEVER_IN_A_LINE_OF_COMMITS - ONLY_BY_BAD_LUCK
    assert set(report["rejected"]) == {str(reason) for reason in expected}


def test_interference_is_found_where_it_is_and_nowhere_else(mined: tuple[Path, dict[str, Any]]) -> None:
    out, _ = mined
    found = dict(rows(out, "select id, delta_blind from pairs"))
    assert found == {pair: [JOINT[pair]] if pair in JOINT else [] for pair in VALID}


def test_each_clash_has_the_kind_that_the_story_gives_it(mined: tuple[Path, dict[str, Any]]) -> None:
    out, _ = mined
    found = {
        pair: None if clash is None else [(line["test"], line["kind"]) for line in clash]
        for pair, clash in rows(out, "select id, clash from pairs")
    }
    assert found == {**CLASHES, "17+16": None}


def test_a_fixture_that_one_pull_changes_makes_the_pair_unobservable(
    mined: tuple[Path, dict[str, Any]],
) -> None:
    out, _ = mined
    assert rows(out, "select id, unobservable from pairs where unobservable is not null") == [
        ("9+8", "tests_interact")
    ]


def test_tests_added_at_one_place_are_composed_by_function(mined: tuple[Path, dict[str, Any]]) -> None:
    out, _ = mined
    assert rows(out, "select id from pairs where by_function") == [("17+16",)]


def test_what_nobody_made_flaky_is_not(mined: tuple[Path, dict[str, Any]]) -> None:
    out, _ = mined
    assert rows(out, "select pull, flaky from checks where len(flaky) > 0") == [
        ("46", ["tests/test_colours.py::test_the_first_colour_comes_first"])
    ]
    assert rows(out, "select id from pairs where len(flaky) > 0") == []


def test_the_report_counts_what_the_tables_hold(mined: tuple[Path, dict[str, Any]]) -> None:
    out, report = mined
    pulls = rows(out, "select count(*), count(*) filter (reason is null) from pulls")[0]
    assert report["schema_version"] == 1
    assert report["repo"] == "demo"
    assert report["funnel"] == {
        "pulls": pulls[0],
        "eligible": pulls[1],
        "candidates": len(VALID) + len(REJECTED),
        "clean": len(VALID) + 4,
        "valid": len(VALID),
    }
    assert report["rejected"] == dict(rows(out, "select reason, count(*) from rejections group by all"))
    kinds = Counter(kind for clashes in CLASHES.values() for _, kind in clashes)
    assert report["gold_delta"] == {
        "pairs": len(VALID),
        "interfering": len(JOINT),
        "clashing": sum(map(bool, CLASHES.values())),
        "kinds": dict(kinds),
    }


def test_truly_concurrent_pulls_are_told_from_those_written_one_after_the_other(
    mined: tuple[Path, dict[str, Any]],
) -> None:
    out, _ = mined
    concurrent = {pair for (pair,) in rows(out, "select id from candidates where concurrent")}
    assert concurrent == VALID - {"51+50"}
    unknown = {pair for (pair,) in rows(out, "select id from candidates where concurrent is null")}
    assert unknown == {"51+50", NUMBERLESS}
