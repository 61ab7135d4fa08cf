"""Which paths differ between two trees, against git's own answer."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pygit2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stalebench.errors import SourceError
from stalebench.source.trees import TreeReader
from tests.repositories import repository, tree

PATHS = ["a.py", "a/b.py", "a/c/d.py", "a/c/e f.py", "b", "b/x", "ä/ö.py"]
TREES = st.dictionaries(st.sampled_from(PATHS), st.sampled_from([b"1", b"2", b""]), max_size=6).filter(
    lambda files: not any(one != other and other.startswith(f"{one}/") for one in files for other in files)
)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> pygit2.Repository:
    return repository(tmp_path_factory.mktemp("trees"))


@given(before=TREES, after=TREES)
@settings(max_examples=60, deadline=None)
def test_the_changed_paths_are_those_that_git_names(
    repo: pygit2.Repository, before: dict[str, bytes], after: dict[str, bytes]
) -> None:
    old, new = tree(repo, before), tree(repo, after)
    expected = sorted(
        {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)},
    )
    assert list(TreeReader(repo).changed_paths(old, new)) == expected


def test_no_tree_stands_for_an_empty_one(repo: pygit2.Repository) -> None:
    assert TreeReader(repo).changed_paths(None, tree(repo, {"a/b.py": b"1"})) == ("a/b.py",)


def test_a_file_that_became_executable_is_changed(repo: pygit2.Repository) -> None:
    index, blob = pygit2.Index(), repo.create_blob(b"1")
    trees = []
    for mode in (pygit2.enums.FileMode.BLOB, pygit2.enums.FileMode.BLOB_EXECUTABLE):
        index.add(pygit2.IndexEntry("run", blob, mode))
        trees.append(index.write_tree(repo))
    assert TreeReader(repo).changed_paths(*trees) == ("run",)


def test_a_name_that_is_not_utf8_keeps_its_bytes(repo: pygit2.Repository) -> None:
    blob = str(repo.create_blob(b"1")).encode()
    made = subprocess.run(
        ["git", "-C", repo.path, "mktree", "-z"],
        input=b"100644 blob " + blob + b"\tcaf\xe9.py\0",
        stdout=subprocess.PIPE,
        check=True,
    )
    found = TreeReader(repo).changed_paths(None, pygit2.Oid(hex=made.stdout.decode().strip()))
    assert [os.fsencode(path) for path in found] == [b"caf\xe9.py"]


def test_folders_are_read_again_once_they_were_dropped_from_memory(repo: pygit2.Repository) -> None:
    reader = TreeReader(repo, kept=1)
    old, new = tree(repo, {"a/b/c.py": b"1"}), tree(repo, {"a/b/c.py": b"2"})
    assert [reader.changed_paths(old, new) for _ in range(2)] == [("a/b/c.py",)] * 2


def test_a_folder_that_the_clone_lacks_is_said(tmp_path: Path) -> None:
    empty = pygit2.init_repository(str(tmp_path), bare=True)
    with pytest.raises(SourceError, match="lacks folder"):
        TreeReader(empty).changed_paths(None, pygit2.Oid(hex="1" * 40))
