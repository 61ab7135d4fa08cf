"""Writes a history of changes as a git repository with the same commit ids everywhere. Holds no story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pygit2

START: Final = 1_704_103_200
"""The first commit: 2024-01-01 10:00 UTC."""
STEP: Final = 21_600
"""Seconds between two landings: six hours."""

Files = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change to one file: text replaced, text appended, or the whole content (None: removed)."""

    path: str
    old: bytes | None = None
    new: bytes | None = None
    append: bool = False

    def applied(self, files: Files) -> None:
        """Change the file. Raises ValueError where the text to replace does not stand there once."""
        if self.append:
            files[self.path] = files.get(self.path, b"") + (self.new or b"")
        elif self.new is None:
            del files[self.path]
        elif self.old is None:
            files[self.path] = self.new
        elif files[self.path].count(self.old) == 1:
            files[self.path] = files[self.path].replace(self.old, self.new)
        else:
            raise ValueError(f"{self.path} does not hold the text to replace once: {self.old!r}")


def add(path: str, text: str | bytes) -> Edit:
    """A new file, or a whole new content."""
    return Edit(path, None, _bytes(text))


def append(path: str, text: str | bytes) -> Edit:
    """Text at the end of a file."""
    return Edit(path, None, _bytes(text), append=True)


def replace(path: str, old: str | bytes, new: str | bytes) -> Edit:
    """Text in place of a text that stands in the file once."""
    return Edit(path, _bytes(old), _bytes(new))


def remove(path: str) -> Edit:
    """A file less."""
    return Edit(path)


@dataclass(frozen=True, slots=True)
class Landing:
    """One commit of the main line. A pull has a number, and branches off `behind` landings earlier."""

    title: str
    edits: Sequence[Edit]
    number: int | None = None
    how: str = "plain"
    text: str = ""
    behind: int = 0
    head: bool = True
    """Whether the pull's head is kept in refs/pull."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Submodules: path → commit id."""


@dataclass(slots=True)
class _State:
    """A commit of the main line and what it holds."""

    commit: pygit2.Oid
    files: Files
    links: dict[str, str]


class Writer:
    """Writes landings one after the other into a new bare repository."""

    def __init__(self, folder: Path) -> None:
        self.repo = pygit2.init_repository(folder, bare=True, initial_head="main")
        self.line: list[_State] = []
        self.blobs: dict[bytes, pygit2.Oid] = {}

    def land(self, landing: Landing) -> None:
        """Write one landing and move the main line on."""
        at = len(self.line)
        state = self._changed(self.line[-1] if self.line else None, landing)
        parents = [self.line[-1].commit] if self.line else []
        if landing.how == "merge" or landing.head:
            head = self._head(landing, at) if landing.number is not None else None
            parents += [head] if head is not None and landing.how == "merge" else []
        state.commit = self._commit(self._message(landing), state, parents, at)
        self.line.append(state)

    def finish(self) -> None:
        """Name the main line's last commit."""
        self.repo.references.create("refs/heads/main", self.line[-1].commit)

    def _head(self, landing: Landing, at: int) -> pygit2.Oid:
        """The tip of a pull's own branch, kept under its number."""
        fork = self.line[-1 - landing.behind]
        state = self._changed(fork, landing)
        commit = self._commit(f"{landing.title}\n", state, [fork.commit], at, minutes=-30)
        if landing.head:
            self.repo.references.create(f"refs/pull/{landing.number}/head", commit)
        return commit

    def _changed(self, state: _State | None, landing: Landing) -> _State:
        files = dict(state.files) if state else {}
        for edit in landing.edits:
            edit.applied(files)
        links = {**(state.links if state else {}), **landing.links}
        return _State(pygit2.Oid(hex="0" * 40), files, links)

    def _message(self, landing: Landing) -> str:
        body = f"\n\n{landing.text}\n" if landing.text else "\n"
        if landing.how == "merge":
            number = landing.number
            return f"Merge pull request #{number} from shop/topic-{number}\n\n{landing.title}{body}"
        if landing.how == "squash":
            return f"{landing.title} (#{landing.number}){body}"
        return f"{landing.title}{body}"

    def _commit(
        self, message: str, state: _State, parents: Sequence[pygit2.Oid], at: int, minutes: int = 0
    ) -> pygit2.Oid:
        when = START + at * STEP + minutes * 60
        who = pygit2.Signature("Shop Demo", "demo@shop.invalid", when, 0)
        tree = self._tree(state.files, state.links)
        return self.repo.create_commit(None, who, who, message, tree, list(parents))

    def _tree(self, files: Files, links: Mapping[str, str]) -> pygit2.Oid:
        index = pygit2.Index()
        for path, content in files.items():
            index.add(pygit2.IndexEntry(path, self._blob(content), pygit2.enums.FileMode.BLOB))
        for path, commit in links.items():
            index.add(pygit2.IndexEntry(path, pygit2.Oid(hex=commit), pygit2.enums.FileMode.COMMIT))
        return index.write_tree(self.repo)

    def _blob(self, content: bytes) -> pygit2.Oid:
        """Most files are the same in every commit: each content is written once."""
        if content not in self.blobs:
            self.blobs[content] = self.repo.create_blob(content)
        return self.blobs[content]


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text
