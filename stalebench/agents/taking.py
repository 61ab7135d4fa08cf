"""What an agent left in its workspace, as a tree. Reads bytes, follows no link, runs nothing, asks no git.

The agent's own repository, attributes and ignore rules do not count: what is new is left out if it is a
cache, a virtual environment, or ignored by the tree that the agent was given. A file of that tree is always
taken. A nested repository is a folder like any other, and a submodule stays as it is.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from pathspec import GitIgnoreSpec

from stalebench.compose.objects import BLOB, EXECUTABLE, FILE, LINK, SUBMODULE, Entry, Objects, object_id
from stalebench.errors import StalebenchError

LARGEST_FILE: Final = 16 << 20
MOST_FILES: Final = 10_000
MOST_BYTES: Final = 256 << 20
"""Of all files that are new or changed."""

_CACHES: Final = (
    "__pycache__",
    "*.pyc",
    "*.pyo",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".tox",
    ".nox",
    "node_modules",
    "*.egg-info",
)
_ENVIRONMENT: Final = "pyvenv.cfg"
_MOST_MODE: Final = 0o700


class Untakeable(StalebenchError):
    """The workspace cannot be read as a patch: it is gone, or holds more than any patch does."""


def taken(objects: Objects, tree: str, folder: Path) -> str:
    """The tree that the agent made of this one. Raises Untakeable."""
    return _Taking(objects, tree, os.fsencode(folder)).tree()


class _Taking:
    """One walk over a workspace."""

    def __init__(self, objects: Objects, tree: str, root: bytes) -> None:
        self.objects = objects
        self.base = tree
        self.root = root
        self.known = dict(objects.files(tree))
        self.folders = _folders(self.known)
        self.ignored = _Ignored(objects, self.known)
        self.seen: set[str] = set()
        self.edits: dict[str, Entry | None] = {}
        self.bytes = 0

    def tree(self) -> str:
        if not stat.S_ISDIR(_mode_of(self.root)):
            raise Untakeable("the workspace is gone", "the agent removed or replaced its folder")
        try:
            self._walk("", is_left_out=False)
        except OSError as error:
            name = os.strerror(error.errno or errno.EIO)
            raise Untakeable(
                f"the workspace cannot be read: {name}", "a name or a nesting that no git would take"
            ) from error
        gone = [path for path in self.known if path not in self.seen and not self._is_submodule(path)]
        return self.objects.edit(self.base, {**dict.fromkeys(gone), **self.edits})

    def _walk(self, prefix: str, *, is_left_out: bool) -> None:
        """Take the files of a folder; of one that is left out, only the known ones."""
        for entry in self._entries(prefix):
            path = prefix + os.fsdecode(entry.name)
            known = self.known.get(path)
            if entry.name.lower() == b".git" or self._is_submodule(path):
                continue
            if entry.is_dir(follow_symlinks=False):
                self._folder(entry, path, is_left_out=is_left_out)
            elif known is not None or not (is_left_out or self._is_left_out(entry, path)):
                self._file(entry, path, known)

    def _entries(self, prefix: str) -> Iterator[os.DirEntry[bytes]]:
        folder = self.root + b"/" + os.fsencode(prefix)
        _open_up(folder)
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        yield from found

    def _folder(self, entry: os.DirEntry[bytes], path: str, *, is_left_out: bool) -> None:
        is_left_out = is_left_out or self._is_left_out(entry, path)
        if path in self.folders:
            self._walk(path + "/", is_left_out=is_left_out)
        elif not is_left_out and not _is_environment(entry.path):
            self._walk(path + "/", is_left_out=False)

    def _is_left_out(self, entry: os.DirEntry[bytes], path: str) -> bool:
        name = path.rpartition("/")[2]
        if any(fnmatchcase(name, pattern) for pattern in _CACHES):
            return True
        return self.ignored(path + "/" if entry.is_dir(follow_symlinks=False) else path)

    def _file(self, entry: os.DirEntry[bytes], path: str, known: Entry | None) -> None:
        found = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            self._keep(path, known, LINK, os.readlink(entry.path))  # noqa: PTH115 - bytes
        elif stat.S_ISREG(found.st_mode):
            self._check(path, known, found.st_size)
            mode = EXECUTABLE if found.st_mode & stat.S_IXUSR else FILE
            self._keep(path, known, mode, _content(entry.path, found.st_mode))

    def _keep(self, path: str, known: Entry | None, mode: int, content: bytes) -> None:
        self.seen.add(path)
        oid = object_id(BLOB, content)
        if known is not None and known.id == oid and _is_same_mode(known.mode, mode):
            return
        self.edits[path] = Entry(mode, self.objects.put_blob(content))
        self.bytes += len(content)
        if len(self.edits) > MOST_FILES:
            raise Untakeable(
                f"more than {MOST_FILES} files are new or changed", "data, or a copy of a library"
            )
        if self.bytes > MOST_BYTES:
            raise Untakeable(f"what is new or changed is larger than {MOST_BYTES >> 20} MiB", "data")

    def _is_submodule(self, path: str) -> bool:
        known = self.known.get(path)
        return known is not None and known.mode == SUBMODULE

    def _check(self, path: str, known: Entry | None, size: int) -> None:
        """Refuse what is too large, unless it was there before and has kept its size."""
        if size <= LARGEST_FILE:
            return
        if known is None or len(self.objects.blob(known.id)) != size:
            raise Untakeable(f"{path!a} is larger than {LARGEST_FILE >> 20} MiB", "data, or a log")


class _Ignored:
    """The rules of the .gitignore files of a tree."""

    def __init__(self, objects: Objects, known: dict[str, Entry]) -> None:
        self.rules: dict[str, GitIgnoreSpec] = {}
        for path, entry in known.items():
            if path.rpartition("/")[2] == ".gitignore" and entry.mode in (FILE, EXECUTABLE):
                folder = path[: -len(".gitignore")]
                self.rules[folder] = _rules(os.fsdecode(objects.blob(entry.id)))

    def __call__(self, path: str) -> bool:
        """Whether a path, of which no folder above is ignored, is; folders end in a slash."""
        folder = path.rstrip("/").rpartition("/")[0]
        while True:
            prefix = folder + "/" if folder else ""
            rules = self.rules.get(prefix)
            told = rules.check_file(path[len(prefix) :]).include if rules is not None else None
            if told is not None or not folder:
                return bool(told)
            folder = folder.rpartition("/")[0]


def _rules(text: str) -> GitIgnoreSpec:
    """Each line that says something; one that is none to pathspec is none to git."""
    lines = []
    for line in text.split("\n"):
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        lines.append(line.removesuffix("\r"))
    return GitIgnoreSpec.from_lines(lines)


def _folders(paths: dict[str, Entry]) -> set[str]:
    """All folders above the paths."""
    found: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _is_environment(folder: bytes) -> bool:
    return os.path.lexists(os.path.join(folder, _ENVIRONMENT.encode()))  # noqa: PTH118 - bytes


def _is_same_mode(old: int, new: int) -> bool:
    """Trees of old repositories hold further modes of plain files."""
    if stat.S_IFMT(old) != stat.S_IFMT(new):
        return False
    return stat.S_ISLNK(old) or bool(old & stat.S_IXUSR) == bool(new & stat.S_IXUSR)


def _mode_of(path: bytes) -> int:
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0


def _open_up(folder: bytes) -> None:
    """Make a folder readable, as its owner may."""
    if stat.S_IMODE(_mode_of(folder)) & _MOST_MODE != _MOST_MODE:
        os.chmod(folder, _MOST_MODE)  # noqa: PTH101 - it is known to be no link


def _content(path: bytes, mode: int) -> bytes:
    if not mode & stat.S_IRUSR:
        os.chmod(path, mode | stat.S_IRUSR)  # noqa: PTH101 - it is known to be no link
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        return file.read()
