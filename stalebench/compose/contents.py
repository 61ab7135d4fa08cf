"""Merges what three trees hold at one path: mode and content. Knows no paths, no patches, no renames."""

from __future__ import annotations

from stalebench.compose.objects import LINK, SUBMODULE, Entry, Objects
from stalebench.compose.results import Clash


def merged(objects: Objects, old: Entry | None, ours: Entry, theirs: Entry) -> Entry | Clash:
    """The merge of two files that come from a third, or from none."""
    if ours in (theirs, old):
        return theirs
    if theirs == old:
        return ours
    if SUBMODULE in (ours.mode, theirs.mode):
        return Clash.SUBMODULE
    if LINK in (ours.mode, theirs.mode):
        return Clash.LINK if ours.mode == theirs.mode else Clash.TYPE
    if old and old.mode in (LINK, SUBMODULE):
        old = None
    mode = _mode(old, ours, theirs)
    content = _content(objects, old, ours, theirs)
    if mode is None or isinstance(content, Clash):
        return content if isinstance(content, Clash) else Clash.MODE
    return Entry(mode, content)


def _mode(old: Entry | None, ours: Entry, theirs: Entry) -> int | None:
    """The mode that one side changed it to; None where both did."""
    if ours.mode == theirs.mode or (old and ours.mode == old.mode):
        return theirs.mode
    return ours.mode if old and theirs.mode == old.mode else None


def _content(objects: Objects, old: Entry | None, ours: Entry, theirs: Entry) -> str | Clash:
    ancestor = old.id if old else None
    if ours.id in (theirs.id, ancestor):
        return theirs.id
    if theirs.id == ancestor:
        return ours.id
    ancestor = ancestor or objects.put_blob(b"")
    if objects.merger.is_binary(ancestor, ours.id, theirs.id):
        return Clash.BINARY
    text = objects.merger.merge(ancestor, ours.id, theirs.id)
    if text is None:
        return Clash.CONTENT if old else Clash.EXISTS
    blob = objects.put_blob(text.content)
    objects.merger.texts.keep(blob, text)
    return blob
