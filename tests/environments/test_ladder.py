from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stalebench.compose.objects import Objects
from stalebench.environments.ladder import Plan, plans, quarter
from stalebench.spec import Recipe
from tests.environments.projects import commit, spec_for

DAY = date(2024, 5, 17)
EVERYTHING = {
    "pyproject.toml": '[project]\nname = "thing"\nrequires-python = ">=3.9"\ndependencies = ["six"]\n'
    '[project.optional-dependencies]\ntest = ["attrs"]\n'
    '[dependency-groups]\ntest = ["iniconfig"]\ndev = ["ruff"]\n',
    "uv.lock": '[[package]]\nname = "six"\nversion = "1.15.0"\n',
    "tox.ini": "[testenv]\ndeps = pluggy\n",
    "requirements-dev.txt": "packaging\n",
}


def of(
    folder: Path, files: dict[str, str], *recipes: Recipe, runner: str = "pytest", day: date = DAY
) -> list[Plan]:
    made = commit(folder, files)
    return list(plans(spec_for(*recipes, runner=runner), Objects(folder), made, day, made))


def test_rungs_come_in_order_of_how_deliberate_they_are(tmp_path: Path) -> None:
    found = of(tmp_path, EVERYTHING, Recipe(python="3.11", packages=("six==1.16.0",)))
    assert [plan.rung for plan in found] == [
        "spec",
        "lock",
        "lock",
        "groups",
        "groups",
        "extras",
        "ci",
        "requirements",
        "bare",
    ]
    assert [plan.packages for plan in found] == [
        ("six==1.16.0",),
        ("iniconfig", "pytest>=7", "six"),
        ("iniconfig", "pytest>=7", "ruff", "six"),
        ("iniconfig", "pytest>=7", "six"),
        ("iniconfig", "pytest>=7", "ruff", "six"),
        ("attrs", "pytest>=7", "six"),
        ("pluggy", "pytest>=7", "six"),
        ("packaging", "pytest>=7", "six"),
        ("pytest>=7", "six"),
    ]
    assert [plan.constraints for plan in found[:4]] == [(), ("six==1.15.0",), ("six==1.15.0",), ()]


def test_a_recipe_serves_only_its_dates(tmp_path: Path) -> None:
    recipe = Recipe(python="3.11", since=date(2024, 6, 1))
    assert [plan.rung for plan in of(tmp_path, {"a": ""}, recipe)] == ["bare"]


def test_a_recipe_that_pins_all_is_one_plan_for_all_its_commits(tmp_path: Path) -> None:
    recipe = Recipe(python="3.11", packages=("six==1.16.0", "attrs==23.1.0"))
    first, *_ = of(tmp_path / "1", {"a": ""}, recipe)
    second, *_ = of(tmp_path / "2", {"a": "b"}, recipe, day=date(2030, 1, 1))
    assert first.newest == (None,)
    assert first.digest == second.digest


def test_a_recipe_that_leaves_versions_open_is_bounded(tmp_path: Path) -> None:
    pinned = Recipe(python="3.11", packages=("six==1.16.0",), until=date(2025, 1, 1))
    with_pins, *_ = of(tmp_path / "0", {"a": ""}, pinned)
    closed, *_ = of(
        tmp_path / "1", {"a": ""}, Recipe(python="3.11", packages=("six",), until=date(2025, 1, 1))
    )
    still_open, *_ = of(tmp_path / "2", {"a": ""}, Recipe(python="3.11", packages=("six",)))
    assert with_pins.newest == ("2025-01-01", None), "what the pins need is bounded, the pins need not be"
    assert closed.newest == ("2025-01-01",)
    assert still_open.newest == ("2024-04-01", "2024-07-01")


def test_commits_of_a_quarter_share_a_plan(tmp_path: Path) -> None:
    files = {"setup.cfg": "[options]\ninstall_requires = six\n"}
    (first,) = of(tmp_path / "1", files, day=date(2024, 4, 1))
    (second,) = of(tmp_path / "2", {**files, "code.py": ""}, day=date(2024, 6, 30))
    assert first.digest == second.digest


def test_a_rung_that_asks_for_nothing_new_is_not_tried_again(tmp_path: Path) -> None:
    files = {"tox.ini": "[testenv]\ndeps = six\n", "requirements-test.txt": "six\n"}
    assert [plan.rung for plan in of(tmp_path, files)] == ["ci", "bare"]


def test_install_commands_are_tied_to_a_commit_and_nothing_else_is(tmp_path: Path) -> None:
    plain, *_ = of(tmp_path / "1", {"a": ""}, Recipe(python="3.11"))
    with_commands, *_ = of(tmp_path / "2", {"a": ""}, Recipe(python="3.11", install=("true",)))
    assert plain.commit is None
    assert with_commands.commit is not None


@pytest.mark.parametrize("runner", ["django", "unittest"])
def test_other_runners_need_no_pytest(tmp_path: Path, runner: str) -> None:
    assert [plan.packages for plan in of(tmp_path, {"a": ""}, runner=runner)] == [()]


@given(st.dates(date(1990, 1, 1), date(2100, 1, 1)))
def test_a_day_lies_in_its_quarter(day: date) -> None:
    first, following = quarter(day)
    assert first <= day < following
    assert quarter(first) == (first, following)
    assert quarter(following)[0] == following
    assert 90 <= (following - first).days <= 92
