"""A test module taken apart: its tests, and what each of its definitions uses of the same file.

Names are qualified as Python does; `Class:head` stands for the decorators and bases of a class, and
`Class:new` for that it is there at all: a new class runs the tests that it inherits, a changed one ran them.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from stalebench.gold.words import Words, is_autouse, is_fixture, words_of
from stalebench.syntax import BLOCKS, Definition, Kind, definitions, nested, own_lines, parse

OF_CLASS: Final = frozenset(
    {
        *("setUp", "tearDown", "setUpClass", "tearDownClass", "setUpTestData", "asyncSetUp", "asyncTearDown"),
        *("setup", "teardown", "setup_method", "teardown_method", "setup_class", "teardown_class"),
    }
)
OF_MODULE: Final = frozenset(
    {
        *("setUpModule", "tearDownModule", "setup_module", "teardown_module"),
        *("setup_function", "teardown_function"),
    }
)


def parts(source: bytes) -> dict[str, list[bytes]]:
    """The lines of each function, class head and name with a value, to compare. Raises SyntaxError."""
    found = definitions(source)
    classes = {item.name for item in found if item.kind is Kind.CLASS}
    lines = source.splitlines()
    texts: dict[str, list[bytes]] = defaultdict(list)
    for name, own in own_lines(source).items():
        if name and name not in classes:
            texts[name] += own
    for name, first, last in (*_heads(found), *_values(source)):
        texts[name] += [line for line in lines[first - 1 : last] if line.strip()]
    return dict(texts)


def _heads(found: Iterable[Definition]) -> Iterator[tuple[str, int, int]]:
    for item in found:
        if isinstance(item.node, ast.ClassDef):
            body = item.node.body[0]
            first = min([body.lineno, *(mark.lineno for mark in getattr(body, "decorator_list", []))])
            bases = [*item.node.bases, *(word.value for word in item.node.keywords)]
            ends = [item.node.lineno, *(base.end_lineno or 0 for base in bases)]
            yield f"{item.name}:head", item.start, min(max(ends), max(first - 1, item.node.lineno))


def _values(source: bytes) -> Iterator[tuple[str, int, int]]:
    """Names that are given a value or changed in place, at the top level and in classes, with their lines."""
    bodies = [("", parse(source).body)]
    bodies += [
        (item.name, item.node.body) for item in definitions(source) if isinstance(item.node, ast.ClassDef)
    ]
    for owner, body in bodies:
        for node in _statements(body):
            for name in _named(node):
                yield f"{owner}.{name}" if owner else name, node.lineno, node.end_lineno or node.lineno


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, BLOCKS):
            yield from _statements(nested(node))
        else:
            yield node


def _named(node: ast.stmt) -> set[str]:
    """The names that `x = ..`, `x += ..`, `x[..] = ..` and `x.append(..)` are about."""
    if isinstance(node, ast.Assign):
        targets: list[ast.expr] = node.targets
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        targets = [node.target]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        targets = [function.value] if isinstance(function, ast.Attribute) else []
        return {target.id for target in targets if isinstance(target, ast.Name)} - {"pytest", "warnings"}
    else:
        return set()
    return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}


class TestModule:
    """A module's tests, and what they use of it."""

    __test__ = False

    def __init__(self, source: bytes, runner: str) -> None:
        self._runner = runner
        self._source = source
        self._by_name = {item.name: item for item in definitions(source)}
        self._classes = {name: item for name, item in self._by_name.items() if item.kind is Kind.CLASS}
        self._fixtures = self._all_fixtures()
        self.tests = {name for name, item in self._by_name.items() if self._is_test(item)}
        self.names = self._by_name.keys() | {name for name, _, _ in _values(source)}
        self._members = self._all_members()
        self._used: dict[str, set[str]] = {}
        self._families: dict[str, set[str]] = {}

    def uses(self, name: str) -> set[str]:
        """All that a definition uses of this file, also through others."""
        return _closure(self._directly_used(name), self._directly_used)

    def in_effect(self, changed: set[str]) -> set[str]:
        """What a change of these parts comes to: an attribute that nobody reads concerns its whole class.

        So does a set-up method that is gone. A base class or a framework reads them.
        """
        found = set(changed)
        for name in changed:
            owner, _, short = name.rpartition(".")
            unread = name not in self._by_name and short not in self._all_words
            if owner in self._classes and (unread or (short in OF_CLASS and name not in self.names)):
                found.add(f"{owner}:head")
        return found

    @cached_property
    def _all_words(self) -> set[str]:
        walked = list(ast.walk(parse(self._source)))
        loaded = {part.id for part in walked if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
        return loaded | {part.attr for part in walked if isinstance(part, ast.Attribute)}

    def _is_test(self, item: Definition) -> bool:
        short = item.name.rpartition(".")[2]
        if item.kind is not Kind.FUNCTION or not short.startswith("test") or is_fixture(item.node):
            return False
        return bool(item.owner) or self._runner == "pytest"

    def _all_fixtures(self) -> dict[str, set[str]]:
        """What fixtures are called → the functions, which mostly have the same name."""
        found: dict[str, set[str]] = defaultdict(set)
        for name, item in self._by_name.items():
            called = is_fixture(item.node)
            if called:
                found[called].add(name)
        return found

    def _all_members(self) -> dict[str, set[str]]:
        """Class → what stands in it, nested classes and all."""
        members: dict[str, set[str]] = defaultdict(set)
        for name in self.names:
            owner = _owner(name)
            while owner:
                members[owner].add(name)
                owner = _owner(owner)
        return members

    def _directly_used(self, name: str) -> set[str]:
        if name not in self._used:
            item = self._by_name.get(name)
            if item is not None:
                found = self._of_class(item) if item.kind is Kind.CLASS else self._of_function(item)
                self._used[name] = found - {name}
            else:
                self._used[name] = self._of_value(name)
        return self._used[name]

    def _of_value(self, name: str) -> set[str]:
        """A name with a value uses what the statements that give it are made of."""
        return self._at_top(self._value_words.get(name, set())) - {name}

    @cached_property
    def _value_words(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for node in _statements(parse(self._source).body):
            for name in _named(node):
                found[name] |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        return found

    def _of_class(self, item: Definition) -> set[str]:
        """Who names a class uses all of it; a class of tests is named for its bases or by `super`."""
        if self._members[item.name] & self.tests:
            return set()
        words = words_of(item.node)
        return self._at_top(words.names) | self._members[item.name] | {f"{item.name}:head"}

    def _of_function(self, item: Definition) -> set[str]:
        words = words_of(item.node)
        used = self._at_top(words.names) | self._used_fixtures(item, words)
        used |= {name for name in (f"{item.owner}.{word}" for word in words.decorating) if name in self.names}
        for owner in self._family(item.owner):
            used |= {name for name in (f"{owner}.{word}" for word in words.own) if name in self.names}
        if item.name not in self.tests:
            return used
        used |= {f"{owner}:new" for owner in self._family(item.owner)}
        for owner in _closure({item.owner}, self._bases) if item.owner else ():
            used |= {f"{owner}.{word}" for word in OF_CLASS} & self._by_name.keys()
            used.add(f"{owner}:head")
        return used | (OF_MODULE & self._by_name.keys())

    def _used_fixtures(self, item: Definition, words: Words) -> set[str]:
        scopes = {"", *self._family(item.owner)}
        named = {name for word in words.fixtures for name in self._fixtures.get(word, ())}
        automatic = {name for names in self._fixtures.values() for name in names if self._is_automatic(name)}
        return {name for name in named | automatic if _owner(name) in scopes}

    def _is_automatic(self, name: str) -> bool:
        return is_autouse(self._by_name[name].node)

    def _at_top(self, words: set[str]) -> set[str]:
        return {word for word in words & self.names if word not in self.tests}

    def _family(self, owner: str) -> set[str]:
        """A class with its bases and its subclasses, as far as they stand in this file."""
        if owner and owner not in self._families:
            up = _closure({owner}, self._bases)
            self._families[owner] = up | _closure({owner}, self._subclasses)
        return self._families.get(owner, set())

    def _subclasses(self, name: str) -> set[str]:
        return {other for other in self._classes if name in self._bases(other)}

    def _bases(self, name: str) -> set[str]:
        node = self._classes[name].node if name in self._classes else None
        bases = node.bases if isinstance(node, ast.ClassDef) else []
        return {base.id for base in bases if isinstance(base, ast.Name) and base.id in self._classes}


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
