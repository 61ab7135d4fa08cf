"""The gold test functions of one file, from its syntax tree and the diff. Reads no other file.

A test is gold if its own lines are added or changed, or if something of the same file that it uses has
changed: a fixture, a helper, a constant, a set-up method or an attribute of its class. Changed imports make
nothing gold.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from stalebench.syntax import Definition, Kind, changed_lines, definitions, owners, parse

SET_UPS: Final = frozenset(
    {
        *("setUp", "tearDown", "setUpClass", "tearDownClass", "setUpTestData", "asyncSetUp", "asyncTearDown"),
        *("setup", "teardown", "setup_method", "teardown_method", "setup_class", "teardown_class"),
    }
)


def gold_functions(old: bytes | None, new: bytes, runner: str) -> set[str]:
    """Qualified names of the gold test functions of the new version. Raises SyntaxError."""
    module = _Module(new, runner)
    try:
        changed = module.changed_since(old or b"")
    except SyntaxError:  # the old version does not parse: all of the new one counts as changed
        changed = module.changed_since(b"")
    direct = module.tests & changed
    if direct == changed:
        return direct
    return direct | {name for name in module.tests - direct if module.uses(name) & changed}


class _Module:
    """A test module: its tests, and what each of its definitions uses of the same file."""

    def __init__(self, source: bytes, runner: str) -> None:
        self.source = source
        self.found = definitions(source)
        self.classes = {item.name: item for item in self.found if item.kind is Kind.CLASS}
        self.tests = {item.name for item in self.found if self._is_test(item, runner)}
        self.constants = _constants(source)
        self._by_name = {item.name: item for item in self.found}
        self._by_short = self._all_short()
        self._used: dict[str, set[str]] = {}
        self._families: dict[str, set[str]] = {}

    def uses(self, name: str) -> frozenset[str]:
        """What a definition uses of this file, also through others: names as `changed_since` has them."""
        seen: set[str] = set()
        left = [name]
        while left:
            for used in self._directly_used(left.pop()):
                if used not in seen:
                    seen.add(used)
                    left.append(used)
        return frozenset(seen)

    def changed_since(self, old: bytes) -> set[str]:
        """Definitions and module-level or class-level names whose lines differ. Raises SyntaxError."""
        removed, added = changed_lines(old, self.source)
        before, after = owners(old), owners(self.source)
        old_names, new_names = _constants(old), self.constants
        changed = {after[line] for line in added} | {before[line] for line in removed}
        changed |= {new_names[line] for line in added if line in new_names}
        changed |= {old_names[line] for line in removed if line in old_names}
        heads = {f"{name}:head" for name in self._changed_heads(added)}
        return (changed - {""} - self.classes.keys()) | heads

    def _changed_heads(self, added: Iterable[int]) -> Iterator[str]:
        """Classes whose bases or decorators differ."""
        for name, item in self.classes.items():
            first = item.node.body[0].lineno if item.node.body else item.end
            if any(item.start <= line < first for line in added):
                yield name

    def _is_test(self, item: Definition, runner: str) -> bool:
        short = item.name.rpartition(".")[2]
        if item.kind is not Kind.FUNCTION or not short.startswith("test"):
            return False
        if not item.owner:
            return runner == "pytest" and not _is_fixture(item)
        return True

    def _all_short(self) -> dict[str, set[str]]:
        """The last part of a name → what is called so in this file."""
        by_short: dict[str, set[str]] = {}
        for name in (*self._by_name, *self.constants.values()):
            by_short.setdefault(name.rpartition(".")[2], set()).add(name)
        return by_short

    def _directly_used(self, name: str) -> set[str]:
        """What the body of a definition names of this file."""
        if name not in self._used:
            item = self._by_name.get(name)
            self._used[name] = self._named(item) if item else set()
        return self._used[name]

    def _named(self, item: Definition) -> set[str]:
        family = self._family(item.owner)
        named: set[str] = set()
        bare, attributes = _identifiers(item.node)
        for word in bare:
            called = self._by_short.get(word, ())
            named |= {name for name in called if "." not in name or _owner(name) in family}
        for word in attributes:
            named |= {name for name in self._by_short.get(word, ()) if _owner(name) in family}
        for owner in family if item.kind is Kind.FUNCTION else ():
            named |= {f"{owner}.{name}" for name in SET_UPS} & self._by_name.keys()
            named.add(f"{owner}:head")
        return named - {item.name}

    def _family(self, owner: str) -> set[str]:
        """A class with its bases and its subclasses, as far as they stand in this file."""
        if owner and owner not in self._families:
            up = _closure({owner}, self._bases)
            self._families[owner] = up | _closure({owner}, self._subclasses)
        return self._families.get(owner, set())

    def _subclasses(self, name: str) -> set[str]:
        return {other for other in self.classes if name in self._bases(other)}

    def _bases(self, name: str) -> set[str]:
        node = self.classes[name].node if name in self.classes else None
        bases = node.bases if isinstance(node, ast.ClassDef) else []
        return {base.id for base in bases if isinstance(base, ast.Name) and base.id in self.classes}


def _closure(start: set[str], step: Callable[[str], set[str]]) -> set[str]:
    """All that can be reached."""
    reached, left = set(start), list(start)
    while left:
        new = step(left.pop()) - reached
        reached |= new
        left += new
    return reached


def _owner(name: str) -> str:
    return name.rpartition(".")[0]


def _is_fixture(item: Definition) -> bool:
    marks = [mark.func if isinstance(mark, ast.Call) else mark for mark in item.node.decorator_list]
    return any(ast.unparse(mark).rpartition(".")[2] == "fixture" for mark in marks)


def _identifiers(node: ast.AST) -> tuple[set[str], set[str]]:
    """Bare names (arguments, and names in the strings of decorators, are fixtures), and attributes."""
    bare: set[str] = set()
    attributes: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            bare.add(part.id)
        elif isinstance(part, ast.arg):
            bare.add(part.arg)
        elif isinstance(part, ast.Attribute):
            attributes.add(part.attr)
    for decorator in getattr(node, "decorator_list", []):
        strings = (part.value for part in ast.walk(decorator) if isinstance(part, ast.Constant))
        bare |= {value for value in strings if isinstance(value, str) and value.isidentifier()}
    return bare, attributes


def _constants(source: bytes) -> dict[int, str]:
    """Line → the name that an assignment on it gives a value to, at module level or in a class body."""
    found: dict[int, str] = {}
    tree = parse(source)
    bodies = [("", tree.body)]
    bodies += [
        (item.name, item.node.body) for item in definitions(source) if isinstance(item.node, ast.ClassDef)
    ]
    for owner, body in bodies:
        for node in body:
            for name in _targets(node):
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                found |= dict.fromkeys(lines, f"{owner}.{name}" if owner else name)
    return found


def _targets(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
