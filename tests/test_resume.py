"""Kill the main job at random moments and run it again: the same dataset, and nothing done twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SEED = int(os.environ.get("STALEBENCH_KILL_SEED", "20261201"))
KILLS = int(os.environ.get("STALEBENCH_KILLS", "2"))


def mine(out: Path, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "stalebench", "mine", "--repo", "demo", "--out", str(out), *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[bytes]) -> None:
    _, stderr = process.communicate()
    assert process.returncode == 0, stderr.decode()


def dataset(out: Path) -> dict[str, bytes]:
    """The bytes of every file of a dataset; `work/` is not part of it."""
    files = (path for path in out.rglob("*") if path.is_file() and path.relative_to(out).parts[0] != "work")
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def stored_runs(out: Path) -> dict[str, int]:
    """When each stored run was written."""
    runs = out / "work" / "runs"
    return {
        str(path): path.stat().st_mtime_ns for path in runs.rglob("*.json") if not path.name.startswith(".")
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed") / "data"
    finish(mine(out, "--jobs", "2"))
    return out


def test_one_worker_or_two_and_either_engine_make_the_same_dataset(undisturbed: Path, tmp_path: Path) -> None:
    finish(mine(tmp_path / "data", "--engine", "serial"))
    assert dataset(tmp_path / "data") == dataset(undisturbed)


def test_a_second_call_repeats_no_run_and_changes_no_byte(undisturbed: Path) -> None:
    before, runs = dataset(undisturbed), stored_runs(undisturbed)
    assert runs
    finish(mine(undisturbed, "--jobs", "2"))
    assert stored_runs(undisturbed) == runs
    assert dataset(undisturbed) == before


def test_killed_at_random_moments_it_ends_with_the_same_bytes_and_repeats_nothing(
    undisturbed: Path, tmp_path: Path
) -> None:
    out = tmp_path / "data"
    chance = random.Random(SEED)
    kept: dict[str, int] = {}
    for _ in range(KILLS):
        process = mine(out, "--jobs", "2")
        time.sleep(chance.uniform(0.5, 8))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        runs = stored_runs(out)
        assert runs.items() >= kept.items()
        kept = runs
    finish(mine(out, "--jobs", "2"))
    assert stored_runs(out).items() >= kept.items()
    assert dataset(out) == dataset(undisturbed)
