"""Claims about tests that plain unittest runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stalebench.records import Run, TestResult
from stalebench.spec import Limits

Outcomes = Callable[[Run], dict[str, str]]

FILES = {
    "pkg/__init__.py": "value = 3",
    "tests/__init__.py": "",
    "tests/base.py": """
        import unittest
        class Base(unittest.TestCase):
            def test_shared(self): self.assertTrue(self.value)
    """,
    "tests/test_u.py": '''
        import unittest
        import pkg
        from tests import base

        class Heir(base.Base):
            value = 1

        class Plain(unittest.TestCase):
            def test_passes(self):
                """One docstring."""
                self.assertEqual(pkg.value, 3)
            def test_fails(self):
                """One docstring."""
                self.fail("no")
            def test_raises(self): raise KeyError
            def test_skips(self): self.skipTest("no")
            def test_exits(self): raise SystemExit(0)
            @unittest.expectedFailure
            def test_expected(self): self.fail()
            @unittest.expectedFailure
            def test_unexpected(self): pass
            def test_parts(self):
                for number in range(3):
                    with self.subTest(number=number):
                        self.assertNotEqual(number, 1)
            def test_broken_end(self):
                self.addCleanup(self.fail)

        @unittest.skip("all")
        class Skipped(unittest.TestCase):
            def test_it(self): pass
        class BrokenClass(unittest.TestCase):
            @classmethod
            def setUpClass(cls): raise RuntimeError
            def test_one(self): pass
            def test_two(self): pass
        class SkippingClass(unittest.TestCase):
            @classmethod
            def setUpClass(cls): raise unittest.SkipTest("no")
            def test_one(self): pass
        class BreakingClass(unittest.TestCase):
            @classmethod
            def tearDownClass(cls): raise OSError
            def test_first(self): pass
            def test_last(self): pass
        class Later(unittest.IsolatedAsyncioTestCase):
            async def test_later(self): pass
    ''',
    "tests/test_broken.py": "import nowhere",
    "tests/test_module.py": """
        import unittest
        def setUpModule(): raise ValueError
        class Module(unittest.TestCase):
            def test_one(self): pass
    """,
    "tests/test_skipped.py": "import unittest\nraise unittest.SkipTest('no')",
}
EXPECTED = {
    "Heir::test_shared": ("passed", ""),
    "Plain::test_passes": ("passed", ""),
    "Plain::test_fails": ("failed", "AssertionError"),
    "Plain::test_raises": ("error", "KeyError"),
    "Plain::test_skips": ("skipped", ""),
    "Plain::test_exits": ("error", "SystemExit"),
    "Plain::test_expected": ("xfailed", ""),
    "Plain::test_unexpected": ("failed", "UnexpectedSuccess"),
    "Plain::test_parts": ("failed", "AssertionError"),
    "Plain::test_broken_end": ("failed", "AssertionError"),
    "Skipped::test_it": ("skipped", ""),
    "BrokenClass::test_one": ("error", "RuntimeError"),
    "BrokenClass::test_two": ("error", "RuntimeError"),
    "SkippingClass::test_one": ("skipped", ""),
    "BreakingClass::test_first": ("passed", ""),
    "BreakingClass::test_last": ("error", "OSError"),
    "Later::test_later": ("passed", ""),
    "Module::test_one": ("error", "ValueError"),
}


@pytest.fixture(scope="module")
def unit(make_site: Callable[..., Any]) -> Any:
    return make_site(runner="unittest", limits=Limits(test_seconds=4.0))


@pytest.fixture(scope="module")
def whole(unit: Any) -> Run:
    made: Run = unit.run(FILES)
    return made


@pytest.mark.parametrize("name", EXPECTED)
def test_each_test_has_one_outcome(whole: Run, find: Callable[[Run, str], TestResult], name: str) -> None:
    found = find(whole, f"::{name}")
    assert (str(found.outcome), found.error) == EXPECTED[name]


def test_a_module_that_does_not_load_is_unloaded(whole: Run) -> None:
    assert [path for path, _ in whole.unloaded] == ["tests/test_broken.py"]


def test_functions_select_inherited_tests_and_missing_ones_are_told(unit: Any) -> None:
    wanted = [
        "tests/base.py::Base.test_shared",
        "tests/test_u.py::Plain.test_gone",
        "tests/test_broken.py::X.test_x",
        "tests/test_skipped.py::X.test_x",
    ]
    made = unit.run(FILES, wanted)
    assert {result.id: str(result.outcome) for result in made.results} == {
        "tests/test_u.py::Heir::test_shared": "passed",
        "tests/test_u.py::Plain.test_gone": "missing",
        "tests/test_broken.py::X.test_x": "not_collected",
        "tests/test_skipped.py::X.test_x": "skipped",
    }


def test_deaths_and_hangs_are_told_from_their_neighbours(unit: Any, outcomes: Outcomes) -> None:
    files = {
        "tests/test_d.py": """
            import os, time, unittest
            class D(unittest.TestCase):
                def test_a(self): pass
                def test_b(self): os._exit(0)
                def test_c(self): pass
                def test_d(self): time.sleep(60)
                def test_e(self): pass
            class Setup(unittest.TestCase):
                @classmethod
                def setUpClass(cls): os._exit(0)
                def test_f(self): pass
            class Teardown(unittest.TestCase):
                @classmethod
                def tearDownClass(cls): os._exit(0)
                def test_g(self): pass
                def test_h(self): pass
        """
    }
    assert outcomes(unit.run(files)) == {
        "D::test_a": "passed",
        "D::test_b": "crashed",
        "D::test_c": "passed",
        "D::test_d": "timed_out",
        "D::test_e": "passed",
        "Setup::test_f": "crashed",
        "Teardown::test_g": "passed",
        "Teardown::test_h": "crashed",
    }
