from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stalebench.environments import fonts, uv
from stalebench.errors import EnvironmentBroken

STAND_IN = "import os\nopen(os.path.join(os.environ['MPLCONFIGDIR'], 'fontlist-v1.json'), 'x').write('[]')\n"
"""Writes its cache as matplotlib does, which takes long to install."""


@pytest.fixture
def python(tmp_path: Path) -> Path:
    return uv.create(tmp_path / "venv", Path(sys.executable))


def with_matplotlib(python: Path, code: str) -> None:
    (packages,) = python.parent.parent.glob("lib/python*/site-packages")
    (packages / "matplotlib").mkdir()
    (packages / "matplotlib" / "__init__.py").touch()
    (packages / "matplotlib" / "font_manager.py").write_text(code, encoding="ascii")


def start(python: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([python, "-c", "pass"], env=variables, capture_output=True, text=True, check=True)


def test_each_run_finds_the_font_cache_in_its_own_folder(python: Path, tmp_path: Path) -> None:
    with_matplotlib(python, STAND_IN)
    fonts.prepare(python, python.parent.parent)
    for home in (tmp_path / "first", tmp_path / "second"):
        start(python, XDG_CACHE_HOME=str(home))
        assert (home / "matplotlib" / "fontlist-v1.json").read_text(encoding="ascii") == "[]"


def test_a_start_says_nothing_where_it_cannot_hand_it_out(python: Path, tmp_path: Path) -> None:
    with_matplotlib(python, STAND_IN)
    fonts.prepare(python, python.parent.parent)
    (tmp_path / "file").touch()
    done = start(python, XDG_CACHE_HOME=str(tmp_path / "file"))
    assert (done.stdout, done.stderr) == ("", "")


def test_a_matplotlib_that_does_not_import_is_said(python: Path) -> None:
    with_matplotlib(python, "raise ImportError('numpy too new')")
    with pytest.raises(EnvironmentBroken, match="numpy too new"):
        fonts.prepare(python, python.parent.parent)
