"""A git repository around files that are already there: one root commit, and not one object more.

Written by hand, so that there is no reflog, no hook and no configuration from elsewhere, and so that the
index knows the files as they are: `git status` is clean whatever .gitattributes would do to them.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from stalebench.compose.git import git
from stalebench.compose.objects import BLOB, SUBMODULE, TREE, Entry, Objects, object_id
from stalebench.errors import RunBroken

BRANCH: Final = "main"

_COMMIT: Final = b"commit"
_WHO: Final = b"stalebench <stalebench@localhost> 1577836800 +0000"
_MESSAGE: Final = b"The project as it is\n"
_CONFIG: Final = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tautocrlf = false
[user]
\tname = agent
\temail = agent@localhost
"""
_NUMBERS: Final = {_COMMIT: 1, TREE: 2, BLOB: 3}
_LONGEST_NAME: Final = 0xFFF
_WORD: Final = 0xFFFFFFFF


def make(objects: Objects, tree: str, folder: Path) -> str:
    """Make `folder`, which holds the files of the tree, a work tree with one root commit; the commit."""
    home = folder / ".git"
    for name in ("objects/pack", "objects/info", "refs/heads", "info"):
        (home / name).mkdir(parents=True)
    commit = b"tree %b\nauthor %b\ncommitter %b\n\n%b" % (tree.encode(), _WHO, _WHO, _MESSAGE)
    (home / "config").write_text(_CONFIG, encoding="ascii")
    (home / "HEAD").write_text(f"ref: refs/heads/{BRANCH}\n", encoding="ascii")
    _write_pack(objects, tree, commit, home)
    name = object_id(_COMMIT, commit)
    (home / "refs/heads" / BRANCH).write_text(f"{name}\n", encoding="ascii")
    (home / "index").write_bytes(_index(dict(objects.files(tree)), folder))
    return name


def _write_pack(objects: Objects, tree: str, commit: bytes, home: Path) -> None:
    wanted = _reachable(objects, tree)
    path = home / "objects/pack/new"
    sums = hashlib.sha1(usedforsecurity=False)
    with path.open("wb") as file:
        for part in _pack(objects, wanted, commit):
            sums.update(part)
            file.write(part)
        file.write(sums.digest())
    named = path.with_name(f"pack-{sums.hexdigest()}.pack")
    path.rename(named)
    done = git(home, "index-pack", str(named))
    if done.returncode:
        raise RunBroken(
            f"a workspace could not be written: {done.stderr.decode(errors='replace').strip()}",
            "no space is left in the temporary folder",
            "make room there",
        )


def _reachable(objects: Objects, tree: str) -> dict[str, bytes]:
    """Every folder and file of a tree: id → kind."""
    found: dict[str, bytes] = {}
    waiting = [tree]
    while waiting:
        folder = waiting.pop()
        if folder in found:
            continue
        found[folder] = TREE
        for entry in objects.entries(folder).values():
            if entry.is_folder:
                waiting.append(entry.id)
            elif entry.mode != SUBMODULE:
                found[entry.id] = BLOB
    return found


def _pack(objects: Objects, wanted: Mapping[str, bytes], commit: bytes) -> Iterator[bytes]:
    yield b"PACK" + struct.pack(">II", 2, len(wanted) + 1)
    yield _packed(_COMMIT, commit)
    for oid, kind in wanted.items():
        yield _packed(kind, objects.blob(oid))  # a folder's content is read the same way


def _packed(kind: bytes, content: bytes) -> bytes:
    """A pack's entry: kind and size in groups of 4, then 7 bits, the smallest first; then the content."""
    rest, head = len(content) >> 4, [_NUMBERS[kind] << 4 | len(content) & 0xF]
    while rest:
        head[-1] |= 0x80
        head.append(rest & 0x7F)
        rest >>= 7
    return bytes(head) + zlib.compress(content, 0)  # it lives for one attempt: time counts, not space


def _index(files: Mapping[str, Entry], folder: Path) -> bytes:
    """The index, version 2, with each file as it is on disk."""
    rows = sorted((os.fsencode(path), entry) for path, entry in files.items())
    body = b"DIRC" + struct.pack(">II", 2, len(rows))
    parts = [body, *(_index_row(name, entry, os.fsencode(folder)) for name, entry in rows)]
    whole = b"".join(parts)
    return whole + hashlib.sha1(whole, usedforsecurity=False).digest()


def _index_row(name: bytes, entry: Entry, folder: bytes) -> bytes:
    seen = os.lstat(os.path.join(folder, name))  # noqa: PTH118 - bytes, by the thousand
    row = struct.pack(
        ">10I20sH",
        *_time(seen.st_ctime_ns),
        *_time(seen.st_mtime_ns),
        *_words((seen.st_dev, seen.st_ino)),
        entry.mode,
        *_words((seen.st_uid, seen.st_gid, 0 if stat.S_ISDIR(seen.st_mode) else seen.st_size)),
        bytes.fromhex(entry.id),
        min(len(name), _LONGEST_NAME),
    )
    row += name
    return row + bytes(8 - len(row) % 8)


def _time(nanoseconds: int) -> Sequence[int]:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return seconds & _WORD, rest


def _words(numbers: Sequence[int]) -> list[int]:
    return [number & _WORD for number in numbers]
