"""A patch as two trees that differ in its own files only. Text is made from it, never read into it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from stalebench.compose.objects import Change, Entry, Objects
from stalebench.compose.renames import with_renames
from stalebench.compose.text import render
from stalebench.records import Pull
from stalebench.spec import Kind, Spec


@dataclass(frozen=True)
class Patch:
    """From tree `before` to tree `after`; `changes` are the files between the two, renames found."""

    before: str
    after: str
    changes: tuple[Change, ...]

    @classmethod
    def between(cls, objects: Objects, before: str, after: str) -> Patch:
        """The patch that leads from one tree to the other."""
        return cls(before, after, with_renames(objects, objects.changes(before, after)))

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Every path that the patch adds, changes or removes, sorted."""
        return tuple(
            sorted({path for change in self.changes for path in (change.path, change.source) if path})
        )


def split(objects: Objects, pull: Pull, spec: Spec) -> tuple[Patch, Patch]:
    """A pull's code patch and its test patch; what is neither source nor test is in none of them."""
    return halves(objects, objects.tree_of(pull.base_commit), objects.tree_of(pull.merge_commit), spec)


def halves(objects: Objects, before: str, after: str, spec: Spec) -> tuple[Patch, Patch]:
    """The code patch and the test patch that lead from one tree to another."""
    changes = objects.changes(before, after)
    code = [change for change in changes if spec.kind(change.path).in_code_patch]
    tests = [change for change in changes if spec.kind(change.path) is Kind.TEST]
    return _half(objects, before, code), _half(objects, before, tests)


def as_text(objects: Objects, patch: Patch) -> bytes:
    """The patch in git's format, with full ids and binary hunks, as `git apply` reads it."""
    return render(objects, patch.changes)


def _half(objects: Objects, before: str, changes: Iterable[Change]) -> Patch:
    edits: dict[str, Entry | None] = {change.path: change.new for change in changes}
    return Patch.between(objects, before, objects.edit(before, edits) if edits else before)
