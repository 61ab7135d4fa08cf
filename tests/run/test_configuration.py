"""Claims about a repository's own pytest configuration: honoured, but for what selects, stops or spreads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stalebench.records import Run

Outcomes = Callable[[Run], dict[str, str]]

TESTS = {
    "tests/test_x.py": """
        import pytest
        def test_fails(): assert 0
        @pytest.mark.slow
        def test_slow(): pass
        @pytest.mark.timeout(3)
        @pytest.mark.flaky(reruns=2)
        def test_last(): pass
    """
}
ALL = {"test_fails": "failed", "test_slow": "passed", "test_last": "passed"}
FUNCTIONS = [f"tests/test_x.py::{name}" for name in ALL]
ADDOPTS = [
    "-n auto --dist loadfile --cov=pkg --mpl --mypy-pyproject-toml-file=x --reruns 3 -p nope",
    "-x --maxfail=1 -k nothing -m 'not slow' --lf --sw --deselect tests/test_x.py::test_slow nowhere.py",
    "-p no:terminal -pno:cacheprovider",
    "--doctest-modules --doctest-glob *.rst --strict-config --strict-markers --timeout 1 --collect-only",
]


@pytest.mark.parametrize("addopts", ADDOPTS)
def test_addopts_neither_break_nor_filter_nor_stop_the_run(
    site: Any, outcomes: Outcomes, addopts: str
) -> None:
    ini = f"[pytest]\naddopts = {addopts}\nrequired_plugins = pytest-nothing>=3\n"
    assert outcomes(site.run({**TESTS, "pytest.ini": ini}, FUNCTIONS)) == ALL


def test_what_a_marker_leaves_out_runs_only_when_it_is_asked_for(site: Any, outcomes: Outcomes) -> None:
    files = {**TESTS, "pytest.ini": "[pytest]\naddopts = -m 'not slow' -k nothing\nmarkers = slow\n"}
    assert outcomes(site.run(files)) == {"test_fails": "failed", "test_last": "passed"}
    assert outcomes(site.run(files, FUNCTIONS)) == ALL


def test_warnings_about_unknown_options_and_markers_do_not_break_the_run(
    site: Any, outcomes: Outcomes
) -> None:
    ini = "[pytest]\ntimeout = 3\nfilterwarnings = error\n"
    assert outcomes(site.run({**TESTS, "pytest.ini": ini})) == ALL


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("setup.cfg", "[tool:pytest]\nfilterwarnings =\n  error\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\nfilterwarnings = ['error']\naddopts = ['-x']\n"),
        ("tests/pytest.ini", "[pytest]\nfilterwarnings =\n  error\n"),
        ("pytest.ini", "[pytest]\naddopts = -x -Werror -k nothing\n"),
    ],
)
def test_warning_filters_are_honoured_wherever_they_stand(
    site: Any, outcomes: Outcomes, path: str, content: str
) -> None:
    tests = {"tests/test_w.py": "import warnings\ndef test_w(): warnings.warn('now')\ndef test_v(): pass"}
    assert outcomes(site.run({**tests, path: content})) == {"test_w": "failed", "test_v": "passed"}


def test_without_a_configuration_none_is_looked_for_above_the_checkout(site: Any, outcomes: Outcomes) -> None:
    (site.folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    tests = {"tests/test_w.py": "import warnings\ndef test_w(): warnings.warn('now')"}
    assert outcomes(site.run(tests)) == {"test_w": "passed"}


def test_the_import_mode_is_kept(site: Any, outcomes: Outcomes) -> None:
    files = {
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = ['--import-mode=importlib', '-x']\n",
        "tests/a/test_same.py": "def test_a(): pass",
        "tests/b/test_same.py": "def test_b(): pass",
    }
    assert outcomes(site.run(files)) == {"test_a": "passed", "test_b": "passed"}


def test_conftest_hooks_and_fixtures_and_local_plugins_work(site: Any, outcomes: Outcomes) -> None:
    files = {
        "pytest.ini": "[pytest]\naddopts = -p local_plugin\nmarkers = wanted\n",
        "local_plugin.py": "import pytest\n@pytest.fixture\ndef one(): return 1",
        "conftest.py": """
            import pytest
            def pytest_addoption(parser): parser.addoption("--slow", action="store_true")
            def pytest_collection_modifyitems(config, items):
                for item in items:
                    if "slow" in item.name and not config.getoption("--slow"):
                        item.add_marker(pytest.mark.skip)
            @pytest.fixture
            def two(one, cache):
                cache.set("a/b", 2)
                return one + 1
        """,
        "tests/test_f.py": "def test_f(two): assert two == 2\ndef test_slow(): pass",
    }
    assert outcomes(site.run(files)) == {"test_f": "passed", "test_slow": "skipped"}
