"""Claims about outcomes and ids of tests that pytest runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stalebench.outcomes import Outcome
from stalebench.records import Run, TestResult

OUTCOMES = """
    import unittest
    import pytest

    def test_passes(): pass
    def test_fails(): assert 1 == 2
    def test_raises(): raise KeyError("x")
    def test_exits(): raise SystemExit(0)
    def test_skips(): pytest.skip("no")
    def test_skips_late():
        pass
    @pytest.mark.skip
    def test_marked(): raise ValueError
    @pytest.mark.xfail
    def test_xfails(): assert 0
    @pytest.mark.xfail(run=False)
    def test_xfails_unrun(): assert 0
    @pytest.mark.xfail
    def test_xpasses(): pass
    @pytest.mark.xfail(strict=True)
    def test_xpasses_strictly(): pass
    @pytest.mark.xfail(raises=ValueError)
    def test_xfails_otherwise(): raise KeyError

    @pytest.fixture
    def broken(): raise ValueError("setup")
    @pytest.fixture
    def breaking():
        yield
        raise ValueError("teardown")
    def test_setup(broken): pass
    def test_teardown(breaking): pass
    def test_both(breaking): assert 0

    @pytest.fixture(scope="session")
    def breaking_session():
        yield
        raise ValueError("session")

    class Unit(unittest.TestCase):
        def test_passes(self): pass
        def test_fails(self): self.fail()
        def test_raises(self): raise OSError
        def test_skips(self): self.skipTest("no")
        @unittest.expectedFailure
        def test_expected(self): self.fail()
        @unittest.expectedFailure
        def test_unexpected(self): pass
        def test_parts(self):
            for number in range(3):
                with self.subTest(number=number):
                    self.assertNotEqual(number, 1)
        def test_parts_pass(self):
            with self.subTest():
                pass

    @unittest.skip("all")
    class Skipped(unittest.TestCase):
        def test_it(self): raise ValueError

    class BrokenClass(unittest.TestCase):
        @classmethod
        def setUpClass(cls): raise RuntimeError
        def test_one(self): pass
        def test_two(self): pass

    def test_zz_last(breaking_session): pass
"""

EXPECTED = {
    "test_passes": ("passed", ""),
    "test_fails": ("failed", "AssertionError"),
    "test_raises": ("failed", "KeyError"),
    "test_exits": ("failed", "SystemExit"),
    "test_skips": ("skipped", ""),
    "test_skips_late": ("passed", ""),
    "test_marked": ("skipped", ""),
    "test_xfails": ("xfailed", ""),
    "test_xfails_unrun": ("xfailed", ""),
    "test_xpasses": ("xpassed", ""),
    "test_xpasses_strictly": ("failed", "XPASS(strict)"),
    "test_xfails_otherwise": ("failed", "KeyError"),
    "test_setup": ("error", "ValueError"),
    "test_teardown": ("error", "ValueError"),
    "test_both": ("failed", "AssertionError"),
    "Unit::test_passes": ("passed", ""),
    "Unit::test_fails": ("failed", "AssertionError"),
    "Unit::test_raises": ("failed", "OSError"),
    "Unit::test_skips": ("skipped", ""),
    "Unit::test_expected": ("xfailed", ""),
    "Unit::test_unexpected": ("failed", "Failed"),
    "Unit::test_parts": ("failed", "AssertionError"),
    "Unit::test_parts_pass": ("passed", ""),
    "Skipped::test_it": ("skipped", ""),
    "BrokenClass::test_one": ("error", "RuntimeError"),
    "BrokenClass::test_two": ("error", "RuntimeError"),
    "test_zz_last": ("error", "ValueError"),
}


@pytest.fixture(scope="module")
def ran(site: Any) -> dict[str, TestResult]:
    made: Run = site.run({"tests/test_outcomes.py": OUTCOMES})
    return {result.id.partition("::")[2]: result for result in made.results}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_three_phases_of_a_test_make_one_outcome(ran: dict[str, TestResult], name: str) -> None:
    assert (str(ran[name].outcome), ran[name].error) == EXPECTED[name]


def test_every_test_has_exactly_one_result(ran: dict[str, TestResult]) -> None:
    assert ran.keys() == EXPECTED.keys()


def test_a_failure_keeps_its_last_lines(ran: dict[str, TestResult]) -> None:
    assert "assert 1 == 2" in ran["test_fails"].tail
    assert not ran["test_passes"].tail
    assert all(len(result.tail) <= 4000 for result in ran.values())


IDS = {
    "space": ("a b", "a b"),
    "dash": ("a - b", "a - b"),
    "colons": ("x::y", "x::y"),
    "brackets": ("br]k[t", "br]k[t"),
    "empty": ("", ""),
    "newline": ("a\nb", r"a\nb"),
    "umlaut": ("ü", r"\xfc"),
    "surrogate": ("\udc80", r"\udc80"),
    "slash": ("a/b.py::c", "a/b.py::c"),
}


@pytest.mark.parametrize("kind", IDS)
def test_any_parameter_makes_an_id(id_run: Run, kind: str, find: Callable[[Run, str], TestResult]) -> None:
    _, written = IDS[kind]
    found = find(id_run, f"::test_{kind}[{written}]")
    assert found.id == f"tests/test_ids.py::test_{kind}[{written}]"
    assert found.function == f"tests/test_ids.py::test_{kind}"
    assert found.outcome is Outcome.PASSED


@pytest.fixture(scope="module")
def id_run(site: Any) -> Run:
    lines = ["import pytest", "class Thing: pass"]
    for kind, (value, _) in IDS.items():
        lines += [f"@pytest.mark.parametrize('value', [{value!a}])", f"def test_{kind}(value): pass"]
    lines += [
        "@pytest.mark.parametrize('value', [Thing(), Thing()], ids=repr)",
        "def test_address(value): assert value is not None",
        "def test_twice(): pass",
        "first = test_twice",
        "@pytest.mark.parametrize('value', ['0xdeadbeef'])",
        "def test_number(value): pass",
    ]
    made: Run = site.run({"tests/test_ids.py": "\n".join(lines)})
    return made


def test_ids_with_addresses_are_the_same_in_each_run(id_run: Run) -> None:
    found = [result.id for result in id_run.results if "test_address" in result.id]
    stem = "tests/test_ids.py::test_address[<test_ids.Thing object at 0x0>]"
    assert [name.replace("tests.test_ids", "test_ids") for name in found] == [stem, f"{stem}#2"]


def test_a_number_in_a_parameter_is_not_an_address(id_run: Run) -> None:
    assert "tests/test_ids.py::test_number[0xdeadbeef]" in {result.id for result in id_run.results}


def test_ids_do_not_depend_on_the_selection(site: Any) -> None:
    files = {
        "tests/test_a.py": """
            import pytest
            @pytest.mark.parametrize("v", [object(), object()], ids=repr)
            def test_x(v): pass
            def test_y(): pass
        """
    }
    every = {result.id for result in site.run(files).results}
    some = {result.id for result in site.run(files, ["tests/test_a.py::test_x"]).results}
    assert some == every - {"tests/test_a.py::test_y"}


HYPOTHESIS = """
    import os
    import hypothesis
    from hypothesis import given, settings, strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, rule

    seen = []

    @settings(max_examples=20)
    @given(st.integers())
    def test_examples(number):
        seen.append(number)

    @settings(max_examples=20, derandomize=False, database=None)
    @given(st.text())
    def test_own_settings(text):
        seen.append(text)

    def test_told():
        raise ValueError(repr(seen))

    class Machine(RuleBasedStateMachine):
        @rule(number=st.integers())
        def note(self, number): pass
    TestMachine = Machine.TestCase
    TestMachine.settings = settings(max_examples=3, stateful_step_count=2)
"""


def test_hypothesis_draws_the_same_examples_each_time(
    site: Any, find: Callable[[Run, str], TestResult]
) -> None:
    first, second = (site.run({"tests/test_h.py": HYPOTHESIS}) for _ in range(2))
    told = find(first, "test_told")
    assert told.error == "ValueError"
    assert told.tail == find(second, "test_told").tail
    assert find(first, "::TestMachine::runTest").outcome is Outcome.PASSED


def test_a_repeat_runs_under_another_hash_seed(site: Any, outcomes: Callable[[Run], dict[str, str]]) -> None:
    files = {
        "tests/test_s.py": """
            import os
            def test_first(): assert os.environ["PYTHONHASHSEED"] == "0"
            def test_utc():
                import time
                assert time.tzname[0] == "UTC"
        """
    }
    assert outcomes(site.run(files)) == {"test_first": "passed", "test_utc": "passed"}
    assert outcomes(site.run(files, repeat=1)) == {"test_first": "failed", "test_utc": "passed"}
