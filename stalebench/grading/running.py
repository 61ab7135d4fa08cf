"""`stalebench run`: instances, controls, attempts, columns, grades. A sequence of stages over plain records.

What was made is stored by content: stopped anywhere, the same command goes on from there.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from stalebench import demo, spec, tables
from stalebench.agents import Agent, Budget
from stalebench.agents.fixed import GOLD, FixedPatch
from stalebench.engines import Engine, engine
from stalebench.grading.attempting import AttemptJob, Made, ended, made
from stalebench.grading.filling import ControlJob, Filled, FillJob, controlled, fill
from stalebench.grading.folder import keep
from stalebench.grading.grades import Asked
from stalebench.grading.grading import write_grades
from stalebench.grading.instances import instances
from stalebench.grading.records import Attempt, ColumnRun, Condition, Instance, Status
from stalebench.mine import claimed, closing
from stalebench.progress import Progress
from stalebench.records import Cell, Environment
from stalebench.source import open_clone
from stalebench.spec import Spec
from stalebench.tables.dataset import writing
from stalebench.validate import Site, Workspace

Job = TypeVar("Job")
Result = TypeVar("Result")

Given = Mapping[tuple[str, int], bytes | None]
"""Patches that were made elsewhere, by instance and task."""


class Wanted(NamedTuple):
    """An attempt that a run asks for."""

    instance: Instance
    condition: Condition
    trial: int
    order: str
    task: int


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to run, and how.

    `source` makes the patches; with `given` they were made elsewhere. `orders` are those of informed: forward
    (the older task first), reverse or both. `max_cost` bounds the US dollars of the whole run, `budget` one
    attempt. `tasks` is the number of patches of an instance. `clash` says whether the touched suites run too.
    """

    data: Path
    out: Path
    source: Agent | FixedPatch
    conditions: tuple[Condition, ...] = (Condition.SOLO, Condition.BLIND)
    orders: str = "both"
    trials: int = 1
    max_cost: float | None = None
    budget: Budget = field(default_factory=Budget)
    given: Given | None = None
    tasks: int = 2
    only: tuple[str, ...] = ()
    limit: int | None = None
    clash: bool = True
    clone: str | None = None
    cache: Path | None = None
    engine: str = "local"
    jobs: int = 1


def run(request: RunRequest, progress: Progress) -> None:
    """Make all patches, run all columns, and write every table of the run."""
    found = instances(request.data, request.tasks, request.only, request.limit)
    chosen = spec.load(request.data / "spec.toml")
    tables.refuse_foreign(request.out, chosen.name, request.source.name)
    with claimed(request.out):
        clone = open_clone(_where(request, chosen), request.cache)
        _describe(request, chosen)
        site = Site(clone.git_dir, chosen, request.out / "work", request.cache, runs=_runs(request))
        with closing(engine(request.engine, site, request.jobs)) as working:
            _Running(request, working, progress).run(found)
    write_grades(request.out, progress)


def asked(request: RunRequest) -> Asked:
    """Which grades the request is about."""
    forward = ".".join(map(str, range(1, request.tasks + 1)))
    reverse = ".".join(map(str, range(request.tasks, 0, -1)))
    orders = {"forward": (forward,), "reverse": (reverse,), "both": (forward, reverse)}[request.orders]
    chosen = tuple(condition for condition in Condition if condition in request.conditions)
    return Asked(chosen, orders if Condition.INFORMED in chosen else (), request.clash)


def _where(request: RunRequest, chosen: Spec) -> str:
    if request.clone is not None:
        return request.clone
    return str(demo.build(request.out / "work" / "demo")) if chosen.name == "demo" else chosen.clone_url


def _runs(request: RunRequest) -> Path:
    """Stored runs are shared with the dataset's own, where these may be written to."""
    shared = request.data / "work" / "runs"
    return shared if shared.is_dir() and os.access(shared, os.W_OK) else request.out / "work" / "runs"


def _describe(request: RunRequest, chosen: Spec) -> None:
    told = asked(request)
    source = request.source
    parameters = {
        "spec": chosen.digest(),
        "agent": source.name,
        **({} if isinstance(source, FixedPatch) else {f"agent_{k}": v for k, v in source.settings.items()}),
        "conditions": ",".join(told.conditions),
        "orders": ",".join(told.orders),
        "clash": told.clash,
        "trials": request.trials,
        "tasks": request.tasks,
        "limit": request.limit,
        "instances": ",".join(sorted(request.only)) or None,
    }
    tables.create(request.out, chosen.name, parameters)
    with writing(request.out / "spec.toml") as file:
        file.write_text(spec.to_toml(chosen), encoding="utf-8")


class _Running:
    """The stages of one run."""

    def __init__(self, request: RunRequest, working: Engine, progress: Progress) -> None:
        self.request = request
        self.working = working
        self.progress = progress
        self.asked = asked(request)
        self.attempts: dict[str, Attempt] = {}
        self.spent = 0.0
        self.failures: Counter[str] = Counter()
        self.environments: dict[str, Environment] = {}
        self.columns: list[ColumnRun] = []

    def run(self, found: Sequence[Instance]) -> None:
        out = self.request.out
        for name in ("instances", "patches", "runs", "grades", "test_results", "environments"):
            tables.drop(out, name)
        kept = self._controlled(found)
        tables.write(out, "instances", kept)
        in_use = [instance for instance in kept if instance.set_aside is None]
        self._attempt(in_use)
        tables.write(out, "patches", self.attempts.values())
        tables.write(out, "test_results", self._cells(in_use))
        tables.write(out, "runs", self.columns)
        tables.write(out, "environments", self.environments.values())

    # Controls

    def _controlled(self, found: Sequence[Instance]) -> list[Instance]:
        """Gold must pass and the empty patch must fail, before anybody is paid."""
        patches: dict[str, list[Attempt]] = {}
        jobs = [self._job(Wanted(one, Condition.SOLO, 0, "", task), GOLD) for one, task in _tasks(found)]
        self.progress.stage("control: patches", len(jobs))
        for job, result in self._mapped(made, jobs):
            keep(self.request.out, result)
            patches.setdefault(job.instance.id, []).append(result.attempt)
        controls = [ControlJob(one, tuple(patches[one.id]), self.request.out) for one in found]
        self.progress.stage("control", len(controls))
        return [instance for _, instance in self._mapped(controlled, controls)]

    # Attempts

    def _attempt(self, found: Sequence[Instance]) -> None:
        """Solo first: the other conditions build on it; informed agents go one after the other."""
        trials = range(self.request.trials)
        each = [(one, trial, task) for trial in trials for one, task in _tasks(found)]
        self._make("solo", [Wanted(one, Condition.SOLO, trial, "", task) for one, trial, task in each])
        if Condition.COMM in self.asked.conditions:
            self._make("comm", [Wanted(one, Condition.COMM, trial, "", task) for one, trial, task in each])
        for order in self.asked.orders:
            for task in map(int, order.split(".")[1:]):
                later = [
                    Wanted(one, Condition.INFORMED, trial, order, task) for trial in trials for one in found
                ]
                self._make(f"informed {order}", later)

    def _make(self, name: str, wanted: Sequence[Wanted]) -> None:
        jobs = [self._job(each, self._source(each)) for each in wanted]
        self.progress.stage(name, len(jobs))
        for _, result in self._mapped(made, self._affordable(jobs)):
            self._take(result)

    def _affordable(self, jobs: Iterable[AttemptJob]) -> Iterator[AttemptJob]:
        """The jobs, until the money is spent: what is not started is said, not made."""
        limit = self.request.max_cost
        for job in jobs:
            left = None if limit is None else limit - self.spent
            if left is not None and left <= 0:
                self._take(
                    Made(ended(job, Status.NOT_STARTED, f"the run's limit of ${limit:g} is reached"), "")
                )
                self.progress.advance()
                continue
            yield job if left is None else replace(job, budget=_within(job.budget, left))

    def _take(self, result: Made) -> None:
        keep(self.request.out, result)
        attempt = result.attempt
        self.attempts[attempt.id] = attempt
        self.spent += attempt.cost or 0.0
        if attempt.status is not Status.PATCH:
            self.failures[attempt.status] += 1
        counts = ", ".join(f"{number} {status}" for status, number in sorted(self.failures.items()))
        self.progress.status(f"${self.spent:.2f}" + (f", {counts}" if counts else ""))

    def _job(self, wanted: Wanted, source: Agent | FixedPatch) -> AttemptJob:
        return AttemptJob(
            *wanted,
            source=source,
            budget=self.request.budget,
            builds_on=tuple(self._builds_on(wanted)),
            folder=self.request.out,
        )

    def _builds_on(self, wanted: Wanted) -> Iterator[Attempt]:
        """The attempts whose edits or messages it is given."""
        instance, condition, trial, order, task = wanted
        if condition is Condition.SOLO:
            return
        others = [number for number in range(1, len(instance.tasks) + 1) if number != task]
        if condition is Condition.INFORMED:
            numbers = [int(number) for number in order.split(".")]
            others = numbers[: numbers.index(task)]
        for number in others:
            yield self.attempts[f"{instance.id}/solo/{trial}//{number}"]
            later = self.attempts.get(f"{instance.id}/{condition}/{trial}/{order}/{number}")
            if condition is Condition.INFORMED and later is not None:
                yield later

    def _source(self, wanted: Wanted) -> Agent | FixedPatch:
        if self.request.given is None:
            return self.request.source
        given = self.request.given.get((wanted.instance.id, wanted.task))
        return FixedPatch(self.request.source.name, "given", given)

    # Columns

    def _cells(self, found: Sequence[Instance]) -> Iterator[Cell]:
        by_subject: dict[tuple[str, int], list[Attempt]] = {}
        for attempt in self.attempts.values():
            by_subject.setdefault((attempt.instance, attempt.trial), []).append(attempt)
        jobs = [
            FillJob(one, trial, tuple(by_subject[one.id, trial]), self.asked, self.request.out)
            for one in found
            for trial in range(self.request.trials)
        ]
        self.progress.stage("grade", len(jobs))
        for _, filled in self._mapped(fill, jobs):
            yield from self._filled(filled)

    def _filled(self, filled: Filled) -> tuple[Cell, ...]:
        self.columns.extend(filled.runs)
        self.environments.update({used.key: used for used in filled.environments})
        return filled.cells

    def _mapped(
        self, function: Callable[[Workspace, Job], Result], jobs: Iterable[Job]
    ) -> Iterator[tuple[Job, Result]]:
        for pair in self.working.map(function, jobs):
            yield pair
            self.progress.advance()


def _tasks(found: Iterable[Instance]) -> list[tuple[Instance, int]]:
    return [(one, task) for one in found for task in range(1, len(one.tasks) + 1)]


def _within(budget: Budget, left: float) -> Budget:
    return replace(budget, cost=left if budget.cost is None else min(budget.cost, left))
