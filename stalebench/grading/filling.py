"""Fills the outcome matrix of one subject: composes and runs what the judge asks for, until it is content.

Runs in a worker. Draws no conclusion of its own: the judge is asked again with each new column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from stalebench.columns import GOLD, TOUCHED, Missing, Needed, own
from stalebench.environments import Built
from stalebench.errors import EnvironmentBroken, RunBroken
from stalebench.gold import touched_suite
from stalebench.grading.grades import Asked
from stalebench.grading.outcomes import Outcomes
from stalebench.grading.records import (
    Attempt,
    ColumnRun,
    Condition,
    Grading,
    Instance,
    SetAside,
    Status,
    Unobservable,
)
from stalebench.grading.trees import Trees
from stalebench.judge import Judge
from stalebench.measures import aligned, passing
from stalebench.records import Cell, Environment, Run, Suite
from stalebench.suites import suite, union
from stalebench.validate.check import cell, headline
from stalebench.validate.workspace import NotComposing, Workspace

Group = tuple[str, int]
"""The label of a selection, and a repeat."""


@dataclass(frozen=True, slots=True)
class FillJob:
    """One instance in one trial, with all attempts of that trial. `folder` keeps their patches."""

    instance: Instance
    trial: int
    attempts: tuple[Attempt, ...]
    asked: Asked
    folder: Path

    @property
    def id(self) -> str:
        """`instance/trial`."""
        return f"{self.instance.id}/{self.trial}"


@dataclass(frozen=True, slots=True)
class Filled:
    """Every column that was asked for, and every outcome of those that ran."""

    runs: tuple[ColumnRun, ...]
    cells: tuple[Cell, ...]
    environments: tuple[Environment, ...]


def fill(workspace: Workspace, job: FillJob) -> Filled:
    """Run what the grades of the job need."""
    filling = _Filling(workspace, job)
    filling.fill()
    return filling.filled()


@dataclass(frozen=True, slots=True)
class ControlJob:
    """An instance to be tried with its human patches, and with none, before any agent is started."""

    instance: Instance
    attempts: tuple[Attempt, ...]
    folder: Path

    @property
    def id(self) -> str:
        """The instance's id."""
        return self.instance.id


def controlled(workspace: Workspace, job: ControlJob) -> Instance:
    """The instance, set aside with its reason where gold does not pass or the empty patch does not fail."""
    filling = _Filling(workspace, FillJob(job.instance, 0, job.attempts, Asked(()), job.folder))
    filling.fill()
    reason, detail = _verdict(Judge(job.instance, filling.outcomes()))
    if reason is not None:
        return replace(job.instance, set_aside=reason, detail=detail)
    by_function = job.instance.by_function or filling.trees.tests_conflict_as_text()
    return replace(job.instance, by_function=by_function)


def _verdict(judge: Judge) -> tuple[SetAside | None, str]:
    try:
        unobservable, _ = judge.observability()
        base = judge.outcomes.columns(["G0"], GOLD)[0]
    except Missing as missing:
        return _NOT_HAD.get(missing.reason, SetAside.INFRA), f"{missing.column}: {missing.detail}"
    if unobservable is not None:
        return _AS_SET_ASIDE[unobservable], _named(judge)
    f2p = {test for task in judge.instance.tasks for test in task.f2p}
    early = sorted(f2p & passing(base) - judge.quarantined)
    return (SetAside.EMPTY_PASSES, ", ".join(early[:3])) if early else (None, "")


_AS_SET_ASIDE = {
    Unobservable.UNSOLVED: SetAside.GOLD_FAILS,
    Unobservable.TESTS_INTERACT: SetAside.TESTS_INTERACT,
    Unobservable.FLAKY: SetAside.FLAKY,
}
_NOT_HAD = {
    "broken_dataset": SetAside.BROKEN_DATASET,
    Status.CONFLICT: SetAside.TESTS_CONFLICT,
}
"""What a column of human patches that cannot be had says of the instance; all else is the machine's fault."""


def _named(judge: Judge) -> str:
    return ", ".join(sorted(test for tests in judge.unsolved() for test in tests)[:3])


class _Filling:
    """The runs of one subject, made as they are asked for."""

    def __init__(self, workspace: Workspace, job: FillJob) -> None:
        self.workspace = workspace
        self.job = job
        self.trees = Trees(workspace, job.instance, job.attempts, job.folder)
        self.missing: list[ColumnRun] = []
        self.made: dict[Group, dict[str, Run]] = {}
        self.composed: dict[str, str] = {}

    def fill(self) -> None:
        while (needed := self._asked_for()) is not None:
            for name in needed.names:
                self._provide(name, needed)

    def filled(self) -> Filled:
        has_run = bool(self.made)
        return Filled(
            (*self.missing, *self._column_runs()),
            tuple(self._cells()),
            (self.built.record,) if has_run else (),
        )

    def outcomes(self) -> Outcomes:
        return Outcomes([*self.missing, *self._column_runs()], self._cells())

    # What is asked for

    def _asked_for(self) -> Needed | None:
        outcomes = self.outcomes()
        for question in self._questions(outcomes):
            try:
                question()
            except Needed as needed:
                return needed
            except Missing:
                continue
        return None

    def _questions(self, outcomes: Outcomes) -> Iterator[Callable[[], object]]:
        """All that grading will ask, one by one: what one question lacks does not hold up the rest."""
        instance, asked = self.job.instance, self.job.asked
        judge = Judge(instance, outcomes, with_clash=asked.clash)
        yield judge.observability
        yield judge.unsolved
        if Condition.BLIND in asked.conditions and self.trees.has_test_edits():
            numbers = range(1, len(instance.tasks) + 1)
            names = ["KM", *(f"K{number}" for number in numbers)]
            yield partial(outcomes.columns, names, GOLD)
        for grading in Grading:
            for condition, order in asked.wanted():
                if condition is not Condition.SOLO:
                    plain = Judge(instance, outcomes, grading=grading, with_clash=asked.clash)
                    yield partial(plain.unstable, [(condition, order)])
                    yield partial(plain.found, condition, order)

    # Providing it

    def _provide(self, name: str, needed: Needed) -> None:
        try:
            tree = self._tree(name)
            wanted = needed.suite or self._suite(needed.selection)
            run = self.workspace.run(tree, wanted, self.built, needed.repeat)
        except Missing as missing:  # of the column, whatever the suite
            self.missing.append(self._not_run(name, "", 0, missing.reason, missing.detail))
        except NotComposing as error:
            self.missing.append(self._not_run(name, "", 0, "merge_conflict", headline(error)))
        except EnvironmentBroken as error:
            self.missing.append(self._not_run(name, "", 0, "infra", headline(error)))
        except RunBroken as error:
            said = headline(error)
            self.missing.append(self._not_run(name, needed.selection, needed.repeat, "infra", said))
        else:
            self.made.setdefault((needed.selection, needed.repeat), {})[name] = run

    def _tree(self, name: str) -> str:
        if name not in self.composed:
            self.composed[name] = self.trees.tree(name)
        return self.composed[name]

    @cached_property
    def built(self) -> Built:
        return self.workspace.built(self.job.instance.base_commit)

    def _suite(self, label: str) -> Suite:
        return self._suites[label] if label != TOUCHED else self._touched

    @cached_property
    def _suites(self) -> dict[str, Suite]:
        tasks = self.job.instance.tasks
        owns = {own(number): suite(task.gold_files, task.gold) for number, task in enumerate(tasks, 1)}
        return {GOLD: union(owns.values()), **owns}

    @cached_property
    def _touched(self) -> Suite:
        tests = self.trees.human.tests
        return touched_suite(self.workspace.objects, self.workspace.spec, tests, self.trees.graded_base)

    # What is told

    def _not_run(self, name: str, selection: str, repeat: int, reason: str, detail: str) -> ColumnRun:
        return ColumnRun(self.job.id, name, selection, repeat, None, None, reason, detail)

    def _column_runs(self) -> Iterator[ColumnRun]:
        for (label, repeat), runs in sorted(self.made.items()):
            for name, run in sorted(runs.items()):
                yield ColumnRun(
                    self.job.id,
                    name,
                    label,
                    repeat,
                    run.tree,
                    run.environment,
                    None,
                    unloaded=tuple(path for path, _ in run.unloaded),
                )

    def _cells(self) -> Iterator[Cell]:
        for (label, repeat), runs in sorted(self.made.items()):
            names = sorted(runs)
            for name, table in zip(names, aligned([runs[name] for name in names]), strict=True):
                for result in table.values():
                    yield cell(self.job.id, name, label, repeat=repeat, tree=runs[name].tree, result=result)
