"""The control on human patches: deltas, kinds of clash, and what is quarantined. Real git, real pytest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stalebench.compose.pair import compose_candidate
from stalebench.records import Candidate, Clash, Pair
from stalebench.validate import CheckJob, ControlJob, check, control

ONE = "def one():\n    return 1\n"
TWO = "def two():\n    return 1\n"
TEST_ONE = "from shop.one import one\n\n\ndef test_one():\n    assert one() == 1\n"
TEST_TWO = "from shop.two import two\n\n\ndef test_two():\n    assert two() == 1\n"
ONE_ID, TWO_ID = "tests/test_one.py::test_one", "tests/test_two.py::test_two"

MakeShop = Callable[..., Any]
Files = Mapping[str, str]


def controlled(shop: Any, older: Files, newer: Files) -> Pair:
    pulls = (shop.pull("1", older), shop.pull("2", newer))
    checks = tuple(check(shop.workspace, CheckJob(pull, shop.base)).check for pull in pulls)
    assert [made.reason for made in checks] == [None, None], checks
    candidate = Candidate("2+1", "o/n", ("1", "2"), shop.base, 0.0, (), (), None)
    patches = [shop.workspace.patches(pull) for pull in pulls]
    composition = compose_candidate(shop.workspace.objects, candidate, pulls, patches)
    assert composition.reason is None, composition
    kept = (("a", "b"), ("c", "d"))
    return control(shop.workspace, ControlJob(candidate, composition, pulls, checks, kept)).pair


def test_patches_that_agree_leave_every_set_empty(make_shop: MakeShop) -> None:
    pair = controlled(
        make_shop(),
        {"shop/one.py": ONE, "tests/test_one.py": TEST_ONE},
        {"shop/two.py": TWO, "tests/test_two.py": TEST_TWO},
    )
    assert (pair.control, pair.unobservable) == ("complete", None)
    assert (pair.delta_blind, pair.delta_strict, pair.clash, pair.flaky) == ((), (), (), ())


def test_a_patch_that_breaks_the_other_s_new_test_is_one_sided(make_shop: MakeShop) -> None:
    shop = make_shop({"shop/one.py": "def one():\n    return 0\n\n\ndef base():\n    return 0\n"})
    pair = controlled(
        shop,
        {
            "shop/one.py": "def one():\n    return 1\n\n\ndef base():\n    return 0\n",
            "tests/test_one.py": "from shop import one\n\n\n"
            "def test_kept():\n    assert one.base() == 0\n\n\n"
            "def test_one():\n    assert one.one() == 1\n",
        },
        {
            "shop/one.py": "def one():\n    return 0\n\n\ndef base():\n    return 5\n",
            "tests/test_two.py": "from shop.one import base\n\n\ndef test_two():\n    assert base() == 5\n",
        },
    )
    kept = "tests/test_one.py::test_kept"
    assert pair.delta_blind == ()
    assert pair.broken_alone == ((), (kept,))
    assert pair.clash == (Clash(kept, "one_sided"),)
    assert pair.unobservable is None


def test_test_patches_that_spoil_each_other_are_the_suite_s_fault(make_shop: MakeShop) -> None:
    conftest = "import shop\n\nshop.strict = True\n"
    needs_lax = "import shop\n" + TEST_ONE.replace("== 1", "== 1 and not hasattr(shop, 'strict')")
    pair = controlled(
        make_shop(),
        {"shop/one.py": ONE, "tests/test_one.py": needs_lax},
        {"shop/two.py": TWO, "tests/test_two.py": TEST_TWO, "tests/conftest.py": conftest},
    )
    assert pair.unobservable == "tests_interact"
    assert pair.delta_blind == ()
    assert pair.clash == (Clash(ONE_ID, "tests"),)


def test_a_failure_that_rests_on_the_order_of_tests_is_quarantined_by_name(make_shop: MakeShop) -> None:
    sets = TEST_ONE.replace("    assert", "    import shop\n\n    shop.left = True\n    assert")
    reads = TEST_TWO.replace("== 1", "== 1 and not hasattr(__import__('shop'), 'left')")
    pair = controlled(
        make_shop(),
        {"shop/one.py": ONE, "tests/test_one.py": sets},
        {"shop/two.py": TWO, "tests/test_two.py": reads},
    )
    assert pair.flaky == (TWO_ID,)
    assert pair.clash == ()
    assert pair.delta_blind == ()
