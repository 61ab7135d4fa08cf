from __future__ import annotations

from pathlib import Path

from stalebench.environments.ci import ci_requirements
from tests.environments.projects import declared

WORKFLOW = """
jobs:
  lint:
    steps:
      - run: pip install ruff
  test:
    steps:
      - run: |
          python -m pip install --upgrade pip setuptools wheel
          pip install "pytest>=7" -c constraints.txt six ${{ matrix.extra }} && pytest
"""


def test_tox_dependencies_and_extras_are_read(tmp_path: Path) -> None:
    files = {
        "tox.ini": "[testenv]\nextras = test\n"
        "deps =\n    six\n    py39: attrs\n    -r need.txt\n    {env:MORE}\n",
        "need.txt": "iniconfig\n",
        "pyproject.toml": '[project]\nname = "a"\n[project.optional-dependencies]\ntest = ["pytest"]\n',
    }
    assert list(ci_requirements(declared(tmp_path, files))) == [["six", "attrs", "iniconfig", "pytest"]]


def test_tox_within_pyproject_is_read(tmp_path: Path) -> None:
    legacy = (
        '[tool.tox]\nlegacy_tox_ini = """\n[testenv]\ndeps =\n    six\n    attrs\ncommands = pytest\n"""\n'
    )
    native = '[tool.tox.env_run_base]\ndeps = ["six", "attrs"]\n'
    for name, text in (("legacy", legacy), ("native", native)):
        assert list(ci_requirements(declared(tmp_path / name, {"pyproject.toml": text}))) == [
            ["six", "attrs"]
        ]


def test_nox_sessions_are_read(tmp_path: Path) -> None:
    text = 'def tests(session):\n    session.install("pytest", "-r", "need.txt", f"x{y}")\n'
    files = {"noxfile.py": text, "need.txt": "six\n"}
    assert list(ci_requirements(declared(tmp_path, files))) == [["pytest", "six"]]


def test_workflow_calls_for_tests_are_read_one_by_one(tmp_path: Path) -> None:
    files = {
        ".github/workflows/tests.yml": WORKFLOW,
        ".github/workflows/docs.yml": "run: pip install pytest x\n",
    }
    assert list(ci_requirements(declared(tmp_path, files))) == [["pytest>=7", "six"]]


def test_nothing_is_found_where_nothing_is_written(tmp_path: Path) -> None:
    assert list(ci_requirements(declared(tmp_path, {"a": ""}))) == []
