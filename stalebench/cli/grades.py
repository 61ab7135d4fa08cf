"""How a graded run looks: its table on a terminal, or one JSON document. Computes nothing."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stalebench.cli import output

if TYPE_CHECKING:
    from stalebench.grading.records import Grade, Grading
    from stalebench.grading.report import Difference, Report, Row
    from stalebench.statistics import Interval, Rate

NEXT: Final = "select subject, pattern, test from patterns order by all"
"""The query that is proposed."""
HEADLINE: Final = (
    *(
        "condition",
        "instances",
        "observable",
        "graded",
        "interfere",
        "rate",
        "95% interval",
        "as if independent",
    ),
    "median delta",
)
AGAINST_BLIND: Final = (
    *("condition", "recovered", "of clean merges", "headroom", "conflicts", "infra", "cost"),
)
NONE: Final = "-"


def report(
    run: Path, gradings: Iterable[Grading] = (), swe_bench: Path | None = None, *, as_json: bool
) -> None:
    """Print what a run comes to; write the report of SWE-bench's form where a file is named."""
    from stalebench.grading import report as counting  # noqa: PLC0415 - what is slow waits until it is needed

    found = counting.report(run, gradings)
    if swe_bench is not None:
        _write_swe_bench(run, swe_bench)
    if as_json:
        output.document(_content(found))
        return
    standard, *mistakes = found.by_grading.items()
    output.lines([*_head(found), "", *_table(standard[1])])
    for grading, rows in mistakes:
        output.lines(["", _mistaken(grading, rows, standard[1]), "", *_table(rows)])
    output.lines(["", *_notes(found, standard[1]), *_next(found)])


def _write_swe_bench(run: Path, path: Path) -> None:
    from stalebench.grading.swebench import swebench  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.tables.dataset import writing  # noqa: PLC0415

    with writing(path) as file:
        file.write_text(json.dumps(swebench(run), indent=4) + "\n", encoding="utf-8")


# As text


def _head(found: Report) -> Iterator[str]:
    yield f"{found.agent} on {found.instances} instances of {found.dataset}"
    for reason, number in found.set_aside.items():
        yield f"  {number} set aside before any agent was started: {reason}"


def _table(rows: Iterable[Row]) -> Iterator[str]:
    rows = list(rows)
    yield from output.columns([HEADLINE, *map(_headline, rows)], right=range(1, len(HEADLINE)))
    yield ""
    yield from output.columns([AGAINST_BLIND, *map(_against_blind, rows)], right=range(1, len(AGAINST_BLIND)))


def _headline(row: Row) -> tuple[str, ...]:
    found = row.interfering
    counts = (row.condition, str(row.instances), str(row.observable))
    if found is None:
        return (*counts, *(NONE,) * (len(HEADLINE) - len(counts)))
    return (
        *counts,
        str(row.graded),
        _number(found.events),
        f"{found.rate:.1%}",
        NONE if found.interval is None else _interval(found.interval),
        _interval(found.wilson) + ("*" if found.of_clusters else ""),
        NONE if row.median_delta is None else _number(row.median_delta),
    )


def _against_blind(row: Row) -> tuple[str, ...]:
    return (
        row.condition,
        _of(row.recovered),
        _of(row.recovered_clean),
        NONE if row.headroom is None else f"{row.headroom:+.2f}",
        _number(row.conflicts),
        _number(row.infra),
        NONE if row.cost is None else f"${row.cost:.2f}",
    )


def _mistaken(grading: Grading, rows: Iterable[Row], right: Iterable[Row]) -> str:
    """The heading of a known mistake's table: how many more interfere than do."""
    more = []
    for wrong, row in zip(rows, right, strict=True):
        if wrong.interfering is not None and row.interfering is not None:
            difference = wrong.interfering.events - row.interfering.events
            more.append(f"{row.condition} {'+' if difference >= 0 else '-'}{_number(abs(difference))}")
    said = ", ".join(more) or "nothing"
    return f"as {grading} would have reported it: {said} interfere"


def _notes(found: Report, rows: Iterable[Row]) -> Iterator[str]:
    rows = list(rows)
    for row in rows:
        yield from _notes_on(row)
    for each in found.differences:
        yield _difference(each)
    if any(row.interfering is not None and row.interfering.of_clusters for row in rows):
        yield "* Wilson's on the changes instead of the instances: fewer than 10, or none or all have it"


def _notes_on(row: Row) -> Iterator[str]:
    if row.solved is not None:
        yield f"{row.condition}: {_number(row.solved)} of {row.tasks} tasks solved"
    if row.clashing is not None:
        kinds = ", ".join(f"{number} {kind}" for kind, number in row.clash_kinds.items())
        yield f"{row.condition}: {_of(row.clashing)} instances clash" + (f" ({kinds})" if kinds else "")
        if unknown := row.instances - row.clashing.n:
            why = "test patches conflict, or no run"
            yield f"{row.condition}: {unknown} more of which no clash is known: {why}"
    if row.excluded:
        yield f"{row.condition}: left out: {_listed(row.excluded)}"
    if set(row.attempts) - {"patch"}:
        yield f"{row.condition}: attempts: {_listed(row.attempts)}"


def _difference(each: Difference) -> str:
    interval = "" if each.interval is None else f", 95% {_interval(each.interval, signed=True)}"
    return (
        f"{each.first} minus {each.second}: {each.mean:+.1%}{interval} on {each.n} instances; "
        f"only {each.first} {each.only_first}, only {each.second} {each.only_second}, p = {each.p:.3g}"
    )


def _next(found: Report) -> Iterator[str]:
    run = shlex.quote(found.run)
    yield from ("", f"run   {found.run}", f'next  stalebench query {run} "{NEXT}"')


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _interval(found: Interval, *, signed: bool = False) -> str:
    form = "+.1f" if signed else ".1f"
    return f"{100 * found.low:{form}}..{100 * found.high:{form}}%"


def _of(found: Rate | None) -> str:
    return NONE if found is None else f"{_number(found.events)} of {found.n}"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items())


# As JSON


def _content(found: Report) -> dict[str, Any]:
    standard, *mistakes = found.by_grading.items()
    return {
        "run": found.run,
        "dataset": found.dataset,
        "agent": found.agent,
        "instances_in_all": found.instances,
        "set_aside": found.set_aside,
        "by_condition": _by_condition(standard[1]),
        "as_reported_by": {str(grading): _by_condition(rows) for grading, rows in mistakes},
        "differences": [_plain_difference(each) for each in found.differences],
        "instances": [_plain_grade(grade) for grade in found.grades],
    }


def _by_condition(rows: Iterable[Row]) -> dict[str, Any]:
    return {str(row.condition): _plain_row(row) for row in rows}


def _plain_row(row: Row) -> dict[str, Any]:
    rates = ("interfering", "recovered", "recovered_clean", "clashing")
    plain = {name: getattr(row, name) for name in row.__slots__ if name != "condition"}
    return plain | {name: _plain_rate(plain[name]) for name in rates}


def _plain_rate(found: Rate | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "n": found.n,
        "events": found.events,
        "rate": found.rate,
        "clusters": found.clusters,
        "interval": found.interval,
        "wilson": found.wilson,
        "wilson_of": "clusters" if found.of_clusters else "instances",
    }


def _plain_difference(each: Difference) -> dict[str, Any]:
    return {name: getattr(each, name) for name in each.__slots__}


def _plain_grade(grade: Grade) -> dict[str, Any]:
    names = ("instance", "condition", "trial", "order", "reason", "detail", "observable", "unobservable")
    clash = None if grade.clash is None else [{"test": each.test, "kind": each.kind} for each in grade.clash]
    return {
        **{name: getattr(grade, name) for name in names},
        **{name: getattr(grade, name) for name in ("solved", "delta", "delta_strict")},
        "clash": clash,
        **{name: getattr(grade, name) for name in ("smallest", "flaky", "cost")},
    }
