"""Which commits stand for their neighbours, so that what is found out once holds for many. Runs nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime

import pygit2

from stalebench.compose.objects import Objects


def representatives(objects: Objects, commit: str) -> tuple[str, ...]:
    """The earliest commits of the same month and of the same week on the way down the first parents.

    They depend on nothing but the commit, so whichever of a month's commits comes first asks for the same.
    """
    tip = pygit2.Repository(str(objects.git_dir))[commit].peel(pygit2.Commit)
    return str(_first(tip, _month).id), str(_first(tip, _week).id)


def _first(tip: pygit2.Commit, period: Callable[[date], tuple[int, int]]) -> pygit2.Commit:
    found, wanted = tip, period(_day(tip))
    while found.parent_ids and period(_day(found.parents[0])) == wanted:
        found = found.parents[0]
    return found


def _day(commit: pygit2.Commit) -> date:
    return datetime.fromtimestamp(commit.commit_time, UTC).date()


def _month(day: date) -> tuple[int, int]:
    return day.year, day.month


def _week(day: date) -> tuple[int, int]:
    return day.isocalendar()[:2]
