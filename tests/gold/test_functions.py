from __future__ import annotations

import pytest

from stalebench.gold import gold_functions

PYTEST = b"""import pytest
import numpy as np

TOLERANCE = 1e-6


@pytest.fixture
def frame():
    return make_frame(3)


def make_frame(rows):
    return list(range(rows))


def test_frame(frame):
    assert len(frame) == 3


def test_alone():
    assert True


@pytest.mark.parametrize("value", [1, 2])
def test_many(value):
    assert close(value)


def close(value):
    return abs(value) > TOLERANCE


class TestBase:
    kind = "a"

    def setup_method(self):
        self.ready = True

    def helper(self):
        return self.kind

    def test_kind(self):
        assert self.helper()

    def test_ready(self):
        assert self.ready


class TestDerived(TestBase):
    def test_more(self):
        assert self.kind


@pytest.mark.usefixtures("frame")
def test_by_name():
    assert True
"""

UNITTEST = b"""from django.test import TestCase


class BookTests(TestCase):
    @classmethod
    def setUpTestData(cls):
        cls.book = 1

    def test_one(self):
        self.assertEqual(self.book, 1)

    def test_two(self):
        self.assertTrue(True)


class OtherTests(TestCase):
    def test_three(self):
        self.assertTrue(True)
"""


def gold(old: str, new: str, source: bytes = PYTEST, runner: str = "pytest") -> set[str]:
    assert source.count(old.encode()) == 1, old
    return gold_functions(source, source.replace(old.encode(), new.encode()), runner)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("    assert True\n\n\n@pytest.mark.par", "    assert 1\n\n\n@pytest.mark.par", {"test_alone"}),
        ('"value", [1, 2]', '"value", [1, 2, 3]', {"test_many"}),
        ("return list(range(rows))", "return [0] * rows", {"test_frame", "test_by_name"}),
        ("return make_frame(3)", "return make_frame(4)", {"test_frame", "test_by_name"}),
        ("TOLERANCE = 1e-6", "TOLERANCE = 1e-7", {"test_many"}),
        ("import numpy as np", "import numpy", set()),
        ("return self.kind\n", "return self.kind + 'x'\n", {"TestBase.test_kind"}),
        ("self.ready = True", "self.ready = 1",
         {"TestBase.test_kind", "TestBase.test_ready", "TestDerived.test_more"}),
        ('kind = "a"', 'kind = "b"', {"TestBase.test_kind", "TestDerived.test_more"}),
        ("class TestDerived(TestBase):", "class TestDerived(TestBase, object):", {"TestDerived.test_more"}),
        ("class TestDerived(TestBase):",
         "class TestNew(TestBase):\n    pass\n\n\nclass TestDerived(TestBase):",
         {"TestBase.test_kind", "TestBase.test_ready"}),
        ("    def test_ready(self):\n        assert self.ready\n", "", set()),
    ],
)  # fmt: skip
def test_a_test_is_gold_if_it_or_what_it_uses_has_changed(old: str, new: str, names: set[str]) -> None:
    assert gold(old, new) == names


def test_in_a_new_file_every_test_is_gold() -> None:
    assert gold_functions(None, PYTEST, "pytest") == {
        *("test_frame", "test_alone", "test_many", "test_by_name"),
        *("TestBase.test_kind", "TestBase.test_ready", "TestDerived.test_more"),
    }


def test_nothing_is_gold_in_a_file_that_only_moved() -> None:
    assert gold_functions(PYTEST, PYTEST, "pytest") == set()


def test_set_up_data_concerns_the_tests_of_its_class_only() -> None:
    assert gold("cls.book = 1", "cls.book = 2", UNITTEST, "django") == {
        "BookTests.test_one",
        "BookTests.test_two",
    }


def test_a_function_outside_of_a_class_is_no_test_for_unittest() -> None:
    source = b"def test_free():\n    pass\n"
    assert gold_functions(None, source, "django") == set()
    assert gold_functions(None, source, "pytest") == {"test_free"}


def test_a_fixture_called_like_a_test_is_none() -> None:
    source = b"import pytest\n\n\n@pytest.fixture\ndef test_data():\n    return 1\n"
    assert gold_functions(None, source, "pytest") == set()


def test_an_old_version_that_does_not_parse_makes_every_test_gold() -> None:
    assert gold_functions(b"print 'a'\n", b"def test_a():\n    pass\n", "pytest") == {"test_a"}


SCOPES = b"""import pytest

CASES = [1]
CASES.append(2)


@pytest.fixture(autouse=True)
def always():
    return 1


@pytest.fixture(name="called")
def other():
    return 2


class Double:
    def answer(self):
        return 3


def rows():
    return 4


class TestMarks:
    fixtures = ["a.json"]

    @pytest.mark.slow
    def test_first(self, called):
        assert called

    def test_double(self):
        assert Double().answer()


def test_local():
    rows = 1
    assert rows


def test_dynamic(request):
    assert request.getfixturevalue("called")


@pytest.mark.parametrize("case", CASES)
def test_cases(case):
    assert case
"""


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("return 1", "return 10",
         {"TestMarks.test_first", "TestMarks.test_double", "test_local", "test_dynamic", "test_cases"}),
        ("return 2", "return 20", {"TestMarks.test_first", "test_dynamic"}),
        ("return 3", "return 30", {"TestMarks.test_double"}),
        ("return 4", "return 40", set()),
        ("append(2)", "append(3)", {"test_cases"}),
        ("mark.slow", "mark.fast", {"TestMarks.test_first"}),
        ('["a.json"]', '["b.json"]', {"TestMarks.test_first", "TestMarks.test_double"}),
        ('    fixtures = ["a.json"]\n', "", {"TestMarks.test_first", "TestMarks.test_double"}),
    ],
)  # fmt: skip
def test_scopes_decide_what_a_change_concerns(old: str, new: str, names: set[str]) -> None:
    assert gold(old, new, SCOPES) == names


def test_a_set_up_that_is_gone_concerns_the_tests_of_its_class() -> None:
    old = "    @classmethod\n    def setUpTestData(cls):\n        cls.book = 1\n"
    assert gold(old, "", UNITTEST, "django") == {"BookTests.test_one", "BookTests.test_two"}


def test_a_test_that_only_moves_is_not_gold() -> None:
    one, two = b"def test_a():\n    assert 1\n", b"def test_b():\n    assert 2\n"
    assert gold_functions(one + b"\n\n" + two, two + b"\n\n" + one, "pytest") == set()


def test_a_decorator_that_a_diff_lends_to_a_new_neighbour_makes_only_the_new_test_gold() -> None:
    old = b"@slow\ndef test_b():\n    assert 2\n"
    new = b"@slow\ndef test_a():\n    assert 1\n\n\n" + old
    assert gold_functions(old, new, "pytest") == {"test_a"}
