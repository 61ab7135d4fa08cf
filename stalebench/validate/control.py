"""The control on the human patches of a valid pair: all columns of the design, and the measures on them.

The gold suite decides the deltas, the touched suite decides the clash: it runs merged, and only what fails
there runs in the other columns. What looks like interference is confirmed before it is believed: run again,
and alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from stalebench.columns import GOLD, TOUCHED, own
from stalebench.compose import Patch
from stalebench.errors import EnvironmentBroken, RunBroken
from stalebench.gold import touched_suite
from stalebench.grading.records import Condition, instance_of
from stalebench.judge import Judge
from stalebench.records import Candidate, Cell, Check, Composition, Pair, Pull, Suite, Task
from stalebench.suites import union
from stalebench.validate.check import gold_of, headline
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
        built = workspace.built(pair.base_commit)
        trees = self._trees()
        self.matrix = Matrix(workspace, built, job.id, trees, self._suites(trees["G0"]))

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

    def _suites(self, tests_tree: str) -> dict[str, Suite]:
        owns = {
            own(number): gold_of(check) for number, check in zip(self.numbers, self.job.checks, strict=True)
        }
        suites = {GOLD: union(owns.values()), **owns}
        if not self.pair.by_function:
            tests: list[Patch] = [own_tests for _, own_tests in self.patches]
            objects, spec = self.workspace.objects, self.workspace.spec
            suites[TOUCHED] = touched_suite(objects, spec, tests, tests_tree)
        return suites

    def outcome(self) -> Controlled:
        instance = instance_of(self.pair, self.job.pulls, self.job.checks)
        unstable = Judge(instance, self.matrix).unstable([(Condition.BLIND, "")])
        judge = Judge(instance, self.matrix, quarantined=unstable)
        found = judge.found(Condition.BLIND)
        unobservable, _ = judge.observability()
        pair = replace(
            self.pair,
            delta_blind=_sorted(found.delta),
            delta_strict=_sorted(found.delta_strict or ()),
            broken_alone=tuple(map(_sorted, found.broken_alone or ())),
            repaired_together=_sorted(found.repaired_together or ()),
            vanished=_sorted(found.vanished or ()),
            clash=found.clash,
            flaky=_sorted(judge.quarantined),
            unobservable=None if unobservable is None else str(unobservable),
            control="complete",
        )
        return Controlled(pair, tuple(self.matrix.cells()))


def _sorted(tests: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(tests))
