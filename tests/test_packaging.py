from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import stalebench

ROOT = Path(__file__).parents[1]


def project() -> Any:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_folder_with_code_is_packaged() -> None:
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "stalebench").rglob("*.py")}
    packages = {".".join(folder.parts) for folder in folders} | {"stalebench.data"}
    assert set(project()["tool"]["setuptools"]["packages"]) == packages


def test_datasets_hold_no_python_file() -> None:
    assert not list((ROOT / "datasets").rglob("*.py"))


def test_the_version_stands_in_one_place() -> None:
    assert project()["project"]["dynamic"] == ["version"]
    assert stalebench.__version__
