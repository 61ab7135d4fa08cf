"""The control on the human patches of a valid pair: all columns of the design, and the measures on them.

The gold suite decides the deltas, the touched suite decides the clash. What looks like interference is
confirmed before it is believed: run again, and alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stalebench.compose import Patch
from stalebench.errors import EnvironmentBroken, RunBroken
from stalebench.gold import touched_suite
from stalebench.measures import (
    Column,
    Evidence,
    Kind,
    Tests,
    broken_alone,
    delta,
    delta_strict,
    kind_of,
    passing,
    repaired_together,
    vanished,
    without,
)
from stalebench.records import Candidate, Cell, Check, Clash, Composition, Pair, Pull, Suite, Task
from stalebench.suites import union
from stalebench.validate.check import gold_of, headline
from stalebench.validate.confirm import unstable
from stalebench.validate.matrix import Matrix
from stalebench.validate.workspace import NotComposing, Workspace


@dataclass(frozen=True, slots=True)
class ControlJob:
    """A valid pair: its candidate and composition, and the pull and the check of each task, in one order."""

    candidate: Candidate
    composition: Composition
    pulls: tuple[Pull, ...]
    checks: tuple[Check, ...]
    patches: tuple[tuple[str, str], ...]
    """SHA-256 of each task's code patch and test patch."""

    @property
    def id(self) -> str:
        """The candidate's id."""
        return self.candidate.id


@dataclass(frozen=True, slots=True)
class Controlled:
    """A pair with its control, and the outcomes that it rests on."""

    pair: Pair
    cells: tuple[Cell, ...] = ()


def control(workspace: Workspace, job: ControlJob) -> Controlled:
    """Run every column of a pair; where the machine fails, the pair stays valid and says what is missing."""
    pair = _uncontrolled(job)
    try:
        return _Control(workspace, job, pair).outcome()
    except (EnvironmentBroken, RunBroken) as error:
        return Controlled(replace(pair, control=f"infra: {headline(error)}"))
    except NotComposing as error:
        return Controlled(replace(pair, control=headline(error)))


def _uncontrolled(job: ControlJob) -> Pair:
    candidate, composition = job.candidate, job.composition
    return Pair(
        id=candidate.id,
        repo=candidate.repo,
        base_commit=candidate.base_commit,
        base_tree=composition.base_tree,
        environment=job.checks[0].environment or "",
        tasks=tuple(map(_task, job.pulls, job.checks, job.patches)),
        days_apart=candidate.days_apart,
        shared_files=candidate.shared_files,
        shared_symbols=candidate.shared_symbols,
        concurrent=candidate.concurrent,
        by_function=composition.by_function,
        tests_tree=composition.tests_tree or "",
        merged_tree=composition.merged_tree or "",
        control="missing",
        unobservable=None,
        delta_blind=None,
        delta_strict=None,
        clash=None,
        broken_alone=None,
        repaired_together=None,
        vanished=None,
        flaky=tuple(sorted({test for check in job.checks for test in check.flaky})),
    )


def _task(pull: Pull, check: Check, patches: tuple[str, str]) -> Task:
    return Task(pull.repo, pull.id, check.id, check.f2p, check.p2p, *patches)


class _Control:
    """The control of one pair: W, G, M and, where a kind is open, H columns."""

    def __init__(self, workspace: Workspace, job: ControlJob, pair: Pair) -> None:
        self.workspace = workspace
        self.job = job
        self.pair = pair
        self.patches = [workspace.patches(pull) for pull in job.pulls]
        self.numbers = range(1, len(job.pulls) + 1)
        self.quarantined: set[str] = set(pair.flaky)
        self.gold = union(gold_of(check) for check in job.checks)
        built = workspace.built(pair.base_commit)
        self.matrix = Matrix(workspace, built, job.id, self._trees())

    def _trees(self) -> dict[str, str]:
        """The tree of each column, composed here: what another process composed stays in its memory."""
        base = self.pair.base_tree
        codes = [code for code, _ in self.patches]
        tests = self.workspace.with_tests(base, *(own for _, own in self.patches))
        trees = {"W0": base, "G0": tests, "M": self.workspace.with_code(tests, *codes)}
        for number, (code, own_tests) in zip(self.numbers, self.patches, strict=True):
            own = self.workspace.with_tests(base, own_tests)
            trees[f"W{number}"] = self.workspace.with_code(own, code)
            trees[f"G{number}"] = self.workspace.with_code(tests, code)
            trees[f"H{number}"] = self.workspace.with_code(own, *codes)
        return trees

    def outcome(self) -> Controlled:
        gold = self.gold
        touched = None if self.pair.by_function else self._touched()
        self._quarantine("G", "gold", gold)
        if touched is not None:
            self._quarantine("W", "touched", touched)
        pair = replace(
            self._with_deltas(gold),
            clash=None if touched is None else self._clash(touched),
            flaky=tuple(sorted(self.quarantined)),
            unobservable=self._unobservable(gold),
            control="complete",
        )
        return Controlled(pair, tuple(self.matrix.cells()))

    def _quarantine(self, letter: str, selection: str, suite: Suite) -> None:
        """Set aside the tests that would be counted and do not keep their outcome when run again.

        Their verdict rests on the base, on the merge, and on each patch under which one of them passes.
        """
        first, *middle, last = self._names(letter)
        base, *alone, merged = self._columns([first, *middle, last], selection, suite)
        suspects = delta(base, alone, merged)
        witnesses = [name for name, seen in zip(middle, alone, strict=True) if suspects & passing(seen)]
        deciding = [first, *witnesses, last]
        self.quarantined |= unstable(self.matrix, deciding, selection, suite, suspects)

    def _columns(self, names: list[str], selection: str, suite: Suite) -> list[Column]:
        columns = self.matrix.columns(names, selection, suite)
        return [without(column, self.quarantined) for column in columns]

    def _with_deltas(self, gold: Suite) -> Pair:
        base, *alone, merged = self._columns(self._names("G"), "gold", gold)
        return replace(
            self.pair,
            delta_blind=_sorted(delta(base, alone, merged)),
            delta_strict=_sorted(delta_strict(alone, merged)),
            broken_alone=tuple(_sorted(broken_alone(base, column)) for column in alone),
            repaired_together=_sorted(repaired_together(base, alone, merged)),
            vanished=_sorted(vanished(base, alone, merged)),
        )

    def _clash(self, suite: Suite) -> tuple[Clash, ...]:
        base, *written, merged = self._columns(self._names("W"), "touched", suite)
        clashing = delta(base, written, merged)
        if not clashing:
            return ()
        evidence = self._evidence(suite, clashing, written)
        if any(kind_of(test, evidence) is Kind.UNCLEAR for test in clashing):
            overlaid = self._columns([f"H{number}" for number in self.numbers], "touched", suite)
            evidence = replace(evidence, overlaid=overlaid)
        return tuple(Clash(test, kind_of(test, evidence)) for test in sorted(clashing))

    def _evidence(self, suite: Suite, clashing: Tests, written: list[Column]) -> Evidence:
        """The G columns, of the gold suite where that holds all of these tests, else of the touched one."""
        all_gold = set(self.matrix.functions(clashing).values()) <= set(self.gold.functions or ())
        selection = ("gold", self.gold) if all_gold else ("touched", suite)
        base, *graded, merged = self._columns(self._names("G"), *selection)
        return Evidence(base, graded, merged, written, ())

    def _unobservable(self, gold: Suite) -> str | None:
        """Why the pair says nothing: its suites clash with a patch, or only flaky tests are left."""
        _, *graded, _ = self._columns(self._names("G"), "gold", gold)
        for check, column in zip(self.job.checks, graded, strict=True):
            if not set(check.f2p) - self.quarantined:
                return "flaky"
            if {*check.f2p, *check.p2p} - self.quarantined - passing(column):
                return "tests_interact"
        return None

    def _touched(self) -> Suite:
        tests: list[Patch] = [own_tests for _, own_tests in self.patches]
        return touched_suite(self.workspace.objects, self.workspace.spec, tests, self.matrix.trees["M"])

    def _names(self, letter: str) -> list[str]:
        return [f"{letter}0", *(f"{letter}{number}" for number in self.numbers), "M"]


def _sorted(tests: Tests) -> tuple[str, ...]:
    return tuple(sorted(tests))
