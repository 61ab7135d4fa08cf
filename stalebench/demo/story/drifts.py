"""Pairs that compose, and are not valid on their base, each for another reason."""

from __future__ import annotations

from stalebench.demo.history import Landing, add, append, replace
from stalebench.demo.story.conflicts import module, value

NEW = ("gates", "hooks", "islands", "jars")

SECOND = '\n\ndef second():\n    """Two."""\n    return 2\n'

COLOURS = """from shop import jars


def test_the_first_colour_comes_first():
    assert jars.colours("red green blue yellow black white") == "{first}"
"""

FIRST = "white"
"""What stands first in a set of the colours with hash seed 0, and not with hash seed 1."""

LANDINGS = [
    Landing("The back of the shop", [add(f"shop/{name}.py", module(name.capitalize())) for name in NEW]),
    # Drift: the later pull brings back a helper that the shared base still holds.
    Landing(
        "First gate, instead of the second",
        [
            replace("shop/gates.py", "return 1", "return 11"),
            replace("shop/gates.py", SECOND, ""),
            add("tests/test_gate_11.py", value("gates", "first", 11)),
        ],
        40,
        "squash",
    ),
    Landing(
        "The second gate again",
        [append("shop/gates.py", SECOND), add("tests/test_gate_2.py", value("gates", "second", 2))],
        41,
        "squash",
    ),
    # The later pull's tests need what landed in between.
    Landing(
        "First hook",
        [
            replace("shop/hooks.py", "return 1", "return 11"),
            add("tests/test_hook_11.py", value("hooks", "first", 11)),
        ],
        42,
        "squash",
    ),
    Landing("Second hook", [replace("shop/hooks.py", "return 2", "return 22")]),
    Landing(
        "Third hook",
        [
            replace("shop/hooks.py", "return 3", "return 33"),
            add("tests/test_hook_33.py", value("hooks", "third", 33)),
            append("tests/test_hook_33.py", "\n\ndef test_second_too():\n    assert hooks.second() == 22\n"),
        ],
        43,
        "squash",
    ),
    # A test file changes, but no test.
    Landing(
        "First island",
        [
            replace("shop/islands.py", "return 1", "return 11"),
            add("tests/test_islands.py", '"""Islands are not tested yet."""\n'),
        ],
        44,
        "squash",
    ),
    Landing(
        "Third island",
        [
            replace("shop/islands.py", "return 3", "return 33"),
            add("tests/test_island_33.py", value("islands", "third", 33)),
        ],
        45,
        "squash",
    ),
    # A test that rests on the order of a set: another hash seed, another outcome.
    Landing(
        "Colours of jars",
        [
            replace(
                "shop/jars.py",
                "return 1\n",
                'return 1\n\n\ndef colours(names):\n    """Some colour."""\n    return next(iter(set(names.split())))\n',
            ),
            add("tests/test_colours.py", COLOURS.format(first=FIRST)),
        ],
        46,
        "squash",
    ),
    Landing(
        "Third jar",
        [
            replace("shop/jars.py", "return 3", "return 33"),
            add("tests/test_jar_33.py", value("jars", "third", 33)),
        ],
        47,
        "squash",
    ),
]
