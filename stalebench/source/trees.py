"""Which paths differ between two trees, and nothing about how: no patch, no rename is computed.

Consecutive commits share nearly all of their folders. Each folder is read once and kept, so that a walk
over a whole history costs what changed, not what is there.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

import pygit2

from stalebench.source.missing import missing

FOLDER: Final = b"40000"

_ENTRY: Final = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
"""A tree object is a row of these: mode, name, and the id in 20 raw bytes."""

Entries = dict[bytes, tuple[bytes, bytes]]
"""name -> (mode as git writes it, raw id)."""


class TreeReader:
    """Reads folders of one repository, and keeps the most recent ones."""

    def __init__(self, repo: pygit2.Repository, kept: int = 20_000) -> None:
        self._read = repo.odb.read
        self._kept = kept
        self._cache: OrderedDict[bytes, Entries] = OrderedDict()

    def changed_paths(self, before: pygit2.Oid | None, after: pygit2.Oid | None) -> tuple[str, ...]:
        """The files that are added, changed or removed from one tree to the other, sorted.

        A renamed file is there under both of its names.
        """
        old, new = before.raw if before else None, after.raw if after else None
        return tuple(sorted(os.fsdecode(path) for path in self._changed(old, new, b"")))

    def _changed(self, before: bytes | None, after: bytes | None, prefix: bytes) -> Iterator[bytes]:
        if before == after:
            return
        old, new = self._entries(before), self._entries(after)
        for name in {name for name, _ in old.items() ^ new.items()}:
            yield from self._changed_entry(old.get(name), new.get(name), prefix + name)

    def _changed_entry(
        self, one: tuple[bytes, bytes] | None, other: tuple[bytes, bytes] | None, path: bytes
    ) -> Iterator[bytes]:
        if any(entry and entry[0] != FOLDER for entry in (one, other)):
            yield path
        yield from self._changed(_folder(one), _folder(other), path + b"/")

    def _entries(self, tree: bytes | None) -> Entries:
        if tree is None:
            return {}
        found = self._cache.get(tree)
        if found is None:
            try:
                data = self._read(pygit2.Oid(raw=tree))[1]
            except KeyError:
                raise missing(f"folder {tree.hex()}") from None
            found = self._cache[tree] = _parse(data)
            if len(self._cache) > self._kept:
                self._cache.popitem(last=False)
        return found


def _folder(entry: tuple[bytes, bytes] | None) -> bytes | None:
    return entry[1] if entry and entry[0] == FOLDER else None


def _parse(data: bytes) -> Entries:
    return {name: (mode, raw) for mode, name, raw in _ENTRY.findall(data)}
