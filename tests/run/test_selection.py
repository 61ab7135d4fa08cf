"""Claims about which tests a suite selects, and what becomes of a requested function that is not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stalebench.records import Run
from stalebench.suites import suite

Outcomes = Callable[[Run], dict[str, str]]

FILES = {
    "tests/__init__.py": "",
    "tests/base.py": """
        import functools
        class Shared:
            def test_shared(self): assert self.value
        def bare(function):
            def inner(*args, **kwargs): return function(*args, **kwargs)
            return inner
        def kind(function):
            @functools.wraps(function)
            def inner(*args, **kwargs): return function(*args, **kwargs)
            return inner
    """,
    "tests/test_a.py": """
        import functools, unittest
        from unittest import mock
        import pytest
        from tests.base import Shared, bare, kind

        class TestOne(Shared):
            value = 1
        class TestTwo(Shared):
            value = 0
        class TestThree(Shared):
            value = 1
            def test_shared(self): pass

        @pytest.mark.parametrize("n", [1, 2])
        def test_parameters(n): pass
        @kind
        @kind
        def test_wrapped(): pass
        @bare
        def test_hidden(): pass
        @mock.patch("os.getcwd")
        def test_patched(getcwd): pass
        test_alias = functools.partial(test_wrapped)

        class TestOuter:
            class TestInner:
                def test_deep(self): pass
        class Unit(unittest.TestCase):
            @bare
            def test_hidden_method(self): pass
            def test_plain(self): pass
        def test_unwanted(): raise SystemExit
    """,
    "tests/test_b.py": """
        from tests.test_a import test_parameters, TestOne
        class TestHeir(TestOne): pass
    """,
}


def names(made: Run) -> set[str]:
    return {result.id.removeprefix("tests/") for result in made.results}


BEHIND = {
    "tests/base.py::Shared.test_shared": {
        "test_a.py::TestOne::test_shared",
        "test_a.py::TestTwo::test_shared",
    },
    "tests/test_a.py::TestThree.test_shared": {"test_a.py::TestThree::test_shared"},
    "tests/test_a.py::test_parameters": {"test_a.py::test_parameters[1]", "test_a.py::test_parameters[2]"},
    "tests/test_a.py::test_wrapped": {"test_a.py::test_wrapped", "test_a.py::test_alias"},
    "tests/test_a.py::test_hidden": {"test_a.py::test_hidden"},
    "tests/test_a.py::test_patched": {"test_a.py::test_patched"},
    "tests/test_a.py::TestOuter.TestInner.test_deep": {"test_a.py::TestOuter::TestInner::test_deep"},
    "tests/test_a.py::Unit.test_hidden_method": {"test_a.py::Unit::test_hidden_method"},
}


@pytest.fixture(scope="module")
def behind(site: Any) -> Run:
    made: Run = site.run(FILES, BEHIND, ["tests/test_a.py"])
    return made


@pytest.mark.parametrize("function", BEHIND)
def test_a_function_selects_the_tests_that_it_is_behind(behind: Run, function: str) -> None:
    found = {result.id.removeprefix("tests/") for result in behind.results if result.function == function}
    assert found == BEHIND[function]


def test_what_is_not_selected_does_not_run(behind: Run) -> None:
    assert names(behind) == set().union(*BEHIND.values())


def test_a_function_is_found_in_each_file_that_collects_it(site: Any) -> None:
    made = site.run(FILES, ["tests/base.py::Shared.test_shared", "tests/test_a.py::test_parameters"])
    assert names(made) == {
        "test_a.py::TestOne::test_shared",
        "test_a.py::TestTwo::test_shared",
        "test_b.py::TestOne::test_shared",
        "test_b.py::TestHeir::test_shared",
        *(f"test_{letter}.py::test_parameters[{n}]" for letter in "ab" for n in (1, 2)),
    }


def test_what_is_not_there_is_missing_and_stops_nothing(site: Any, outcomes: Outcomes) -> None:
    wanted = ["tests/test_a.py::test_gone", "tests/test_a.py::test_hidden", "tests/test_none.py::test_x"]
    made = site.run(FILES, wanted, ["tests/test_a.py", "tests/test_none.py"])
    assert outcomes(made) == {"test_gone": "missing", "test_hidden": "passed", "test_x": "missing"}
    assert made.unloaded == ()


def test_an_empty_suite_runs_nothing(site: Any) -> None:
    assert site.run_suite(site.tree(FILES), suite([], [])).results == ()


def test_a_file_that_does_not_load_fails_its_functions_and_no_others(site: Any, outcomes: Outcomes) -> None:
    files = {
        "tests/test_good.py": "def test_good(): pass",
        "tests/test_import.py": "import nowhere\ndef test_a(): pass",
        "tests/test_syntax.py": "def test_b(:",
        "tests/test_argument.py": """
            import pytest
            def test_fine(): pass
            @pytest.mark.parametrize("other", [1])
            def test_c(argument): pass
        """,
    }
    wanted = [
        f"tests/test_{file}" for file in ("good.py::test_good", "import.py::test_a", "syntax.py::test_b")
    ]
    made = site.run(files, [*wanted, "tests/test_argument.py::test_c"])
    assert outcomes(made) == {
        "test_good": "passed",
        "test_a": "not_collected",
        "test_b": "not_collected",
        "test_c": "not_collected",
    }
    assert [path for path, _ in made.unloaded] == [
        "tests/test_argument.py",
        "tests/test_import.py",
        "tests/test_syntax.py",
    ]
    assert "No module named 'nowhere'" in dict(made.unloaded)["tests/test_import.py"]


def test_a_broken_conftest_takes_only_what_is_below_it(site: Any, outcomes: Outcomes) -> None:
    files = {
        "tests/test_top.py": "def test_top(): pass",
        "tests/sub/conftest.py": "import nowhere",
        "tests/sub/test_low.py": "def test_low(): pass",
        "tests/sub/deep/test_deep.py": "def test_deep(): pass",
    }
    wanted = [
        "tests/test_top.py::test_top",
        "tests/sub/test_low.py::test_low",
        "tests/sub/deep/test_deep.py::test_deep",
    ]
    made = site.run(files, wanted)
    assert outcomes(made) == {"test_top": "passed", "test_low": "not_collected", "test_deep": "not_collected"}
    assert {path for path, _ in made.unloaded} == {
        "tests/sub/conftest.py",
        "tests/sub/test_low.py",
        "tests/sub/deep/test_deep.py",
    }


def test_a_broken_configuration_fails_every_test(site: Any, outcomes: Outcomes) -> None:
    files = {"pyproject.toml": "[tool.pytest", "tests/test_x.py": "def test_x(): pass"}
    made = site.run(files, ["tests/test_x.py::test_x"])
    assert outcomes(made) == {"test_x": "not_collected"}


def test_a_module_that_skips_itself_is_skipped(site: Any, outcomes: Outcomes) -> None:
    files = {
        "tests/test_p.py": "import pytest\npytest.skip('no', allow_module_level=True)\ndef test_p(): pass",
        "tests/test_u.py": "import unittest\nraise unittest.SkipTest('no')\ndef test_u(): pass",
        "tests/test_i.py": "import pytest\npytest.importorskip('nowhere')\ndef test_i(): pass",
    }
    made = site.run(files, ["tests/test_p.py::test_p", "tests/test_u.py::test_u", "tests/test_i.py::test_i"])
    assert outcomes(made) == {"test_p": "skipped", "test_u": "skipped", "test_i": "skipped"}
    assert made.unloaded == ()


def test_a_package_below_src_is_found(site: Any, outcomes: Outcomes) -> None:
    files = {
        "src/pkg/__init__.py": "value = 3",
        "tests/test_src.py": "import pkg\ndef test_src(): assert pkg.value == 3",
    }
    assert outcomes(site.run(files)) == {"test_src": "passed"}


def test_no_bytecode_of_another_tree_is_run(site: Any, outcomes: Outcomes) -> None:
    files = {
        "pkg/__init__.py": "value = 3",
        "tests/test_v.py": "import pkg\ndef test_v(): assert pkg.value == 3",
    }
    other = {**files, "pkg/__init__.py": "value = 4"}
    found = [outcomes(site.run(tree))["test_v"] for tree in (files, other, files, other)]
    assert found == ["passed", "failed", "passed", "failed"]
