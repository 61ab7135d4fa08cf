"""Reads patch text onto a tree as `git apply` does: hunks may have moved, and must fit to the byte.

Git applies it to an index that holds the files that the patch touches, in an empty repository made for that.
So no file of a work tree, no attribute and no configuration has a say, and the clone is not even read by it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

import pygit2
from pygit2.enums import ObjectType

from stalebench.compose.git import git
from stalebench.compose.objects import SUBMODULE, Entry, Objects
from stalebench.compose.patch import Patch
from stalebench.errors import StalebenchError
from stalebench.run.scratch import scratch_folder

_LARGEST: Final = 64 << 20
_SOURCE: Final = re.compile(rb"^(?:rename|copy) from (.*)$", re.MULTILINE)
_PREFIXED: Final = re.compile(
    rb'^diff --git "?([a-z0-9])/.* "?(?!\1)[a-z0-9]/|^--- "?a/|^\+\+\+ "?b/', re.MULTILINE
)
_ESCAPED: Final = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_LETTERS: Final = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_ROW: Final = re.compile(r"(\d+) ([0-9a-f]{40}) 0\t(.*)", re.DOTALL)


class Refusal(StrEnum):
    """Why a patch cannot be read onto a tree."""

    NO_PATCH = "the text is no patch"
    DOES_NOT_APPLY = "the tree does not take it"
    OUTSIDE = "it names a path outside of the tree, or of git's own"
    SUBMODULE = "it changes a submodule"
    TOO_LARGE = "it is too large"


class Unreadable(StalebenchError):
    """A patch that cannot be read onto a tree: `refusal` is the kind, `cause` what git says."""

    def __init__(self, refusal: Refusal, cause: str = "", fix: str = "") -> None:
        super().__init__(f"the patch cannot be applied: {refusal}", cause, fix)
        self.refusal = refusal

    def __reduce__(self) -> tuple[type[Unreadable], tuple[Refusal, str, str]]:
        return type(self), (self.refusal, self.cause, self.fix)


def read_patch(objects: Objects, tree: str, content: bytes) -> Patch:
    """The patch that a text is on a tree; blank text is the empty patch. Raises Unreadable."""
    if not content.strip():
        return Patch(tree, tree, ())
    if len(content) > _LARGEST:
        raise Unreadable(Refusal.TOO_LARGE, f"{len(content)} bytes")
    text = content if content.endswith(b"\n") else content + b"\n"
    first, *others = (1,) if _PREFIXED.search(text) else (0, 1)
    try:
        return _read(objects, tree, text, first)
    except Unreadable:
        for strip in others:
            return _read(objects, tree, text, strip)
        raise


def _read(objects: Objects, tree: str, text: bytes, strip: int) -> Patch:
    with scratch_folder() as scratch:
        applying = _Applying(objects, tree, scratch)
        edits = applying.edits(text, f"-p{strip}")
    after = objects.edit(tree, edits) if edits else tree
    return Patch.between(objects, tree, after)


class _Applying:
    """An index with the files that a patch touches, before and after."""

    def __init__(self, objects: Objects, tree: str, folder: Path) -> None:
        self.objects = objects
        self.tree = tree
        self.folder = folder
        self.repo = pygit2.init_repository(str(folder / "git"), bare=True)
        self.git_dir = folder / "git"

    def edits(self, text: bytes, strip: str) -> dict[str, Entry | None]:
        self._fill(self._touched(self._names(text, strip)))
        before = self._index()
        done = git(self.git_dir, "apply", "--cached", "--whitespace=nowarn", strip, "-", data=text)
        if done.returncode:
            raise _refused(done.stderr)
        after = self._index()
        paths = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
        changed = {path: after.get(path) for path in sorted(paths)}
        for path, entry in changed.items():
            if any(one is not None and one.mode == SUBMODULE for one in (before.get(path), entry)):
                raise Unreadable(Refusal.SUBMODULE, ascii(path))
            if entry is not None:
                self._keep(entry.id)
        return changed

    def _names(self, text: bytes, strip: str) -> set[str]:
        """Each path that the patch names: git tells all but the sources of renames."""
        done = git(self.git_dir, "apply", "--numstat", "-z", strip, "-", data=text)
        if done.returncode:
            raise _refused(done.stderr)
        rows = done.stdout.split(b"\0")[:-1]
        names = {row.split(b"\t", 2)[2] for row in rows}
        names |= {_unquoted(name) for name in _SOURCE.findall(text)}
        return {os.fsdecode(name) for name in names}

    def _touched(self, names: set[str]) -> dict[str, Entry]:
        """What stands in the tree at the paths, above them, and, for a folder, in it."""
        found: dict[str, Entry] = {}
        for name in names:
            parts = name.split("/")
            for path in ("/".join(parts[:count]) for count in range(1, len(parts) + 1)):
                entry = self.objects.find(self.tree, path)
                if entry is None:
                    break
                if not entry.is_folder:
                    found[path] = entry
                elif path == name:
                    found.update(self.objects.files(entry.id, path + "/"))
        return found

    def _fill(self, before: Mapping[str, Entry]) -> None:
        for entry in before.values():
            if entry.mode != SUBMODULE:
                self.repo.odb.write(ObjectType.BLOB, self.objects.blob(entry.id))
        rows = [
            b"%06o %b\t%b\0" % (entry.mode, entry.id.encode(), os.fsencode(path))
            for path, entry in before.items()
        ]
        done = git(self.git_dir, "update-index", "-z", "--index-info", data=b"".join(rows))
        if done.returncode:
            raise _refused(done.stderr)

    def _index(self) -> dict[str, Entry]:
        said = git(self.git_dir, "ls-files", "--stage", "-z").stdout
        rows = (_ROW.fullmatch(os.fsdecode(row)) for row in said.split(b"\0"))
        return {row[3]: Entry(int(row[1], 8), row[2]) for row in rows if row}

    def _keep(self, oid: str) -> None:
        self.objects.put_blob(self.repo.odb.read(oid)[1])


def _refused(said: bytes) -> Unreadable:
    """The refusal that git's message stands for."""
    text = said.decode(errors="replace").strip()
    lines = text.splitlines()[:4]
    if "invalid path" in text or "beyond a symbolic link" in text:
        kind = Refusal.OUTSIDE
    elif any(words in text for words in _NO_PATCH):
        kind = Refusal.NO_PATCH
    else:
        kind = Refusal.DOES_NOT_APPLY
    return Unreadable(kind, "; ".join(line.removeprefix("error: ") for line in lines))


_NO_PATCH: Final = (
    "No valid patches",
    "corrupt patch",
    "unrecognized",
    "patch with only garbage",
    "lacks filename",
    "patch fragment without header",
    "inconsistent",
    "corrupt binary patch",
)


def _unquoted(name: bytes) -> bytes:
    """A path as it stands in a header of git."""
    if not (name.startswith(b'"') and name.endswith(b'"')):
        return name
    return _ESCAPED.sub(_byte, name[1:-1])


def _byte(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8) & 0xFF if len(code) == 3 else _LETTERS[code[0]]])  # noqa: PLR2004 - octal
