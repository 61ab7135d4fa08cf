"""A scratch repository of real git, next to trees in memory."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pygit2
import pytest

from stalebench.compose import Entry, Objects, Patch

File = bytes | tuple[int, bytes]
"""The content of a file, with its mode where that is not 100644."""


@dataclass(frozen=True)
class Scratch:
    """A bare repository that only git writes to, and Objects on top of an empty clone."""

    git_dir: Path
    objects: Objects

    def git(self, *arguments: str, data: bytes = b"", expect: tuple[int, ...] = (0,)) -> bytes:
        done = self._run(arguments, data)
        assert done.returncode in expect, done.stderr
        return done.stdout

    def succeeds(self, *arguments: str, data: bytes = b"") -> bool:
        return self._run(arguments, data).returncode == 0

    def _run(self, arguments: Sequence[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
        environment = {
            **os.environ,
            "GIT_DIR": str(self.git_dir),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        return subprocess.run(
            ["git", *arguments], input=data, capture_output=True, env=environment, check=False
        )

    def tree(self, files: Mapping[str, File]) -> str:
        """A tree in memory."""
        return self.objects.edit(_EMPTY, {path: self.entry(file) for path, file in files.items()})

    def entry(self, file: File) -> Entry:
        mode, content = file if isinstance(file, tuple) else (0o100644, file)
        return Entry(mode, content.decode() if mode == 0o160000 else self.objects.put_blob(content))

    def patch(self, before: Mapping[str, File], after: Mapping[str, File]) -> Patch:
        return Patch.between(self.objects, self.tree(before), self.tree(after))

    def files(self, tree: str) -> dict[str, bytes]:
        """What a tree holds, submodules left out."""
        return {
            path: self.objects.blob(entry.id)
            for path, entry in self.objects.files(tree)
            if entry.mode != 0o160000
        }

    def written(self, tree: str) -> str:
        """The same tree made by git itself, from the files up; git's id."""
        index = str(self.git_dir / "index.scratch")
        Path(index).unlink(missing_ok=True)
        rows = []
        for path, entry in self.objects.files(tree):
            oid = entry.id
            if entry.mode != 0o160000:
                oid = self._hashed(self.objects.blob(entry.id))
            rows.append(b"%06o %b\t%b" % (entry.mode, oid.encode(), os.fsencode(path)))
        self.git("read-tree", "--empty")
        self.git("update-index", "-z", "--index-info", data=b"\0".join(rows) + b"\0" if rows else b"")
        return self.git("write-tree", "--missing-ok").decode().strip()

    def merged(self, ancestor: str, ours: str, theirs: str) -> str | None:
        """What `git merge-tree` makes of three trees; None for a conflict."""
        names = self.merge_tree(ancestor, ours, theirs)
        return names[0] if len(names) == 1 else None

    def merge_tree(self, ancestor: str, ours: str, theirs: str) -> list[str]:
        """The tree that `git merge-tree` makes of three trees, and the files that conflict."""
        repo = pygit2.Repository(str(self.git_dir))
        for _, kind, content in self.objects.made():
            repo.odb.write(int(_KINDS[kind]), content)
        base = self._commit(repo, ancestor)
        sides = [self._commit(repo, tree, base) for tree in (ours, theirs)]
        command = ["merge-tree", "--write-tree", "--no-messages", "--name-only", *map(str, sides)]
        return self.git(*command, expect=(0, 1)).decode().splitlines()

    def _commit(self, repo: pygit2.Repository, tree: str, *parents: pygit2.Oid) -> pygit2.Oid:
        return repo.create_commit(None, _SIGNATURE, _SIGNATURE, "", pygit2.Oid(hex=tree), list(parents))

    def _hashed(self, content: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", data=content).decode().strip()


_KINDS = {b"blob": pygit2.enums.ObjectType.BLOB, b"tree": pygit2.enums.ObjectType.TREE}
_SIGNATURE = pygit2.Signature("t", "t@localhost", 0, 0)
_EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    folder = tmp_path
    for name in ("git", "clone"):
        subprocess.run(["git", "init", "-q", "--bare", str(folder / name)], check=True)
    return Scratch(folder / "git", Objects(folder / "clone"))
