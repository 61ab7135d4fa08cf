"""What tests of several folders share: the demo, mined once."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

signal.signal(signal.SIGINT, signal.default_int_handler)
"""Started in the background of a script, the tests and all that they start would ignore it."""

Mined = tuple[Path, dict[str, Any]]


@pytest.fixture(scope="session")
def mined_demo(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    """The dataset of the demo as the command makes it, and its report; to be read, not changed.

    The processes of one session share it: the first one that wants it mines it.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with (shared / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "demo.json").exists():
            _mine(shared)
    report: dict[str, Any] = json.loads((shared / "demo.json").read_text())
    return shared / "demo", report


def _mine(shared: Path) -> None:
    out = shared / "demo"
    command = [sys.executable, "-m", "stalebench", "mine", "--repo", "demo", "--out", str(out), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (shared / "demo.json").write_text(done.stdout)
