"""Removes what untrusted code has left behind, whatever it is. Follows no symbolic link."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

_ALL_FOR_OWNER: Final = 0o700


def remove(path: Path) -> None:
    """Remove a file, a link, or a folder with all that is in it; nothing if there is nothing.

    Nested folders are first moved up, so that no depth makes a path too long; modes stand in nobody's way.
    """
    try:
        is_folder = stat.S_ISDIR(path.lstat().st_mode)
    except FileNotFoundError:
        return
    if not is_folder:
        path.unlink()
        return
    count = 0
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        folder.chmod(_ALL_FOR_OWNER)
        nested = _remove_files(folder)
        for name in nested:
            moved = path / f"{name[:64]}.{count}.removed" if folder != path else folder / name
            count += 1
            if moved != folder / name:
                (folder / name).chmod(_ALL_FOR_OWNER)  # else its entry for the parent may not be changed
                (folder / name).rename(moved)
            waiting.append(moved)
        if folder != path:
            folder.rmdir()
    path.rmdir()


def _remove_files(folder: Path) -> list[str]:
    """Unlink all that is not a folder; the names of those that are."""
    nested = []
    with os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                nested.append(entry.name)
            else:
                with suppress(FileNotFoundError):
                    os.unlink(entry.path)  # noqa: PTH108 - thousands of them
    return nested
