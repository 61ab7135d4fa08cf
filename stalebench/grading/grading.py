"""Grades a run again from its stored outcomes: nothing is run. From tables to the table of grades."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from stalebench import tables
from stalebench.errors import DatasetError
from stalebench.grading.grades import Asked, grades
from stalebench.grading.outcomes import Outcomes
from stalebench.grading.records import Attempt, ColumnRun, Condition, Grade, Grading, Instance
from stalebench.progress import Progress
from stalebench.records import Cell


def write_grades(run: Path, progress: Progress, gradings: Iterable[Grading] = (Grading.STANDARD,)) -> None:
    """Grade every instance of a run that is in use, and write the table; one part for each way of grading."""
    wanted = list(dict.fromkeys((Grading.STANDARD, *gradings)))
    progress.stage("grades", len(wanted))
    for grading in wanted:
        tables.write(run, "grades", graded(run, grading), part=str(grading))
        progress.advance()


def graded(run: Path, grading: Grading) -> Iterator[Grade]:
    """The grades of a run, by instance. Raises DatasetError for a folder that holds no graded run."""
    asked = asked_of(run)
    attempts = _by_instance(tables.read(run, "patches", Attempt))
    runs = _by_subject(tables.read(run, "runs", ColumnRun))
    in_use = {one.id: one for one in tables.read(run, "instances", Instance) if one.set_aside is None}
    cells = groupby(tables.read(run, "test_results", Cell), key=lambda cell: cell.subject)
    left = set(in_use)
    for name, outcomes in _outcomes(cells, runs):
        left.discard(name)
        yield from grades(in_use[name], attempts.get(name, ()), outcomes, asked, grading)
    for name in sorted(left):  # not one of its columns ran
        outcomes = {
            trial: Outcomes(runs.get(f"{name}/{trial}", ())) for trial in _trials(attempts.get(name, ()))
        }
        yield from grades(in_use[name], attempts.get(name, ()), outcomes, asked, grading)


def asked_of(run: Path) -> Asked:
    """What a run says that it was asked for. Raises DatasetError where it says nothing of the kind."""
    told = tables.describe(run).parameters
    if "conditions" not in told:
        raise DatasetError(
            f"{run} is a dataset of pairs, not a graded run",
            "the folder that `stalebench mine` wrote is named instead of the one of `stalebench run`",
            "name the folder that `stalebench run --out` wrote",
        )
    conditions = tuple(Condition(word) for word in told["conditions"].split(",") if word)
    return Asked(conditions, tuple(filter(None, told["orders"].split(","))), bool(told["clash"]))


def _outcomes(
    cells: Iterable[tuple[str, Iterator[Cell]]], runs: dict[str, list[ColumnRun]]
) -> Iterator[tuple[str, dict[int, Outcomes]]]:
    """Per instance, the outcomes of each of its trials; one instance in memory at a time."""
    subjects = ((subject, Outcomes(runs.get(subject, ()), group)) for subject, group in cells)
    for name, trials in groupby(subjects, key=lambda item: item[0].rpartition("/")[0]):
        found = {int(subject.rpartition("/")[2]): outcomes for subject, outcomes in trials}
        for subject, told in runs.items():  # a trial of which no column ran
            instance, _, trial = subject.rpartition("/")
            if instance == name:
                found.setdefault(int(trial), Outcomes(told))
        yield name, found


def _by_instance(attempts: Iterable[Attempt]) -> dict[str, list[Attempt]]:
    found: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        found.setdefault(attempt.instance, []).append(attempt)
    return found


def _by_subject(runs: Iterable[ColumnRun]) -> dict[str, list[ColumnRun]]:
    found: dict[str, list[ColumnRun]] = {}
    for run in runs:
        found.setdefault(run.subject, []).append(run)
    return found


def _trials(attempts: Iterable[Attempt]) -> list[int]:
    return sorted({attempt.trial for attempt in attempts})
