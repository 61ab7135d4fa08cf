from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from stalebench.compose.objects import Objects
from stalebench.environments.history import representatives
from tests.environments.projects import commit


def test_commits_are_stood_for_by_the_first_of_their_month_and_of_their_week(tmp_path: Path) -> None:
    days = [(3, 30), (4, 2), (4, 2), (4, 29), (5, 1)]
    made = [
        commit(tmp_path, {"number": str(number)}, datetime(2024, month, day, tzinfo=UTC))
        for number, (month, day) in enumerate(days)
    ]
    objects = Objects(tmp_path)
    found = [tuple(map(made.index, representatives(objects, each))) for each in made]
    assert found == [(0, 0), (1, 1), (1, 1), (1, 3), (4, 3)]
