"""Adapts new code to facts about what changed elsewhere. Knows no task, no repository and no test.

Only what a change itself wrote is touched: nodes on lines that differ from the file before. What a fact is
about is found by its name, in the file that defines it and in those that import that file.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from stalebench.agents.scripted.edits import Edit, Source
from stalebench.agents.scripted.inverse import former
from stalebench.messages import AfterWrite, Fact, Renamed, Returns, Signature
from stalebench.messages.describe import Function, terminal, written
from stalebench.syntax import FUNCTIONS, changed_lines

ITEM_METHODS = frozenset({"pop", "setdefault", "__setitem__", "__delitem__"})
"""Methods of a mapping that write the item named by their first argument."""


def adapted(path: str, before: bytes | None, after: bytes, facts: Sequence[Fact]) -> tuple[bytes, list[Fact]]:
    """The file with its new lines adapted, and the facts that had a say. What is no Python stays as it is."""
    if not path.endswith(".py") or not facts:
        return after, []
    try:
        adapting = _Adapting(path, before or b"", after)
    except (SyntaxError, UnicodeDecodeError):
        return after, []
    edits: list[Edit] = []
    used: list[Fact] = []
    for fact in facts:
        found = list(adapting.edits(fact))
        if found:
            used.append(fact)
            edits += found
    return adapting.source.edited(edits), used


class _Adapting:
    """One file whose new lines are adapted."""

    def __init__(self, path: str, before: bytes, after: bytes) -> None:
        self.path = path
        self.source = Source(after)
        self.lines = set(changed_lines(before, after)[1])
        self.imported = set(_imported(self.source.tree))

    def edits(self, fact: Fact) -> Iterator[Edit]:
        """What one fact asks for here."""
        if isinstance(fact, AfterWrite):
            if fact.path == self.path:
                yield from self._after_writes(fact)
        elif self._is_known(fact.path):
            if isinstance(fact, Renamed):
                yield from self._renamed(fact)
            elif isinstance(fact, Signature):
                yield from self._calls(fact.name, lambda call, around: self._passed(fact, call, around))
            elif isinstance(fact, Returns):
                yield from self._returns(fact)

    def _is_known(self, path: str) -> bool:
        """Whether names of that file are used here: it is this one, or its module is imported."""
        pure = PurePosixPath(path)
        module = pure.parent.name if pure.name == "__init__.py" else pure.stem
        return path == self.path or module in self.imported

    def _is_new(self, node: ast.expr | ast.stmt | ast.alias) -> bool:
        return any(line in self.lines for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))

    # Names

    def _renamed(self, fact: Renamed) -> Iterator[Edit]:
        old, new = (name.rpartition(".")[2] for name in (fact.old, fact.new))
        if old == new:
            return
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.Name | ast.Attribute) and terminal(node) == old and self._is_new(node):
                end = self.source.end(node)
                yield Edit(end - len(old.encode()), end, new)
            elif isinstance(node, ast.alias) and node.name == old and self._is_new(node):
                start = self.source.start(node)
                yield Edit(start, start + len(old.encode()), new)

    # Calls

    def _calls(
        self, name: str, edit: Callable[[ast.Call, Function | None], Iterable[Edit]]
    ) -> Iterator[Edit]:
        """The edits of every new call, the calls inside of one first."""
        last = name.rpartition(".")[2]
        for call, around in _calls_of(self.source.tree, last, None):
            if self._is_new(call):
                yield from edit(call, around)

    def _passed(self, fact: Signature, call: ast.Call, around: Function | None) -> Iterator[Edit]:
        """New required parameters are passed, and renamed keywords renamed."""
        old, new = _parameters(fact.old), _parameters(fact.new)
        if old is None or new is None or any(isinstance(each, ast.Starred) for each in call.args):
            return
        yield from self._keywords(old, new, call)
        skipped = 1 if "." in fact.name and new.names[:1] in (["self"], ["cls"]) else 0
        names = [each.arg for each in call.keywords]
        for place, name in enumerate(new.names[skipped:]):
            if name in old.names or name in names or name not in new.required:
                continue
            value = self._value(name, fact, around)
            if place < len(call.args):
                yield Edit(
                    self.source.start(call.args[place]), self.source.start(call.args[place]), f"{value}, "
                )
            else:
                yield self._appended(call, f"{name}={value}")

    def _keywords(self, old: _Parameters, new: _Parameters, call: ast.Call) -> Iterator[Edit]:
        gone = [name for name in old.names if name not in new.names]
        come = [name for name in new.names if name not in old.names]
        if len(gone) == len(come) == 1 and old.names.index(gone[0]) == new.names.index(come[0]):
            for keyword in call.keywords:
                if keyword.arg == gone[0]:
                    start = self.source.start(keyword)
                    yield Edit(start, start + len(gone[0].encode()), come[0])

    def _value(self, name: str, fact: Signature, around: Function | None) -> str:
        """What the other change passes itself, else what has the same name here, else None."""
        if name in dict(fact.passed):
            return dict(fact.passed)[name]
        known = _parameters_of(around.args).names if around is not None else []
        return name if name in known else "None"

    def _appended(self, call: ast.Call, argument: str) -> Edit:
        """One more argument, before the bracket that closes a call."""
        close = self.source.end(call) - 1
        given = [*call.args, *(each.value for each in call.keywords)]
        inside = self.source.utf8[max(map(self.source.end, given)) : close] if given else b""
        return Edit(close, close, f"{', ' if given and b',' not in inside else ''}{argument}")

    # Values

    def _returns(self, fact: Returns) -> Iterator[Edit]:
        way = former(fact.old, fact.new)
        if way is not None:
            yield from self._calls(fact.name, lambda call, _: self._as_before(call, way))

    def _as_before(self, call: ast.Call, way: str) -> Iterator[Edit]:
        start, end = self.source.start(call), self.source.end(call)
        yield Edit(start, start, f"(lambda value: {way})(")
        yield Edit(end, end, ")")

    # Writes

    def _after_writes(self, fact: AfterWrite) -> Iterator[Edit]:
        write, then = _statement(fact.write), _statement(fact.then)
        target = None if write is None else written(write)
        if write is None or then is None or target is None:
            return
        for owner in ast.walk(self.source.tree):
            if isinstance(owner, ast.ClassDef) and owner.name == fact.owner.rpartition(".")[2]:
                for block in _blocks(owner):
                    yield from self._after_writes_in(block, target.attr, write, then)

    def _after_writes_in(
        self, block: Sequence[ast.stmt], attribute: str, write: ast.stmt, then: ast.stmt
    ) -> Iterator[Edit]:
        """The statement after each write of a block that is new, unless it follows already."""
        for node, follower in zip(block, [*block[1:], None], strict=True):
            place = written(node)
            if place is None or place.attr != attribute or not self._is_new(node):
                continue
            lines = _next_lines(node, write, then)
            done = follower is not None and ast.unparse(follower) in ("\n".join(lines), ast.unparse(then))
            if lines and not done and self.source.stands_alone(node):
                indentation = self.source.indentation(node)
                end = self.source.end(node)
                yield Edit(end, end, "".join(f"\n{indentation}{line}" for line in lines))


def _next_lines(node: ast.stmt, write: ast.stmt, then: ast.stmt) -> list[str]:
    """What has to follow a write, as known from another write: for its key, or for each of its keys."""
    key = _key(write)
    if key is None:
        return [ast.unparse(then)] if _key(node) is None and isinstance(node, ast.Assign) else []
    mine = _key(node)
    if mine is not None:
        return [ast.unparse(_Replaced(ast.unparse(key), mine).visit(_copy(then)))]
    keys = _many_keys(node)
    if keys is None or not isinstance(key, ast.Name):
        return []
    return [f"for {key.id} in {ast.unparse(keys)}:", f"    {ast.unparse(then)}"]


def _key(node: ast.stmt) -> ast.expr | None:
    """The key of the one item that a statement writes."""
    if isinstance(node, ast.Assign | ast.Delete):
        subscripts = [each for each in node.targets if isinstance(each, ast.Subscript)]
        return subscripts[0].slice if subscripts else None
    if isinstance(node, ast.AugAssign):
        return node.target.slice if isinstance(node.target, ast.Subscript) else None
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and terminal(call.func) in ITEM_METHODS and call.args:
        return call.args[0]
    return None


def _many_keys(node: ast.stmt) -> ast.expr | None:
    """What holds the keys that a statement writes all at once."""
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and terminal(call.func) == "update" and len(call.args) == 1:
        return call.args[0]
    return None


class _Replaced(ast.NodeTransformer):
    """An expression put where another one stands."""

    def __init__(self, old: str, new: ast.expr) -> None:
        self.old = old
        self.new = new

    def visit(self, node: ast.AST) -> ast.AST:
        """The new expression for the old one, everything else with its parts visited."""
        if isinstance(node, ast.expr) and ast.unparse(node) == self.old:
            return self.new
        return super().generic_visit(node)


def _copy(node: ast.stmt) -> ast.stmt:
    return ast.parse(ast.unparse(node)).body[0]


def _statement(code: str) -> ast.stmt | None:
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return None
    return body[0] if len(body) == 1 else None


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for each in ast.walk(node):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(each, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def _calls_of(
    node: ast.AST, name: str, around: Function | None
) -> Iterator[tuple[ast.Call, Function | None]]:
    """Calls of a name, each after those inside of it, and the function that it stands in."""
    inside = node if isinstance(node, FUNCTIONS) else around
    for child in ast.iter_child_nodes(node):
        yield from _calls_of(child, name, inside)
    if isinstance(node, ast.Call) and terminal(node.func) == name:
        yield node, around


def _imported(tree: ast.Module) -> Iterator[str]:
    """The last parts of the names of all modules that a file imports, or imports from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.rpartition(".")[2] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").rpartition(".")[2]
            yield from (alias.name for alias in node.names)


class _Parameters:
    """The names of a function's parameters, and those that have to be passed."""

    def __init__(self, names: list[str], required: set[str]) -> None:
        self.names = names
        self.required = required


def _parameters(head: str) -> _Parameters | None:
    """Those of a head as `area(width, height=1)`."""
    try:
        (node,) = ast.parse(
            f"def {head.partition('(')[0].rpartition('.')[2]}({head.partition('(')[2]}: ..."
        ).body
    except (SyntaxError, ValueError):
        return None
    return _parameters_of(node.args) if isinstance(node, FUNCTIONS) else None


def _parameters_of(args: ast.arguments) -> _Parameters:
    positional = [each.arg for each in (*args.posonlyargs, *args.args)]
    optional = set(positional[len(positional) - len(args.defaults) :]) if args.defaults else set()
    keyword_only = {
        each.arg: default is not None for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    }
    optional |= {name for name, has_default in keyword_only.items() if has_default}
    names = [*positional, *keyword_only]
    return _Parameters(names, set(names) - optional)
