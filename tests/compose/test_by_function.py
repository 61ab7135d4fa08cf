from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stalebench.compose.blocks import CannotCompose
from stalebench.compose.by_function import merge_functions
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
    assert merged.count(b"from shop import apples, bags, carts\n") == 1
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


def test_statements_between_tests_are_there_once() -> None:
    base = BASE + b"\n\nregister(1)\n\n\ndef test_last():\n    pass\n"
    here = b'    assert "z"\n'
    ours = base.replace(here, here + b"\n\ndef test_b():\n    pass\n")
    theirs = base.replace(here, here + b"\n\ndef test_c():\n    pass\n")
    merged = merge_functions(base, ours, theirs)
    assert merged.count(b"register(1)") == 1
    assert (
        merged.index(b"test_b") < merged.index(b"test_c") < merged.index(b"register") < merged.index(b"last")
    )


def test_a_method_added_last_in_a_class_stays_in_it_beside_a_new_function() -> None:
    ours = added("b").replace(b"\n\ndef test_z", b"\n\ndef test_free():\n    pass\n\n\ndef test_z")
    merged = merge_functions(BASE, ours, added("c"))
    assert {"TestA.test_b", "TestA.test_c", "test_free", "test_z"} <= functions(merged).keys()


def test_two_new_classes_at_one_place_are_both_kept_whole() -> None:
    versions = [BASE + f"\n\nclass Test{n}:\n    def test_one(self):\n        {n}\n".encode() for n in "BC"]
    merged = merge_functions(BASE, *versions)
    assert {"TestB.test_one", "TestC.test_one"} <= functions(merged).keys()


def test_lines_that_end_in_crlf_stay_so() -> None:
    base, ours, theirs = (text.replace(b"\n", b"\r\n") for text in (BASE, appended("b"), appended("c")))
    merged = merge_functions(base, ours, theirs)
    assert merged.count(b"\n") == merged.count(b"\r\n")
    assert {"test_b", "test_c"} <= functions(merged).keys()


def test_long_imports_that_both_extend_stay_readable() -> None:
    names = [f"pears_of_kind_{number}" for number in range(4)]
    long = f"from shop import (\n    apples,\n    {', '.join(names)},\n)\n".encode()
    ours = appended("b").replace(b"from shop import apples\n", long)
    theirs = appended("c").replace(b"import apples", b"import apples, plums as p")
    merged = merge_functions(BASE, ours, theirs)
    assert b"from shop import (\n    apples,\n    pears_of_kind_0,\n" in merged
    assert b"    plums as p,\n)\n" in merged


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (b"\n\ndef Thing():\n    pass\n", b"\n\nThing = 3\n"),
        (b"\n\nfrom a import Thing\n", b"\n\nfrom b import Thing\n"),
        (b"\n\ntry:\n    Thing = 1\nexcept ValueError:\n    pass\n", b"\n\nimport Thing\n"),
    ],
)
def test_one_name_for_two_things_does_not_compose(ours: bytes, theirs: bytes) -> None:
    with pytest.raises(CannotCompose, match="two things"):
        merge_functions(BASE, BASE + ours, BASE + theirs)


def test_a_nameless_statement_that_both_rewrite_does_not_compose() -> None:
    base = BASE + b"\n\nregister(1)\n"
    with pytest.raises(CannotCompose, match="rewrite"):
        merge_functions(base, BASE + b"\n\nregister(1, 2)\n", BASE + b"\n\nregister(1, 3)\n")


def test_a_constant_that_both_change_in_other_lines_is_merged_as_text() -> None:
    base = BASE + b"\n\nROWS = [\n    1,\n    2,\n    3,\n    4,\n]\n"
    merged = merge_functions(base, base.replace(b" 1,", b" 10,"), base.replace(b" 4,", b" 40,"))
    assert merged == base.replace(b" 1,", b" 10,").replace(b" 4,", b" 40,")


def test_a_method_added_to_a_class_that_the_other_side_removed_does_not_compose() -> None:
    start, end = BASE.index(b"class TestA"), BASE.index(b"def test_z")
    with pytest.raises(CannotCompose):
        merge_functions(BASE, BASE[:start] + BASE[end:], added("b"))


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


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), max_size=3), st.data())
def test_each_function_of_each_side_is_kept_as_its_side_has_it(
    sizes: list[tuple[str, bool]], data: st.DataObject
) -> None:
    names = sorted({name for name, _ in sizes} | {"x", "y"})
    base = module(dict.fromkeys(names, 0))
    first, second = data.draw(st.permutations(names))[:2]
    ours = module({name: int(name == first) for name in [*names, "ours"]})
    theirs = module({name: 2 * int(name == second) for name in ["theirs", *names]})
    merged = merge_functions(base, ours, theirs)
    assert functions(merged) == {
        **functions(base),
        **{name: text for name, text in functions(ours).items() if name in {f"test_{first}", "test_ours"}},
        **{
            name: text
            for name, text in functions(theirs).items()
            if name in {f"test_{second}", "test_theirs"}
        },
    }
    assert functions(merge_functions(base, theirs, ours)) == functions(merged)


def module(values: dict[str, int]) -> bytes:
    return "\n\n".join(f"def test_{name}():\n    assert {value}\n" for name, value in values.items()).encode()


@given(st.sampled_from("abc"))
def test_one_function_changed_in_two_ways_never_composes(name: str) -> None:
    base = module(dict.fromkeys("abc", 0))
    ours, theirs = (module({other: new * int(other == name) for other in "abc"}) for new in (1, 2))
    with pytest.raises(CannotCompose):
        merge_functions(base, ours, theirs)
