"""Base validity: each verdict once, and no verdict where the machine failed. Real git, real pytest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stalebench import spec
from stalebench.outcomes import Outcome
from stalebench.reasons import Reason
from stalebench.validate import Checked, CheckJob, check

FIXED = "def one():\n    return 1\n"
NEEDS = "from shop.one import one\n\n\ndef test_one():\n    assert one() == 1\n"
GOLD = "tests/test_one.py::test_one"

MakeShop = Callable[..., Any]


def checked(shop: Any, tests: str, code: str = FIXED) -> Checked:
    pull = shop.pull("1", {"shop/one.py": code, "tests/test_one.py": tests})
    return check(shop.workspace, CheckJob(pull, shop.base))


def test_a_test_that_needs_the_code_makes_a_valid_pull(make_shop: MakeShop) -> None:
    tests = NEEDS + "\n\ndef test_true():\n    assert True\n"
    found = checked(make_shop(), tests)
    assert found.check.reason is None
    assert found.check.f2p == (GOLD,)
    assert found.check.p2p == ("tests/test_one.py::test_true",)
    assert {(cell.column, cell.repeat) for cell in found.cells} == {
        ("before", 0),
        ("before", 1),
        ("after", 0),
        ("after", 1),
    }


def test_a_before_state_that_does_not_import_fails(make_shop: MakeShop) -> None:
    tests = "from shop.one import fresh\n\n\ndef test_one():\n    assert fresh() == 1\n"
    found = checked(make_shop(), tests, "def fresh():\n    return 1\n")
    assert found.check.reason is None
    assert found.check.f2p == (GOLD,)
    before = {cell.outcome for cell in found.cells if cell.column == "before"}
    assert before == {Outcome.NOT_COLLECTED}


def test_a_test_that_passes_without_the_code_is_drift(make_shop: MakeShop) -> None:
    found = checked(make_shop(), "def test_one():\n    assert True\n")
    assert found.check.reason is Reason.PASSES_ON_BASE


def test_a_test_that_fails_each_time_with_the_code_rejects(make_shop: MakeShop) -> None:
    tests = NEEDS + "\n\ndef test_never():\n    assert one() == 2\n"
    found = checked(make_shop(), tests)
    assert found.check.reason is Reason.FAILS_WITH_PATCH
    assert found.check.detail == "tests/test_one.py::test_never"
    assert found.check.flaky == ()


def test_a_test_that_goes_by_the_hash_seed_is_flaky(make_shop: MakeShop) -> None:
    tests = (
        "import sys\n\nfrom shop.one import one\n\n\n"
        "def test_one():\n    assert one() == 1 and sys.flags.hash_randomization == 0\n"
    )
    found = checked(make_shop(), tests)
    assert found.check.reason is Reason.FLAKY
    assert found.check.flaky == (GOLD,)
    assert found.check.f2p == ()


def test_a_flaky_test_beside_a_steady_one_is_left_out_by_name(make_shop: MakeShop) -> None:
    flaky = "\n\ndef test_seed():\n    import sys\n\n    assert sys.flags.hash_randomization == 1\n"
    found = checked(make_shop(), NEEDS + flaky)
    assert found.check.reason is None
    assert found.check.f2p == (GOLD,)
    assert found.check.flaky == ("tests/test_one.py::test_seed",)


def test_tests_that_are_all_skipped_are_no_gold_tests(make_shop: MakeShop) -> None:
    tests = "import pytest\n\n\n@pytest.mark.skip\ndef test_one():\n    assert False\n"
    found = checked(make_shop(), tests)
    assert found.check.reason is Reason.NO_GOLD_TESTS
    assert {cell.outcome for cell in found.cells} == {Outcome.SKIPPED}


SKIPPING = "import pytest\n\nfrom shop.one import one\n\n\n@pytest.mark.skipif({0}, reason='')\n"
TRUE_TEST = "def test_one():\n    assert True\n"


def test_a_test_that_is_skipped_without_the_code_did_not_fail_there(make_shop: MakeShop) -> None:
    found = checked(make_shop(), SKIPPING.format("one() == 0") + TRUE_TEST)
    assert {(cell.column, cell.outcome) for cell in found.cells} == {
        ("before", Outcome.SKIPPED),
        ("after", Outcome.PASSED),
    }
    assert found.check.reason is Reason.NO_GOLD_TESTS
    assert found.check.detail == f"skipped or missing without the code patch: {GOLD}"
    assert (found.check.f2p, found.check.p2p) == ((), ())


def test_a_test_that_is_skipped_with_the_code_was_not_made_to_pass(make_shop: MakeShop) -> None:
    found = checked(make_shop(), SKIPPING.format("one() == 1") + TRUE_TEST.replace("True", "False"))
    assert found.check.reason is Reason.NO_GOLD_TESTS
    assert found.check.detail == f"skipped or missing with the code patch: {GOLD}"


def test_a_skipped_test_beside_one_that_fails_before_is_in_neither_list(make_shop: MakeShop) -> None:
    skipped = "@pytest.mark.skipif(one() == 0, reason='')\ndef test_two():\n    assert True\n"
    found = checked(make_shop(), f"import pytest\n\n{NEEDS}\n\n{skipped}")
    assert found.check.reason is None
    assert (found.check.f2p, found.check.p2p, found.check.flaky) == ((GOLD,), (), ())


def test_a_change_of_no_test_function_has_no_gold_tests(make_shop: MakeShop) -> None:
    found = checked(make_shop(), "# nothing yet\n")
    assert found.check.reason is Reason.NO_GOLD_TESTS
    assert found.cells == ()


def test_a_test_file_that_does_not_parse_is_named(make_shop: MakeShop) -> None:
    found = checked(make_shop(), "def test_one():\n    print 'Python 2'\n")
    assert found.check.reason is Reason.NO_GOLD_TESTS
    assert "tests/test_one.py nothing is known, since it does not parse" in found.check.detail
    assert "parse" not in checked(make_shop(), "# nothing yet\n").check.detail


def test_a_broken_environment_is_no_verdict(make_shop: MakeShop) -> None:
    shop = make_shop({"shop/__init__.py": "raise RuntimeError('broken for everybody')\n"})
    found = checked(shop, NEEDS)
    assert found.check.reason is Reason.INFRA_ENVIRONMENT
    assert (found.check.f2p, found.check.p2p, found.check.environment) == ((), (), None)
    assert found.cells == ()


def test_a_run_that_does_not_end_in_its_time_is_no_verdict(make_shop: MakeShop) -> None:
    shop = make_shop()
    limits = replace(shop.workspace.spec.limits, run_seconds=4, test_seconds=60)
    endless = NEEDS.replace("    assert", "    import time\n\n    time.sleep(600)\n    assert")
    found = checked(shop.at(replace(shop.workspace.spec, limits=limits)), endless)
    assert found.check.reason is Reason.INFRA_RUN
    assert (found.check.f2p, found.check.p2p, found.cells) == ((), (), ())


def test_a_test_that_ran_out_of_time_runs_again_under_another_limit(make_shop: MakeShop) -> None:
    shop = make_shop()
    slow = NEEDS.replace("    assert", "    import time\n\n    time.sleep(1.5)\n    assert")
    hasty = replace(shop.workspace.spec, limits=replace(shop.workspace.spec.limits, test_seconds=1))
    assert checked(shop.at(hasty), slow).check.reason is Reason.FAILS_WITH_PATCH
    assert checked(shop.at(spec.load("demo")), slow).check.reason is None
