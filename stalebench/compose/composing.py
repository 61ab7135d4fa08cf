"""Composes any number of patches on one base tree. Pure: the same objects give the same tree, in any order.

Each patch is applied to the base by itself; what comes of it is then merged as branches of that base are.
So the order of patches decides nothing but which of two that conflict is named.
"""

from __future__ import annotations

from collections.abc import Sequence

from stalebench.compose.apply import apply
from stalebench.compose.objects import Objects
from stalebench.compose.patch import Patch
from stalebench.compose.results import Conflict, Problem, Tree


def compose(objects: Objects, base: str, patches: Sequence[Patch]) -> Tree | Conflict:
    """The tree of all patches on a base tree, or the first conflict."""
    heads = []
    for index, patch in enumerate(patches):
        head = _head(objects, base, patch)
        if not isinstance(head, str):
            return Conflict.of(head, index, with_base=True)
        heads.append(head)
    return _branches_merged(objects, base, heads)


def _branches_merged(objects: Objects, base: str, heads: Sequence[str]) -> Tree | Conflict:
    tree = base
    for index, head in enumerate(heads):
        if tree == base:
            tree = head
        elif head not in (base, tree):
            merged = apply(objects, tree, Patch.between(objects, base, head))
            if not isinstance(merged, str):
                return Conflict.of(merged, index, with_base=False)
            tree = merged
    return Tree(tree)


def _head(objects: Objects, base: str, patch: Patch) -> str | list[Problem]:
    key = (base, patch.before, patch.after)
    found = objects.applied.get(key)
    if found is None:
        found = objects.applied[key] = apply(objects, base, patch)
    return found
