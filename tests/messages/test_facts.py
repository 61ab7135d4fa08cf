"""What is said about a change: each kind of fact from two small files, and the text of it there and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stalebench.messages import (
    Added,
    AfterWrite,
    Changed,
    Fact,
    Removed,
    Renamed,
    Returns,
    Signature,
    describe,
    parse,
    render,
)

BODY = "    total = width * 2\n    total += 1\n    return total\n"
CACHE = """\
class Book:
    def __init__(self, data):
        self.data = data
{init}
    def set(self, key, value):
        self.data[key] = value
{then}
"""

CASES: dict[str, tuple[str, str, set[Fact]]] = {
    "a function has another name": (
        f"def area(width):\n{BODY}",
        f"def surface(width):\n{BODY}",
        {Renamed("a.py", "area", "surface")},
    ),
    "a method has another name": (
        "class A:\n    def one(self):\n        return self.one_more\n",
        "class A:\n    def two(self):\n        return self.one_more\n",
        {Renamed("a.py", "A.one", "A.two")},
    ),
    "a rename changes what its users look like, and nothing else of them": (
        f"def area(width):\n{BODY}\ndef user(x):\n    return area(x)\n",
        f"def surface(width):\n{BODY}\ndef user(x):\n    return surface(x)\n",
        {Renamed("a.py", "area", "surface")},
    ),
    "one went and something else came": (
        f"def area(width):\n{BODY}",
        "def price(good):\n    return good.price\n",
        {Removed("a.py", "area"), Added("a.py", "price(good)")},
    ),
    "a class with methods is new": (
        "",
        "class A(Base):\n    def one(self): pass\n",
        {Added("a.py", "class A")},
    ),
    "a new required argument": (
        "def f(a):\n    return a\n",
        "def f(a, b, *, c=1):\n    return a\n",
        {Signature("a.py", "f", "f(a)", "f(a, b, *, c=1)")},
    ),
    "a new argument that its own calls pass": (
        "def f(a):\n    return a\n\nx = f(1)\ny = f(2)\n",
        "def f(a, unit):\n    return a\n\nx = f(1, unit='cm')\ny = f(2, unit='cm')\n",
        {Signature("a.py", "f", "f(a)", "f(a, unit)", (("unit", "'cm'"),))},
    ),
    "a new argument of which its own calls pass several values": (
        "def f(a):\n    return a\n\nx = f(1)\ny = f(2)\n",
        "def f(a, unit):\n    return a\n\nx = f(1, unit='cm')\ny = f(2, unit='m')\n",
        {Signature("a.py", "f", "f(a)", "f(a, unit)")},
    ),
    "another value": (
        "def f(a):\n    return a, 1\n",
        "def f(a):\n    return {'a': a, 'n': 1}\n",
        {Returns("a.py", "f", "(a, 1)", "{'a': a, 'n': 1}")},
    ),
    "what a function inside returns is its own affair": (
        "def f():\n    def g():\n        return 1\n    return g\n",
        "def f():\n    def g():\n        return 2\n    return g\n",
        {Changed("a.py", "f")},
    ),
    "a cache that every write has to clear": (
        CACHE.format(init="", then=""),
        CACHE.format(init="        self.cache = {}", then="        self.cache.pop(key, None)"),
        {
            AfterWrite("a.py", "Book", "self.data = data", "self.cache = {}"),
            AfterWrite("a.py", "Book", "self.data[key] = value", "self.cache.pop(key, None)"),
            Changed("a.py", "Book.__init__"),
            Changed("a.py", "Book.set"),
        },
    ),
    "a statement after a write that concerns nothing new": (
        CACHE.format(init="", then=""),
        CACHE.format(init="", then="        print(key)"),
        {Changed("a.py", "Book.set")},
    ),
    "a comment": ("def f(a):\n    return a\n", "def f(a):\n    return a  # as it is\n", set()),
    "no Python any more": ("x = 1\n", "x =\n", {Changed("a.py", "")}),
}


@pytest.mark.parametrize(("before", "after", "facts"), CASES.values(), ids=CASES)
def test_a_change_is_described(before: str, after: str, facts: set[Fact]) -> None:
    assert set(describe({"a.py": before.encode()}, {"a.py": after.encode()})) == facts


def test_files_that_come_go_or_are_no_python_are_named() -> None:
    before = {"gone.py": b"def f(): pass\n", "data.txt": b"1", "same.py": b""}
    after = {"new.py": b"def g(): pass\n", "data.txt": b"2", "same.py": b""}
    assert describe(before, after) == (
        Changed("data.txt", ""),
        Removed("gone.py", ""),
        Added("new.py", ""),
        Added("new.py", "g()"),
    )


def test_a_source_in_another_encoding_is_read() -> None:
    text = "# -*- coding: latin-1 -*-\ndef größe(a):\n    return a\n"
    after = text.replace("(a)", "(a, b)")
    (fact,) = describe({"a.py": text.encode("latin-1")}, {"a.py": after.encode("latin-1")})
    assert fact == Signature("a.py", "größe", "größe(a)", "größe(a, b)")


def test_the_text_is_one_line_for_each_fact() -> None:
    facts = (
        Renamed("b.py", "area", "surface"),
        Signature("a.py", "f", "f(a)", "f(a, u)", (("u", "'cm'"),)),
        AfterWrite("a.py", "Book", "self.data[key] = 1", "del self.cache[key]"),
    )
    assert render(facts).splitlines() == [
        "- `a.py`: whenever `Book` does `self.data[key] = 1`, it now has to do `del self.cache[key]` next",
        "- `a.py`: `f` has other parameters: `f(a)` is now `f(a, u)`; for what is new it passes `u='cm'`",
        "- `b.py`: `area` is now called `surface`",
    ]


def test_lines_that_state_no_fact_are_passed_over() -> None:
    said = f"They say:\n\n{render([Renamed('a.py', 'f', 'g')])}\n- `a.py`: `f` is nice\n"
    assert parse(said) == (Renamed("a.py", "f", "g"),)


CODE = st.text(
    st.one_of(st.sampled_from("ab(),=`\n\r'\"\\N{}# "), st.characters(exclude_categories=["Cs"])),
    min_size=1,
    max_size=12,
)
NAME = st.from_regex(r"[a-z_]{1,6}", fullmatch=True)
PATH = CODE.map(lambda text: text + ".py")
PASSED = st.lists(st.tuples(NAME, CODE), max_size=2).map(tuple)
FACTS: st.SearchStrategy[Fact] = st.one_of(
    st.builds(Added, PATH, st.just("") | CODE),
    st.builds(Removed, PATH, st.just("") | CODE),
    st.builds(Renamed, PATH, CODE, CODE),
    st.builds(Signature, PATH, CODE, CODE, CODE, PASSED),
    st.builds(Returns, PATH, CODE, CODE, CODE),
    st.builds(AfterWrite, PATH, CODE, CODE, CODE),
    st.builds(Changed, PATH, st.just("") | CODE),
)


@given(st.lists(FACTS, max_size=6, unique=True))
def test_what_was_rendered_is_read_back(facts: list[Fact]) -> None:
    text = render(facts)
    assert set(parse(text)) == set(facts)
    assert render(reversed(facts)) == text
    assert len(text.split("\n")) == max(1, len(facts))
