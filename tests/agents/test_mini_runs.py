"""mini-swe-agent in whole runs on the demo: what it did and cost stands in the tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stalebench import tables
from stalebench.agents.registry import Options, agent_named
from stalebench.grading.records import Attempt, Condition, Grade, Status
from stalebench.grading.report import report
from stalebench.grading.running import RunRequest, run
from stalebench.progress import Silent

pytest.importorskip(
    "minisweagent", reason="needs the extra: pip install 'stalebench[mini-swe-agent]'", exc_type=ImportError
)
from tests.agents.test_mini import DONE, MakeModel, call, model, output

__all__ = ["model"]

LINK = "11+10"
"""Its older pull renames a helper, its newer one adds a function that calls it."""
ADDS_LINK = "printf '\\n\\ndef link(name):\\n    return \"/goods/\" + slug(name)\\n' >> shop/text.py"


def ran(data: Path, out: Path, options: Options, **choices: Any) -> dict[int, Attempt]:
    agent = agent_named("mini-swe-agent", options)
    run(RunRequest(data, out, agent, only=(LINK,), clash=False, engine="serial", **choices), Silent())
    return {made.task: made for made in tables.read(out, "patches", Attempt)}


def test_its_shipped_model_solves_what_it_solves(
    mined_demo: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    outputs = [output(ADDS_LINK), output(DONE)]
    options = {"outputs": outputs, "cost_per_call": 0.0}
    made = ran(
        mined_demo[0], tmp_path / "run", Options(model="deterministic", model_options=options), max_cost=50.0
    )
    assert {each.status for each in made.values()} == {Status.PATCH}
    assert [(each.cost, each.steps) for each in made.values()] == [(1.0, 2), (1.0, 2)]
    assert all((tmp_path / "run" / str(each.trajectory)).is_file() for each in made.values())
    (solo,) = (
        grade for grade in tables.read(tmp_path / "run", "grades", Grade) if grade.condition is Condition.SOLO
    )
    assert solo.solved == (False, True)
    assert solo.cost == 2.0
    assert report(tmp_path / "run").agent == "mini-swe-agent"


def test_a_model_server_is_paid_for_and_a_limit_of_cost_holds(
    mined_demo: tuple[Path, dict[str, Any]], tmp_path: Path, model: MakeModel
) -> None:
    options, server = model(call(ADDS_LINK), call(DONE), call(ADDS_LINK), call(DONE))
    made = ran(mined_demo[0], tmp_path / "run", options, max_cost=0.3)
    assert made[1].status is Status.PATCH
    assert (made[1].input_tokens, made[1].output_tokens) == (200, 20)
    assert made[1].cost == pytest.approx(0.4)
    assert (made[2].status, made[2].cost) == (Status.NOT_STARTED, 0.0)
    assert len(server.asked) == 2
    again = ran(mined_demo[0], tmp_path / "run", options, max_cost=10.0)
    assert again[2].status is Status.PATCH
    assert len(server.asked) == 4
    assert [grade.solved for grade in tables.read(tmp_path / "run", "grades", Grade)] == [(False, True)] * 2


def test_a_model_that_calls_no_tool_leaves_its_trajectory_and_no_verdict(
    mined_demo: tuple[Path, dict[str, Any]], tmp_path: Path, model: MakeModel
) -> None:
    options, _ = model(*({"role": "assistant", "content": "no tool at all"},) * 20)
    made = ran(mined_demo[0], tmp_path / "run", options)
    assert Status.PATCH not in {each.status for each in made.values()}
    assert all(each.detail for each in made.values())
    assert all((tmp_path / "run" / str(each.trajectory)).is_file() for each in made.values())
    assert {grade.delta for grade in tables.read(tmp_path / "run", "grades", Grade)} == {None}
