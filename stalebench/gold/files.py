"""The test files of a tree: which of them inherit, import or name what stands in another. Runs nothing.

A search for a word finds the few that are then parsed. Git ids name contents, so what was once found out
about a blob or a folder is kept by its id.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from stalebench.compose.caches import Recent
from stalebench.compose.objects import Objects
from stalebench.spec import Kind, Spec
from stalebench.syntax import parse

_BASES: Final = re.compile(rb"^[ \t]*class\s+\w+\s*\(([^)]*)\)", re.MULTILINE)
_RENAMED: Final = re.compile(rb"\b(\w+)[ \t]+as[ \t]+\w+")
_WORD: Final = re.compile(rb"\w+")
_DATA: Final = frozenset({".json", ".xml", ".yaml", ".yml"})

_bases: Recent[str, frozenset[bytes]] = Recent(20_000)
_listed: Recent[tuple[str, str, str], tuple[tuple[str, str], ...]] = Recent(20_000)


def mentions(content: bytes, words: Iterable[str]) -> bool:
    """Whether one of the words stands in a text as a word of its own."""
    patterns = [re.escape(word.encode()) for word in words if word]
    return bool(patterns) and re.search(rb"\b(?:" + b"|".join(patterns) + rb")\b", content) is not None


class TestFiles:
    """The Python files among the tests of a tree."""

    __test__ = False

    def __init__(self, objects: Objects, spec: Spec, tree: str) -> None:
        self._objects = objects
        self._spec = spec
        self._tree = tree
        self._digest = spec.digest()

    def is_module(self, path: str) -> bool:
        """Whether a file is collected as a test module."""
        return self._spec.is_test_module(path)

    def modules(self, folder: str = "") -> Iterator[tuple[str, bytes]]:
        """The test modules below a folder, with their content."""
        for path, blob in self._below(folder):
            if self.is_module(path):
                yield path, self._objects.blob(blob)

    def inheriting(self, path: str, classes: set[str]) -> set[str]:
        """The files with subclasses of these classes of a file, also of subclasses."""
        found: set[str] = set()
        left = [(path, classes)]
        while left:
            source, names = left.pop()
            names = self._with_own_subclasses(source, names)
            words = frozenset(name.encode() for name in names)
            for other, blob in self._below("") if words else ():
                if other != source and other not in found and words & self._base_words(blob):
                    subclasses = _subclasses(self._objects.blob(blob), other, source, names)
                    if subclasses:
                        found.add(other)
                        left.append((other, subclasses))
        return found

    def _with_own_subclasses(self, path: str, names: set[str]) -> set[str]:
        """The classes of a file, and those of the same file that inherit from them."""
        entry = self._objects.find(self._tree, path)
        try:
            body = parse(self._objects.blob(entry.id)).body if entry else []
        except SyntaxError:
            return names
        found = set(names)
        for node in body:  # a base stands before its subclass
            if isinstance(node, ast.ClassDef) and found & {ast.unparse(base) for base in node.bases}:
                found.add(node.name)
        return found

    def importing(self, path: str, names: set[str]) -> Iterator[str]:
        """The test modules that import a file and have one of these words in them."""
        stem = posixpath.basename(posixpath.dirname(path) if path.endswith("/__init__.py") else path[:-3])
        for other, content in self.modules() if names else ():
            near = mentions(content, {stem}) or b"from ." in content
            if near and mentions(content, names) and _imports_file(content, other, path):
                yield other

    def naming(self, path: str) -> set[str]:
        """The test modules that name a data file, in the nearest folder around it that has any."""
        name = posixpath.basename(path)
        stem, kind = posixpath.splitext(name)
        words = {name, stem} if kind in _DATA and "/fixtures/" in path else {name}
        folder = path
        while folder:
            folder = posixpath.dirname(folder)
            found = {other for other, content in self.modules(folder) if mentions(content, words)}
            if found:
                return found
        return set()

    def _below(self, folder: str) -> tuple[tuple[str, str], ...]:
        """The Python files among the tests below a folder, with the ids of their contents."""
        entry = self._objects.find(self._tree, folder) if folder else None
        if folder and (entry is None or not entry.is_folder):
            return ()
        return self._listing(entry.id if entry else self._tree, f"{folder}/" if folder else "")

    def _listing(self, tree: str, prefix: str) -> tuple[tuple[str, str], ...]:
        key = (tree, prefix, self._digest)
        listed = _listed.get(key)
        if listed is None:
            listed = _listed[key] = tuple(self._listed_anew(tree, prefix))
        return listed

    def _listed_anew(self, tree: str, prefix: str) -> Iterator[tuple[str, str]]:
        for name, entry in self._objects.entries(tree).items():
            path = prefix + name
            if entry.is_folder:
                yield from self._listing(entry.id, f"{path}/")
            elif name.endswith(".py") and self._spec.kind(path) is Kind.TEST:
                yield path, entry.id

    def _base_words(self, blob: str) -> frozenset[bytes]:
        """The words in the bases of a file's classes, and what it imports by another name."""
        words = _bases.get(blob)
        if words is None:
            content = self._objects.blob(blob)
            found = [*_RENAMED.findall(content), *_BASES.findall(content)]
            words = _bases[blob] = frozenset(word for text in found for word in _WORD.findall(text))
        return words


def _imports_file(content: bytes, path: str, source: str) -> bool:
    """Whether the file at `path` imports the one at `source`, or something of it."""
    try:
        imported = _imports(content, path).values()
    except SyntaxError:
        return False
    return any(
        _is_file(module, source) or _is_file(_joined(module, name), source) for module, name in imported
    )


def _subclasses(content: bytes, path: str, source: str, names: set[str]) -> set[str]:
    """The classes of a file at `path` whose bases are the named classes of the file at `source`."""
    try:
        imported = _imports(content, path)
    except SyntaxError:
        return set()
    here = {word: name for word, (module, name) in imported.items() if _is_file(module, source)}
    aliases = {word for word, name in here.items() if name in names}
    modules = {word for word, (module, name) in imported.items() if _is_file(_joined(module, name), source)}
    if "*" in here.values():
        aliases |= names
    return {
        node.name
        for node in ast.walk(parse(content))
        if isinstance(node, ast.ClassDef)
        and any(_is_base(base, aliases, modules, names) for base in node.bases)
    }


def _is_base(base: ast.expr, aliases: set[str], modules: set[str], names: set[str]) -> bool:
    if isinstance(base, ast.Name):
        return base.id in aliases
    named = isinstance(base, ast.Attribute) and base.attr in names
    return named and ast.unparse(base).rpartition(".")[0] in modules


@lru_cache(maxsize=512)
def _imports(content: bytes, path: str) -> dict[str, tuple[str, str]]:
    """What a file imports: the word for it → the module, as a path, and the name. Raises SyntaxError."""
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(parse(content)):
        if isinstance(node, ast.Import):
            found |= {alias.asname or alias.name: (alias.name.replace(".", "/"), "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = _module(node, path)
            for alias in node.names:
                word = alias.asname or alias.name
                found[word if word != "*" else f"{module}/*"] = (module, alias.name)
    return found


def _module(node: ast.ImportFrom, path: str) -> str:
    """The module of an import as a path; one that starts at the top of the tree begins with a slash."""
    named = (node.module or "").replace(".", "/")
    if not node.level:
        return named
    folder = path
    for _ in range(node.level):
        folder = posixpath.dirname(folder)
    return posixpath.join("/" + folder, named).rstrip("/")


def _joined(module: str, name: str) -> str:
    return f"{module}/{name}" if name else module


def _is_file(module: str, path: str) -> bool:
    """Whether a module is the file at a path, wherever in the tree imports begin."""
    stem = "/" + path.removesuffix(".py").removesuffix("/__init__")
    return bool(module) and (stem == module if module.startswith("/") else stem.endswith("/" + module))
