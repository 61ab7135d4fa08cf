from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stalebench.syntax import Kind, definitions, touched

MODULE = b'''import os

LIMIT = 3


@decorated
def free(x):
    def inner():
        return x

    return inner


class Outer:
    """Words."""

    size = 1

    def method(self):
        return 1

    class Nested:
        async def deep(self):
            return 2


if os.name == "posix":
    def free_posix():
        return 3
else:
    def free_posix():
        return 4
'''


def changed(old: str, new: str) -> set[str]:
    assert MODULE.count(old.encode()) == 1
    return touched(MODULE, MODULE.replace(old.encode(), new.encode()))


def test_definitions_have_python_s_own_qualified_names_and_lines_with_decorators() -> None:
    found = [(item.name, item.kind, item.start, item.end) for item in definitions(MODULE)]
    assert found == [
        ("free", Kind.FUNCTION, 6, 11),
        ("Outer", Kind.CLASS, 14, 24),
        ("Outer.method", Kind.FUNCTION, 19, 20),
        ("Outer.Nested", Kind.CLASS, 22, 24),
        ("Outer.Nested.deep", Kind.FUNCTION, 23, 24),
        ("free_posix", Kind.FUNCTION, 28, 29),
        ("free_posix", Kind.FUNCTION, 31, 32),
    ]


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("return 1", "return 10", {"Outer.method"}),
        ("return x\n\n", "return x + 1\n\n", {"free"}),
        ("@decorated", "@other", {"free"}),
        ("size = 1", "size = 2", {"Outer"}),
        ('"""Words."""', '"""Other words."""', {"Outer"}),
        ("return 2", "return 20", {"Outer.Nested.deep"}),
        ("return 4", "return 40", {"free_posix"}),
        ("LIMIT = 3", "LIMIT = 4", set()),
        ("import os", "import os\nimport sys", set()),
        (
            "        return 1\n",
            "        return 1\n\n    def added(self):\n        return 5\n",
            {"Outer.added"},
        ),
        ("    def method(self):\n        return 1\n\n", "", {"Outer.method"}),
    ],
)
def test_a_change_touches_the_innermost_definition_of_its_lines(old: str, new: str, names: set[str]) -> None:
    assert changed(old, new) == names


def test_a_new_file_touches_all_that_it_defines_and_a_removed_one_too() -> None:
    every = {item.name for item in definitions(MODULE)}
    assert touched(None, MODULE) == every
    assert touched(MODULE, None) == every


def test_only_blank_lines_touch_nothing() -> None:
    assert touched(MODULE, MODULE.replace(b"    size = 1\n\n", b"    size = 1\n\n\n")) == set()


def test_python_2_touches_nothing_and_does_not_parse() -> None:
    assert touched(b"print 'a'\n", b"print 'b'\n") == set()
    with pytest.raises(SyntaxError):
        definitions(b"print 'a'\n")


def test_sources_in_their_declared_encoding_parse_and_others_are_syntax_errors() -> None:
    latin = '# -*- coding: latin-1 -*-\ndef f():\n    return "ä"\n'.encode("latin-1")
    assert touched(latin, latin.replace(b"\xe4", b"\xf6")) == {"f"}
    with pytest.raises(SyntaxError):
        definitions(b'def f():\n    return "\xe4"\n')
    with pytest.raises(SyntaxError):
        definitions(b"x = '\x00'\n")


def test_lines_that_end_in_crlf_are_counted_alike() -> None:
    crlf = MODULE.replace(b"\n", b"\r\n")
    assert touched(crlf, crlf.replace(b"return 1\r\n", b"return 9\r\n")) == {"Outer.method"}


NAMES = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), unique=True, min_size=1)


@given(NAMES, st.data())
def test_changing_one_function_of_many_touches_that_one(names: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.sampled_from(names))
    old = "\n\n".join(f"def {name}():\n    return 0\n" for name in names)
    new = "\n\n".join(f"def {name}():\n    return {int(name == chosen)}\n" for name in names)
    ast.parse(new)
    assert touched(old.encode(), new.encode()) == {chosen}
