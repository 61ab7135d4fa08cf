"""The folder that an agent works in: a tree as a git work tree, and afterwards the tree that it left there.

It holds one root commit with fixed names and dates, and no object, ref or reflog besides. What the agent did
to that repository counts for nothing: its files are read as bytes.
"""

from __future__ import annotations

from pathlib import Path

from stalebench.agents.repository import make
from stalebench.agents.taking import Untakeable, taken
from stalebench.compose.objects import Objects
from stalebench.run.writing import TreeWriter, is_submodule

__all__ = ["Untakeable", "taken", "workspace"]


def workspace(objects: Objects, tree: str, folder: Path) -> str:
    """Write the tree into a new or empty folder, as the only commit of a repository; that commit's id."""
    folder.mkdir(parents=True, exist_ok=True)
    with TreeWriter(folder) as writer:
        for path, entry in objects.files(tree):
            content = b"" if is_submodule(entry.mode) else objects.blob(entry.id)
            writer.write(path, entry.mode, entry.id, content)
    return make(objects, tree, folder)
