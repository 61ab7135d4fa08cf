"""Writes changes in git's patch format: full ids, binary hunks, exact bytes. Never reads such text."""

from __future__ import annotations

import base64
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Final

import pygit2
from pygit2.enums import DiffOption

from stalebench.compose.lines import is_binary
from stalebench.compose.objects import SUBMODULE, Change, Entry, Objects

CONTEXT: Final = 3

_NULL_ID: Final = "0" * 40
_TYPE: Final = 0o170000
_FLAGS: Final = DiffOption.INDENT_HEURISTIC | DiffOption.FORCE_TEXT
_QUOTED: Final = re.compile(rb'[\x00-\x1f"\\\x7f-\xff]')
_ESCAPES: Final = {7: b"a", 8: b"b", 9: b"t", 10: b"n", 11: b"v", 12: b"f", 13: b"r", 34: b'"', 92: b"\\"}
_BASE85_LINE: Final = 52
_STORED_BLOCK: Final = 65535


def render(objects: Objects, changes: Iterable[Change]) -> bytes:
    """The changes as one patch."""
    return b"".join(_file(objects, change) for whole in changes for change in _of_one_type(whole))


def content(objects: Objects, entry: Entry | None) -> bytes:
    """What a diff compares: a file's bytes, a link's target, or the line that stands for a submodule."""
    if entry is None:
        return b""
    if entry.mode == SUBMODULE:
        return b"Subproject commit %b\n" % entry.id.encode()
    return objects.blob(entry.id)


def hunks(old: bytes, new: bytes) -> bytes:
    """The hunks between two texts, as git writes them; empty where they are equal."""
    data = pygit2.Patch.create_from(old, new, flag=_FLAGS, context_lines=CONTEXT).data
    start = data.find(b"\n@@ ")
    return data[start + 1 :] if start >= 0 else b""


def _of_one_type(change: Change) -> Iterator[Change]:
    """Git writes a file that becomes a link, or the like, as a removal and an addition."""
    old, new = change.old, change.new
    if old and new and old.mode & _TYPE != new.mode & _TYPE:
        yield Change(change.source or change.path, old, None)
        yield Change(change.path, None, new)
    else:
        yield change


def _file(objects: Objects, change: Change) -> bytes:
    old_name, new_name = change.source or change.path, change.path
    lines = [b"diff --git %b %b" % (_quoted("a/", old_name), _quoted("b/", new_name)), *_modes(change)]
    if change.source:
        lines += [b"rename from " + _quoted("", old_name), b"rename to " + _quoted("", new_name)]
    head = b"\n".join(lines) + b"\n"
    if change.old and change.new and change.old.id == change.new.id:
        return head
    return head + _index(change) + _body(objects, change, old_name, new_name)


def _modes(change: Change) -> list[bytes]:
    old, new = change.old, change.new
    if old is None and new is not None:
        return [b"new file mode %06o" % new.mode]
    if new is None and old is not None:
        return [b"deleted file mode %06o" % old.mode]
    if old and new and old.mode != new.mode:
        return [b"old mode %06o" % old.mode, b"new mode %06o" % new.mode]
    return []


def _index(change: Change) -> bytes:
    old, new = change.old, change.new
    ids = "..".join(entry.id if entry else _NULL_ID for entry in (old, new))
    mode = f" {new.mode:06o}" if old and new and old.mode == new.mode else ""
    return f"index {ids}{mode}\n".encode()


def _body(objects: Objects, change: Change, old_name: str, new_name: str) -> bytes:
    old, new = content(objects, change.old), content(objects, change.new)
    if is_binary(old) or is_binary(new):
        return b"GIT binary patch\n" + _literal(new) + _literal(old)
    text = hunks(old, new)
    if not text:
        return b""
    names = [
        b"/dev/null" if entry is None else _quoted(prefix, name) + (b"\t" if " " in name else b"")
        for entry, prefix, name in ((change.old, "a/", old_name), (change.new, "b/", new_name))
    ]
    return b"--- %b\n+++ %b\n%b" % (names[0], names[1], text)


def _quoted(prefix: str, name: str) -> bytes:
    """As git quotes names in a patch: in C style if need be, with the prefix inside."""
    raw = os.fsencode(prefix + name)
    if not _QUOTED.search(raw):
        return raw
    return b'"%b"' % _QUOTED.sub(_escaped, raw)


def _escaped(found: re.Match[bytes]) -> bytes:
    byte = found[0][0]
    return b"\\" + (_ESCAPES.get(byte) or b"%03o" % byte)


def _literal(data: bytes) -> bytes:
    """One half of a binary hunk: the whole content, in git's base 85."""
    stored = _deflated(data)
    rows = [stored[start : start + _BASE85_LINE] for start in range(0, len(stored), _BASE85_LINE)]
    return b"literal %d\n%b\n" % (len(data), b"".join(map(_base85_row, rows)))


def _base85_row(row: bytes) -> bytes:
    size = len(row)
    letter = ord("A") + size - 1 if size <= 26 else ord("a") + size - 27  # noqa: PLR2004 - the alphabet
    return b"%c%b\n" % (letter, base64.b85encode(row, pad=True))


def _deflated(data: bytes) -> bytes:
    """A zlib stream without compression: the same bytes with every version of zlib, so that hashes last."""
    starts = range(0, max(len(data), 1), _STORED_BLOCK)
    body = b"".join(
        _stored_block(data[start : start + _STORED_BLOCK], last=start == starts[-1]) for start in starts
    )
    return b"\x78\x01" + body + zlib.adler32(data).to_bytes(4, "big")


def _stored_block(block: bytes, *, last: bool) -> bytes:
    size = len(block).to_bytes(2, "little")
    return bytes([last]) + size + bytes(byte ^ 0xFF for byte in size) + block
