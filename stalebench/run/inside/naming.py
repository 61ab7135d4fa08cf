"""Names of tests and of the functions behind them. Runs no test.

A test is named by the file and class that collect it, a function by the file and qualified name of the
Python function itself, whatever decorates, inherits or parametrises it.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
from collections import Counter
from typing import Any, Callable, Dict, List, Optional, Set

_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
_DEPTH = 100


class Namer:
    """Gives each test an id that is the same in every run, and no two tests the same one."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()
        self._given: Set[str] = set()

    def name(self, raw: str) -> str:
        """The id with memory addresses blanked; the second of one name gets `#2`, in order of collection."""
        steady = _ADDRESS.sub("at 0x0", raw)
        while True:
            self._seen[steady] += 1
            count = self._seen[steady]
            name = steady if count == 1 else "{}#{}".format(steady, count)
            if name not in self._given:
                self._given.add(name)
                return name


class Tree:
    """The checkout, for telling which of its files something comes from."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._known: Dict[str, Optional[str]] = {}

    def relative(self, path: Any) -> Optional[str]:
        """The path from the root, with `/`; None for a file that is not in the checkout."""
        if not isinstance(path, str):
            return None
        if path not in self._known:
            real = os.path.realpath(os.path.join(self.root, path))
            inside = real.startswith(self.root + os.sep)
            self._known[path] = os.path.relpath(real, self.root).replace(os.sep, "/") if inside else None
        return self._known[path]

    def module(self, name: str) -> Optional[str]:
        """The file of a loaded module."""
        return self.relative(getattr(sys.modules.get(name), "__file__", None))


def underlying(test: Any) -> Any:
    """The function as written, beneath decorators that say what they wrap."""
    for layer in layers(test):
        test = layer
    return test


def layers(test: Any) -> List[Any]:
    """The function that is called, then what each wrapper wraps, down to the function as written."""
    found: List[Any] = []
    while test is not None and len(found) < _DEPTH and not any(test is other for other in found):
        found.append(test)
        test = _within(test)
    return found


def _within(test: Any) -> Any:
    if isinstance(test, functools.partial):
        return test.func
    if inspect.ismethod(test):
        return test.__func__
    attributes = getattr(test, "__dict__", {})
    if not isinstance(attributes, dict):
        return None
    hypothesis = attributes.get("hypothesis")
    return attributes.get("__wrapped__") or getattr(hypothesis, "inner_test", None)


def functions(tree: Tree, test: Any, owner: Optional[type], attribute: str, module: str) -> List[str]:
    """What the function behind a test may be called, the best name first.

    First the name that the unwrapped function gives itself; then the place where the class or module that
    holds the test defines it, for a decorator that hides what it wraps.
    """
    names = [_by_itself(tree, underlying(test)), _by_place(tree, owner, attribute, module)]
    kept = [name for name in names if name is not None]
    plain = [name for name in kept if "<locals>" not in name]
    return plain + [name for name in kept if name not in plain]


def _by_itself(tree: Tree, function: Any) -> Optional[str]:
    name = getattr(function, "__qualname__", None)
    code = getattr(function, "__code__", None)
    if not isinstance(name, str) or code is None:
        return None
    path = tree.relative(function.__globals__.get("__file__")) or tree.relative(code.co_filename)
    return "{}::{}".format(path, name) if path else None


def _by_place(tree: Tree, owner: Optional[type], attribute: str, module: str) -> Optional[str]:
    if owner is None:
        return "{}::{}".format(module, attribute)
    for ancestor in owner.__mro__:
        if attribute in vars(ancestor):
            path = tree.module(ancestor.__module__) or module
            return "{}::{}.{}".format(path, ancestor.__qualname__, attribute)
    return None


Selected = Callable[[List[str]], Optional[str]]


def selection(wanted: Optional[List[str]]) -> Selected:
    """A rule that tells under which of its function's names a test is wanted, or None if it is not."""
    if wanted is None:
        return lambda names: names[0] if names else ""
    listed = frozenset(wanted)
    return lambda names: next((name for name in names if name in listed), None)
