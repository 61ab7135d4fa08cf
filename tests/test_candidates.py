"""Which pulls become candidate pairs, on which base, and what is recorded of each."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from stalebench.candidates import candidates
from stalebench.reasons import Reason, Stage
from stalebench.records import Candidate, Rejection
from stalebench.source import landed, open_clone
from stalebench.spec import Spec
from tests.repositories import Builder

SPEC = Spec(
    name="shop",
    repository="owner/shop",
    clone_url="",
    branch=None,
    landing=("squash", "merge"),
    runner="pytest",
    import_name="shop",
    source=("/shop/**/*",),
    source_exclude=(),
    test=("/tests/**",),
    test_modules=("/tests/**/test_*.py",),
)
CODE = "class Shop:\n    def buy(self):\n        return {0}\n\n\ndef price():\n    return {1}\n"


@pytest.fixture
def built(tmp_path: Path) -> Builder:
    made = Builder(tmp_path / "origin.git")
    made.land({"shop/a.py": CODE.format(0, 0), "shop/b.py": "", "tests/test_a.py": ""}, day=0)
    return made


def change(built: Builder, number: int, files: dict[str, str], day: int | None = None) -> str:
    """A pull with a test and these files."""
    return built.land({**files, "tests/test_a.py": f"{number}"}, f"Change (#{number})", day)


def paired(built: Builder, within: float | None = None, limit: int | None = None) -> list[Candidate]:
    clone = open_clone(str(built.path))
    found, rejected = candidates(clone, SPEC, landed(clone, SPEC), within=within, limit=limit)
    assert rejected == []
    return found


def test_two_pulls_that_share_a_source_file_are_a_pair_on_the_older_base(built: Builder) -> None:
    base = built.tip or ""
    change(built, 1, {"shop/a.py": CODE.format(1, 0)}, day=1)
    change(built, 2, {"shop/a.py": CODE.format(2, 0), "shop/b.py": "b"}, day=3)
    assert paired(built) == [
        Candidate(
            id="2+1",
            repo="owner/shop",
            pulls=("1", "2"),
            base_commit=base,
            days_apart=2.0,
            shared_files=("shop/a.py",),
            shared_symbols=("shop/a.py::Shop.buy",),
            concurrent=None,
        )
    ]


def test_pulls_that_share_only_tests_are_no_pair(built: Builder) -> None:
    change(built, 1, {"shop/a.py": "1"})
    change(built, 2, {"shop/b.py": "2"})
    assert paired(built) == []


def test_pulls_that_were_turned_away_are_in_no_pair(built: Builder) -> None:
    change(built, 1, {"shop/a.py": "1"})
    built.land({"shop/a.py": "2"}, "Without a test (#2)")
    assert paired(built) == []


def test_a_renamed_file_pairs_with_changes_under_either_name(built: Builder) -> None:
    change(built, 1, {"shop/a.py": CODE.format(1, 1)})
    built.land({"shop/a.py": None, "shop/c.py": CODE.format(1, 1), "tests/x": ""}, "Move (#2)")
    change(built, 3, {"shop/c.py": CODE.format(1, 2)})
    assert [pair.id for pair in paired(built)] == ["3+2", "2+1"]


def test_the_newest_pairs_come_first_and_the_limit_takes_them(built: Builder) -> None:
    for number in (1, 2, 3):
        change(built, number, {"shop/a.py": f"{number}"})
    assert [pair.id for pair in paired(built)] == ["3+2", "3+1", "2+1"]
    assert [pair.id for pair in paired(built, limit=2)] == ["3+2", "3+1"]


def test_the_order_of_the_pulls_that_are_given_does_not_matter(built: Builder) -> None:
    for number in (1, 2, 3):
        change(built, number, {"shop/a.py": f"{number}"})
    clone = open_clone(str(built.path))
    pulls = landed(clone, SPEC)
    expected = candidates(clone, SPEC, pulls)
    assert candidates(clone, SPEC, pulls[::-1]) == expected


def test_the_days_between_two_landings_are_limited_and_the_limit_is_inside(built: Builder) -> None:
    for number, day in [(1, 1), (2, 11), (3, 22)]:
        change(built, number, {"shop/a.py": f"{number}"}, day)
    assert [pair.id for pair in paired(built, within=10)] == ["2+1"]
    assert [pair.id for pair in paired(built, within=11)] == ["3+2", "2+1"]


def test_symbols_are_those_that_both_touch_in_the_shared_files(built: Builder) -> None:
    change(built, 1, {"shop/a.py": CODE.format(1, 1)})
    change(built, 2, {"shop/a.py": CODE.format(1, 2)})
    assert paired(built)[0].shared_symbols == ("shop/a.py::price",)


def test_files_that_are_no_python_or_do_not_parse_share_no_symbols(built: Builder) -> None:
    for number in (1, 2):
        change(built, number, {"shop/a.py": f"def broken(:\n{number}", "shop/data.txt": f"{number}"})
    found = paired(built)[0]
    assert (found.shared_files, found.shared_symbols) == (("shop/a.py", "shop/data.txt"), ())


def branch(built: Builder, number: int, base: str, files: dict[str, str]) -> str:
    """A pull that forked at `base` and lands as a merge commit now."""
    head = built.commit(files, "work", [base])
    tests = {f"tests/test_{number}.py": ""}
    return built.merge(head, f"Merge pull request #{number} from a/b\n\nChange", {**files, **tests})


def test_pulls_that_forked_before_the_other_landed_are_concurrent(built: Builder) -> None:
    start = built.tip
    assert start
    one = branch(built, 1, start, {"shop/a.py": "1"})
    branch(built, 2, start, {"shop/a.py": "2"})
    branch(built, 3, one, {"shop/a.py": "3"})
    concurrent = {pair.id: pair.concurrent for pair in paired(built)}
    assert concurrent == {"3+2": True, "3+1": False, "2+1": True}


def test_pulls_of_unrelated_histories_are_rejected_and_do_not_count_towards_the_limit(built: Builder) -> None:
    change(built, 1, {"shop/a.py": "1"})
    change(built, 2, {"shop/a.py": "2"})
    clone = open_clone(str(built.path))
    newer, older = landed(clone, SPEC, since=date(2024, 1, 2))
    stranger = built.commit({"shop/a.py": "0"}, "elsewhere")
    pulls = [
        replace(newer, base_commit=stranger),
        older,
        replace(older, id="0", merge_commit=older.base_commit),
    ]
    found, rejected = candidates(clone, SPEC, pulls, limit=1)
    assert [pair.id for pair in found] == ["1+0"]
    assert [rejection.subject for rejection in rejected] == ["2+1", "2+0"]
    assert rejected[0] == Rejection(Stage.CANDIDATES, "2+1", Reason.UNRELATED)
