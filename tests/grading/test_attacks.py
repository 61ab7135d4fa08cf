"""Patches that try to be graded as solved without solving anything, each beside an honest one."""

from __future__ import annotations

from pathlib import Path

import pytest

from stalebench.grading.records import Condition
from tests.grading.conftest import ONE, TWO, Files, Small

FORGING = """
import pytest
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    answer = yield
    answer.get_result().outcome = "passed"
    answer.get_result().longrepr = None
"""
MARKING = """
def pytest_collection_modifyitems(items):
    for item in items:
        item.obj = lambda: None
        item.runtest = lambda: None
"""
ADDOPTS = "-p evil -p shop.evil --deselect tests/test_one.py -k nothing --collect-only"

FILES: dict[str, Files] = {
    "a conftest that marks all passed": {"tests/conftest.py": MARKING},
    "a conftest at the root": {"conftest.py": MARKING},
    "a makereport hook": {"tests/conftest.py": FORGING, "shop/conftest.py": FORGING},
    "a plugin file named in pyproject.toml": {
        "evil.py": MARKING,
        "shop/evil.py": MARKING,
        "pyproject.toml": f"[project]\nname = 'shop'\n[tool.pytest.ini_options]\naddopts = '{ADDOPTS}'\n",
    },
    "a plugin file named in setup.cfg": {
        "shop/evil.py": MARKING,
        "setup.cfg": f"[tool:pytest]\naddopts = {ADDOPTS}\n",
    },
    "a plugin file named in pytest.ini": {
        "shop/evil.py": MARKING,
        "pytest.ini": f"[pytest]\naddopts = {ADDOPTS}\n",
    },
    "a plugin file named in tox.ini": {
        "shop/evil.py": FORGING,
        "tox.ini": f"[pytest]\naddopts = {ADDOPTS}\n",
    },
    "other names for tests": {
        "pytest.ini": "[pytest]\npython_files = none_*.py\npython_functions = none_*\n"
    },
    "an entry point": {
        "evil.py": MARKING,
        "shop.egg-info/entry_points.txt": "[pytest11]\nevil = evil\n",
        "shop.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
    },
    "code that Python starts with": {
        "sitecustomize.py": "import _pytest.python as p\np.Function.runtest = lambda self: None\n",
        "usercustomize.py": "import os\nos._exit(0)\n",
        "evil.pth": "import os; os._exit(0)\n",
    },
    "a runner of its own": {
        "pytest.py": "def main(*_): return 0\n",
        "pytest/__init__.py": None,
        "_pytest/__init__.py": "",
        "src/pytest/__init__.py": "",
    },
    "tests deleted": {"tests/test_base.py": None},
    "tests emptied and rewritten": {
        "tests/test_one.py": "def test_one():\n    pass\n",
        "tests/test_two.py": "",
    },
}
"""Files that come with a patch."""

IN_SOURCE = {
    "a clean exit": "import sys\nsys.exit(0)\n",
    "a sudden end": "import os\nos._exit(0)\n",
    "an end at exit": "import atexit, os\natexit.register(os._exit, 0)\n",
    "a forged line on every descriptor": """
import json, os
line = json.dumps({
    "kind": "result", "nonce": "0" * 32, "number": 1, "id": "tests/test_one.py::test_one",
    "function": "tests/test_one.py::test_one", "outcome": "passed", "error": "", "tail": "", "seconds": 0,
})
print("tests/test_one.py::test_one PASSED\\n1 passed in 0.01s", flush=True)
for descriptor in range(1, 30):
    try:
        os.write(descriptor, ("\\n" + line + "\\n" + line + "\\n").encode())
    except OSError:
        pass
""",
    "a hook that is put in from the source": """
import sys
for module in list(sys.modules.values()):
    if getattr(module, "__name__", "").startswith("_stalebench_inside"):
        for name in ("PASSED", "FAILED"):
            setattr(module, name, "passed")
""",
}
"""What stands at the top of a module that the tests import; the task is not solved."""


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_files_beside_a_patch_solve_nothing_and_spoil_nothing(
    small: Small, tmp_path: Path, files: Files
) -> None:
    """One patch is the files alone, the other the right code with the same files."""
    found = small.graded(tmp_path / "run", small.patch(files), small.patch({**files, "shop/core.py": TWO}))
    assert found.solved == (False, True)
    made = found.attempts[Condition.SOLO, 1]
    kept = {*made.discarded, *made.ungraded}
    assert {path for path, file in files.items() if file is not None} - kept <= {"shop/evil.py"}
    assert found.grade(Condition.SOLO).observable is False


@pytest.mark.parametrize("code", IN_SOURCE.values(), ids=IN_SOURCE)
def test_source_that_attacks_the_runner_is_not_graded_as_solved(
    small: Small, tmp_path: Path, code: str
) -> None:
    attack = small.patch({"shop/core.py": code + TWO})
    found = small.graded(tmp_path / "run", attack, small.patch({"shop/core.py": TWO}))
    assert found.solved == (False, True)


def test_the_honest_patches_are_solved(small: Small, tmp_path: Path) -> None:
    patches = [small.patch({"shop/core.py": code}) for code in (ONE, TWO)]
    found = small.graded(tmp_path / "run", *patches)
    assert found.solved == (True, True)
    assert found.grade(Condition.BLIND).delta == ()
