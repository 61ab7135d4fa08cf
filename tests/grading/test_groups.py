"""More than two patches: whole runs on groups of three pulls of a small repository."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from stalebench import spec, tables
from stalebench.agents.fixed import GOLD
from stalebench.grading.records import Condition, Grade, Instance
from stalebench.grading.running import RunRequest, run
from stalebench.mine import MineRequest, mine
from stalebench.progress import Silent
from tests.repositories import Builder

GROUP = "3+2+1"
BOTH = (Condition.SOLO, Condition.BLIND)
CORE = """\
A = 1
#
#
#
B = 1
#
#
#
C = 1


def total():
    return A + B + C
"""


def with_test(name: str, limit: int) -> Mapping[str, str]:
    return {
        f"tests/test_{name.lower()}.py": "from shop import core\n\n\n"
        f"def test_{name.lower()}():\n    assert core.{name} == 2\n    assert core.total() < {limit}\n"
    }


@pytest.fixture(name="graded")
def _graded(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Instance, list[Grade]]:
    """Three pulls that raise one constant each, and the limit that the tests of each put on the sum."""
    limits: dict[str, int]
    limits, asked = request.param
    built = Builder(tmp_path / "git")
    core = CORE
    base = {
        "shop/__init__.py": "",
        "shop/core.py": core,
        "tests/test_base.py": "def test_base():\n    pass\n",
    }
    built.land(base)
    for number, (name, limit) in enumerate(limits.items(), 1):
        core = core.replace(f"{name} = 1", f"{name} = 2")
        built.land({"shop/core.py": core, **with_test(name, limit)}, f"Raise {name} (#{number})")
    chosen = replace(spec.load("demo"), name="small", clone_url=str(tmp_path / "git"))
    (tmp_path / "small.toml").write_text(spec.to_toml(chosen))
    data, out = tmp_path / "data", tmp_path / "run"
    mine(MineRequest(data, spec_file=tmp_path / "small.toml", repeats=1, engine="serial"), Silent())
    run(RunRequest(data, out, GOLD, asked, tasks=3, clash=False, engine="serial"), Silent())
    (instance,) = tables.read(out, "instances", Instance)
    return instance, list(tables.read(out, "grades", Grade))


def blind(grades: list[Grade]) -> Grade:
    (found,) = (grade for grade in grades if grade.condition is Condition.BLIND)
    return found


@pytest.mark.parametrize("graded", [({"A": 6, "B": 6, "C": 6}, BOTH)], indirect=True)
def test_three_patches_of_which_each_two_pass_can_fail_together(
    graded: tuple[Instance, list[Grade]],
) -> None:
    instance, grades = graded
    assert (instance.id, [task.pull for task in instance.tasks]) == (GROUP, ["1", "2", "3"])
    found = blind(grades)
    assert found.delta == ("tests/test_a.py::test_a", "tests/test_b.py::test_b", "tests/test_c.py::test_c")
    assert found.smallest == (1, 2, 3)
    assert found.leave_one_out == ((), (), ())
    assert found.solved == (True, True, True)


@pytest.mark.parametrize("graded", [({"A": 5, "B": 9, "C": 9}, BOTH)], indirect=True)
def test_the_smallest_subset_that_fails_together_is_named(graded: tuple[Instance, list[Grade]]) -> None:
    found = blind(graded[1])
    assert found.delta == ("tests/test_a.py::test_a",)
    assert found.smallest == (1, 2)
    assert found.leave_one_out == ((), found.delta, found.delta)


@pytest.mark.parametrize("graded", [({"A": 9, "B": 9, "C": 9}, (*BOTH, Condition.INFORMED))], indirect=True)
def test_informed_takes_three_patches_in_both_orders(graded: tuple[Instance, list[Grade]]) -> None:
    _, grades = graded
    informed = {grade.order: grade for grade in grades if grade.condition is Condition.INFORMED}
    assert set(informed) == {"1.2.3", "3.2.1"}
    assert {(grade.reason, grade.delta) for grade in [*informed.values(), blind(grades)]} == {(None, ())}
    assert blind(grades).smallest is None
