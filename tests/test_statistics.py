"""Intervals and exact tests against published values, and what resampling must keep."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stalebench.statistics import (
    Observed,
    fisher,
    mcnemar,
    paired_difference,
    rate,
    two_level,
    wilson,
)


@pytest.mark.parametrize(
    ("events", "n", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17: table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_wilson_gives_the_published_bounds(events: int, n: int, low: float, high: float) -> None:
    assert tuple(wilson(events, n)) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        ((3, 1), (1, 3), 0.4857),  # Fisher's lady tasting tea (1935): 34/70
        ((4, 0), (0, 4), 0.0286),  # 2/70
        ((1, 9), (11, 3), 0.002759),  # Agresti's worked example, two-sided
        ((0, 5), (0, 5), 1.0),
    ],
)
def test_fisher_gives_the_published_p(first: tuple[int, int], second: tuple[int, int], p: float) -> None:
    assert fisher(first, second) == pytest.approx(p, abs=5e-5)
    assert fisher(second, first) == pytest.approx(p, abs=5e-5)


@pytest.mark.parametrize(
    ("one", "other", "p"),
    [(1, 9, 22 / 1024), (9, 1, 22 / 1024), (0, 6, 2 / 64), (5, 5, 1.0), (0, 0, 1.0), (0, 1, 1.0)],
)
def test_mcnemar_is_the_two_sided_binomial_test(one: int, other: int, p: float) -> None:
    assert mcnemar(one, other) == pytest.approx(p)


def star(changes: int, hit: int) -> list[Observed]:
    """Pairs of one shared change with each of the others, of which the first so many interfere."""
    return [Observed((0, other), float(other <= hit)) for other in range(1, changes + 1)]


def matching(pairs: int, hit: int) -> list[Observed]:
    """Pairs that share no change."""
    return [Observed((("a", number), ("b", number)), float(number < hit)) for number in range(pairs)]


def test_a_rate_has_its_numerator_and_denominator_and_both_intervals() -> None:
    found = rate(matching(40, 10))
    assert (found.events, found.n, found.rate, found.clusters) == (10, 40, 0.25, 80)
    assert not found.of_clusters
    assert found.wilson == wilson(10, 40)
    assert found.interval is not None
    assert found.interval.low < 0.25 < found.interval.high


def test_the_same_numbers_give_the_same_interval() -> None:
    assert rate(matching(40, 10)) == rate(matching(40, 10))


def test_one_change_in_every_second_pair_makes_the_interval_wider_than_independence_would() -> None:
    hub = [Observed(("hub", number), 1.0) for number in range(20)]
    rest = [Observed((("a", number), ("b", number)), 0.0) for number in range(20)]
    found = rate([*hub, *rest])
    assert found.interval is not None
    assert found.interval.high - found.interval.low > 1.5 * (found.wilson.high - found.wilson.low)


def test_few_clusters_have_wilson_on_the_clusters_only() -> None:
    found = rate(star(8, 3))
    assert (found.interval, found.clusters, found.of_clusters) == (None, 9, True)
    assert found.wilson == wilson(4, 9)  # three changes and the one that they share
    assert rate(star(9, 3)).interval is not None


@pytest.mark.parametrize("hit", [0, 30])
def test_none_or_all_events_have_wilson_on_the_clusters_only(hit: int) -> None:
    found = rate(matching(30, hit))
    assert (found.interval, found.of_clusters) == (None, True)
    assert found.wilson == wilson(2 * hit, 60)


def test_values_between_0_and_1_are_averages_of_an_instance() -> None:
    found = rate([Observed((number,), 0.5) for number in range(12)])
    assert (found.events, found.rate) == (6.0, 0.5)
    assert found.interval == (0.5, 0.5)


def test_a_paired_difference_that_is_constant_has_no_spread() -> None:
    pairs = [(Observed((n, n + 100), 1.0), Observed((n, n + 100), 0.0)) for n in range(12)]
    assert paired_difference(pairs) == (1.0, (1.0, 1.0))


def test_a_paired_difference_has_no_interval_where_nothing_differs_or_clusters_are_few() -> None:
    same = [(Observed((n,), 1.0), Observed((n,), 1.0)) for n in range(12)]
    assert paired_difference(same) == (0.0, None)
    few = [(Observed((n,), 1.0), Observed((n,), 0.0)) for n in range(9)]
    assert paired_difference(few) == (1.0, None)


def test_repeats_that_agree_add_nothing_to_the_spread_between_helpers() -> None:
    once = two_level({number: [float(number % 2)] for number in range(12)})
    often = two_level({number: [float(number % 2)] * 8 for number in range(12)})
    assert once.low == pytest.approx(often.low, abs=0.1)
    assert once.high == pytest.approx(often.high, abs=0.1)
    assert once.low > 0
    assert once.high < 1


def test_two_levels_without_any_spread_are_a_point() -> None:
    assert two_level({"a": [3.0, 3.0], "b": [3.0]}) == (3.0, 3.0)


@pytest.mark.parametrize("groups", [{}, {"a": []}])
def test_a_group_without_a_value_is_refused(groups: dict[str, list[float]]) -> None:
    with pytest.raises(ValueError, match="without a value"):
        two_level(groups)


@given(st.integers(0, 60), st.integers(0, 60))
def test_wilson_holds_the_share_and_mirrors(events: int, others: int) -> None:
    n = events + others
    low, high = wilson(events, n)
    assert 0 <= low <= high <= 1
    if n:
        assert low <= events / n <= high
        mirrored = wilson(others, n)
        assert math.isclose(low, 1 - mirrored.high, abs_tol=1e-12)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_fisher_is_a_probability_and_does_not_mind_the_order_of_columns(
    a: int, b: int, c: int, d: int
) -> None:
    p = fisher((a, b), (c, d))
    assert 0 < p <= 1
    assert math.isclose(p, fisher((b, a), (d, c)))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(10, 19), st.booleans()), min_size=1, max_size=30))
def test_the_bounds_hold_the_values_that_there_are(rows: list[tuple[int, int, bool]]) -> None:
    found = rate([Observed((one, other), float(hit)) for one, other, hit in rows], draws=50)
    assert found.clusters == len(Counter(one for one, _, _ in rows)) + len(Counter(two for _, two, _ in rows))
    if found.interval is not None:
        assert 0 <= found.interval.low <= found.interval.high <= 1
