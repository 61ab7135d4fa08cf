"""Git objects of a clone, with an overlay in memory for what is made here. Never writes to the clone.

Not even through git's own object store: writing an object that is already there freshens the pack that
holds it. What is new lives in this process, under the id that git would give it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import pygit2

from stalebench.compose.caches import Recent
from stalebench.compose.merge import Merger
from stalebench.errors import SourceError

FILE: Final = 0o100644
EXECUTABLE: Final = 0o100755
LINK: Final = 0o120000
SUBMODULE: Final = 0o160000
FOLDER: Final = 0o040000

BLOB: Final = b"blob"
TREE: Final = b"tree"

_FIELDS: Final = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
"""A tree object is a row of these: mode, name, and the id in 20 raw bytes."""
_ROWS: Final = re.compile(rb"[0-7]+ [^\0]+\0.{20}", re.DOTALL)

_COMMITTER: Final = re.compile(rb"^committer .*> (-?\d+) [-+]\d+$", re.MULTILINE)
_COMMIT_TREE: Final = re.compile(rb"^tree ([0-9a-f]{40})$", re.MULTILINE)


class Entry(NamedTuple):
    """What a tree holds under a name: the mode and the id."""

    mode: int
    id: str

    @property
    def is_folder(self) -> bool:
        """Whether it is a tree."""
        return self.mode == FOLDER


class Change(NamedTuple):
    """A file that differs between two trees: None where it does not exist.

    `source` is the path that `old` had, where the file was renamed; `old` is then the entry at that path.
    """

    path: str
    old: Entry | None
    new: Entry | None
    source: str | None = None


Entries = Mapping[str, Entry]


def object_id(kind: bytes, content: bytes) -> str:
    """The id that git gives to this content."""
    return hashlib.sha1(b"%b %d\0%b" % (kind, len(content), content), usedforsecurity=False).hexdigest()


EMPTY_TREE: Final = object_id(TREE, b"")


class Objects:
    """Reads a clone's objects, and keeps new blobs and trees in memory. Use one in each thread."""

    def __init__(self, git_dir: Path | str) -> None:
        self.git_dir = Path(git_dir)
        self._repo = pygit2.Repository(str(git_dir))
        self._read_clone = self._repo.odb.read
        self._new: dict[str, tuple[bytes, bytes]] = {EMPTY_TREE: (TREE, b"")}
        self._trees: Recent[str, dict[str, Entry]] = Recent(20_000)
        self._rows: Recent[str, list[bytes]] = Recent(2_000)
        """The rows of folders that were edited, for the next edit."""
        self.merger = Merger(self.blob)
        self.applied: dict[tuple[str, str, str], Any] = {}
        """What applying a patch came to, for who applies it again: (tree, before, after)."""
        self.hunks: dict[tuple[Entry, Entry | None], Any] = {}
        """The parsed hunks of one file's patch."""
        self.renames: Recent[tuple[str, str, tuple[str, ...] | None], dict[str, str]] = Recent(200)
        """Renames between two trees."""

    def tree_of(self, commit: str) -> str:
        """The id of a commit's tree."""
        return _searched(_COMMIT_TREE, self._clone_object(commit), commit).decode()

    def date_of(self, commit: str) -> datetime:
        """When the commit was committed, in UTC."""
        return datetime.fromtimestamp(int(_searched(_COMMITTER, self._clone_object(commit), commit)), UTC)

    def blob(self, oid: str) -> bytes:
        """The content of a blob."""
        made = self._new.get(oid)
        return made[1] if made is not None else self._clone_object(oid)

    def put_blob(self, content: bytes) -> str:
        """Keep a blob in memory; its id."""
        return self._put(BLOB, content)

    def entries(self, tree: str) -> Entries:
        """What a folder holds, by name, in git's order. Not to be changed."""
        found = self._trees.get(tree)
        if found is None:
            found = self._trees[tree] = _parse(self._tree_content(tree))
        return found

    def find(self, tree: str, path: str) -> Entry | None:
        """What stands at a path, file or folder; None where there is nothing."""
        folder, _, name = path.rpartition("/")
        for part in folder.split("/") if folder else ():
            entry = self.entries(tree).get(part)
            if entry is None or not entry.is_folder:
                return None
            tree = entry.id
        return self.entries(tree).get(name)

    def files(self, tree: str, prefix: str = "") -> Iterator[tuple[str, Entry]]:
        """All that is not a folder, with its path, all the way down."""
        for name, entry in self.entries(tree).items():
            if entry.is_folder:
                yield from self.files(entry.id, f"{prefix}{name}/")
            else:
                yield prefix + name, entry

    def edit(self, tree: str, edits: Mapping[str, Entry | None]) -> str:
        """The tree with these paths set, or removed where the entry is None.

        Folders appear and vanish with their files. What stands in the way of a path that is set, a file
        above it or a folder at it, is removed.
        """
        here: dict[str, Entry | None] = {}
        below: dict[str, dict[str, Entry | None]] = {}
        for path, entry in edits.items():
            name, slash, rest = path.partition("/")
            if slash:
                below.setdefault(name, {})[rest] = entry
            else:
                here[name] = entry
        entries = dict(self.entries(tree))
        for name, inner in below.items():
            self._edit_folder(entries, name, inner)
        for name, entry in here.items():
            _set(entries, name, entry, kept=name in below)
        return self._put_edited(tree, entries, {*below, *here})

    def changes(self, before: str, after: str) -> tuple[Change, ...]:
        """The files that differ between two trees, by path. Renames are not looked for."""
        return tuple(sorted(self._changes(before, after, "")))

    def made(self) -> Iterator[tuple[str, bytes, bytes]]:
        """The objects that exist in memory only: id, kind and content."""
        yield from ((oid, kind, content) for oid, (kind, content) in self._new.items())

    @contextmanager
    def scratch(self) -> Iterator[None]:
        """Forget at the end of the block what was made inside it: ids from inside mean nothing after."""
        made, applied = self._new, self.applied
        self._new, self.applied = dict(made), dict(applied)
        try:
            yield
        finally:
            self._new, self.applied = made, applied

    def _edit_folder(self, entries: dict[str, Entry], name: str, inner: dict[str, Entry | None]) -> None:
        present = entries.get(name)
        is_folder = present is not None and present.is_folder
        edited = self.edit(present.id if present and is_folder else EMPTY_TREE, inner)
        if edited != EMPTY_TREE:
            entries[name] = Entry(FOLDER, edited)
        elif is_folder:
            del entries[name]

    def _changes(self, before: str, after: str, prefix: str) -> Iterator[Change]:
        if before == after:
            return
        old, new = self.entries(before), self.entries(after)
        for name, entry in old.items():
            other = new.get(name)
            if entry != other:
                yield from self._changed(entry, other, prefix + name)
        for name in new.keys() - old.keys():
            yield from self._changed(None, new[name], prefix + name)

    def _changed(self, old: Entry | None, new: Entry | None, path: str) -> Iterator[Change]:
        files = [None if entry is None or entry.is_folder else entry for entry in (old, new)]
        folders = [entry.id if entry and entry.is_folder else EMPTY_TREE for entry in (old, new)]
        if any(files):
            yield Change(path, files[0], files[1])
        yield from self._changes(folders[0], folders[1], path + "/")

    def _put(self, kind: bytes, content: bytes) -> str:
        oid = object_id(kind, content)
        self._new.setdefault(oid, (kind, content))
        return oid

    def _put_edited(self, tree: str, entries: dict[str, Entry], names: set[str]) -> str:
        """Keep a folder in which only these names differ from another: as a rule, rows are replaced in it."""
        old = self.entries(tree)
        if all(_keeps_its_place(old.get(name), entries.get(name)) for name in names):
            rows = list(self._rows_of(tree))
            places = list(entries)
            for name in names & entries.keys():
                rows[places.index(name)] = _row(name, entries[name])
        else:
            entries = dict(sorted(entries.items(), key=_sort_key))
            rows = [_row(name, entry) for name, entry in entries.items()]
        made = self._put(TREE, b"".join(rows))
        self._trees[made] = entries
        self._rows[made] = rows
        return made

    def _rows_of(self, tree: str) -> list[bytes]:
        rows = self._rows.get(tree)
        if rows is None:
            rows = self._rows[tree] = _ROWS.findall(self._tree_content(tree))
        return rows

    def _tree_content(self, tree: str) -> bytes:
        made = self._new.get(tree)
        return made[1] if made is not None else self._clone_object(tree)

    def _clone_object(self, oid: str) -> bytes:
        try:
            return self._read_clone(oid)[1]
        except (KeyError, ValueError) as error:
            raise SourceError(
                f"the clone has no object {oid}",
                "the clone is shallow or partial, or the tree was composed by another process",
                "clone the repository in full",
            ) from error


def _set(entries: dict[str, Entry], name: str, entry: Entry | None, *, kept: bool) -> None:
    """Set or remove a name; `kept` says that what now stands there was edited, and only a file goes."""
    if entry is not None:
        entries[name] = entry
    elif name in entries and not (kept and entries[name].is_folder):
        del entries[name]


def _keeps_its_place(old: Entry | None, new: Entry | None) -> bool:
    """Whether git's order of names stays as it is."""
    if old is None or new is None:
        return old is new
    return old.is_folder == new.is_folder


def _sort_key(item: tuple[str, Entry]) -> bytes:
    """Git sorts a folder as if its name ended in a slash."""
    name, entry = item
    return os.fsencode(name) + (b"/" if entry.is_folder else b"")


def _row(name: str, entry: Entry) -> bytes:
    return b"%o %b\0%b" % (entry.mode, os.fsencode(name), bytes.fromhex(entry.id))


def _parse(content: bytes) -> dict[str, Entry]:
    return {_name(name): Entry(_mode(mode), raw.hex()) for mode, name, raw in _FIELDS.findall(content)}


@lru_cache(maxsize=100_000)
def _name(name: bytes) -> str:
    return os.fsdecode(name)


@lru_cache(maxsize=64)
def _mode(mode: bytes) -> int:
    return int(mode, 8)


def _searched(pattern: re.Pattern[bytes], content: bytes, commit: str) -> bytes:
    found = pattern.search(content)
    if found is None:
        raise SourceError(f"{commit} is not a commit", "it is the id of another object")
    return found[1]
