"""Quarantine: a test that is about to be counted is run again in the same selection, and once alone.

Decides only whether a test keeps its outcome; never what the outcome means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from stalebench.columns import Columns
from stalebench.measures import Column, Tests, differing
from stalebench.records import Suite
from stalebench.suites import suite as make_suite

REPEATS = 3
"""Further runs in the same selection."""

MOST_ALONE = 20
"""Up to so many functions are run one by one; more of them, as when a file does not load, run by file."""


def unstable(
    matrix: Columns, names: Sequence[str], selection: str, suite: Suite | None, suspects: Tests
) -> Tests:
    """The suspects that differ between runs of any of the columns."""
    if not suspects:
        return frozenset()
    repeats = [matrix.columns(names, selection, suite, repeat) for repeat in range(REPEATS + 1)]
    flaky = _differing(repeats, suspects)
    for part, tests in _alone(matrix.functions(suspects), suspects):
        label = f"alone {part.id[:12]}"
        flaky |= _differing([repeats[0], matrix.columns(names, label, part)], tests)
    return flaky


def _differing(repeats: Sequence[Sequence[Column]], suspects: Tests) -> Tests:
    """The suspects that differ between repeats in at least one column."""
    return frozenset().union(*(differing(runs, suspects) for runs in zip(*repeats, strict=True)))


def _alone(functions: Mapping[str, str], suspects: Tests) -> Iterable[tuple[Suite, Tests]]:
    """Selections that hold one function each, or one file each where there are many, with their suspects."""
    distinct = {functions[test] for test in suspects}
    by_file = len(distinct) > MOST_ALONE
    groups: dict[str, set[str]] = {}
    for test in sorted(suspects):
        groups.setdefault(test.partition("::")[0] if by_file else functions[test], set()).add(test)
    for tests in groups.values():
        files = {test.partition("::")[0] for test in tests}
        yield make_suite(files, {functions[test] for test in tests}), frozenset(tests)
