"""From the valid pairs of a dataset to instances; for more than two tasks, groups of pulls on one base.

N pulls are an instance if each of them is valid on the same base commit, as a member of some valid pair. On
linear history that base is the parent of the oldest, which each of the others shares a file with. Whether all
of them merge is not known before they are run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from stalebench import tables
from stalebench.errors import NothingToDo, UsageError
from stalebench.grading.records import Instance, instance_of
from stalebench.records import Check, Pair, Pull, Task


def instances(
    data: Path, tasks: int = 2, only: Collection[str] = (), limit: int | None = None
) -> list[Instance]:
    """The instances of a dataset, by id; `only` names them, `limit` takes the first so many.

    Raises DatasetError for a dataset without valid pairs' tables, UsageError for a name that is none of them,
    NothingToDo where there is none.
    """
    making = _Making(data)
    found = sorted(making.pairs() if tasks == 2 else making.groups(tasks), key=lambda one: one.id)  # noqa: PLR2004
    _refuse_unknown(only, {instance.id for instance in found})
    kept = [instance for instance in found if not only or instance.id in only][:limit]
    if not kept:
        raise NothingToDo(
            f"{data} holds no valid {'pair' if tasks == 2 else f'group of {tasks}'}",  # noqa: PLR2004
            "mining found none, or was stopped before its last stage",
            "mine a longer time span, or look at `stalebench query DATA 'from funnel'`",
        )
    return kept


def _refuse_unknown(only: Collection[str], known: Collection[str]) -> None:
    unknown = sorted(set(only) - set(known))
    if unknown:
        raise UsageError(
            f"no valid pair: {', '.join(unknown)}",
            "a slip in the name, or the pair was rejected",
            "list them with `stalebench query DATA 'select id from pairs'`",
        )


class _Making:
    """Joins the tables of a dataset."""

    def __init__(self, data: Path) -> None:
        self.valid = list(tables.read(data, "pairs", Pair))
        self.checks = {check.id: check for check in tables.read(data, "checks", Check)}
        wanted = {task.pull for pair in self.valid for task in pair.tasks}
        self.pulls = {pull.id: pull for pull in tables.read(data, "pulls", Pull) if pull.id in wanted}

    def pairs(self) -> Iterator[Instance]:
        for pair in self.valid:
            yield self._instance(pair.id, [pair], pair.tasks)

    def groups(self, size: int) -> Iterator[Instance]:
        by_base: dict[str, list[Pair]] = {}
        for pair in self.valid:
            by_base.setdefault(pair.base_commit, []).append(pair)
        for pairs in by_base.values():
            yield from self._groups_on(pairs, size)

    def _groups_on(self, pairs: Collection[Pair], size: int) -> Iterator[Instance]:
        tasks = {task.pull: task for pair in pairs for task in pair.tasks}
        by_landing = sorted(tasks.values(), key=lambda task: (self.pulls[task.pull].merged_at, task.pull))
        for group in combinations(by_landing, size):
            members = {task.pull for task in group}
            among = [pair for pair in pairs if members >= {task.pull for task in pair.tasks}]
            if among:
                yield self._instance("+".join(task.pull for task in reversed(group)), among, group)

    def _instance(self, name: str, pairs: list[Pair], tasks: tuple[Task, ...]) -> Instance:
        known = [pair.concurrent for pair in pairs]
        first = replace(pairs[0], tasks=tasks)
        made = instance_of(
            first, [self.pulls[task.pull] for task in tasks], [self.checks[task.check] for task in tasks]
        )
        return replace(
            made,
            id=name,
            by_function=any(pair.by_function for pair in pairs),
            concurrent=None if None in known else all(known),
            flaky=tuple(sorted({test for pair in pairs for test in pair.flaky})),
        )
