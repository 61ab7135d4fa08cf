"""The demo: a small shop whose history shows every way in which two changes can and cannot be compared."""

from __future__ import annotations

import shutil
from pathlib import Path

from stalebench.demo.history import Writer
from stalebench.demo.story import landings

__all__ = ["build"]


def build(folder: Path) -> Path:
    """Write the demo repository, bare, into a folder of its own; a whole one that is there is kept."""
    if (folder / "refs" / "heads" / "main").is_file():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    writer = Writer(folder)
    for landing in landings():
        writer.land(landing)
    writer.finish()
    return folder
