"""Which commit stands for its neighbours, so that what is found out once holds for many. Runs nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pygit2

from stalebench.compose.objects import Objects


def first_of_month(objects: Objects, commit: str) -> str:
    """The earliest commit of the same month (UTC) on the way down the first parents.

    It depends on nothing but the commit, so whichever of a month's commits comes first asks for the same.
    """
    found = pygit2.Repository(str(objects.git_dir))[commit].peel(pygit2.Commit)
    month = _month(found)
    while found.parent_ids:
        parent = found.parents[0]
        if _month(parent) != month:
            break
        found = parent
    return str(found.id)


def _month(commit: pygit2.Commit) -> tuple[int, int]:
    moment = datetime.fromtimestamp(commit.commit_time, UTC)
    return moment.year, moment.month
