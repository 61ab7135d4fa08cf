"""The demo: a small shop whose history shows every way in which two changes can and cannot be compared.

Writes into a folder of its own, whole or not at all, and touches nothing that it did not write.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import pygit2

from stalebench.demo.history import Writer
from stalebench.demo.story import landings
from stalebench.errors import UsageError

__all__ = ["TIP", "build"]

TIP: Final = "fb3b1a21c4b3adaf4f83239a9a288cf6de11b9d9"
"""The last commit of the main line, on every machine and with every version of git."""


def build(folder: Path) -> Path:
    """Write the demo repository, bare, into a missing or empty folder; a demo that is there is kept as it is.

    Raises UsageError where the folder holds anything else.
    """
    if _holds_demo(folder):
        return folder
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UsageError(
            f"the demo repository cannot be written to {folder}: something else is there",
            "a folder that is in use, or to which another version of stalebench wrote the demo",
            "name a folder that does not exist yet",
        )
    whole = folder.resolve()
    unfinished = whole.with_name(f".{whole.name}.unfinished-demo")
    shutil.rmtree(unfinished, ignore_errors=True)  # of a build that was killed
    _write(unfinished)
    unfinished.replace(whole)
    return folder


def _write(folder: Path) -> None:
    writer = Writer(folder)
    for landing in landings():
        writer.land(landing)
    writer.finish()


def _holds_demo(folder: Path) -> bool:
    """Whether the repository in this very folder holds the whole main line of this version's demo."""
    if not (folder / "HEAD").is_file():
        return False
    try:
        return TIP in pygit2.Repository(folder)
    except pygit2.GitError:
        return False
