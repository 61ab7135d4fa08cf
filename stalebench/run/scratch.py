"""Private folders for runs, in the machine's temporary folder. None outlives the next start."""

from __future__ import annotations

import atexit
import fcntl
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

from stalebench.run.removal import remove

_SETTLED_SECONDS: Final = 60
"""A session this young may not hold its lock yet."""
_lock = threading.Lock()


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty private folder, removed at the end."""
    with _lock:
        session = _session(os.getpid())
    folder = Path(tempfile.mkdtemp(dir=session))
    try:
        yield folder
    finally:
        remove(folder)


@cache
def _session(process: int) -> Path:
    """The folder of this process: its lock tells other processes that it is alive."""
    shared = _shared()
    shared.mkdir(mode=0o700, exist_ok=True)
    _sweep(shared)
    session = Path(tempfile.mkdtemp(prefix=f"{process}-", dir=shared))
    _try_lock(session)  # held until this process ends
    atexit.register(_leave, session, process)
    return session


def clear_after(process: int | None) -> None:
    """Remove at once what a child that was killed has left; what cannot go now goes at the next start."""
    for session in _shared().glob(f"{process}-*"):
        with suppress(OSError):
            handle = _try_lock(session)
            if handle is not None:
                os.close(handle)
                remove(session)


def _shared() -> Path:
    return Path(tempfile.gettempdir()) / f"stalebench-{os.geteuid()}"


def _leave(session: Path, process: int) -> None:
    if os.getpid() == process:  # not in a forked child
        remove(session)


def _sweep(shared: Path) -> None:
    """Remove the sessions of processes that were killed."""
    for session in shared.iterdir():
        try:
            is_settled = time.time() - session.lstat().st_mtime > _SETTLED_SECONDS
            handle = _try_lock(session) if is_settled else None
        except FileNotFoundError:  # another process swept it
            continue
        if handle is not None:
            remove(session)
            os.close(handle)


def _try_lock(session: Path) -> int | None:
    """The handle that holds the lock; None if another process does."""
    handle = os.open(session, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle
