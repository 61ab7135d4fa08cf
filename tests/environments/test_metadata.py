from __future__ import annotations

import importlib.metadata
from pathlib import Path

from stalebench.environments import metadata
from tests.environments.projects import declared

PYPROJECT = """
[project]
name = "Some.Project"
dynamic = ["version"]
scripts = { tool = "some.cli:main" }
[project.entry-points."some.plugins"]
dask = "some.dask:Manager"
"""


def test_metadata_is_visible_without_building_the_project(tmp_path: Path) -> None:
    found = declared(tmp_path / "clone", {"pyproject.toml": PYPROJECT}).distribution
    assert found is not None
    packages = tmp_path / "venv/lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    metadata.write(found, tmp_path / "venv")

    (seen,) = importlib.metadata.distributions(path=[str(packages)])
    assert (seen.metadata["Name"], seen.version) == ("Some.Project", metadata.UNKNOWN_VERSION)
    assert {(point.group, point.name, point.value) for point in seen.entry_points} == {
        ("some.plugins", "dask", "some.dask:Manager"),
        ("console_scripts", "tool", "some.cli:main"),
    }


def test_setup_cfg_and_setup_py_declare_entry_points_too(tmp_path: Path) -> None:
    in_cfg = "[metadata]\nname = a\nversion = 1.2\n[options.entry_points]\ng =\n    x = a.b:C\n    # y = no\n"
    in_py = 'from setuptools import setup\nsetup(name="a", version="1.2", entry_points={"g": ["x = a.b:C"]})'
    expected = metadata.Distribution("a", "1.2", (("g", (("x", "a.b:C"),)),))
    assert declared(tmp_path / "cfg", {"setup.cfg": in_cfg}).distribution == expected
    assert declared(tmp_path / "py", {"setup.py": in_py}).distribution == expected


def test_a_version_that_is_computed_is_told_as_newer_than_all(tmp_path: Path) -> None:
    found = declared(
        tmp_path, {"setup.cfg": "[metadata]\nname = a\nversion = attr: a.__version__\n"}
    ).distribution
    assert found is not None
    assert found.version == metadata.UNKNOWN_VERSION


def test_a_name_that_would_leave_the_folder_is_no_name(tmp_path: Path) -> None:
    assert declared(tmp_path, {"pyproject.toml": '[project]\nname = "../../evil"\n'}).distribution is None
