from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from stalebench.environments import uv
from stalebench.environments.failures import OutOfReach
from stalebench.errors import EnvironmentBroken

PYTHON = Path(sys.executable)


def test_packages_are_bounded_by_a_date() -> None:
    assert uv.resolve(["six"], PYTHON, "2021-01-01") == ("six==1.15.0",)


def test_the_runner_may_be_newer_than_commits_from_before_its_time() -> None:
    found = uv.resolve(["pytest>=7", "six"], PYTHON, "2020-01-01")
    assert {"pytest==7.0.1", "six==1.13.0"} <= set(found)


def test_constraints_narrow_and_add_nothing() -> None:
    assert uv.resolve(["six"], PYTHON, None, ["six<1.16", "attrs==1"]) == ("six==1.15.0",)


def test_no_solution_is_the_recipes_fault() -> None:
    with pytest.raises(EnvironmentBroken) as caught:
        uv.resolve(["six==1.16.0", "six==1.15.0"], PYTHON, None)
    assert not isinstance(caught.value, OutOfReach)
    assert "unsatisfiable" in caught.value.message


def test_a_registry_out_of_reach_may_pass_and_is_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://someone:secret@127.0.0.1:9/simple")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with pytest.raises(OutOfReach) as caught:
        uv.resolve(["six"], PYTHON, None)
    assert "127.0.0.1" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_what_chooses_packages_on_this_machine_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_EXCLUDE_NEWER", "2019-01-01")
    monkeypatch.setenv("UV_RESOLUTION", "lowest")
    assert uv.resolve(["six"], PYTHON, "2021-01-01") == ("six==1.15.0",)


def test_secrets_are_not_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = tmp_path / "uv"
    recorder.write_text(f"#!/bin/sh\nenv > {tmp_path}/env\n", encoding="ascii")
    recorder.chmod(0o755)
    monkeypatch.setattr(uv, "binary", lambda: str(recorder))
    monkeypatch.setenv("SOME_TOKEN", "secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example.org")
    uv.run(["--version"])
    seen = (tmp_path / "env").read_text(encoding="utf-8")
    assert "secret" not in seen
    assert "proxy.example.org" in seen


def test_a_call_that_takes_too_long_dies_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "uv"
    slow.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {tmp_path}/child\nwait\n", encoding="ascii")
    slow.chmod(0o755)
    monkeypatch.setattr(uv, "binary", lambda: str(slow))
    with pytest.raises(OutOfReach, match="stopped"):
        uv.run(["--version"], seconds=1)
    child = int((tmp_path / "child").read_text(encoding="ascii"))
    while _lives(child):
        time.sleep(0.01)


def _lives(process: int) -> bool:
    """Whether a process still runs; one that nobody has reaped yet does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_an_environment_holds_exactly_what_was_asked_for(tmp_path: Path) -> None:
    python = uv.create(tmp_path / "venv", PYTHON)
    uv.install(["six==1.16.0"], python)
    assert uv.freeze(python) == ("six==1.16.0",)
    assert list(python.parent.parent.rglob("six.cpython*.pyc")), "runs only read it: bytecode must be there"
    assert not os.path.lexists(python.parent / "pip")
