"""Things that trip tools up: encodings, line ends, strange names and ids, a submodule."""

from __future__ import annotations

from stalebench.demo.history import Landing, add, append, replace
from stalebench.demo.story.conflicts import module, value

LATIN = """# -*- coding: latin-1 -*-
\"\"\"Käse.\"\"\"


def cheese():
    \"\"\"A name.\"\"\"
    return "Brie"


def is_soft():
    \"\"\"Whether it can be spread.\"\"\"
    return True
""".encode("latin-1")

CRLF = b'''"""Old files."""


def old():
    """Old."""
    return 1


def kept():
    """Kept."""
    return 0
'''.replace(b"\n", b"\r\n")

STRANGE = """import pytest

from shop import cheese


@pytest.mark.parametrize("text", ["a b", "a - b", "x::y", "br]k[t", "", "line\\nend"], ids=str)
def test_any_cheese_has_a_name(text):
    assert cheese.cheese() + text == "K\\u00e4se" + text
"""

LANDINGS = [
    Landing(
        "Old goods",
        [
            add("shop/cheese.py", LATIN),
            add("shop/old files.py", CRLF),
            add("shop/keys.py", module("Keys")),
        ],
    ),
    Landing(
        "Name the cheese",
        [
            replace("shop/cheese.py", b'"Brie"', '"Käse"'.encode("latin-1")),
            replace("shop/old files.py", b"return 1\r\n", b"return 11\r\n"),
            add("tests/test_cheese.py", STRANGE),
        ],
        50,
        "merge",
        head=False,
    ),
    Landing(
        "Weigh the cheese",
        [
            append("shop/cheese.py", '\n\ndef weight():\n    """In grams."""\n    return 250\n'),
            append("shop/old files.py", b'\r\n\r\ndef older():\r\n    """Older."""\r\n    return 2'),
            add("tests/test_cheese_weight.py", value("cheese", "weight", 250)),
        ],
        51,
        "squash",
        behind=1,
        head=False,
    ),
    Landing(
        "First key",
        [
            replace("shop/keys.py", "return 1", "return 11"),
            add("tests/test_key_11.py", value("keys", "first", 11)),
        ],
        52,
        "squash",
    ),
    Landing(
        "Third key, from another repository",
        [
            replace("shop/keys.py", "return 3", "return 33"),
            add("tests/test_key_33.py", value("keys", "third", 33)),
        ],
        53,
        "squash",
        links={"shop/locks": "1234567890123456789012345678901234567890"},
    ),
]
