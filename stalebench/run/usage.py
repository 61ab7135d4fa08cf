"""What a tree of processes uses at this moment, read from /proc from outside. Limits nothing."""

from __future__ import annotations

import os
from typing import Final

from stalebench.run.sandbox.descendants import descendants

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_KIB: Final = 1024


def processes_below(root: int) -> list[int]:
    """Everything that the process has started and that still is there."""
    return descendants(root)


def memory_of(processes: list[int], enough: int) -> int:
    """Bytes of memory that the processes hold together.

    Pages that forks share are counted in each at first, which is cheap; only if that is more than `enough`
    are they counted once, which is exact.
    """
    resident = sum(_resident(process) for process in processes)
    if resident <= enough:
        return resident
    return sum(_proportional(process) for process in processes)


def _resident(process: int) -> int:
    try:
        with open(f"/proc/{process}/statm", "rb") as file:  # noqa: PTH123 - read several times a second
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError):  # it ended meanwhile
        return 0


def _proportional(process: int) -> int:
    try:
        with open(f"/proc/{process}/smaps_rollup", "rb") as file:  # noqa: PTH123
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * _KIB
    except (OSError, IndexError):  # it ended meanwhile, or may not be read: count all of its pages
        return _resident(process)
    return 0
