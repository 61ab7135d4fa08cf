from __future__ import annotations

from pathlib import Path

import pytest

from stalebench import spec
from stalebench.compose import Entry, Objects, Patch
from stalebench.compose.objects import EMPTY_TREE, FILE
from stalebench.gold import gold_suite, touched_suite
from stalebench.records import Suite
from tests.repositories import repository

SPEC = spec.load("demo")

BASE = """class Base:
    def test_stored(self):
        assert self.make()

    def helper(self):
        return 1
"""

FILES = {
    "tests/messages/base.py": BASE,
    "tests/messages/test_cookie.py": "from .base import Base\n\n\nclass TestCookie(Base):\n    pass\n",
    "tests/messages/test_more.py": "from . import test_cookie as c\n\n\n"
    "class TestMore(c.TestCookie):\n    pass\n",
    "tests/messages/test_other.py": "class Base:\n    pass\n\n\nclass TestOther(Base):\n    pass\n",
    "tests/test_far.py": "from tests.messages.base import Base as B\n\n\nclass TestFar(B):\n    pass\n",
    "tests/test_plain.py": "def test_plain():\n    assert open('data/rows.csv')\n",
    "tests/data/rows.csv": "1,2\n",
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef shop():\n    return make()\n\n\n"
    "def make():\n    return 1\n\n\n@pytest.fixture\ndef till():\n    return 2\n",
    "tests/test_shop.py": "def test_shop(shop):\n    assert shop\n",
    "tests/test_till.py": "def test_till(till):\n    assert till\n",
    "tests/tools/__init__.py": "def close(one):\n    return one\n\n\ndef far(one):\n    return one\n",
    "tests/test_close.py": "from tests.tools import close\n\n\ndef test_close():\n    assert close(1)\n",
    "tests/test_broken.py": "from tests.tools import close\n\ndef (\n",
}


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    repository(tmp_path / "repo")
    return Objects(tmp_path / "repo")


def tree(objects: Objects, files: dict[str, str], on: str = EMPTY_TREE) -> str:
    return objects.edit(on, {p: Entry(FILE, objects.put_blob(text.encode())) for p, text in files.items()})


def suites(objects: Objects, path: str, old: str, new: str) -> tuple[Suite, Suite]:
    before = tree(objects, FILES)
    after = tree(objects, {path: FILES.get(path, "").replace(old, new) if old else new}, before)
    patch = Patch.between(objects, before, after)
    return gold_suite(objects, SPEC, patch, after), touched_suite(objects, SPEC, [patch], after)


def test_an_inherited_test_is_gold_by_its_own_name_in_the_modules_that_collect_it(objects: Objects) -> None:
    gold, _ = suites(objects, "tests/messages/base.py", "self.make()", "self.make() or 1")
    assert gold.functions == ("tests/messages/base.py::Base.test_stored",)
    assert gold.files == ("tests/messages/test_cookie.py", "tests/messages/test_more.py", "tests/test_far.py")


def test_a_class_with_tests_that_no_module_collects_has_no_gold_tests(objects: Objects) -> None:
    gold, _ = suites(
        objects, "tests/messages/unused.py", "", "class Mixin:\n    def test_a(self):\n        pass\n"
    )
    assert (gold.functions, gold.files) == ((), ())


def test_a_changed_test_is_gold_in_its_own_module(objects: Objects) -> None:
    gold, touched = suites(objects, "tests/test_plain.py", "assert", "assert not")
    assert gold.functions == ("tests/test_plain.py::test_plain",)
    assert gold.files == touched.files == ("tests/test_plain.py",)
    assert touched.functions is None


def test_a_test_that_is_not_in_the_tree_is_not_gold(objects: Objects) -> None:
    before = tree(objects, FILES)
    after = tree(objects, {"tests/test_plain.py": "def test_new():\n    pass\n"}, before)
    assert gold_suite(objects, SPEC, Patch.between(objects, before, after), before).functions == ()


def test_nothing_is_gold_in_a_file_that_is_only_renamed(objects: Objects) -> None:
    before = tree(objects, FILES)
    entry = objects.find(before, "tests/test_plain.py")
    after = objects.edit(before, {"tests/test_plain.py": None, "tests/test_renamed.py": entry})
    patch = Patch.between(objects, before, after)
    assert gold_suite(objects, SPEC, patch, after).functions == ()
    assert touched_suite(objects, SPEC, [patch], after).files == ("tests/test_renamed.py",)


@pytest.mark.parametrize(
    ("path", "old", "new", "users"),
    [
        ("tests/data/rows.csv", "1", "3", ("tests/test_plain.py",)),
        ("tests/conftest.py", "return 2", "return 3", ("tests/test_till.py",)),
        ("tests/conftest.py", "return 1", "return 3", ("tests/test_shop.py",)),
        ("tests/tools/__init__.py", "def close(one):\n    return one",
         "def close(one):\n    return 1", ("tests/test_close.py",)),
        ("tests/tools/__init__.py", "def far(one):\n    return one", "def far(one):\n    return 1", ()),
    ],
)  # fmt: skip
def test_the_users_of_touched_data_fixtures_and_helpers_are_touched(
    objects: Objects, path: str, old: str, new: str, users: tuple[str, ...]
) -> None:
    gold, touched = suites(objects, path, old, new)
    assert touched.files == users
    assert gold.functions == ()
