from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stalebench.compose.by_function import CannotCompose, blocks, merge_functions
from stalebench.syntax import definitions

BASE = b'''"""Words."""

import os
from shop import apples

LIMIT = 1


class TestA:
    """Words."""

    size = 1

    def test_one(self):
        assert 1


def test_z():
    assert "z"
'''

IN_CLASS = b"        assert 1\n"
AT_END = b'    assert "z"\n'


def functions(source: bytes) -> dict[str, str]:
    lines = source.decode().splitlines()
    return {item.name: "\n".join(lines[item.start - 1 : item.end]) for item in definitions(source)}


def added(name: str, body: str = "assert 2") -> bytes:
    return BASE.replace(IN_CLASS, IN_CLASS + f"\n    def test_{name}(self):\n        {body}\n".encode())


def appended(name: str, body: str = "assert 2") -> bytes:
    return BASE + f"\n\ndef test_{name}():\n    {body}\n".encode()


@pytest.mark.parametrize("version", [BASE, b"", b"x = 1", BASE.replace(b"\n", b"\r\n"), BASE.rstrip()])
def test_the_blocks_of_a_module_are_the_module(version: bytes) -> None:
    assert b"".join(blocks(version).values()) == version


@pytest.mark.parametrize("make", [added, appended])
def test_tests_added_at_one_place_are_both_kept_in_order(make: object) -> None:
    assert callable(make)
    merged = merge_functions(BASE, make("b"), make("c"))
    names = [item.name.rpartition(".")[2] for item in definitions(merged)]
    assert names.index("test_c") == names.index("test_b") + 1
    for version in (make("b"), make("c")):
        assert functions(version).items() - functions(BASE).items() <= functions(merged).items() | {
            ("TestA", functions(version)["TestA"])
        }


def test_comments_and_decorators_come_along() -> None:
    theirs = BASE + b"\n\n# why\n@slow\ndef test_c():\n    assert 3\n"
    merged = merge_functions(BASE, appended("b"), theirs)
    assert b"# why\n@slow\ndef test_c():\n    assert 3\n" in merged


def test_imports_are_joined_by_name_and_a_removed_one_goes() -> None:
    ours = appended("b").replace(b"import apples", b"import apples, bags")
    theirs = appended("c").replace(b"import apples", b"import apples, carts").replace(b"import os\n", b"")
    merged = merge_functions(BASE, ours, theirs)
    for name in (b"apples", b"bags", b"carts"):
        assert merged.count(b"import " + name) == 1
    assert b"import os" not in merged
    assert merged.startswith(b'"""Words."""\n')
    assert b"LIMIT = 1\n" in merged


def test_one_side_changing_and_the_other_adding_are_both_kept() -> None:
    merged = merge_functions(BASE, BASE.replace(b'"z"', b'"y"'), appended("c"))
    assert functions(merged)["test_z"].endswith('assert "y"')
    assert "test_c" in functions(merged)


def test_a_function_that_both_sides_add_alike_is_there_once() -> None:
    merged = merge_functions(BASE, appended("b"), appended("b"))
    assert merged == appended("b")


def test_a_function_that_one_side_removes_goes() -> None:
    removed = BASE.replace(b'\n\ndef test_z():\n    assert "z"\n', b"")
    merged = merge_functions(BASE, removed, added("b"))
    assert "test_z" not in functions(merged)
    assert "TestA.test_b" in functions(merged)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (BASE.replace(b'"z"', b'"x"'), BASE.replace(b'"z"', b'"y"')),
        (appended("b", "assert 1"), appended("b", "assert 2")),
        (BASE.replace(b"LIMIT = 1", b"LIMIT = 2"), BASE.replace(b"LIMIT = 1", b"LIMIT = 3")),
        (BASE.replace(b"size = 1", b"size = 2"), BASE.replace(b"size = 1", b"size = 3")),
        (BASE.replace(b'\n\ndef test_z():\n    assert "z"\n', b""), BASE.replace(b'"z"', b'"y"')),
    ],
    ids=["same test", "same name", "constant", "class attribute", "removed and changed"],
)
def test_what_both_sides_change_differently_does_not_compose(ours: bytes, theirs: bytes) -> None:
    with pytest.raises(CannotCompose):
        merge_functions(BASE, ours, theirs)


def test_a_version_that_does_not_parse_is_a_syntax_error() -> None:
    with pytest.raises(SyntaxError):
        merge_functions(BASE, BASE, b"def (:\n")


NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1, max_size=4)


@given(NAMES, NAMES)
def test_whatever_two_sides_append_is_in_the_result_once(one: list[str], other: list[str]) -> None:
    ours = BASE + b"".join(appended(name)[len(BASE) :] for name in one)
    theirs = BASE + b"".join(appended(name)[len(BASE) :] for name in other)
    merged = merge_functions(BASE, ours, theirs)
    names = [item.name for item in definitions(merged)]
    assert sorted(names) == sorted({*functions(BASE), *functions(ours), *functions(theirs)})
    swapped = merge_functions(BASE, theirs, ours)
    assert functions(swapped) == functions(merged)


@given(NAMES)
def test_a_side_that_changes_nothing_changes_nothing(names: list[str]) -> None:
    theirs = BASE + b"".join(appended(name)[len(BASE) :] for name in names)
    assert merge_functions(BASE, BASE, theirs) == theirs
    assert merge_functions(BASE, theirs, BASE) == theirs
