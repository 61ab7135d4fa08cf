"""Whether `git apply` without three-way help would accept a patch on a tree. Applies nothing.

Hunks must fit exactly, context included, but may have moved: the place nearest to the expected one is
taken. A hunk that starts at the first line must fit there, one without context behind it at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stalebench.compose.lines import is_binary
from stalebench.compose.objects import SUBMODULE, Change, Entry, Objects
from stalebench.compose.patch import Patch
from stalebench.compose.text import content, hunks

_TYPE: Final = 0o170000
_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")
_HEAD: Final = re.compile(rb"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def would_apply(objects: Objects, tree: str, patch: Patch) -> bool:
    """Whether `git apply` would accept the patch on the tree."""
    if tree == patch.before:
        return True
    leaving = {
        change.source or change.path for change in patch.changes if change.source or change.new is None
    }
    return all(_accepted(objects, tree, change, leaving) for change in patch.changes)


def _accepted(objects: Objects, tree: str, change: Change, leaving: set[str]) -> bool:
    old, new = change.old, change.new
    if any(entry is not None and entry.mode == SUBMODULE for entry in (old, new)):
        return False
    if (change.source or old is None) and not _is_free(objects, tree, change.path, leaving):
        return False
    if old is None:
        return True
    present = objects.find(tree, change.source or change.path)
    if present is None or present.is_folder or present.mode & _TYPE != old.mode & _TYPE:
        return False
    return _content_fits(objects, present, old, new)


def _is_free(objects: Objects, tree: str, path: str, leaving: set[str]) -> bool:
    """Whether a file can be made here: nothing there, and no file above, but for what the patch removes."""
    present = objects.find(tree, path)
    if present is not None:
        if not present.is_folder:
            return path in leaving
        return all(file in leaving for file, _ in objects.files(present.id, path + "/"))
    parts = path.split("/")
    above = ["/".join(parts[:count]) for count in range(1, len(parts))]
    found = [(folder, objects.find(tree, folder)) for folder in above]
    return all(entry is None or entry.is_folder or folder in leaving for folder, entry in found)


def _content_fits(objects: Objects, present: Entry, old: Entry, new: Entry | None) -> bool:
    if present.id == old.id or (new is not None and new.id == old.id):
        return True
    patch = _hunks(objects, old, new)
    if patch is None:
        return False
    result = _applied(patch, _lines(content(objects, present)))
    return result is not None and not (new is None and result)


def _hunks(objects: Objects, old: Entry, new: Entry | None) -> tuple[Hunk, ...] | None:
    """The hunks of one file's patch; None where it is a binary one."""
    key = (old, new)
    if key not in objects.hunks:
        before, after = content(objects, old), content(objects, new)
        binary = is_binary(before) or is_binary(after)
        objects.hunks[key] = None if binary else parsed(hunks(before, after))
    found: tuple[Hunk, ...] | None = objects.hunks[key]
    return found


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk: the lines it must find, those it leaves, and where it expects them."""

    old_start: int
    new_start: int
    before: tuple[bytes, ...]
    after: tuple[bytes, ...]
    ends_in_context: bool


def parsed(text: bytes) -> tuple[Hunk, ...]:
    """The hunks of one file's patch as made by `text.hunks`."""
    return tuple(map(_hunk, _split(text)))


def _split(text: bytes) -> Iterator[list[bytes]]:
    rows: list[bytes] = []
    for row in _lines(text):
        if row.startswith(b"@@ ") and rows:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def _hunk(rows: Sequence[bytes]) -> Hunk:
    head = _HEAD.match(rows[0])
    if head is None:
        raise ValueError(f"not the head of a hunk: {rows[0]!r}")
    body: list[bytes] = []
    for row in rows[1:]:
        if row.startswith(b"\\"):
            body[-1] = body[-1][:-1]
        else:
            body.append(row)
    return Hunk(
        int(head[1]),
        int(head[2]),
        tuple(row[1:] for row in body if row[:1] != b"+"),
        tuple(row[1:] for row in body if row[:1] != b"-"),
        ends_in_context=body[-1].startswith(b" "),
    )


def _lines(data: bytes) -> list[bytes]:
    return _LINE.findall(data)


Image = list[bytes | None]
"""The lines of a file; None for one that an earlier hunk already covered."""


def _applied(patch: Sequence[Hunk], lines: Sequence[bytes]) -> Image | None:
    """What the hunks make of a file; None where one finds no place."""
    image: Image = list(lines)
    for hunk in patch:
        place = _place(hunk, image)
        if place is None:
            return None
        image[place : place + len(hunk.before)] = [None] * len(hunk.after)
    return image


def _place(hunk: Hunk, image: Image) -> int | None:
    last = len(image) - len(hunk.before)
    if last < 0:
        return None
    at_start, at_end = hunk.old_start <= 1, not hunk.ends_in_context
    if at_start or at_end:
        place = 0 if at_start else last
        return place if (not at_end or place == last) and _fits(hunk, image, place) else None
    return _nearest_fit(hunk, image, max(hunk.new_start - 1, 0))


def _nearest_fit(hunk: Hunk, image: Image, wanted: int) -> int | None:
    """The nearest place where the hunk fits, of two equally near ones the later."""
    if wanted + len(hunk.before) <= len(image) and _fits(hunk, image, wanted):
        return wanted
    if len(hunk.before) == 1:
        places = [place for place, line in enumerate(image) if _same_line(hunk.before[0], line)]
    else:
        places = [place for place in _places(hunk.before[0], image) if _fits(hunk, image, place)]
    return min(places, key=lambda place: (abs(place - wanted), place < wanted), default=None)


def _places(line: bytes, image: Image) -> Iterator[int]:
    place = -1
    for _ in range(image.count(line)):
        place = image.index(line, place + 1)
        yield place


def _fits(hunk: Hunk, image: Image, place: int) -> bool:
    wanted = hunk.before
    if not wanted:
        return True
    found = image[place : place + len(wanted)]
    if len(found) < len(wanted) or tuple(found[:-1]) != wanted[:-1]:
        return False
    return found[-1] == wanted[-1] if not hunk.ends_in_context else _same_line(wanted[-1], found[-1])


def _same_line(wanted: bytes, found: bytes | None) -> bool:
    """Git compares a line of context without line feed as the start of one that only has white space more."""
    if wanted == found or found is None or wanted.endswith(b"\n"):
        return wanted == found
    return found.startswith(wanted) and not found[len(wanted) :].strip()
