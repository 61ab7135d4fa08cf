"""Python source as definitions with their lines, and which of them a change touches. Knows no tests."""

from __future__ import annotations

import ast
import gc
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

import pygit2

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS: Final = (
    ast.If,
    ast.Try,
    ast.TryStar,
    ast.With,
    ast.AsyncWith,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.Match,
)


class Kind(StrEnum):
    """What a definition is."""

    FUNCTION = "function"
    CLASS = "class"


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class outside any function; lines count from 1, both ends included, decorators too."""

    name: str
    """The qualified name, as Python gives it."""
    kind: Kind
    start: int
    end: int
    owner: str
    """The qualified name of the class around it; empty at the top level."""
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@lru_cache(maxsize=4)
def parse(source: bytes) -> ast.Module:
    """The syntax tree. Raises SyntaxError, also for text that is not in its declared encoding.

    The last few are kept: a tree of a long module takes tens of megabytes.
    """
    collecting = gc.isenabled()
    gc.disable()  # a tree is a million objects and no garbage; collecting meanwhile takes most of the time
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.parse(source)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(str(error)) from error
    finally:
        if collecting:
            gc.enable()


@lru_cache(maxsize=4)
def definitions(source: bytes) -> tuple[Definition, ...]:
    """Functions, methods and classes in order of their lines; those inside of functions belong to these.

    Of two definitions of one name (`if … else`, overloads) both are there. Raises SyntaxError.
    """
    return tuple(_definitions(parse(source).body, ""))


def _definitions(body: Sequence[ast.stmt], owner: str) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            name = f"{owner}.{node.name}" if owner else node.name
            start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            kind = Kind.CLASS if isinstance(node, ast.ClassDef) else Kind.FUNCTION
            yield Definition(name, kind, start, node.end_lineno or node.lineno, owner, node)
            if isinstance(node, ast.ClassDef):
                yield from _definitions(node.body, name)
        elif isinstance(node, BLOCKS):
            yield from _definitions(nested(node), owner)


def nested(node: ast.stmt) -> list[ast.stmt]:
    """The statements directly inside a compound statement (`if`, `try`, `match`, ..), in order."""
    parts = [getattr(node, field, []) for field in ("body", "handlers", "cases", "orelse", "finalbody")]
    flat = [part for group in parts for part in group]
    return [
        inner
        for part in flat
        for inner in (part.body if isinstance(part, (ast.ExceptHandler, ast.match_case)) else [part])
    ]


def owners(source: bytes) -> list[str]:
    """For each line, the innermost definition that it belongs to; empty outside of all. Index 0 is unused."""
    found = definitions(source)
    lines = [""] * (source.count(b"\n") + source.count(b"\r") + 3)
    for definition in found:
        for line in range(definition.start, definition.end + 1):
            lines[line] = definition.name
    return lines


def changed_lines(old: bytes, new: bytes) -> tuple[list[int], list[int]]:
    """The lines that a diff removes from `old` and adds to `new`, blank ones left out."""
    patch = pygit2.Patch.create_from(old, new, context_lines=0)
    removed: list[int] = []
    added: list[int] = []
    for hunk in patch.hunks:
        for line in hunk.lines:
            if not line.raw_content.strip():
                continue
            if line.origin == "-":
                removed.append(line.old_lineno)
            elif line.origin == "+":
                added.append(line.new_lineno)
    return removed, added


def own_lines(source: bytes) -> dict[str, list[bytes]]:
    """The lines of each definition without those of the definitions inside it, by qualified name.

    Blank lines and line ends are left out; two definitions of one name are one after the other. Lines
    outside of all have the empty name. Raises SyntaxError.
    """
    innermost = owners(source)
    found: dict[str, list[bytes]] = {}
    for number, line in enumerate(source.splitlines(), 1):
        if line.strip():
            found.setdefault(innermost[number], []).append(line)
    return found


def touched(old: bytes | None, new: bytes | None) -> set[str]:
    """The functions and classes whose own lines a change adds, changes or removes.

    A change in a method touches the method, not its class; what only moves is not touched, wherever a diff
    draws its lines. Empty where a side does not parse (Python 2).
    """
    try:
        before, after = own_lines(old or b""), own_lines(new or b"")
    except SyntaxError:
        return set()
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} - {""}
