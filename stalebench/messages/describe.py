"""From the files of a change, before and after, to facts about it. Reads syntax trees, runs nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

from stalebench.messages.facts import Added, AfterWrite, Changed, Fact, Removed, Renamed, Returns, Signature
from stalebench.syntax import FUNCTIONS, Definition, definitions, parse

Files = Mapping[str, bytes | None]
"""Contents by path; None where there is no such file."""
Function = ast.FunctionDef | ast.AsyncFunctionDef

_SIMPLE: Final = (ast.Expr, ast.Assign, ast.Delete)

ALIKE: Final = 0.6
"""How much of two definitions must agree for one to be the other under a new name."""
MOST_COMPARED: Final = 30
"""More names that came and went in one file are not compared with each other."""


def describe(before: Files, after: Files) -> tuple[Fact, ...]:
    """What changed from the files before to the files after, sorted by file.

    A path of one side only is new or gone. Of a file that is no Python of this version, no more is said than
    that it has changed.
    """
    calls = _Calls(before, after)
    return tuple(
        fact
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
        for fact in _file(path, before.get(path), after.get(path), calls)
    )


def _file(path: str, old: bytes | None, new: bytes | None, calls: _Calls) -> Iterator[Fact]:
    if old is None:
        yield Added(path, "")
    elif new is None:
        yield Removed(path, "")
    if not path.endswith(".py"):
        if old is not None and new is not None:
            yield Changed(path, "")
        return
    try:
        ones, others = definitions(old or b""), definitions(new or b"")
    except SyntaxError:
        yield Changed(path, "")
        return
    if new is not None:
        yield from _Module(path, ones, others, calls).facts()


class _Module:
    """One Python file: its definitions before and after."""

    def __init__(
        self, path: str, old: Iterable[Definition], new: Iterable[Definition], calls: _Calls
    ) -> None:
        self.path = path
        self.old = {each.name: each for each in old}
        self.new = {each.name: each for each in new}
        self.calls = calls

    def facts(self) -> Iterator[Fact]:
        renamed = self._renamed()
        for one, other in renamed.items():
            yield Renamed(self.path, one, other)
        yield from self._come_and_gone(renamed)
        for name, before in self.old.items():
            after = self.new.get(renamed.get(name, name))
            if after is not None:
                yield from self._changed(before, after, renamed)

    # What has which name

    def _renamed(self) -> dict[str, str]:
        gone = [each for name, each in self.old.items() if name not in self.new]
        come = [each for name, each in self.new.items() if name not in self.old]
        found: dict[str, str] = {}
        if len(gone) > MOST_COMPARED or len(come) > MOST_COMPARED:
            return found
        for one in gone:
            alike = [(_likeness(one, other), other.name) for other in come if _may_be(one, other, found)]
            if alike and max(alike)[0] >= ALIKE:
                found[one.name] = max(alike)[1]
        return found

    def _come_and_gone(self, renamed: Mapping[str, str]) -> Iterator[Fact]:
        for name in self.old.keys() - self.new.keys() - renamed.keys():
            if not _inside(name, self.old, self.new, renamed):
                yield Removed(self.path, name)
        news = set(renamed.values())
        for name, other in self.new.items():
            if (
                name not in self.old
                and name not in news
                and other.owner not in self.new.keys() - self.old.keys()
            ):
                yield Added(self.path, head(other.node, name))

    # What is in it

    def _changed(self, one: Definition, other: Definition, renamed: Mapping[str, str]) -> Iterator[Fact]:
        if isinstance(one.node, ast.ClassDef) or isinstance(other.node, ast.ClassDef):
            if isinstance(one.node, ast.ClassDef) and isinstance(other.node, ast.ClassDef):
                yield from self._invariants(other.name, one.node, other.node)
            return
        facts = [*self._signature(one.node, other), *self._returns(one.node, other, renamed)]
        yield from facts
        old, new = ast.unparse(one.node), ast.unparse(other.node)
        if not facts and _with_new_names(old, renamed) != new:
            yield Changed(self.path, other.name)

    def _signature(self, old: Function, other: Definition) -> Iterator[Fact]:
        new = other.node
        assert isinstance(new, FUNCTIONS)  # noqa: S101 - the caller's
        if ast.dump(old.args) != ast.dump(new.args):
            passed = self.calls.passed(other.name.rpartition(".")[2], parameters(new) - parameters(old))
            heads = [head(each, other.name) for each in (old, new)]
            if heads[0] != heads[1]:
                yield Signature(self.path, other.name, heads[0], heads[1], passed)

    def _returns(self, old: Function, other: Definition, renamed: Mapping[str, str]) -> Iterator[Fact]:
        new = other.node
        assert isinstance(new, FUNCTIONS)  # noqa: S101 - the caller's
        ones, others = _returned(old), _returned(new)
        if len(ones) == len(others) == 1 and _with_new_names(ones[0], renamed) != others[0]:
            yield Returns(self.path, other.name, ones[0], others[0])

    def _invariants(self, owner: str, old: ast.ClassDef, new: ast.ClassDef) -> Iterator[Fact]:
        """Statements about an attribute that is new in the class, each after a write that is not."""
        fresh = _attributes(new) - _attributes(old)
        known = {ast.unparse(each) for each in ast.walk(old) if isinstance(each, ast.stmt)}
        seen = set()
        for first, then in _neighbours(new):
            text = ast.unparse(first), ast.unparse(then)
            is_new = text[0] in known and text[1] not in known and text not in seen
            if (
                is_new
                and written(first) is not None
                and _attributes(then) & fresh
                and isinstance(then, _SIMPLE)
            ):
                seen.add(text)
                yield AfterWrite(self.path, owner, *text)


def head(node: ast.stmt, name: str) -> str:
    """A function's head as `name(parameters)`, a class's as `class name`."""
    if isinstance(node, FUNCTIONS):
        return f"{name}({ast.unparse(node.args)})"
    return f"class {name}"


def parameters(node: Function) -> set[str]:
    """The names of all parameters."""
    args = node.args
    rest = [each for each in (args.vararg, args.kwarg) if each is not None]
    return {each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs, *rest)}


def written(node: ast.stmt) -> ast.Attribute | None:
    """The attribute of `self` that a statement writes to: itself, one of its items, or by a method of it."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign | ast.Delete):
        targets = node.targets
    elif isinstance(node, ast.AugAssign):
        targets = [node.target]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        targets = [function.value] if isinstance(function, ast.Attribute) else []
    for target in targets:
        inner = target.value if isinstance(target, ast.Subscript) else target
        if (
            isinstance(inner, ast.Attribute)
            and isinstance(inner.value, ast.Name)
            and inner.value.id == "self"
        ):
            return inner
    return None


def _attributes(node: ast.AST) -> set[str]:
    """The attributes of `self` that are named anywhere in it."""
    return {
        each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == "self"
    }


def _neighbours(node: ast.AST) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    """Each two statements of one block that follow each other."""
    for each in ast.walk(node):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(each, field, None)
            if isinstance(block, list):
                yield from pairwise(block)


def _returned(node: Function) -> list[str]:
    """What its own return statements return, the ones of functions inside it left out."""
    found: list[str] = []
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, ast.Return):
            found.append("None" if each.value is None else ast.unparse(each.value))
        elif not isinstance(each, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(each))
    return found


def _with_new_names(code: str, renamed: Mapping[str, str]) -> str:
    for old, new in renamed.items():
        code = re.sub(rf"\b{re.escape(old.rpartition('.')[2])}\b", new.rpartition(".")[2], code)
    return code


def _may_be(one: Definition, other: Definition, taken: Mapping[str, str]) -> bool:
    """Whether one can be the other under a new name: the same kind in the same place, not given away yet."""
    same_place = taken.get(one.owner, one.owner) == other.owner
    return one.kind is other.kind and same_place and other.name not in taken.values()


def _likeness(one: Definition, other: Definition) -> float:
    """How much of the text of two definitions agrees, from 0 to 1, their names left out."""
    first, second = (_body(each) for each in (one, other))
    if first == second:
        return 1.0
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def _body(each: Definition) -> list[str]:
    name = re.escape(each.name.rpartition(".")[2])
    return re.sub(rf"\b{name}\b", "\0", ast.unparse(each.node)).splitlines()


def _inside(
    name: str, old: Mapping[str, Definition], new: Mapping[str, Definition], renamed: Mapping[str, str]
) -> bool:
    """Whether it went, or was renamed, with the class around it."""
    owner = old[name].owner
    return bool(owner) and (owner not in new or owner in renamed)


class _Calls:
    """The calls that the change itself makes."""

    def __init__(self, before: Files, after: Files) -> None:
        self.files = [
            content
            for path, content in sorted(after.items())
            if path.endswith(".py") and content is not None and before.get(path) != content
        ]

    def passed(self, name: str, news: set[str]) -> tuple[tuple[str, str], ...]:
        """The constants that its calls pass by keyword for these parameters, where it is always one."""
        found: dict[str, set[str]] = {}
        for call in self._of(name) if news else ():
            for keyword in call.keywords:
                if keyword.arg in news and isinstance(keyword.value, ast.Constant):
                    found.setdefault(keyword.arg, set()).add(ast.unparse(keyword.value))
        return tuple((each, values.pop()) for each, values in sorted(found.items()) if len(values) == 1)

    def _of(self, name: str) -> Iterator[ast.Call]:
        for content in self.files:
            if name.encode() in content:
                try:
                    tree = parse(content)
                except SyntaxError:
                    continue
                for each in ast.walk(tree):
                    if isinstance(each, ast.Call) and terminal(each.func) == name:
                        yield each


def terminal(node: ast.expr) -> str | None:
    """The last part of a dotted name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None
