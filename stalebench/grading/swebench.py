"""The solo patches of a run as a report of SWE-bench's evaluation harness, which existing tools read.

Its fields are those of `make_run_report` of the harness, schema version 2. An id is `PAIR:PULL`, one for each
task; of several trials it is the first. A task is resolved if its patch passes its own gold tests, as written
and with the combined suite.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from stalebench import tables
from stalebench.grading.records import Attempt, Condition, Grade, Grading, Instance, Status
from stalebench.predictions import task_id

_NOT_SUBMITTED: Final = frozenset({Status.NO_PREDICTION, Status.NOT_STARTED, Status.CONFLICT})


def swebench(run: Path) -> dict[str, Any]:
    """The report of a graded run; ids are sorted."""
    solved = {
        grade.instance: grade.solved
        for grade in tables.read(run, "grades", Grade)
        if grade.grading is Grading.STANDARD and grade.condition is Condition.SOLO and grade.trial == 0
    }
    attempts = {
        (made.instance, made.task): made
        for made in tables.read(run, "patches", Attempt)
        if made.condition is Condition.SOLO and made.trial == 0
    }
    found: dict[str, list[str]] = {name: [] for name in _KINDS}
    total = 0
    for one in tables.read(run, "instances", Instance):
        if one.set_aside is None:
            for task in range(1, len(one.tasks) + 1):
                total += 1
                made = attempts.get((one.id, task))
                told = (solved.get(one.id) or (None,) * len(one.tasks))[task - 1]
                for kind in _kinds(made, told):
                    found[kind].append(task_id(one, task))
    return _written(total, {kind: sorted(ids) for kind, ids in found.items()})


_KINDS: Final = ("completed", "incomplete", "empty_patch", "submitted", "resolved", "unresolved", "error")


def _kinds(made: Attempt | None, solved: bool | None) -> Iterator[str]:
    if made is None or made.status in _NOT_SUBMITTED:
        yield "incomplete"
        return
    yield "submitted"
    if made.patch is None and made.status is Status.EMPTY:
        yield "empty_patch"
    elif solved is None:
        yield "error"
    else:
        yield "completed"
        yield "resolved" if solved else "unresolved"


def _written(total: int, ids: dict[str, list[str]]) -> dict[str, Any]:
    counted = ("submitted", "completed", "resolved", "unresolved", "empty_patch", "error")
    return {
        "total_instances": total,
        **{f"{kind}_instances": len(ids[kind]) for kind in counted},
        **{f"{kind}_ids": ids[kind] for kind in _KINDS},
        "schema_version": 2,
    }
