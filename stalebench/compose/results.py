"""What composing can come to: a tree, or a conflict with its paths and why. Holds values, decides nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Clash(StrEnum):
    """Why a file does not compose; where several do not, the first in this order names the conflict."""

    SUBMODULE = "changes a submodule"
    MISSING = "the file is not there"
    CONTENT = "both change the same lines"
    BINARY = "both change a binary file"
    LINK = "both change a symbolic link"
    TYPE = "a file on one side is a link on the other"
    MODE = "both change the mode"
    DELETED = "removed on one side, changed on the other"
    EXISTS = "added on both sides, with different content"
    RENAMED = "renamed on one side, renamed or removed on the other"
    FOLDER = "a file on one side is a folder on the other"


class Problem(NamedTuple):
    """One file that does not compose."""

    path: str
    clash: Clash


@dataclass(frozen=True, slots=True)
class Tree:
    """Patches that compose: the tree that holds them all."""

    id: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Patches that do not compose.

    `index` is the first patch that does not; `with_base` says whether it already conflicts with the base
    alone, or only with the patches before it. `paths` are all its files that conflict, sorted.
    """

    clash: Clash
    index: int
    with_base: bool
    paths: tuple[str, ...]
    detail: str

    @classmethod
    def of(cls, problems: Iterable[Problem], index: int, *, with_base: bool) -> Conflict:
        """The conflict of these files."""
        found = sorted(set(problems))
        order = list(Clash)
        clash = min((problem.clash for problem in found), key=order.index)
        paths = tuple(sorted({problem.path for problem in found}))
        return cls(clash, index, with_base, paths, f"{clash}: {named(paths)}")


def named(paths: tuple[str, ...], most: int = 4) -> str:
    """Some paths in a line of text, in which no path can break the line."""
    words = [path if path.isprintable() else ascii(path) for path in paths[:most]]
    more = len(paths) - most
    return ", ".join(words) + (f" and {more} more" if more > 0 else "")
