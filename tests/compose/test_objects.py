"""Objects in memory have git's ids, and the clone stays untouched."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stalebench.compose import Entry, Objects, Patch, Tree, as_text, compose
from stalebench.compose.objects import EMPTY_TREE
from stalebench.errors import SourceError

if TYPE_CHECKING:
    from .conftest import Scratch

NAMES = st.sampled_from(["a", "a.b", "a-b", "a0", "a b", "é", "\udcff", "z"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
MODES = st.sampled_from([0o100644, 0o100755, 0o120000])


def without_clashes(files: dict[str, tuple[int, bytes]]) -> dict[str, tuple[int, bytes]]:
    return {
        path: file
        for path, file in files.items()
        if not any(path + "/" == other[: len(path) + 1] for other in files)
    }


TREES = st.dictionaries(PATHS, st.tuples(MODES, st.binary(max_size=8)), max_size=6).map(without_clashes)
quickly = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@quickly
@given(TREES)
def test_ids_are_those_of_git(scratch: Scratch, files: dict[str, tuple[int, bytes]]) -> None:
    tree = scratch.tree(files)
    assert tree == scratch.written(tree)
    assert {path for path, _ in scratch.objects.files(tree)} == set(files)


@quickly
@given(TREES, TREES)
def test_edits_lead_from_any_tree_to_any_other(
    scratch: Scratch, one: dict[str, tuple[int, bytes]], other: dict[str, tuple[int, bytes]]
) -> None:
    before, after = scratch.tree(one), scratch.tree(other)
    changes = scratch.objects.changes(before, after)
    assert scratch.objects.edit(before, {change.path: change.new for change in changes}) == after
    assert [change.path for change in changes] == sorted({change.path for change in changes})
    for change in changes:
        assert change.old == _file(scratch, before, change.path)
        assert change.new == _file(scratch, after, change.path)


def _file(scratch: Scratch, tree: str, path: str) -> Entry | None:
    found = scratch.objects.find(tree, path)
    return None if found is None or found.is_folder else found


def test_removing_the_last_file_removes_its_folders(scratch: Scratch) -> None:
    tree = scratch.tree({"a/b/c": b"1"})
    assert scratch.objects.edit(tree, {"a/b/c": None}) == EMPTY_TREE
    assert scratch.objects.edit(tree, {"x/y": None}) == tree


def test_what_is_made_in_scratch_is_forgotten(scratch: Scratch) -> None:
    with scratch.objects.scratch():
        blob = scratch.objects.put_blob(b"only here")
        assert scratch.objects.blob(blob) == b"only here"
    with pytest.raises(SourceError):
        scratch.objects.blob(blob)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _IDENTITY}
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull}

    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-C", str(folder), *arguments], check=True, env=environment, capture_output=True
        )

    folder.mkdir()
    git("init", "-q", "-b", "main")
    for content in (b"1\n2\n3\n4\n", b"one\n2\n3\n4\n", b"one\n2\n3\nfour\n"):
        (folder / "file name").write_bytes(content)
        git("add", ".")
        git("commit", "-qm", "change")
    git("gc", "-q")
    return folder / ".git"


_IDENTITY = [("NAME", "t"), ("EMAIL", "t@localhost"), ("DATE", "2024-02-03T04:05:06 +0700")]


def _state(folder: Path) -> dict[str, tuple[int, int, int]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.stat()
        found[str(path)] = (status.st_size, status.st_mtime_ns, status.st_mode)
    return found


def _commits(clone: Path) -> list[str]:
    command = ["git", "--git-dir", str(clone), "rev-list", "--reverse", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def test_composing_leaves_the_clone_as_it_is(clone: Path) -> None:
    commits = _commits(clone)
    for path in clone.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    before = _state(clone)
    objects = Objects(clone)
    trees = [objects.tree_of(commit) for commit in commits]
    patch = Patch.between(objects, trees[1], trees[2])
    composed = compose(objects, trees[0], [patch])
    assert isinstance(composed, Tree)
    assert as_text(objects, patch)
    entry = objects.find(composed.id, "file name")
    assert entry is not None
    assert objects.put_blob(objects.blob(entry.id)) == entry.id
    assert objects.blob(entry.id) == b"1\n2\n3\nfour\n"
    assert objects.edit(trees[0], {"file name": entry}) == composed.id
    assert _state(clone) == before


def test_a_commit_tells_its_date_in_utc(clone: Path) -> None:
    assert Objects(clone).date_of(_commits(clone)[0]) == datetime(2024, 2, 2, 21, 5, 6, tzinfo=UTC)


def test_an_object_that_is_not_there_is_said(clone: Path) -> None:
    with pytest.raises(SourceError, match="no object 0000"):
        Objects(clone).tree_of("0" * 40)
