from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from stalebench.environments import pythons
from stalebench.environments.pythons import find_python, fitting
from stalebench.errors import EnvironmentBroken

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine with no other Python than the one that runs this; what the folder holds is on its PATH."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "uv"))
    (tmp_path / "bin").mkdir()
    pythons.installed.cache_clear()
    yield tmp_path
    pythons.installed.cache_clear()


def fake(path: Path, version: str, name: str = "cpython") -> Path:
    """A program that answers as an interpreter of that version would."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {version} {name}\n", encoding="ascii")
    path.chmod(0o755)
    return path


def test_the_python_that_runs_this_is_found(machine: Path) -> None:
    path, version = find_python(HERE)
    assert os.access(path, os.X_OK)
    assert version == ".".join(map(str, sys.version_info[:3]))


def test_no_name_is_the_python_that_runs_this(machine: Path) -> None:
    assert find_python("") == (Path(sys.executable), ".".join(map(str, sys.version_info[:3])))


def test_a_python_that_the_machine_lacks_is_said_with_those_it_has(machine: Path) -> None:
    with pytest.raises(EnvironmentBroken) as caught:
        find_python("3.99")
    assert "3.99 is not on this machine" in caught.value.message
    assert HERE in caught.value.message
    assert "uv python install 3.99" in caught.value.fix


def test_pythons_of_pyenv_are_found_where_its_shims_fail(machine: Path) -> None:
    shim = fake(machine / "bin" / "python3.98", "x")
    shim.write_text("#!/bin/sh\nexit 127\n", encoding="ascii")
    real = fake(machine / "pyenv" / "versions" / "3.98.2" / "bin" / "python3", "3.98.2")
    assert find_python("3.98") == (real, "3.98.2")


def test_the_newest_patch_release_is_taken(machine: Path) -> None:
    for version in ("3.97.2", "3.97.10"):
        fake(machine / "uv" / version / "bin" / "python3", version)
    assert find_python("3.97")[1] == "3.97.10"
    assert find_python("3.97.2")[1] == "3.97.2"


def test_3_1_is_not_3_11(machine: Path) -> None:
    fake(machine / "bin" / "python3.11", "3.11.1")
    with pytest.raises(EnvironmentBroken, match=r"3\.1 is not"):
        find_python("3.1")


def test_another_implementation_is_no_python(machine: Path) -> None:
    fake(machine / "bin" / "python3.98", "3.98.1", "pypy")
    with pytest.raises(EnvironmentBroken):
        find_python("3.98")


def test_projects_run_on_a_python_of_their_day(machine: Path) -> None:
    for minor in (8, 9, 10, 12, 13):
        fake(machine / "bin" / f"python3.{minor}", f"3.{minor}.1")
    assert fitting(">=3.7", date(2021, 6, 1)) == "3.9"
    assert fitting(">=3.7", date(2021, 3, 1)) == "3.8"
    assert fitting("", date(2024, 6, 1)) == "3.12"
    assert fitting(">=3.8,<3.11", date(2026, 1, 1)) == "3.10"
    assert fitting(">=3.8", date(2015, 1, 1)) == "3.8"
    assert fitting("not a specifier", date(2021, 6, 1)) == "3.9"


def test_a_project_for_no_python_of_this_machine_asks_for_its_own(machine: Path) -> None:
    assert fitting(">=3.90", date(2024, 1, 1)) == "3.90"
