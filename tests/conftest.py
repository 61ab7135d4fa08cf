"""What tests of several folders share: the demo, mined once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

Mined = tuple[Path, dict[str, Any]]


@pytest.fixture(scope="session")
def mined_demo(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    """The dataset of the demo as the command makes it, and its report; to be read, not changed."""
    out = tmp_path_factory.mktemp("demo") / "data"
    command = [sys.executable, "-m", "stalebench", "mine", "--repo", "demo", "--out", str(out), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return out, report
