"""The measures: set algebra on the columns of the outcome matrix. Pure; knows nothing of git or of runs.

A *column* maps test ids to a class (pass, fail, absent); a test that a column does not name is absent
there. `columns_of` makes comparable columns out of runs. Every formula holds for any number of patches.

The definitions are those of the project's design: a test is promised if everybody kept it, or somebody made
it pass, which is a three-way merge of outcomes. `delta_strict` is the published wording of «Passes Alone,
Fails Together» (fails merged, and passes with each patch alone).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from stalebench.outcomes import CLASS_OF, Class, Outcome
from stalebench.records import Run, TestResult

Column = Mapping[str, Class]
Tests = frozenset[str]


class Kind(StrEnum):
    """The kinds of clash, in the order in which they are tried."""

    JOINT = "joint"
    ONE_SIDED = "one_sided"
    TESTS = "tests"
    UNCLEAR = "unclear"


def passing(column: Column) -> Tests:
    """p(C): the tests that pass in a column."""
    return frozenset(test for test, seen in column.items() if seen is Class.PASS)


def failing(column: Column) -> Tests:
    """f(C): the tests that fail in a column."""
    return frozenset(test for test, seen in column.items() if seen is Class.FAIL)


def present(column: Column) -> Tests:
    """The tests that a column has an outcome for, other than absent."""
    return passing(column) | failing(column)


def promise(base: Column, alone: Sequence[Column]) -> Tests:
    """What the columns promise of their merge: kept by everybody, or made to pass by somebody."""
    before = passing(base)
    after = [passing(column) for column in alone]
    return before.intersection(*after) | (frozenset().union(*after) - before)


def delta(base: Column, alone: Sequence[Column], merged: Column) -> Tests:
    """Promised by the single columns, failing merged: `delta_blind` on G columns, `clash` on W columns."""
    return promise(base, alone) & failing(merged)


def delta_strict(alone: Sequence[Column], merged: Column) -> Tests:
    """The published form: fails merged, and passes with each patch alone."""
    return failing(merged).intersection(*(passing(column) for column in alone))


def broken_alone(base: Column, patched: Column) -> Tests:
    """p(G0) - p(Gj): what one patch breaks without any other."""
    return passing(base) - passing(patched)


def repaired_together(base: Column, alone: Sequence[Column], merged: Column) -> Tests:
    """Passes merged though nobody promised it."""
    return passing(merged) - promise(base, alone)


def vanished(base: Column, alone: Sequence[Column], merged: Column) -> Tests:
    """Promised, and absent in the merge: neither passed nor failed there."""
    return promise(base, alone) - present(merged)


def unsolved(gold: Collection[str], graded: Column) -> Tests:
    """The gold tests of a task that its own patch does not make pass."""
    return frozenset(gold) - passing(graded)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What tells the kinds of clash apart: `written` are W1.., `overlaid` are H1.. (empty if not run)."""

    base: Column
    graded: Sequence[Column]
    merged: Column
    written: Sequence[Column]
    overlaid: Sequence[Column]


def kind_of(test: str, evidence: Evidence) -> Kind:
    """The kind of a clash: the first that applies."""
    if test in delta(evidence.base, evidence.graded, evidence.merged):
        return Kind.JOINT
    if any(test in broken_alone(evidence.base, column) for column in evidence.graded):
        return Kind.ONE_SIDED
    pairs = zip(evidence.written, evidence.overlaid, strict=False)
    if any(test in passing(written) & passing(overlaid) for written, overlaid in pairs):
        return Kind.TESTS
    return Kind.UNCLEAR


def without(column: Column, tests: Collection[str]) -> Column:
    """The column without some tests: quarantined ones, as a rule."""
    return {test: seen for test, seen in column.items() if test not in tests}


def differing(columns: Sequence[Column], among: Collection[str]) -> Tests:
    """The tests among these whose class is not the same in all the columns: flaky, if of one tree."""
    return frozenset(
        test for test in among if len({column.get(test, Class.ABSENT) for column in columns}) > 1
    )


def aligned(runs: Sequence[Run]) -> list[dict[str, TestResult]]:
    """The results of runs of one suite, made comparable: one table per run, all with the same test ids.

    A file that does not load in one run fails every test of it that any other run finds. A run that has
    no such test, although the file loads, says missing.
    """
    known = _known_tests(runs)
    return [_completed(run, known) for run in runs]


def column(results: Mapping[str, TestResult]) -> dict[str, Class]:
    """The classes of a table of results."""
    return {test: CLASS_OF[result.outcome] for test, result in results.items()}


def columns_of(runs: Sequence[Run]) -> list[dict[str, Class]]:
    """Comparable columns, one per run."""
    return [column(results) for results in aligned(runs)]


def _is_placeholder(result: TestResult) -> bool:
    """A line that stands for a whole function of which no test is known."""
    return result.id == result.function and result.outcome in {Outcome.NOT_COLLECTED, Outcome.MISSING}


def _known_tests(runs: Iterable[Run]) -> dict[str, str]:
    """Test id → function, over all runs; a function that some run knows the tests of is not a test itself."""
    lines = [result for run in runs for result in run.results]
    real = {result.id: result.function for result in lines if not _is_placeholder(result)}
    functions = set(real.values())
    unknown = {r.id: r.function for r in lines if _is_placeholder(r) and r.function not in functions}
    return dict(sorted({**unknown, **real}.items()))


def _completed(run: Run, known: Mapping[str, str]) -> dict[str, TestResult]:
    found = {result.id: result for result in run.results}
    by_function = {result.function: result for result in run.results if _is_placeholder(result)}
    unloaded = {path for path, _ in run.unloaded}
    return {
        test: found.get(test) or _absent_or_unloaded(test, function, by_function.get(function), unloaded)
        for test, function in known.items()
    }


def _absent_or_unloaded(
    test: str, function: str, placeholder: TestResult | None, unloaded: Collection[str]
) -> TestResult:
    files = {test.partition("::")[0], function.partition("::")[0]}
    not_collected = placeholder is not None and placeholder.outcome is Outcome.NOT_COLLECTED
    if not_collected or files & set(unloaded):
        return TestResult(test, function, Outcome.NOT_COLLECTED)
    return TestResult(test, function, Outcome.MISSING)
