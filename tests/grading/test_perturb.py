"""A rename put into one of two human patches is found as interference by running them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from stalebench.grading.instances import instances
from stalebench.grading.records import Condition
from stalebench.predictions import predicted
from tests.grading.conftest import CORE, ONE, PAIR, Small, asserting

HELPER = "def helper_value():\n    return 1\n\n\n# between\n\n\n"


def test_a_renamed_helper_that_the_other_newly_calls_fails_together(tmp_path: Path) -> None:
    calling = "two():\n    return helper_value()"
    base = {
        "shop/__init__.py": "",
        "shop/core.py": HELPER + CORE,
        "tests/test_base.py": "def test_base():\n    pass\n",
    }
    both = HELPER + ONE.replace("two():\n    return 0", calling)
    small = Small(
        tmp_path,
        base,
        {"shop/core.py": HELPER + ONE, "tests/test_one.py": asserting("one")},
        {"shop/core.py": both, "tests/test_two.py": asserting("two")},
    )
    command = [sys.executable, "-m", "stalebench.bench.perturb", str(small.data), "--clone"]
    made = subprocess.run(
        [*command, str(tmp_path / "git")], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    assert made.stderr.splitlines() == [f"{PAIR}: 1 renames helper_value", "1 of 1 pairs"]
    assert {json.loads(line)["model_name_or_path"] for line in made.stdout.splitlines()} == {
        "gold-with-a-rename"
    }
    (tmp_path / "preds.jsonl").write_text(made.stdout)
    patches = predicted(tmp_path / "preds.jsonl", instances(small.data)).patches
    found = small.graded(tmp_path / "run", patches[PAIR, 1], patches[PAIR, 2])
    assert found.solved == (True, True)
    assert found.grade(Condition.BLIND).delta == ("tests/test_two.py::test_two",)
