"""Pairs that do not compose on one base, each for another reason."""

from __future__ import annotations

from stalebench.demo.history import Landing, add, append, remove, replace


def module(name: str) -> str:
    """A module of three functions, far enough apart for two changes not to touch."""
    return (
        f'"""{name}."""\n\n\ndef first():\n    """One."""\n    return 1\n\n\n'
        'def second():\n    """Two."""\n    return 2\n\n\ndef third():\n    """Three."""\n    return 3\n'
    )


def value(module_name: str, function: str, number: int) -> str:
    """A test of what a function returns."""
    return (
        f"from shop import {module_name}\n\n\n"
        f"def test_{function}_is_{number}():\n    assert {module_name}.{function}() == {number}\n"
    )


NEW = ("aisles", "bags", "carts", "doors", "exits")

LANDINGS = [
    Landing("More of the shop", [add(f"shop/{name}.py", module(name.capitalize())) for name in NEW]),
    # The later change rewrites what the earlier one wrote. Both landed as plain commits: neither has a number.
    Landing(
        "First aisle",
        [
            replace("shop/aisles.py", "return 1", "return 11"),
            add("tests/test_aisle_11.py", value("aisles", "first", 11)),
        ],
    ),
    Landing(
        "First aisle again",
        [
            replace("shop/aisles.py", "return 11", "return 12"),
            remove("tests/test_aisle_11.py"),
            add("tests/test_aisle_12.py", value("aisles", "first", 12)),
        ],
    ),
    # The later pull changes a file that came in between.
    Landing(
        "First bag",
        [
            replace("shop/bags.py", "return 1", "return 11"),
            add("tests/test_bag_11.py", value("bags", "first", 11)),
        ],
        22,
        "squash",
    ),
    Landing("Handles", [add("shop/handles.py", module("Handles"))]),
    Landing(
        "Third bag, with a handle",
        [
            replace("shop/bags.py", "return 3", "return 33"),
            replace("shop/handles.py", "return 3", "return 33"),
            add("tests/test_bag_33.py", value("bags", "third", 33)),
        ],
        23,
        "squash",
    ),
    # What the later pull does was there before, and had been lost.
    Landing(
        "First cart",
        [
            replace("shop/carts.py", "return 1", "return 11"),
            add("tests/test_cart_11.py", value("carts", "first", 11)),
        ],
        24,
        "squash",
    ),
    Landing("Lose a cart", [replace("shop/carts.py", "return 3", "return 0")]),
    Landing(
        "Find the cart",
        [
            replace("shop/carts.py", "return 0", "return 3"),
            add("tests/test_cart_3.py", value("carts", "third", 3)),
        ],
        25,
        "squash",
    ),
    # Each applies to the base, but both change one line; in between it was changed back.
    Landing(
        "First door",
        [
            replace("shop/doors.py", "return 1", "return 11"),
            add("tests/test_door_11.py", value("doors", "first", 11)),
        ],
        26,
        "squash",
    ),
    Landing("Close the first door", [replace("shop/doors.py", "return 11", "return 1")]),
    Landing("Do not test the first door", [remove("tests/test_door_11.py")]),
    Landing(
        "Another first door",
        [
            replace("shop/doors.py", "return 1", "return 12"),
            add("tests/test_door_12.py", value("doors", "first", 12)),
        ],
        27,
        "squash",
    ),
    # The later pull's tests change a test that the earlier one added.
    Landing(
        "First exit",
        [
            replace("shop/exits.py", "return 1", "return 11"),
            add("tests/test_exits.py", value("exits", "first", 11)),
        ],
        28,
        "squash",
    ),
    Landing(
        "Third exit",
        [
            replace("shop/exits.py", "return 3", "return 33"),
            replace("tests/test_exits.py", "first() == 11", "first() + exits.third() == 44"),
        ],
        29,
        "squash",
    ),
    # Both pulls add a test of one name; in between the first was taken out.
    Landing("Even more of the shop", [add("shop/floors.py", module("Floors"))]),
    Landing(
        "First floor",
        [
            replace("shop/floors.py", "return 1", "return 11"),
            append("tests/test_floors.py", value("floors", "first", 11)),
        ],
        30,
        "squash",
    ),
    Landing("Floors are not tested here", [remove("tests/test_floors.py")]),
    Landing(
        "Third floor",
        [
            replace("shop/floors.py", "return 3", "return 33"),
            add("tests/test_floors.py", value("floors", "third", 33).replace("third_is_33", "first_is_11")),
        ],
        31,
        "squash",
    ),
]
