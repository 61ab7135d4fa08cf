from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from stalebench.compose.objects import Objects
from stalebench.environments.history import first_of_month
from tests.environments.projects import commit


def test_all_commits_of_a_month_are_stood_for_by_its_first(tmp_path: Path) -> None:
    days = [(3, 30), (4, 2), (4, 2), (4, 29), (5, 1)]
    made = [
        commit(tmp_path, {"number": str(number)}, datetime(2024, month, day, tzinfo=UTC))
        for number, (month, day) in enumerate(days)
    ]
    objects = Objects(tmp_path)
    found = [first_of_month(objects, each) for each in made]
    assert found == [made[0], made[1], made[1], made[1], made[4]]
