"""From the grades of a run to its table: one row for each condition, every exclusion by its reason.

The unit is the instance: repeats and orders are averaged within it, never pooled. Counts of tests are not
added across instances. Reads tables, runs nothing, prints nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean, median

from stalebench import tables
from stalebench.grading.grading import asked_of
from stalebench.grading.records import Attempt, Condition, Grade, Grading, Instance
from stalebench.statistics import Interval, Observed, Rate, mcnemar, paired_difference, rate

CONFLICT = "merge_conflict"


@dataclass(frozen=True, slots=True)
class Row:
    """What one condition comes to, over the instances in use.

    `observable` are instances of which every solo patch passes its own gold tests, in at least one trial;
    `graded` those of them whose final tree has a delta, over which `interfering` is the rate. The others are
    in `excluded`, by reason. `median_delta` is over the interfering. Of informed and comm, `recovered` is
    over the instances that interfere blind, a textual conflict counting as not recovered, and
    `recovered_clean` over those among them that merge. `conflicts` and `infra` count instances, in parts
    where only some repeats or orders are so. `cost` is null where an agent does not tell.
    """

    condition: Condition
    instances: int
    observable: int
    graded: int
    excluded: dict[str, int]
    tasks: int
    solved: float | None
    interfering: Rate | None
    median_delta: float | None
    recovered: Rate | None
    recovered_clean: Rate | None
    headroom: float | None
    clashing: Rate | None
    clash_kinds: dict[str, int]
    conflicts: float
    infra: float
    cost: float | None
    attempts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two conditions on the same instances: the mean of the first's verdicts minus the second's."""

    first: Condition
    second: Condition
    n: int
    mean: float
    interval: Interval | None
    only_first: int
    only_second: int
    p: float
    """McNemar's exact test, on one verdict an instance: does it interfere in more than half of its grades?"""


@dataclass(frozen=True, slots=True)
class Report:
    """A whole run. `by_grading` holds the standard way first, and each known mistake that was asked for."""

    run: str
    dataset: str
    agent: str
    instances: int
    set_aside: dict[str, int]
    by_grading: dict[Grading, tuple[Row, ...]]
    differences: tuple[Difference, ...]
    grades: tuple[Grade, ...]


def report(run: Path, gradings: Iterable[Grading] = ()) -> Report:
    """The report of a graded run. Raises DatasetError for a folder that holds none."""
    asked = asked_of(run)
    every = list(tables.read(run, "instances", Instance))
    in_use = {one.id: one for one in every if one.set_aside is None}
    attempts = list(tables.read(run, "patches", Attempt))
    grades = list(tables.read(run, "grades", Grade))
    wanted = tuple(dict.fromkeys((Grading.STANDARD, *gradings)))
    told = tables.describe(run)
    by_grading = {
        grading: _Counting(in_use, [each for each in grades if each.grading is grading], attempts)
        for grading in wanted
    }
    standard = by_grading[Grading.STANDARD]
    return Report(
        run=str(run),
        dataset=told.repo,
        agent=str(told.parameters.get("agent", "")),
        instances=len(every),
        set_aside=_counted(one.set_aside for one in every if one.set_aside is not None),
        by_grading={
            grading: tuple(counting.row(condition) for condition in asked.conditions)
            for grading, counting in by_grading.items()
        },
        differences=tuple(standard.differences(asked.conditions)),
        grades=tuple(standard.grades),
    )


def is_recovered(blind: Grade | None, grade: Grade) -> bool | None:
    """Whether what fails under blind is whole under this condition; None where that says nothing."""
    if blind is None or not blind.observable or not blind.delta:
        return None
    if grade.reason == CONFLICT:
        return False
    return None if grade.delta is None else not grade.delta


class _Counting:
    """The grades of one way of grading."""

    def __init__(
        self, instances: Mapping[str, Instance], grades: Sequence[Grade], attempts: Sequence[Attempt]
    ) -> None:
        self.instances = instances
        self.grades = grades
        self.attempts = attempts
        self.by: dict[Condition, dict[str, list[Grade]]] = {}
        for grade in grades:
            self.by.setdefault(grade.condition, {}).setdefault(grade.instance, []).append(grade)
        self.blind = {
            (grade.instance, grade.trial): grade for grade in grades if grade.condition is Condition.BLIND
        }

    # One condition

    def row(self, condition: Condition) -> Row:
        found = self.by.get(condition, {})
        observable = [name for name, grades in found.items() if any(each.observable for each in grades)]
        verdicts = self._values(condition, _interferes)
        return Row(
            condition=condition,
            instances=len(found),
            observable=len(observable),
            graded=len(verdicts),
            excluded=self._excluded(found, verdicts, condition),
            tasks=sum(len(self.instances[name].tasks) for name in found),
            solved=self._solved(found) if condition is Condition.SOLO else None,
            interfering=self._rate(verdicts),
            median_delta=self._median_delta(condition),
            recovered=self._rate(self._values(condition, self._recovers)),
            recovered_clean=self._rate(self._values(condition, self._recovers_clean)),
            headroom=self._headroom(condition),
            clashing=self._rate(self._values(condition, _clashes)),
            clash_kinds=self._clash_kinds(found),
            conflicts=_share(found, CONFLICT),
            infra=_share(found, "infra"),
            cost=_sum([each.cost for grades in found.values() for each in grades]),
            attempts=self._attempts(condition),
        )

    def _values(self, condition: Condition, value: Callable[[Grade], float | None]) -> dict[str, float]:
        """Per instance, the mean over those of its grades that have a value."""
        found = {}
        for name, grades in self.by.get(condition, {}).items():
            known = [number for number in map(value, grades) if number is not None]
            if known:
                found[name] = fmean(known)
        return found

    def _observed(self, values: Mapping[str, float]) -> list[Observed]:
        return [Observed(_clusters(self.instances[name]), value) for name, value in sorted(values.items())]

    def _rate(self, values: Mapping[str, float]) -> Rate | None:
        return rate(self._observed(values)) if values else None

    def _excluded(
        self, found: Mapping[str, list[Grade]], verdicts: Mapping[str, float], condition: Condition
    ) -> dict[str, int]:
        """Why instances are not in the rate; solo has none, and leaves out what is not observable."""
        in_it = set(verdicts)
        if condition is Condition.SOLO:
            in_it = {name for name, grades in found.items() if any(each.observable for each in grades)}
        return _counted(_why(grades) for name, grades in found.items() if name not in in_it)

    def _solved(self, found: Mapping[str, list[Grade]]) -> float:
        """Tasks that their own patch solves, averaged over trials."""
        per_instance = [
            fmean(sum(bool(each) for each in grade.solved or ()) for grade in grades)
            for grades in found.values()
        ]
        return round(sum(per_instance), 6)

    def _median_delta(self, condition: Condition) -> float | None:
        sizes = self._values(
            condition, lambda grade: float(len(grade.delta or ())) if _counts(grade) else None
        )
        interfering = [size for size in sizes.values() if size > 0]
        return median(interfering) if interfering else None

    # Against blind

    def _recovers(self, grade: Grade) -> float | None:
        if grade.condition in (Condition.SOLO, Condition.BLIND):
            return None
        recovered = is_recovered(self.blind.get((grade.instance, grade.trial)), grade)
        return None if recovered is None else float(recovered)

    def _recovers_clean(self, grade: Grade) -> float | None:
        return None if grade.reason == CONFLICT else self._recovers(grade)

    def _headroom(self, condition: Condition) -> float | None:
        if condition is Condition.BLIND:
            return None
        values = self._values(condition, self._difference_of)
        return fmean(values.values()) if values else None

    def _difference_of(self, grade: Grade) -> float | None:
        blind = self.blind.get((grade.instance, grade.trial))
        if blind is None or not (_counts(blind) and _counts(grade)):
            return None
        return float(len(blind.delta or ()) - len(grade.delta or ()))

    def differences(self, conditions: Sequence[Condition]) -> Iterator[Difference]:
        """Each two conditions that have a delta, on the instances that both have a verdict for."""
        for first, second in combinations([each for each in conditions if each is not Condition.SOLO], 2):
            ones, others = self._values(first, _interferes), self._values(second, _interferes)
            both = sorted(ones.keys() & others.keys())
            if both:
                yield self._difference(first, second, [(name, ones[name], others[name]) for name in both])

    def _difference(
        self, first: Condition, second: Condition, values: Sequence[tuple[str, float, float]]
    ) -> Difference:
        clusters = [_clusters(self.instances[name]) for name, _, _ in values]
        pairs = [
            (Observed(each, one), Observed(each, other))
            for each, (_, one, other) in zip(clusters, values, strict=True)
        ]
        mean, interval = paired_difference(pairs)
        half = 0.5
        only_first = sum(one > half >= other for _, one, other in values)
        only_second = sum(other > half >= one for _, one, other in values)
        p = mcnemar(only_first, only_second)
        return Difference(first, second, len(values), mean, interval, only_first, only_second, p)

    # What else is told

    @staticmethod
    def _clash_kinds(found: Mapping[str, list[Grade]]) -> dict[str, int]:
        """How many instances have a clash of each kind."""
        kinds = ({clash.kind for grade in grades for clash in grade.clash or ()} for grades in found.values())
        return _counted(kind for each in kinds for kind in each)

    def _attempts(self, condition: Condition) -> dict[str, int]:
        """How the attempts that were made for the condition ended; blind has those of solo."""
        mine = Condition.SOLO if condition is Condition.BLIND else condition
        return _counted(each.status for each in self.attempts if each.condition is mine)


def _counts(grade: Grade) -> bool:
    """Whether a grade has a say in its condition's rate."""
    return bool(grade.observable) and grade.delta is not None


def _interferes(grade: Grade) -> float | None:
    return float(bool(grade.delta)) if _counts(grade) else None


def _clashes(grade: Grade) -> float | None:
    return None if grade.clash is None else float(bool(grade.clash))


def _why(grades: Sequence[Grade]) -> str:
    """Why an instance has no verdict: what the first of its grades says."""
    first = grades[0]
    return str(first.reason or first.unobservable or "unknown")


def _share(found: Mapping[str, list[Grade]], reason: str) -> float:
    shares = (sum(each.reason == reason for each in grades) / len(grades) for grades in found.values())
    return round(sum(shares), 6)


def _sum(costs: Sequence[float | None]) -> float | None:
    return None if None in costs else round(sum(cost for cost in costs if cost is not None), 6)


def _clusters(instance: Instance) -> tuple[str, ...]:
    """What it may share with others: its changes; in a controlled tier the helper that its id begins with."""
    if instance.tier == "mined":
        return tuple(task.pull for task in instance.tasks)
    return (instance.id.partition("/")[0],)


def _counted(words: Iterable[object]) -> dict[str, int]:
    counts = Counter(str(word) for word in words)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
