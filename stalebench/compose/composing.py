"""Composes any number of patches on one base tree. Pure: the same objects give the same tree, in any order.

Each patch is applied to the base by itself; what comes of it is then merged as branches of that base are.
So the order of patches decides nothing but which of two that conflict is named. Git does not keep to that
where one side renames a file onto a path that the other adds: what depends on the order is a conflict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stalebench.compose.apply import Head, apply
from stalebench.compose.objects import Objects
from stalebench.compose.patch import Patch
from stalebench.compose.results import Clash, Conflict, Problem, Tree


def compose(objects: Objects, base: str, patches: Sequence[Patch]) -> Tree | Conflict:
    """The tree of all patches on a base tree, or the first conflict."""
    branches = []
    for index, patch in enumerate(patches):
        head = _head(objects, base, patch)
        if not isinstance(head, Head):
            return Conflict.of(head, index, with_base=True)
        branches.append(Patch(base, head.tree, head.changes))
    forth = _branches_merged(objects, base, branches)
    if len(branches) == 1 or not any(change.source for branch in branches for change in branch.changes):
        return forth
    back = _branches_merged(objects, base, branches[::-1])
    return _agreed(objects, forth, back, len(branches) - 1)


def _agreed(objects: Objects, forth: Tree | Conflict, back: Tree | Conflict, last: int) -> Tree | Conflict:
    """What both orders come to, if it is the same."""
    if isinstance(forth, Conflict):
        return forth
    if isinstance(back, Conflict):
        return replace(back, index=last - back.index)
    problems = [Problem(change.path, Clash.RENAMED) for change in objects.changes(forth.id, back.id)]
    return Conflict.of(problems, last, with_base=False) if problems else forth


def _branches_merged(objects: Objects, base: str, branches: Sequence[Patch]) -> Tree | Conflict:
    tree = base
    for index, branch in enumerate(branches):
        merged = _head(objects, tree, branch)
        if not isinstance(merged, Head):
            return Conflict.of(merged, index, with_base=False)
        tree = merged.tree
    return Tree(tree)


def _head(objects: Objects, tree: str, patch: Patch) -> Head | list[Problem]:
    key = (tree, patch.before, patch.after)
    found: Head | list[Problem] | None = objects.applied.get(key)
    if found is None:
        found = objects.applied[key] = apply(objects, tree, patch)
    return found
