"""Finds renamed files among the changes between two trees, by git's rules. Reads blobs, changes nothing.

First equal content, then a file name that only one removed and one added file have (75% alike), then the
best match of all (50% alike). Likeness is the share of the larger file's bytes that stand in chunks, lines
of at most 64 bytes, which both files hold. Git compares hashes of the chunks, here the chunks themselves
are compared: the two can only differ by collisions of its small hashes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from stalebench.compose.lines import is_binary
from stalebench.compose.objects import LINK, SUBMODULE, Change, Entry, Objects

ALIKE: Final = 0.5
ALIKE_WITH_SAME_NAME: Final = 0.75

_CHUNK: Final = re.compile(rb"[^\n]{0,63}\n|[^\n]{1,64}")
_EMPTY_BLOB: Final = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def with_renames(
    objects: Objects, changes: Sequence[Change], relevant: Collection[str] | None = None
) -> tuple[Change, ...]:
    """The same changes, in which a removed and an added file that are one renamed file became one change.

    Of removed files whose content was not just moved, only the `relevant` are looked for, as git merges.
    """
    removed = [change for change in changes if change.new is None]
    added = [change for change in changes if change.old is None]
    if not removed or not added:
        return tuple(changes)
    pairs = _Matching(objects, removed, added).pairs(relevant)
    gone = set(pairs.values())
    olds = {change.path: change.old for change in removed}
    merged = [
        Change(change.path, olds[pairs[change.path]], change.new, pairs[change.path])
        if change.path in pairs and change.old is None
        else change
        for change in changes
        if not (change.new is None and change.path in gone)
    ]
    return tuple(merged)


class _Matching:
    """Pairs the paths of added files with those of removed ones."""

    def __init__(self, objects: Objects, removed: Sequence[Change], added: Sequence[Change]) -> None:
        self.objects = objects
        self.sources = {change.path: change.old for change in removed if change.old}
        self.targets = {change.path: change.new for change in added if change.new}
        self.found: dict[str, str] = {}
        self.chunks: dict[str, Counter[bytes]] = {}
        self.sizes: dict[str, int] = {}

    def pairs(self, relevant: Collection[str] | None) -> dict[str, str]:
        """Added path -> removed path."""
        self._take(self._same_content())
        if relevant is not None:
            self.sources = {path: entry for path, entry in self.sources.items() if path in relevant}
        self._take(self._same_name())
        self._take(self._most_alike())
        return self.found

    def _take(self, pairs: Iterator[tuple[str, str]]) -> None:
        for target, source in pairs:
            if target in self.targets and source in self.sources:
                self.found[target] = source
                del self.targets[target], self.sources[source]

    def _same_content(self) -> Iterator[tuple[str, str]]:
        """Of several removed files with the same content, the one with the same file name."""
        by_id: dict[str, list[str]] = {}
        for path, entry in self.sources.items():
            by_id.setdefault(entry.id, []).append(path)
        for target, entry in list(self.targets.items()):
            if entry.id == _EMPTY_BLOB:
                continue
            alike = [path for path in by_id.get(entry.id, ()) if path in self.sources]
            alike = [path for path in alike if _same_type(self.sources[path], entry)]
            if alike:
                yield target, max(alike, key=lambda path: _name(path) == _name(target))

    def _same_name(self) -> Iterator[tuple[str, str]]:
        sources, targets = _unique_names(self.sources), _unique_names(self.targets)
        for name in [name for name in targets if name in sources]:
            likeness = self._likeness(self.sources[sources[name]], self.targets[targets[name]])
            if likeness >= ALIKE_WITH_SAME_NAME:
                yield targets[name], sources[name]

    def _most_alike(self) -> Iterator[tuple[str, str]]:
        scored = [
            (likeness, _name(source) == _name(target), target, source)
            for target, new in self.targets.items()
            for source, old in self.sources.items()
            if (likeness := self._likeness(old, new)) >= ALIKE
        ]
        scored.sort(key=lambda row: (-row[0], not row[1]))
        yield from ((target, source) for _, _, target, source in scored)

    def _likeness(self, old: Entry, new: Entry) -> float:
        if not (_is_regular(old) and _is_regular(new)) or _EMPTY_BLOB in (old.id, new.id):
            return 0.0
        small, large = sorted((self._size(old.id), self._size(new.id)))
        if small < large * ALIKE:
            return 0.0
        common = self._chunks(old.id) & self._chunks(new.id)
        return sum(len(chunk) * times for chunk, times in common.items()) / large

    def _size(self, oid: str) -> int:
        if oid not in self.sizes:
            self.sizes[oid] = len(self.objects.blob(oid))
        return self.sizes[oid]

    def _chunks(self, oid: str) -> Counter[bytes]:
        if oid not in self.chunks:
            content = self.objects.blob(oid)
            if not is_binary(content):
                content = content.replace(b"\r\n", b"\n")
            self.chunks[oid] = Counter(_CHUNK.findall(content))
        return self.chunks[oid]


def _unique_names(paths: dict[str, Entry]) -> dict[str, str]:
    """File name -> path, of the file names that occur once."""
    times = Counter(map(_name, paths))
    return {_name(path): path for path in paths if times[_name(path)] == 1}


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _is_regular(entry: Entry) -> bool:
    return entry.mode not in (LINK, SUBMODULE)


def _same_type(old: Entry, new: Entry) -> bool:
    return old.mode == new.mode or (_is_regular(old) and _is_regular(new))
