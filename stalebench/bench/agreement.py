"""Compares composing with `git merge-tree` on real pairs. Writes into a temporary copy of the clone only.

For each pair every merge that composing makes is made by git too: each code patch and each test patch on
the base, the code patches with each other, the test patches likewise, and the two results. They agree if
both give the same tree, or both a conflict.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pygit2

from stalebench.bench.inputs import Inputs, copied, parser, read
from stalebench.compose import Objects, Patch
from stalebench.compose.apply import Head, apply
from stalebench.compose.objects import BLOB
from stalebench.records import Candidate

_SIGNATURE = pygit2.Signature("bench", "bench@localhost", 0, 0)


class Git:
    """A repository of its own, in which git merges trees that were made in memory."""

    def __init__(self, git_dir: Path, objects: Objects) -> None:
        self.git_dir = git_dir
        self.objects = objects
        self.repo = pygit2.Repository(str(git_dir))
        self.written: set[str] = set()
        self.merged: dict[tuple[str, str, str], str | None] = {}

    def merge(self, ancestor: str, ours: str, theirs: str) -> str | None:
        """The tree that `git merge-tree` makes of two trees and their ancestor; None for a conflict."""
        key = (ancestor, ours, theirs)
        if key not in self.merged:
            self._write()
            base = self._commit(ancestor)
            self.merged[key] = self._merge_tree(self._commit(ours, base), self._commit(theirs, base))
        return self.merged[key]

    def _merge_tree(self, ours: str, theirs: str) -> str | None:
        command = ["git", "merge-tree", "--write-tree", "--no-messages", ours, theirs]
        environment = {**os.environ, "GIT_DIR": str(self.git_dir), "GIT_CONFIG_GLOBAL": os.devnull}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"git merge-tree failed: {done.stderr}")
        return done.stdout.split()[0] if done.returncode == 0 else None

    def _write(self) -> None:
        for oid, kind, content in self.objects.made():
            if oid not in self.written:
                self.written.add(oid)
                kind_number = pygit2.enums.ObjectType.BLOB if kind == BLOB else pygit2.enums.ObjectType.TREE
                self.repo.odb.write(int(kind_number), content)

    def _commit(self, tree: str, *parents: str) -> str:
        made = self.repo.create_commit(
            None, _SIGNATURE, _SIGNATURE, "", pygit2.Oid(hex=tree), [pygit2.Oid(hex=one) for one in parents]
        )
        return str(made)


@dataclass
class Report:
    """How often the two agree."""

    pairs: int = 0
    agreeing: int = 0
    merges: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def add(self, candidate: Candidate, verdicts: list[tuple[str, str]]) -> None:
        """Count one pair."""
        self.pairs += 1
        self.merges.update(verdict for _, verdict in verdicts)
        wrong = [f"{candidate.id}: {what}: {verdict}" for what, verdict in verdicts if verdict not in _AGREE]
        self.differences += wrong
        self.agreeing += not wrong

    def lines(self) -> Iterator[str]:
        """The report as lines of text."""
        yield f"pairs {self.pairs}, agreeing {self.agreeing}"
        yield "merges " + ", ".join(f"{verdict} {count}" for verdict, count in sorted(self.merges.items()))
        yield from self.differences


_AGREE = ("same tree", "both conflict")


def compared(git: Git, objects: Objects, tree: str, patch: Patch) -> tuple[str | None, str]:
    """The tree of a patch on another tree, and how that compares with git's."""
    head = apply(objects, tree, patch)
    mine = head.tree if isinstance(head, Head) else None
    theirs = git.merge(patch.before, tree, patch.after)
    if mine == theirs:
        return mine, "same tree" if mine else "both conflict"
    return (
        mine,
        "other tree" if mine and theirs else "only git conflicts" if mine else "only compose conflicts",
    )


def verdicts(
    git: Git, objects: Objects, base: str, patches: list[tuple[Patch, Patch]]
) -> Iterator[tuple[str, str]]:
    """Every merge of a pair and how it compares."""
    composed: list[str | None] = []
    for half, name in enumerate(("code", "tests")):
        heads = []
        for index, both in enumerate(patches):
            tree, verdict = compared(git, objects, base, both[half])
            heads.append(tree)
            yield f"{name} of pull {index + 1} on the base", verdict
        tree = heads[0]
        for head in heads[1:]:
            if tree and head:
                tree, verdict = compared(git, objects, tree, Patch.between(objects, base, head))
                yield f"{name} of the pulls together", verdict
            else:
                tree = None
        composed.append(tree)
    code, tests = composed
    if code and tests:
        _, verdict = compared(git, objects, code, Patch.between(objects, base, tests))
        yield "code with tests", verdict


def agreement(inputs: Inputs, folder: Path) -> Report:
    """Compare all pairs, in a copy of the clone under `folder`."""
    objects = Objects(inputs.git_dir)
    git = Git(copied(inputs.git_dir, folder), objects)
    patches = inputs.patches(objects)
    report = Report()
    for candidate in inputs.candidates:
        base = objects.tree_of(candidate.base_commit or "")
        found = verdicts(git, objects, base, [patches[pull] for pull in candidate.pulls])
        report.add(candidate, list(found))
    return report


def main() -> int:
    """Print how far composing agrees with git; 1 where it does not fully."""
    options = parser(__doc__ or "").parse_args()
    inputs = read(options)
    with tempfile.TemporaryDirectory() as folder:
        report = agreement(inputs, Path(folder))
    sys.stdout.write("\n".join([f"{inputs.spec.name}:", *report.lines(), ""]))
    return int(report.agreeing != report.pairs)


if __name__ == "__main__":
    sys.exit(main())
