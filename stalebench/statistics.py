"""Intervals and exact tests for rates over instances, which share changes. Knows no table and no file.

The unit is the instance. Two instances that share a change are not independent: an interval for mined pairs
resamples the changes, one for the controlled tiers the helpers, and then the repeats of each. Random draws
come from a fixed seed, so that the same numbers give the same interval.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from statistics import NormalDist
from typing import Final, NamedTuple, TypeVar

Group = TypeVar("Group", bound=Hashable)

DRAWS: Final = 2000
LEVEL: Final = 0.95
FEWEST_CLUSTERS: Final = 10
"""With fewer, a bootstrap says less than it seems to."""
SEED: Final = 20260101


class Interval(NamedTuple):
    """A rate's or a difference's lower and upper bound."""

    low: float
    high: float


class Observed(NamedTuple):
    """One instance: the clusters that it belongs to, all of them, and its value between 0 and 1.

    A mined pair belongs to two clusters, its changes; an instance of a controlled tier to one, its helper.
    """

    clusters: tuple[Hashable, ...]
    value: float


@dataclass(frozen=True, slots=True)
class Rate:
    """A mean over instances, with its intervals.

    `interval` is None where there are too few clusters, or none or all of the instances have the event: then
    only `wilson` is told, and it is Wilson's on the clusters (`of_clusters`); else it is the one «as if
    independent».
    """

    n: int
    events: float
    clusters: int
    interval: Interval | None
    wilson: Interval
    of_clusters: bool

    @property
    def rate(self) -> float:
        """Events over instances."""
        return self.events / self.n


def wilson(events: float, n: int, level: float = LEVEL) -> Interval:
    """Wilson's score interval for a proportion (Wilson 1927; Brown, Cai, DasGupta 2001)."""
    if n == 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = events / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if events == 0 else max(0.0, middle - half)
    return Interval(low, 1.0 if events == n else min(1.0, middle + half))


def rate(observed: Sequence[Observed], draws: int = DRAWS) -> Rate:
    """The mean of at least one instance, with the interval that its clusters allow."""
    n, events = len(observed), sum(each.value for each in observed)
    clusters = _clusters(observed)
    if len(clusters) < FEWEST_CLUSTERS or events in (0, n):
        hit = sum(any(each.value > 0 for each in members) for members in clusters.values())
        return Rate(n, events, len(clusters), None, wilson(hit, len(clusters)), of_clusters=True)
    interval = _clustered(observed, draws)
    return Rate(n, events, len(clusters), interval, wilson(events, n), of_clusters=False)


def paired_difference(
    pairs: Sequence[tuple[Observed, Observed]], draws: int = DRAWS
) -> tuple[float, Interval | None]:
    """The mean of first minus second over the same instances, with its bootstrap interval.

    The interval is None where there are fewer than ten clusters, or no instance differs.
    """
    differences = [Observed(first.clusters, first.value - second.value) for first, second in pairs]
    mean = sum(each.value for each in differences) / len(differences)
    if len(_clusters(differences)) < FEWEST_CLUSTERS or not any(each.value for each in differences):
        return mean, None
    return mean, _clustered(differences, draws)


def two_level(groups: Mapping[Group, Sequence[float]], draws: int = DRAWS) -> Interval:
    """The percentile interval of a mean of group means: groups are resampled, then the repeats in each.

    Raises ValueError for a group without a repeat, or no group.
    """
    values = [list(group) for _, group in sorted(groups.items(), key=lambda item: repr(item[0]))]
    if not values or not all(values):
        raise ValueError("a group without a value")
    dice = random.Random(SEED)  # noqa: S311 - no secret depends on it
    means = []
    for _ in range(draws):
        drawn = dice.choices(values, k=len(values))
        means.append(sum(sum(dice.choices(group, k=len(group))) / len(group) for group in drawn) / len(drawn))
    return _percentile(means)


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact two-sided test: how likely so uneven a split of the discordant instances is by chance.

    McNemar 1947; exact by the binomial distribution with one half.
    """
    n = only_first + only_second
    smaller = min(only_first, only_second)
    tail = sum(comb(n, k) for k in range(smaller + 1)) / (1 << n)
    return min(1.0, 2 * tail)


def fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Fisher's exact two-sided test of two disjoint groups, each (events, no events) (Fisher 1922).

    The sum over all tables of the same margins that are no likelier than this one.
    """
    (a, b), (c, d) = first, second
    row, column, n = a + b, a + c, a + b + c + d
    ways = {k: comb(row, k) * comb(n - row, column - k) for k in _possible(row, column, n)}
    return sum(number for number in ways.values() if number <= ways[a]) / comb(n, column)


def _possible(row: int, column: int, n: int) -> range:
    return range(max(0, row + column - n), min(row, column) + 1)


# Resampling clusters


def _clusters(observed: Sequence[Observed]) -> dict[Hashable, list[Observed]]:
    found: dict[Hashable, list[Observed]] = {}
    for each in observed:
        for cluster in each.clusters:
            found.setdefault(cluster, []).append(each)
    return found


Statistic = Callable[[Sequence[int]], float | None]
"""From how often each cluster was drawn to a number; None where nothing was drawn that counts."""


def _mean(observed: Sequence[Observed]) -> Statistic:
    """The weighted mean; an instance weighs the product of its clusters' multiplicities."""
    index = {cluster: number for number, cluster in enumerate(_clusters(observed))}
    rows = [([index[cluster] for cluster in each.clusters], each.value) for each in observed]

    def statistic(times: Sequence[int]) -> float | None:
        total = weighted = 0.0
        for clusters, value in rows:
            weight = 1
            for cluster in clusters:
                weight *= times[cluster]
            if weight:
                total += weight
                weighted += weight * value
        return weighted / total if total else None

    return statistic


def _clustered(observed: Sequence[Observed], draws: int) -> Interval:
    number = len(_clusters(observed))
    dice = random.Random(SEED)  # noqa: S311 - no secret depends on it
    statistic = _mean(observed)
    drawn: list[float] = []
    while len(drawn) < draws:
        times = [0] * number
        for cluster in dice.choices(range(number), k=number):
            times[cluster] += 1
        value = statistic(times)
        if value is not None:  # no pair had both of its changes drawn
            drawn.append(value)
    return _percentile(drawn)


def _percentile(values: Sequence[float], level: float = LEVEL) -> Interval:
    """The bounds between which that share of the values lies, interpolated as R's type 7."""
    ordered = sorted(values)
    return Interval(_quantile(ordered, (1 - level) / 2), _quantile(ordered, (1 + level) / 2))


def _quantile(ordered: Sequence[float], share: float) -> float:
    at = share * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])
