"""The two known mistakes of grading, on patches where each reports interference, and there is none."""

from __future__ import annotations

from pathlib import Path

from stalebench.grading.records import Condition, Grading
from tests.grading.conftest import CORE, ONE, TWO, Small, asserting

MISTAKES = (Grading.OWN_TESTS_ONLY, Grading.KEEP_TEST_EDITS)


def test_a_patch_that_breaks_the_others_test_alone_interferes_only_for_who_grades_it_on_its_own(
    tmp_path: Path,
) -> None:
    """Its author sees its own tests pass; merged, one of the other's fails, which its code alone breaks."""
    kept = "\n\ndef test_two_is_a_number():\n    assert isinstance(core.two(), int)\n"
    two = "from shop import core\n\n\ndef test_two():\n    assert core.three() == 1\n" + kept
    function = "def three():\n    return 1"
    three = CORE.replace("# in between", function)
    base = {
        "shop/__init__.py": "",
        "shop/core.py": CORE,
        "tests/test_base.py": "def test_base():\n    pass\n",
    }
    first = {
        "shop/core.py": ONE,
        "tests/test_one.py": asserting("one"),
    }
    second = {"shop/core.py": ONE.replace("# in between", function), "tests/test_two.py": two}
    built = Small(tmp_path, base, first, second)
    breaking = ONE.replace("two():\n    return 0", "two():\n    return ''")
    found = built.graded(
        tmp_path / "run", built.patch({"shop/core.py": breaking}), built.patch({"shop/core.py": three})
    )
    found = found.again(*MISTAKES)
    right = found.grade(Condition.BLIND)
    assert (right.observable, right.delta) == (True, ())
    assert right.broken_alone == (("tests/test_two.py::test_two_is_a_number",), ())
    wrong = found.grade(Condition.BLIND, Grading.OWN_TESTS_ONLY)
    assert wrong.delta == ("tests/test_two.py::test_two_is_a_number",)
    assert found.grade(Condition.BLIND, Grading.KEEP_TEST_EDITS).delta == ()


def test_a_helper_for_its_own_tests_interferes_only_for_who_leaves_it_in(
    small: Small, tmp_path: Path
) -> None:
    """A conftest of one agent's own fails with the other's code; it is no part of any task."""
    strict = (
        "import pytest\nfrom shop import core\n\n\n@pytest.fixture(autouse=True)\ndef _untouched():\n"
        "    assert core.two() == 0\n"
    )
    first = small.patch({"shop/core.py": ONE, "tests/conftest.py": strict})
    found = small.graded(tmp_path / "run", first, small.patch({"shop/core.py": TWO})).again(*MISTAKES)
    right = found.grade(Condition.BLIND)
    assert (right.observable, right.delta) == (True, ())
    assert found.attempts[Condition.SOLO, 1].discarded == ("tests/conftest.py",)
    assert found.grade(Condition.BLIND, Grading.OWN_TESTS_ONLY).delta == ()
    wrong = found.grade(Condition.BLIND, Grading.KEEP_TEST_EDITS)
    assert wrong.delta == ("tests/test_one.py::test_one", "tests/test_two.py::test_two")
