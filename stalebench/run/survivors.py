"""Kills processes of a run that got away from their launcher, on machines without process namespaces."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

MARK: Final = "STALEBENCH_RUN"
"""The variable that all processes of a run inherit, with a value of its own for each run."""


def kill_marked(value: str) -> None:
    """Kill whatever carries the mark, until nothing does: a run may even have killed its launcher."""
    wanted = f"{MARK}={value}".encode()
    while found := [process for process in _processes() if wanted in _environment(process)]:
        for process in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)


def _processes() -> list[int]:
    return [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]


def _environment(process: int) -> list[bytes]:
    """The variables it was started with; none for one that is dead or that belongs to another user."""
    try:
        return Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
