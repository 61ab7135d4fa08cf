"""A Python module cut into blocks: definitions, imports, assignments and other statements. Merges nothing.

Each block is a run of whole lines that begins with the comments and blank lines before its statement; the
blocks one after the other are the module. What a block stands for is its key, by which two versions of a
module are compared.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from stalebench.syntax import FUNCTIONS, parse


class CannotCompose(Exception):
    """Two patches do different things to one block, or the result would not hold both."""


class BlockKind(StrEnum):
    """What a block is."""

    FUNCTION = "function"
    CLASS = "class"
    """Only the head: decorators, bases and what stands on their lines."""
    IMPORT = "import"
    ASSIGNMENT = "assignment"
    DOCSTRING = "docstring"
    STATEMENT = "statement"
    END = "end"
    """Comments and blank lines after the last statement."""


class Key(NamedTuple):
    """What names a block: a definition or an assignment by its name, another statement by its text."""

    kind: BlockKind
    owner: str
    """The qualified name of the class that it stands in; empty at the top level."""
    name: str
    number: int = 1
    """The second of one name, as of an overridden test, is 2."""

    @property
    def qualified(self) -> str:
        """The name as Python qualifies it."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


class Block(NamedTuple):
    """The lines of a block, and the names that it gives a value to, each with what it then is."""

    text: bytes
    binds: frozenset[tuple[str, str]]


Blocks = dict[Key, Block]


def cut(source: bytes) -> Blocks:
    """The blocks of a module in order. Raises SyntaxError, and CannotCompose for statements on one line."""
    lines = source.splitlines(keepends=True)
    found: Blocks = {}
    at = 0
    for key, end, binds in _pieces(parse(source).body, "", lines):
        if end <= at:
            raise CannotCompose(f"line {end} holds more than one statement")
        found[_numbered(key, found)] = Block(b"".join(lines[at:end]), binds)
        at = end
    if at < len(lines):
        found[Key(BlockKind.END, "", "")] = Block(b"".join(lines[at:]), frozenset())
    return found


def is_same(one: Block | None, other: Block | None) -> bool:
    """Equal but for the blank lines around them."""
    if one is None or other is None:
        return one is other
    return one.text.strip(b"\r\n") == other.text.strip(b"\r\n")


def _numbered(key: Key, found: Blocks) -> Key:
    while key in found:
        key = key._replace(number=key.number + 1)
    return key


Piece = tuple[Key, int, frozenset[tuple[str, str]]]
"""A key, the last line of its block, and what it binds."""


def _pieces(body: Sequence[ast.stmt], owner: str, lines: Sequence[bytes]) -> Iterator[Piece]:
    for place, node in enumerate(body):
        end = node.end_lineno or node.lineno
        if isinstance(node, ast.ClassDef):
            yield from _class(node, owner, lines)
        elif place == 0 and isinstance(node, ast.Expr) and _is_text(node.value):
            yield Key(BlockKind.DOCSTRING, owner, ""), end, frozenset()
        else:
            key = _key(node, owner, lines)
            yield key, end, frozenset(_binds(node, key))


def _class(node: ast.ClassDef, owner: str, lines: Sequence[bytes]) -> Iterator[Piece]:
    """The head of a class, then what is in it; all in one where the body stands on the line of the head."""
    key = Key(BlockKind.CLASS, owner, node.name)
    binds = frozenset({(node.name, key.kind.value)})
    head_end = _code_before(lines, node.lineno, _start(node.body[0]) - 1)
    if head_end < node.lineno:
        yield key, node.end_lineno or node.lineno, binds
        return
    yield key, head_end, binds
    yield from _pieces(node.body, key.qualified, lines)


def _code_before(lines: Sequence[bytes], first: int, end: int) -> int:
    """The last of the lines up to `end` that is neither blank nor a comment, and not before `first`."""
    while end >= first and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith(b"#")):
        end -= 1
    return end


def _start(node: ast.stmt) -> int:
    marks = node.decorator_list if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else []
    return min([node.lineno, *(mark.lineno for mark in marks)])


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _key(node: ast.stmt, owner: str, lines: Sequence[bytes]) -> Key:
    if isinstance(node, FUNCTIONS):
        return Key(BlockKind.FUNCTION, owner, node.name)
    if isinstance(node, ast.ImportFrom):
        return Key(BlockKind.IMPORT, owner, f"from {'.' * node.level}{node.module or ''}")
    if isinstance(node, ast.Import):
        return Key(BlockKind.IMPORT, owner, ", ".join(alias.name for alias in node.names))
    targets = _targets(node)
    if targets:
        return Key(BlockKind.ASSIGNMENT, owner, ", ".join(targets))
    text = b"".join(lines[_start(node) - 1 : node.end_lineno]).strip()
    return Key(BlockKind.STATEMENT, owner, hashlib.sha256(text).hexdigest())


def _targets(node: ast.stmt) -> list[str]:
    """The names that an assignment to names gives a value to."""
    if isinstance(node, ast.AnnAssign):
        targets: list[ast.expr] = [node.target]
    elif isinstance(node, ast.Assign):
        targets = node.targets
    else:
        return []
    names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    return names if all(isinstance(target, (ast.Name, ast.Tuple)) for target in targets) else []


def _binds(node: ast.stmt, key: Key) -> Iterator[tuple[str, str]]:
    """The names that a statement gives a value to in the scope around it, each with what it is then."""
    if isinstance(node, FUNCTIONS):
        yield node.name, key.kind.value
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield (alias.asname or alias.name).partition(".")[0], f"{key.kind} {key.name} {alias.name}"
    elif key.kind is BlockKind.ASSIGNMENT:
        yield from ((name, key.kind.value) for name in key.name.split(", "))
    else:
        for inner in _inside(node):
            yield inner, key.name


def _inside(node: ast.AST) -> Iterator[str]:
    """The names bound anywhere inside a compound statement, but not inside of its definitions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*FUNCTIONS, ast.ClassDef)):
            yield child.name
        elif isinstance(child, ast.alias):
            yield (child.asname or child.name).partition(".")[0]
        elif isinstance(child, ast.Name):
            if isinstance(child.ctx, ast.Store):
                yield child.id
        elif not isinstance(child, (ast.Lambda, ast.comprehension)):
            yield from _inside(child)
