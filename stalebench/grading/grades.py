"""The grades of one instance, over all its trials: what is missing is a reason, never a verdict.

A test that is quarantined in one trial or under one condition is so in all of the instance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from stalebench.columns import Missing, Needed
from stalebench.grading.outcomes import Outcomes
from stalebench.grading.records import Attempt, Condition, Grade, Grading, Instance
from stalebench.judge import Found, Judge
from stalebench.measures import Tests

INCOMPLETE = "not_run"
"""The reason where a run is simply not there: the command was stopped before it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which conditions to grade, and informed in which orders."""

    conditions: tuple[Condition, ...]
    orders: tuple[str, ...] = ()
    clash: bool = True

    def wanted(self) -> tuple[tuple[Condition, str], ...]:
        """Each condition with each of its orders; the order is empty but for informed."""
        return tuple(
            (condition, order)
            for condition in self.conditions
            for order in (self.orders if condition is Condition.INFORMED else ("",))
        )


def grades(
    instance: Instance,
    attempts: Sequence[Attempt],
    outcomes: Mapping[int, Outcomes],
    asked: Asked,
    grading: Grading = Grading.STANDARD,
) -> Iterator[Grade]:
    """A grade for each trial, condition and order."""
    quarantined = _quarantined(instance, outcomes.values(), asked, grading)
    for trial, found in sorted(outcomes.items()):
        judge = Judge(instance, found, grading=grading, quarantined=quarantined, with_clash=asked.clash)
        made = [attempt for attempt in attempts if attempt.trial == trial]
        for condition, order in asked.wanted():
            yield _grade(judge, made, condition, order, grading)


def _quarantined(instance: Instance, outcomes: Iterable[Outcomes], asked: Asked, grading: Grading) -> Tests:
    """The tests that differed between runs of one column, in any trial and under any condition."""
    found: Tests = frozenset()
    for each in outcomes:
        judge = Judge(instance, each, grading=grading, with_clash=asked.clash)
        for wanted in asked.wanted():
            with suppress(Missing, Needed):  # what was not run tells nothing here
                found |= judge.unstable([wanted])
    return found


def _grade(
    judge: Judge, attempts: Sequence[Attempt], condition: Condition, order: str, grading: Grading
) -> Grade:
    blank = _blank(judge, attempts, condition, order, grading)
    try:
        unobservable, solved = judge.observability()
    except Missing as missing:
        return replace(blank, reason=missing.reason, detail=_where(missing), solved=judge.solved())
    except Needed as needed:
        return replace(blank, reason=INCOMPLETE, detail=f"not run: {', '.join(needed.names)}")
    seen = replace(blank, observable=unobservable is None, unobservable=unobservable, solved=solved)
    return _with_measures(judge, seen, condition, order)


def _with_measures(judge: Judge, grade: Grade, condition: Condition, order: str) -> Grade:
    if condition is Condition.SOLO:
        return replace(grade, unsolved=tuple(map(_sorted, judge.unsolved())))
    try:
        judge.unstable([(condition, order)])  # a verdict that was not confirmed is none
        return _filled(grade, judge.found(condition, order))
    except Missing as missing:
        return replace(grade, reason=missing.reason, detail=_where(missing))
    except Needed as needed:
        return replace(grade, reason=INCOMPLETE, detail=f"not run: {', '.join(needed.names)}")


def _blank(
    judge: Judge, attempts: Sequence[Attempt], condition: Condition, order: str, grading: Grading
) -> Grade:
    made_for = [attempt for attempt in attempts if (attempt.condition, attempt.order) == (condition, order)]
    costs = [attempt.cost for attempt in made_for]
    trial = attempts[0].trial if attempts else 0
    return Grade(
        id=f"{judge.instance.id}/{condition}/{trial}/{order}",
        instance=judge.instance.id,
        agent=attempts[0].agent if attempts else "",
        condition=condition,
        trial=trial,
        order=order,
        grading=grading,
        reason=None,
        detail="",
        observable=None,
        unobservable=None,
        solved=None,
        delta=None,
        delta_strict=None,
        clash=None,
        broken_alone=None,
        unsolved=None,
        repaired_together=None,
        vanished=None,
        leave_one_out=None,
        smallest=None,
        flaky=_sorted(judge.quarantined),
        cost=None if None in costs else round(sum(cost for cost in costs if cost is not None), 6),
    )


def _filled(grade: Grade, found: Found) -> Grade:
    return replace(
        grade,
        delta=_sorted(found.delta),
        delta_strict=_optional(found.delta_strict),
        clash=found.clash,
        broken_alone=None if found.broken_alone is None else tuple(map(_sorted, found.broken_alone)),
        unsolved=None if found.unsolved is None else tuple(map(_sorted, found.unsolved)),
        repaired_together=_optional(found.repaired_together),
        vanished=_optional(found.vanished),
        leave_one_out=None if found.leave_one_out is None else tuple(map(_optional, found.leave_one_out)),
        smallest=found.smallest,
    )


def _where(missing: Missing) -> str:
    return f"{missing.column}: {missing.detail}" if missing.detail else missing.column


def _sorted(tests: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(tests))


def _optional(tests: Tests | None) -> tuple[str, ...] | None:
    return None if tests is None else _sorted(tests)
