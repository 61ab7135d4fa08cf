"""The kinds of facts about a change. Plain, frozen and ordered; code in them is as Python prints it.

`path` is the file; `name` the qualified name of a function or class in it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Added:
    """Something new. `code` is the function's head, or `class Name`; empty for a file."""

    path: str
    code: str


@dataclass(frozen=True, slots=True, order=True)
class Removed:
    """Something that is gone; `name` is empty for a file."""

    path: str
    name: str


@dataclass(frozen=True, slots=True, order=True)
class Renamed:
    """A function, method or class with another name."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, order=True)
class Signature:
    """A function with other parameters; `old` and `new` are its heads, as `area(width, height=1)`.

    `passed` are new parameters with the constant that the change itself passes for them.
    """

    path: str
    name: str
    old: str
    new: str
    passed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Returns:
    """A function that returns another value; both are expressions in terms of the function's own names."""

    path: str
    name: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, order=True)
class AfterWrite:
    """What a class now does each time that it writes to something: a new invariant, which no signature shows.

    `write` is a statement that was there before, `then` the one that follows it now.
    """

    path: str
    owner: str
    write: str
    then: str


@dataclass(frozen=True, slots=True, order=True)
class Changed:
    """Something that changed in no way that the others name; `name` is empty for a file."""

    path: str
    name: str


Fact = Added | Removed | Renamed | Signature | Returns | AfterWrite | Changed
