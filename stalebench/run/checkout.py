"""A folder on disk that is made equal to a git tree, again and again, whatever runs have done to it.

Writes only below its own folder and never through a symbolic link. Knows no git but through `Trees`.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Protocol, Self

from stalebench.errors import RunBroken, SourceError
from stalebench.run.bytecode import Bytecode
from stalebench.run.removal import remove
from stalebench.run.writing import FOLDER, Signature, TreeWriter, is_submodule, signature

_FORMAT: Final = 2
_FOLDER_MODE: Final = 0o755
_WAIT_STEP: Final = 0.05


class _Entry(Protocol):
    @property
    def mode(self) -> int: ...
    @property
    def id(self) -> str: ...


class _Change(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def new(self) -> _Entry | None: ...


class Trees(Protocol):
    """Where trees and their files come from: `stalebench.compose.objects.Objects`."""

    def files(self, tree: str) -> Iterator[tuple[str, _Entry]]:
        """All files of a tree."""
        ...

    def changes(self, old: str, new: str) -> Iterable[_Change]:
        """The files that differ between two trees."""
        ...

    def blob(self, id: str) -> bytes:  # noqa: A002 - the word of the field
        """The content of a file."""
        ...


class _Written(NamedTuple):
    """The entry of a tree that a file was written from."""

    mode: int
    id: str


@dataclass(frozen=True, slots=True)
class Switch:
    """How many files were written for the new tree, removed, and put right since a run had changed them."""

    written: int
    removed: int
    restored: int


class Checkout:
    """A folder that equals one tree after each `switch`; locked against all others until `close`.

    `folder` holds the tree itself (`root`), a lock, and between two uses what is known of the files. That
    knowledge is taken away while in use: after a crash nothing is trusted, and all is written anew.
    """

    def __init__(self, folder: Path, *, wait: float = 0.0) -> None:
        self.root: Final = Path(os.path.abspath(folder)) / "tree"  # noqa: PTH100 - links stay
        self._state = self.root.with_name("state.json")
        self._bytecode = Bytecode(self.root)
        self._tree: str | None = None
        self._entries: dict[str, _Entry] = {}
        self._signatures: dict[str, Signature] = {}
        with _explained(self.root):
            self.root.parent.mkdir(parents=True, exist_ok=True)
            self._lock: int | None = _lock(self.root.with_name("lock"), wait)
            self._load_state()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def switch(self, trees: Trees, tree: str, python: Path | None = None) -> Switch:
        """Make the folder equal to the tree; RunBroken if the disk does not let us.

        With the interpreter of the run to come, bytecode of what earlier runs have read is put beside the
        sources; a run must not write its own (PYTHONDONTWRITEBYTECODE), since the next switch removes it.
        """
        if self._lock is None:
            raise RunBroken(f"the checkout {self.root} is closed")
        known, self._tree = self._tree, None  # unknown until the switch is complete
        if known is None:
            self._entries.clear()
        with _explained(self.root):
            removed = self._survey() if known is not None and _is_folder(self.root) else self._start_anew()
            wanted = self._wanted(trees, known, tree)
            lost = self._entries.keys() - self._signatures.keys()
            restored = {path: self._entries[path] for path in lost if path not in wanted}
            removed += self._apply(trees, {**restored, **wanted})
            if python is not None:
                self._compile(python)
        self._tree = tree
        return Switch(sum(entry is not None for entry in wanted.values()), removed, len(restored))

    def close(self) -> None:
        """Note down what is known of the files, and let go of the lock."""
        if self._lock is None:
            return
        with _explained(self.root):
            if self._tree is not None:
                self._save_state()
        os.close(self._lock)
        self._lock = None

    # --- looking

    def _start_anew(self) -> int:
        """An empty folder, whatever is there."""
        remove(self.root)
        self.root.mkdir()
        self._signatures.clear()
        self._bytecode.files.clear()
        return 0

    def _survey(self) -> int:
        """Forget the files that are not as they were written, and remove all that does not belong there."""
        known, root = self._signatures, str(self.root)
        submodules = {path for path, found in known.items() if found == FOLDER}
        folders = _folders(known) | submodules
        intact: dict[str, Signature] = {}
        foreign: list[str] = []
        waiting = [""]
        _mend_mode(root, self.root.lstat().st_mode)
        while waiting:
            prefix = waiting.pop()
            with os.scandir(f"{root}/{prefix}") as entries:
                for entry in entries:  # thousands, before each run: nothing slow in here
                    path = prefix + entry.name
                    found = entry.stat(follow_symlinks=False)
                    seen = signature(found)
                    if seen == known.get(path):
                        intact[path] = seen
                        if found.st_atime_ns > found.st_mtime_ns:  # written with both the same
                            self._bytecode.note_read(path)
                    elif path in folders and stat.S_ISDIR(found.st_mode):
                        _mend_mode(entry.path, found.st_mode)
                        waiting.append(path + "/")
                        if path in submodules:
                            intact[path] = FOLDER
                    else:
                        foreign.append(entry.path)
        for path in foreign:
            remove(Path(path))
        for path in known.keys() - intact.keys():
            self._bytecode.lose(path)
        self._signatures = intact
        return len(foreign)

    def _wanted(self, trees: Trees, known: str | None, tree: str) -> Mapping[str, _Entry | None]:
        """What has to change for the new tree: an entry to be written, None to be removed."""
        if known == tree:
            return {}
        if known is not None:
            with suppress(SourceError):  # composed by an earlier process: its files are known all the same
                return {change.path: change.new for change in trees.changes(known, tree)}
        files = dict(trees.files(tree))
        changed = {path: entry for path, entry in files.items() if not _same(self._entries.get(path), entry)}
        return {**dict.fromkeys(self._entries.keys() - files.keys()), **changed}

    # --- writing

    def _apply(self, trees: Trees, wanted: Mapping[str, _Entry | None]) -> int:
        """Remove and write files; how many are gone for good. What is written anew is removed first."""
        gone = [path for path in wanted if self._signatures.pop(path, None)]
        outdated = [path for path in self._bytecode.forget(wanted) if self._signatures.pop(path, None)]
        for path, entry in wanted.items():
            if entry is None:
                self._entries.pop(path, None)
            else:
                self._entries[path] = _Written(entry.mode, entry.id)
        kept = sorted(path for path, entry in wanted.items() if entry is not None)
        with TreeWriter(self.root) as writer:
            writer.remove([*gone, *outdated], _folders([*self._signatures, *kept]))
            for path in kept:
                mode, blob = self._entries[path].mode, self._entries[path].id
                content = b"" if is_submodule(mode) else trees.blob(blob)
                self._signatures[path] = writer.write(path, mode, blob, content)
        return len(set(gone).difference(kept))

    def _compile(self, python: Path) -> None:
        sizes = {path: size for path, (size, *_) in self._signatures.items() if path.endswith(".py")}
        for path in self._bytecode.compile(python, sizes):
            self._signatures[path] = signature((self.root / path).lstat())

    # --- what is known between two uses

    def _load_state(self) -> None:
        """Take over what the last user knew, and take it away, so that a crash leaves nothing to trust."""
        try:
            text = self._state.read_bytes()
        except FileNotFoundError:
            return
        self._state.unlink()
        with suppress(ValueError, KeyError, TypeError):  # of another version, or damaged: nothing is known
            state: dict[str, Any] = json.loads(text)
            if state["format"] == _FORMAT and state["root"] == _identity(self.root):
                self._entries = {path: _Written(*entry) for path, entry in state["entries"].items()}
                self._signatures = {path: _as_signature(found) for path, found in state["signatures"].items()}
                self._bytecode.restore(state["bytecode"])
                self._tree = state["tree"]

    def _save_state(self) -> None:
        state = {
            "format": _FORMAT,
            "root": _identity(self.root),
            "tree": self._tree,
            "entries": {path: (entry.mode, entry.id) for path, entry in self._entries.items()},
            "signatures": self._signatures,
            "bytecode": self._bytecode.state(),
        }
        partial = self._state.with_suffix(".partial")
        partial.write_text(json.dumps(state), encoding="ascii")
        partial.replace(self._state)


def _folders(paths: Iterable[str]) -> set[str]:
    """All folders above the paths."""
    folders: set[str] = set()
    for path in paths:
        parent = path.rpartition("/")[0]
        while parent and parent not in folders:
            folders.add(parent)
            parent = parent.rpartition("/")[0]
    return folders


def _same(old: _Entry | None, new: _Entry) -> bool:
    return old is not None and (old.mode, old.id) == (new.mode, new.id)


def _as_signature(found: list[int]) -> Signature:
    size, mode, inode, modified, changed = found
    return size, mode, inode, modified, changed


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _mend_mode(path: str, mode: int) -> None:
    if stat.S_IMODE(mode) != _FOLDER_MODE:
        os.chmod(path, _FOLDER_MODE)  # noqa: PTH101 - it is known to be no link


def _identity(root: Path) -> list[int]:
    """Tells whether it still is the folder that the state speaks of."""
    found = root.lstat()
    return [found.st_dev, found.st_ino]


def _lock(path: Path, wait: float) -> int:
    """Hold the lock file; the kernel lets go of it when its holder dies, however it dies."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() < deadline:
                time.sleep(_WAIT_STEP)
                continue
            holder = os.pread(handle, 32, 0).decode(errors="replace")
            os.close(handle)
            raise RunBroken(
                f"the checkout {path.parent} is in use by process {holder}",
                "another stalebench works with the same folder",
                "wait for it, or give this one another folder",
            ) from None
        os.truncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        return handle


class _explained:  # noqa: N801 - reads like a function
    """Turns what the file system refuses into RunBroken, with the path and the space that is left."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __enter__(self) -> None:
        return

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not isinstance(error, OSError):
            return
        with suppress(OSError):
            free = shutil.disk_usage(self._root.parent).free // (1024 * 1024)
            is_full = error.errno in {errno.ENOSPC, errno.EDQUOT}
            raise RunBroken(
                f"the checkout {self._root} cannot be written ({error}); {free} MiB are free there",
                "the disk is full" if is_full else "the folder belongs to another user, or is damaged",
                "make room there, or choose another folder" if is_full else "remove the folder",
            ) from error
