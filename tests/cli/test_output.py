from __future__ import annotations

import json
from dataclasses import replace

import pytest

from stalebench.cli import output
from stalebench.mine import GoldDelta, MineReport

REPORT = MineReport(
    repo="toy",
    out="data/my toy",
    funnel={"pulls": 4, "eligible": 3, "candidates": 3, "clean": 2, "valid": 1},
    rejected={"codes_conflict": 1, "gold_passes_on_base": 1, "no_test_files": 1},
    rejected_by_stage={
        "compose": {"codes_conflict": 1},
        "pulls": {"no_test_files": 1},
        "validate": {"gold_passes_on_base": 1},
    },
    gold_delta=GoldDelta(pairs=1, interfering=1, clashing=1, kinds={"joint": 2}),
    seconds=1.5,
)


def test_the_funnel_shows_each_stage_with_its_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    output.report(REPORT, as_json=False)
    words = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert words[:8] == [
        ["stage", "in", "out", "rejected", "reason"],
        ["pulls", "4", "3"],
        ["1", "no_test_files"],
        ["candidates", "3", "3"],
        ["compose", "3", "2"],
        ["1", "codes_conflict"],
        ["validate", "2", "1"],
        ["1", "gold_passes_on_base"],
    ]


def test_what_a_count_leaves_out_stands_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    output.report(replace(REPORT, left_out={"uncontrolled": 2, "unobservable": 1}), as_json=False)
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("human patches of 1 pairs: 1 interfere, 1 clash")
    assert lines[at + 2 : at + 4] == [
        "  2 more without a complete control: counted nowhere",
        "  1 unobservable: not counted in `interfere`",
    ]


def test_it_ends_with_the_dataset_and_the_next_command(capsys: pytest.CaptureFixture[str]) -> None:
    output.report(REPORT, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2] == "dataset  data/my toy"
    assert lines[-1].startswith("next     stalebench query 'data/my toy' \"select")


def test_json_is_the_document_of_the_issue(capsys: pytest.CaptureFixture[str]) -> None:
    output.report(REPORT, as_json=True)
    read = json.loads(capsys.readouterr().out)
    assert read == {
        "schema_version": 1,
        "repo": "toy",
        "out": "data/my toy",
        "funnel": {"pulls": 4, "eligible": 3, "candidates": 3, "clean": 2, "valid": 1},
        "rejected": {"codes_conflict": 1, "gold_passes_on_base": 1, "no_test_files": 1},
        "gold_delta": {"pairs": 1, "interfering": 1, "clashing": 1, "kinds": {"joint": 2}},
        "seconds": 1.5,
    }
