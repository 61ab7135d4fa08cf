"""Ancestry and merge bases from one pass, against git's own answer on random histories."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pygit2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stalebench.errors import SourceError
from stalebench.source.history import NEVER, History
from tests import repositories
from tests.repositories import FIRST, repository, tree

Shape = list[tuple[int, int | None]]


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Each commit has a parent among the earlier ones, and often a second one."""
    size = draw(st.integers(2, 14))
    return [(draw(st.integers(0, n)), draw(st.none() | st.integers(0, n))) for n in range(size)]


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> pygit2.Repository:
    return repository(tmp_path_factory.mktemp("history"))


def commit(repo: pygit2.Repository, parents: list[pygit2.Oid], when: int) -> pygit2.Oid:
    """An empty commit, some seconds after the first."""
    return pygit2.Oid(
        hex=repositories.commit(repo, tree(repo, {}), list(map(str, parents)), f"{when}", when=FIRST + when)
    )


def grown(repo: pygit2.Repository, shape: Shape) -> list[pygit2.Oid]:
    commits = [commit(repo, [], 0)]
    for when, (first, second) in enumerate(shape, 1):
        parents = [commits[first]] + ([commits[second]] if second is not None and second != first else [])
        commits.append(commit(repo, parents, when))
    return commits


def bases(repo: pygit2.Repository, one: pygit2.Oid, other: pygit2.Oid) -> set[pygit2.Oid]:
    """All best common ancestors."""
    ancestors = [{found.id for found in repo.walk(oid)} for oid in (one, other)]
    common = ancestors[0] & ancestors[1]
    return {a for a in common if not any(a != b and repo.descendant_of(b, a) for b in common)}


@given(shape=shapes())
@settings(max_examples=40, deadline=None)
def test_ancestry_and_merge_bases_are_those_of_git(repo: pygit2.Repository, shape: Shape) -> None:
    commits = grown(repo, shape)
    history = History(repo, commits[-1])
    for one, other in product(commits, commits):
        assert history.is_ancestor(one, other) == (one == other or repo.descendant_of(other, one))
    for main, other in product(history.main_line, commits):
        assert history.merge_base(main, other) in bases(repo, main, other)


@given(shape=shapes())
@settings(max_examples=25, deadline=None)
def test_a_branch_is_what_its_head_holds_and_the_base_does_not(repo: pygit2.Repository, shape: Shape) -> None:
    commits = grown(repo, shape)
    history = History(repo, commits[-1])
    for base, head in product(history.main_line, commits):
        expected = {found.id for found in repo.walk(head)} - {found.id for found in repo.walk(base)}
        assert set(history.branch(base, head)) == expected


def test_the_main_line_follows_first_parents_from_the_oldest(repo: pygit2.Repository) -> None:
    root, other = commit(repo, [], 0), commit(repo, [], 1)
    merged = commit(repo, [root, other], 2)
    assert History(repo, merged).main_line == [root, merged]


def test_a_commit_lands_where_the_main_line_first_holds_it(repo: pygit2.Repository) -> None:
    root = commit(repo, [], 0)
    side = commit(repo, [root], 1)
    merged = commit(repo, [root, side], 2)
    history = History(repo, merged)
    assert [history.landed(oid) for oid in (root, side, merged)] == [0, 1, 1]
    assert history.landed(commit(repo, [root], 3)) == NEVER


def test_histories_that_share_nothing_have_no_merge_base(repo: pygit2.Repository) -> None:
    one, other = commit(repo, [], 0), commit(repo, [], 7)
    assert History(repo, one).merge_base(one, other) is None


def test_a_missing_commit_is_said_to_be_missing(tmp_path: Path) -> None:
    repo = pygit2.init_repository(str(tmp_path), bare=True)
    with pytest.raises(SourceError, match="lacks commit 1111"):
        History(repo, pygit2.Oid(hex="1" * 40))
