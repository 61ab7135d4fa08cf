"""Stands in for a workspace whose runs are written down: what passes where, and at which repeat."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stalebench.environments import Built
from stalebench.outcomes import Outcome
from stalebench.records import Environment, Run, Suite, TestResult
from stalebench.validate.matrix import Matrix

BUILT = Built(Environment("e", "o/n", "3.11", "spec", (), (), None), Path("python"))

Seen = Mapping[str, Outcome]


class Scripted:
    """Gives each (tree, suite) its outcomes; a list of them has one entry for each repeat, the last for more.

    Only tests of the suite's functions and files are given. `ran` tells what was asked for.
    """

    def __init__(
        self, trees: Mapping[str, Seen | list[Seen]], unloaded: Mapping[str, str] | None = None
    ) -> None:
        self.trees = trees
        self.unloaded = unloaded or {}
        self.alone: dict[str, Seen] = {}
        """What a tree shows for a suite of one function."""
        self.ran: list[tuple[str, Suite, int]] = []

    def run(self, tree: str, suite: Suite, built: Built, repeat: int = 0) -> Run:
        self.ran.append((tree, suite, repeat))
        told = self.trees[tree]
        seen = told[min(repeat, len(told) - 1)] if isinstance(told, list) else told
        if suite.functions is not None and tree in self.alone:
            seen = self.alone[tree]
        results = tuple(
            TestResult(test, test.partition("[")[0], outcome)
            for test, outcome in seen.items()
            if test.partition("::")[0] in suite.files
            and (suite.functions is None or test.partition("[")[0] in suite.functions)
        )
        unloaded = ((self.unloaded[tree], "no such name"),) if tree in self.unloaded else ()
        return Run(tree, suite.id, built.record.key, 1, repeat, results, unloaded)


def matrix_of(script: Scripted, names: Mapping[str, str] | None = None) -> Matrix:
    """A matrix whose columns are called like their trees, or as named."""
    workspace: Any = script
    return Matrix(workspace, BUILT, "2+1", names or {name: name for name in script.trees})
