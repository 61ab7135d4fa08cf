"""Stages that are told which pairs to take."""

from __future__ import annotations

from pathlib import Path

import pytest

from stalebench import spec, stages, tables
from stalebench.errors import UsageError
from stalebench.progress import Silent
from stalebench.records import Candidate
from stalebench.source import open_clone
from tests.repositories import Builder


@pytest.fixture
def context(tmp_path: Path) -> stages.Context:
    """Four pulls of one source file, so that each two of them are a candidate pair."""
    made = Builder(tmp_path / "git")
    made.land({"shop/a.py": "a = 0\n", "tests/test_a.py": "def test_a():\n    pass\n"})
    for number in range(1, 5):
        made.land(
            {"shop/a.py": f"a = {number}\n", f"tests/test_{number}.py": "def test_a():\n    pass\n"},
            f"Change (#{number})",
        )
    out = tmp_path / "data"
    tables.create(out, "demo", {})
    context = stages.Context(open_clone(str(tmp_path / "git")), spec.load("demo"), out, Silent())
    stages.pulls(context, None, None, None)
    return context


def taken(context: stages.Context) -> set[str]:
    return {found.id for found in tables.read(context.out, "candidates", Candidate)}


def test_pairs_that_nobody_named_do_not_use_up_the_limit(context: stages.Context) -> None:
    stages.candidates(context, None, 2, ("3+1", "4+2"))
    assert taken(context) == {"3+1", "4+2"}


def test_the_limit_holds_for_named_pairs_newest_first(context: stages.Context) -> None:
    stages.candidates(context, None, 1, ("3+1", "4+2"))
    assert taken(context) == {"4+2"}


@pytest.mark.parametrize("name", ["3", "3+3", "3+99", ""])
def test_a_name_that_is_not_of_two_pulls_is_refused(context: stages.Context, name: str) -> None:
    with pytest.raises(UsageError, match="does not name two eligible pulls"):
        stages.candidates(context, None, None, (name,))


def test_a_named_pair_that_is_no_candidate_is_said_and_not_left_out(context: stages.Context) -> None:
    with pytest.raises(UsageError, match=r"no candidate pair: 1\+4"):
        stages.candidates(context, 0.0, None, ("4+1",))
