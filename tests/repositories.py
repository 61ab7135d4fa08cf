"""Small git repositories for all tests, built in code with fixed dates and a person of no name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pygit2

FIRST = int(datetime(2024, 1, 1, 12, tzinfo=UTC).timestamp())
DAY = 86_400

Files = Mapping[str, "str | bytes | None"]


def repository(path: Path) -> pygit2.Repository:
    """The bare repository at a path, made if it is not there yet."""
    return pygit2.init_repository(str(path), bare=True, initial_head="main")


def tree(repo: pygit2.Repository, files: Files, on: str | None = None) -> pygit2.Oid:
    """The tree of these files; on that of a commit, with these set, or removed where None."""
    index = pygit2.Index()
    if on is not None:
        index.read_tree(repo[on].peel(pygit2.Tree))
    for path, content in files.items():
        if content is None:
            index.remove(path)
        else:
            data = content.encode() if isinstance(content, str) else content
            index.add(pygit2.IndexEntry(path, repo.create_blob(data), pygit2.enums.FileMode.BLOB))
    return index.write_tree(repo)


def commit(
    repo: pygit2.Repository,
    made: pygit2.Oid,
    parents: Sequence[str] = (),
    message: str = "change",
    *,
    when: int = FIRST,
    authored: int | None = None,
) -> str:
    """A commit of a tree, on no branch; times are in seconds."""
    author, committer = (
        pygit2.Signature("A. Person", "person@example.org", moment)
        for moment in (when if authored is None else authored, when)
    )
    oids = [pygit2.Oid(hex=parent) for parent in parents]
    return str(repo.create_commit(None, author, committer, message, made, oids))


class Builder:
    """A bare repository that grows by commits; days count from 2024-01-01."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.repo = repository(path)
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
        made = tree(self.repo, files, on=parents[0] if parents else None)
        wrote = self._day if authored is None else authored
        return commit(
            self.repo,
            made,
            parents,
            message,
            when=FIRST + self._day * DAY,
            authored=FIRST + wrote * DAY,
        )

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
