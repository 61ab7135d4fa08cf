"""The words of a definition by what they can refer to: names, own attributes, fixtures. Resolves nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

_OWN: Final = frozenset({"self", "cls", "super", "type", "__class__"})


class Words(NamedTuple):
    """What a definition names."""

    names: set[str]
    """Names that it reads and does not itself give a value."""
    own: set[str]
    """Attributes of `self`, `cls`, `super()` and of classes."""
    decorating: set[str]
    """Names in its decorators and defaults, which are read in the scope around it."""
    fixtures: set[str]
    """Arguments, and strings in decorators and in calls of `getfixturevalue`."""


def words_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Words:
    """The words of one definition, with all that is inside it."""
    walked = list(ast.walk(node))
    names = [part for part in walked if isinstance(part, ast.Name)]
    outer = {part.id for mark in _around(node) for part in ast.walk(mark) if isinstance(part, ast.Name)}
    local = set() if isinstance(node, ast.ClassDef) else _local(node, names)
    loaded = {part.id for part in names if isinstance(part.ctx, ast.Load)}
    return Words(
        names=(loaded - local) | outer,
        own={part.attr for part in walked if isinstance(part, ast.Attribute) and _is_own(part.value)},
        decorating=outer,
        fixtures=set() if isinstance(node, ast.ClassDef) else _fixtures(node, walked),
    )


def _around(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.expr]:
    if isinstance(node, ast.ClassDef):
        return node.decorator_list
    defaults = [*node.args.defaults, *(value for value in node.args.kw_defaults if value)]
    return [*node.decorator_list, *defaults]


def _local(node: ast.FunctionDef | ast.AsyncFunctionDef, names: list[ast.Name]) -> set[str]:
    stored = {part.id for part in names if isinstance(part.ctx, ast.Store)}
    shared = {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
    return (stored | _arguments(node)) - shared


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}


def _is_own(node: ast.expr) -> bool:
    """`self.x`, `cls.x`, `super().x`, `self.__class__.x`, `type(self).x` and `Class.x`."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr in _OWN
    return isinstance(node, ast.Name) and (node.id in _OWN or node.id[:1].isupper())


def _fixtures(node: ast.FunctionDef | ast.AsyncFunctionDef, walked: list[ast.AST]) -> set[str]:
    asked = [
        part
        for part in walked
        if isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "getfixturevalue"
    ]
    texts = [text for part in (*node.decorator_list, *asked) for text in _texts(part)]
    words = {word.strip() for text in texts for word in text.split(",")}
    return _arguments(node) | {word for word in words if word.isidentifier()}


def _texts(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def is_fixture(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """What the fixture that a function defines is called; empty if it defines none."""
    for mark in node.decorator_list:
        if _called(mark).rpartition(".")[2] == "fixture":
            name = _keyword(mark, "name")
            return name if isinstance(name, str) else node.name
    return ""


def is_autouse(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether a fixture is used by every test in its scope."""
    marks = (mark for mark in node.decorator_list if _called(mark).rpartition(".")[2] == "fixture")
    return any(_keyword(mark, "autouse") is True for mark in marks)


def _called(mark: ast.expr) -> str:
    function = mark.func if isinstance(mark, ast.Call) else mark
    return ast.unparse(function) if isinstance(function, (ast.Name, ast.Attribute)) else ""


def _keyword(mark: ast.expr, name: str) -> object:
    words = mark.keywords if isinstance(mark, ast.Call) else []
    values = [word.value for word in words if word.arg == name]
    return values[0].value if values and isinstance(values[0], ast.Constant) else None
