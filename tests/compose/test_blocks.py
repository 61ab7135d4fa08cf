from __future__ import annotations

import pytest

from stalebench.compose.blocks import BlockKind, CannotCompose, Key, cut

MODULE = b'''"""Words."""

import os
from shop import apples

LIMIT = 1
register(LIMIT)


# About it.
@slow
class TestA(
    Base,
):
    """Words."""

    size = 1

    # First.
    @fast
    def test_one(self):
        assert 1

    def test_one(self):
        assert 2


class Short: pass


def test_z():
    assert "z"

# The end.
'''


@pytest.mark.parametrize(
    "version",
    [
        MODULE,
        b"",
        b"x = 1",
        b"# only a comment\n",
        MODULE.replace(b"\n", b"\r\n"),
        MODULE.rstrip(),
        b"\x0c" + MODULE,
    ],
)
def test_the_blocks_of_a_module_are_the_module(version: bytes) -> None:
    assert b"".join(block.text for block in cut(version).values()) == version


def test_each_block_is_named_by_what_it_defines() -> None:
    named = [
        (key.kind.value, key.qualified, key.number)
        for key in cut(MODULE)
        if key.kind is not BlockKind.STATEMENT
    ]
    assert named == [
        ("docstring", "", 1),
        ("import", "os", 1),
        ("import", "from shop", 1),
        ("assignment", "LIMIT", 1),
        ("class", "TestA", 1),
        ("docstring", "TestA.", 1),
        ("assignment", "TestA.size", 1),
        ("function", "TestA.test_one", 1),
        ("function", "TestA.test_one", 2),
        ("class", "Short", 1),
        ("function", "test_z", 1),
        ("end", "", 1),
    ]


def test_comments_and_decorators_belong_to_what_follows_them() -> None:
    found = cut(MODULE)
    head = found[Key(BlockKind.CLASS, "", "TestA")].text
    assert head == b"\n\n# About it.\n@slow\nclass TestA(\n    Base,\n):\n"
    assert found[Key(BlockKind.FUNCTION, "TestA", "test_one")].text.startswith(b"\n    # First.\n    @fast\n")


def test_statements_that_share_a_line_are_refused() -> None:
    with pytest.raises(CannotCompose):
        cut(b"a = 1; b = 2\n")
