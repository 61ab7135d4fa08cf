"""Composes the patches of a candidate on its base: where a pair is rejected for a conflict, and which one.

On linear history the base is the older pull's own, so that nearly every clash of the two shows as the
newer pull's patch not applying to the base. It is reported as that, which is what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Final

from stalebench.compose.by_function import compose_tests
from stalebench.compose.composing import compose
from stalebench.compose.objects import Objects
from stalebench.compose.patch import Patch
from stalebench.compose.results import Clash, Conflict, Tree, named
from stalebench.compose.strict import would_apply
from stalebench.reasons import Reason
from stalebench.records import Candidate, Composition, Pull

_SPECIAL: Final = {
    Clash.SUBMODULE: Reason.UNSUPPORTED_CHANGE,
    Clash.MISSING: Reason.FILE_MISSING_ON_BASE,
}


class _Rejected(Exception):
    def __init__(self, reason: Reason, detail: str, paths: tuple[str, ...]) -> None:
        super().__init__(reason, detail, paths)
        self.reason, self.detail, self.paths = reason, detail, paths


def compose_candidate(
    objects: Objects,
    candidate: Candidate,
    pulls: Sequence[Pull],
    patches: Sequence[tuple[Patch, Patch]],
    *,
    keep: bool = False,
) -> Composition:
    """How the code and test patches of a candidate's pulls compose on its base.

    What was made on the way is forgotten, so that thousands of candidates fit into memory: compose again
    to have the trees, or `keep` them.
    """
    with nullcontext() if keep else objects.scratch():
        return _composition(objects, candidate, pulls, patches)


def _composition(
    objects: Objects, candidate: Candidate, pulls: Sequence[Pull], patches: Sequence[tuple[Patch, Patch]]
) -> Composition:
    base = objects.tree_of(candidate.base_commit or "")
    composing = _Composing(objects, base, pulls, patches)
    found = Composition(
        candidate=candidate.id,
        base_tree=base,
        reason=None,
        detail="",
        paths=(),
        strict_apply=tuple(would_apply(objects, base, code) for code in composing.codes),
        by_function=False,
    )
    try:
        return composing.composed(found)
    except _Rejected as rejected:
        return replace(found, reason=rejected.reason, detail=rejected.detail, paths=rejected.paths)


class _Composing:
    def __init__(
        self, objects: Objects, base: str, pulls: Sequence[Pull], patches: Sequence[tuple[Patch, Patch]]
    ) -> None:
        self.objects = objects
        self.base = base
        self.pulls = pulls
        self.codes = [code for code, _ in patches]
        self.tests = [tests for _, tests in patches]

    def composed(self, found: Composition) -> Composition:
        """The composition with its trees. Raises _Rejected, for the first reason that applies."""
        code_trees = tuple(self._code_tree(index) for index in range(len(self.codes)))
        self._compose(self.codes)
        tests_tree, by_function = self._tests_tree()
        tests = Patch.between(self.objects, self.base, tests_tree)
        merged = compose(self.objects, self.base, [*self.codes, tests])
        if isinstance(merged, Conflict):
            raise _Rejected(
                Reason.TESTS_CONFLICT, f"test patches with code patches: {merged.detail}", merged.paths
            )
        return replace(
            found,
            by_function=by_function,
            code_trees=code_trees,
            tests_tree=tests_tree,
            merged_tree=merged.id,
        )

    def _code_tree(self, index: int) -> str:
        code = self.codes[index]
        composed = compose(self.objects, self.base, [code])
        if isinstance(composed, Conflict):
            reason = _SPECIAL.get(composed.clash, Reason.CODE_CONFLICTS_WITH_BASE)
            raise self._rejected(reason, composed, index, "code")
        if composed.id == self.base and code.changes:
            detail = f"pull {self.pulls[index].id}: the base already holds {named(code.paths)}"
            raise _Rejected(Reason.ALREADY_APPLIED, detail, code.paths)
        return composed.id

    def _compose(self, codes: Sequence[Patch]) -> None:
        composed = compose(self.objects, self.base, codes)
        if isinstance(composed, Conflict):
            raise self._rejected(Reason.CODES_CONFLICT, composed, composed.index, "code")

    def _tests_tree(self) -> tuple[str, bool]:
        """The base with all test patches, and whether they had to be composed by function."""
        as_text = compose(self.objects, self.base, self.tests)
        if isinstance(as_text, Tree):
            return as_text.id, False
        if as_text.clash is Clash.SUBMODULE:
            raise self._rejected(Reason.UNSUPPORTED_CHANGE, as_text, as_text.index, "test")
        by_function = compose_tests(self.objects, self.base, self.tests)
        if isinstance(by_function, Tree):
            return by_function.id, True
        reason = Reason.TESTS_CONFLICT_WITH_BASE
        if not self._conflicts_alone(by_function.index):
            reason = Reason.TESTS_CONFLICT
        raise self._rejected(reason, by_function, by_function.index, "test")

    def _conflicts_alone(self, index: int) -> bool:
        return isinstance(compose_tests(self.objects, self.base, [self.tests[index]]), Conflict)

    def _rejected(self, reason: Reason, conflict: Conflict, index: int, half: str) -> _Rejected:
        others = ", ".join(pull.id for pull in self.pulls[:index])
        against = f"that of pull {others}" if reason in _MUTUAL else "the base"
        detail = f"pull {self.pulls[index].id}: {half} patch against {against}: {conflict.detail}"
        return _Rejected(reason, detail, conflict.paths)


_MUTUAL: Final = (Reason.CODES_CONFLICT, Reason.TESTS_CONFLICT)
