"""Writes and removes the files of a tree below one folder. Never follows a link: opens folders one by one."""

from __future__ import annotations

import os
import stat
from collections.abc import Container, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from stalebench.errors import RunBroken

_LINK: Final = 0o120000
_SUBMODULE: Final = 0o160000
_EARLIEST: Final = 315_532_800  # 1980: the first year that a zip archive can hold
_SPAN: Final = 1_262_304_000  # to 2020
_SECOND: Final = 1_000_000_000
_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


Signature = tuple[int, int, int, int, int]
"""Size, mode, inode, and the times of modification and change: the last one nobody can set back."""

FOLDER: Final[Signature] = (0, 0, 0, 0, 0)
"""Stands for the folder of a submodule, of which only its being there counts."""


def signature(found: os.stat_result) -> Signature:
    """What changes when a file is touched in any way."""
    return (found.st_size, found.st_mode, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)


def is_submodule(mode: int) -> bool:
    """Whether the entry of a tree names a commit of another repository: an empty folder here."""
    return stat.S_IFMT(mode) == _SUBMODULE


def modification_time(blob: str) -> int:
    """Nanoseconds, derived from the content's id.

    Python takes cached bytecode for current if size and whole seconds agree: other content, other second.
    """
    return (_EARLIEST + int(blob[:15], 16) % _SPAN) * _SECOND


class TreeWriter:
    """Works below `root`; a context manager. Leaves other files there alone."""

    def __init__(self, root: Path) -> None:
        self._root: Final = os.open(root, _FOLDER_FLAGS)
        self._folder = ""
        self._handle = self._root

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leave()
        os.close(self._root)

    def write(self, path: str, mode: int, blob: str, content: bytes) -> Signature:
        """Write a file, link or empty submodule folder where nothing is yet; fast for paths in order."""
        folder, _, name = path.rpartition("/")
        self._enter(folder, path)
        _check_name(name, path)
        if is_submodule(mode):
            os.mkdir(name, 0o755, dir_fd=self._handle)
            return FOLDER
        time = modification_time(blob)
        if stat.S_IFMT(mode) == _LINK:
            os.symlink(content, os.fsencode(name), dir_fd=self._handle)
            os.utime(name, ns=(time, time), dir_fd=self._handle, follow_symlinks=False)
            return signature(os.stat(name, dir_fd=self._handle, follow_symlinks=False))
        return self._write_file(name, 0o755 if mode & 0o100 else 0o644, time, content)

    def _write_file(self, name: str, mode: int, time: int, content: bytes) -> Signature:
        handle = os.open(name, _FILE_FLAGS, mode, dir_fd=self._handle)
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(handle, rest) :]
            if stat.S_IMODE(os.fstat(handle).st_mode) != mode:
                os.fchmod(handle, mode)
            os.utime(handle, ns=(time, time))
            return signature(os.fstat(handle))
        finally:
            os.close(handle)

    def remove(self, paths: Iterable[str], kept_folders: Container[str]) -> None:
        """Remove what was written, as far as it is there, and the folders above that are no longer needed."""
        emptied: set[str] = set()
        for path in sorted(paths):
            folder, _, name = path.rpartition("/")
            with suppress(FileNotFoundError, NotADirectoryError):
                self._enter(folder, path, create=False)
                try:
                    os.unlink(name, dir_fd=self._handle)
                except IsADirectoryError:  # an empty submodule
                    os.rmdir(name, dir_fd=self._handle)
            while folder and folder not in kept_folders:
                emptied.add(folder)
                folder = folder.rpartition("/")[0]
        for path in sorted(emptied, reverse=True):
            folder, _, name = path.rpartition("/")
            with suppress(FileNotFoundError):
                self._enter(folder, path, create=False)
                os.rmdir(name, dir_fd=self._handle)

    def _enter(self, folder: str, path: str, *, create: bool = True) -> None:
        """Be in the folder, through real folders only."""
        if folder == self._folder:
            return
        self._leave()
        handle = self._root
        for name in folder.split("/") if folder else ():
            _check_name(name, path)
            try:
                inner = _open_folder(name, handle, create=create)
            finally:
                if handle != self._root:
                    os.close(handle)
            handle = inner
        self._folder, self._handle = folder, handle

    def _leave(self) -> None:
        if self._handle != self._root:
            os.close(self._handle)
        self._folder, self._handle = "", self._root


def _open_folder(name: str, within: int, *, create: bool) -> int:
    try:
        return os.open(name, _FOLDER_FLAGS, dir_fd=within)
    except FileNotFoundError:
        if not create:
            raise
        os.mkdir(name, 0o755, dir_fd=within)
        return os.open(name, _FOLDER_FLAGS, dir_fd=within)


def _check_name(name: str, path: str) -> None:
    """No tree made by git holds such a name; one made by hand may, to get out of the folder."""
    if name in {"", ".", ".."} or name.lower() == ".git":
        raise RunBroken(
            f"the tree holds a path that no checkout may have: {path!r}", "the repository is damaged"
        )
