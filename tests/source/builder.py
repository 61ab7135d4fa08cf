"""Builds git repositories in code, with fixed dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pygit2

FIRST = int(datetime(2024, 1, 1, 12, tzinfo=UTC).timestamp())
DAY = 86_400

Files = Mapping[str, "str | bytes | None"]


class Builder:
    """A bare repository that grows by commits; days count from 2024-01-01."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.repo = pygit2.init_repository(str(path), bare=True, initial_head="main")
        self.tip: str | None = None
        self._day = 0

    def commit(
        self,
        files: Files,
        message: str = "change",
        parents: Sequence[str] = (),
        day: int | None = None,
        authored: int | None = None,
    ) -> str:
        """A commit on no branch: its first parent's tree with these files set, or removed where None."""
        self._day = self._day + 1 if day is None else day
        index = pygit2.Index()
        if parents:
            index.read_tree(self.repo[parents[0]].peel(pygit2.Tree))
        for path, content in files.items():
            if content is None:
                index.remove(path)
            else:
                data = content.encode() if isinstance(content, str) else content
                index.add(pygit2.IndexEntry(path, self.repo.create_blob(data), pygit2.enums.FileMode.BLOB))
        tree = index.write_tree(self.repo)
        written = [self._day if authored is None else authored, self._day]
        people = [pygit2.Signature("A. Person", "person@example.org", FIRST + day * DAY) for day in written]
        oids = [pygit2.Oid(hex=parent) for parent in parents]
        return str(self.repo.create_commit(None, people[0], people[1], message, tree, oids))

    def land(self, files: Files, message: str = "change", day: int | None = None) -> str:
        """A plain or squash commit on the main branch."""
        return self._advance(self.commit(files, message, [self.tip] if self.tip else [], day))

    def merge(self, head: str, message: str, files: Files | None = None, day: int | None = None) -> str:
        """A merge commit on the main branch that takes in the files that the head changed."""
        assert self.tip
        base = self.repo.merge_base(pygit2.Oid(hex=self.tip), pygit2.Oid(hex=head))
        changed: dict[str, str | bytes | None] = {}
        for delta in self.repo.diff(base, head).deltas:
            found = self.repo[head].peel(pygit2.Tree)
            path = delta.new_file.path
            changed[path] = found[path].peel(pygit2.Blob).data if path in found else None
        return self._advance(self.commit({**changed, **(files or {})}, message, [self.tip, head], day))

    def ref(self, name: str, commit: str) -> None:
        self.repo.references.create(name, pygit2.Oid(hex=commit), force=True)

    def _advance(self, commit: str) -> str:
        self.ref("refs/heads/main", commit)
        self.tip = commit
        return commit
