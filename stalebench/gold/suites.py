"""Suites of a pull: its gold functions, and every test of the files that it touches. Runs nothing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from stalebench.compose.objects import Change, Objects
from stalebench.compose.patch import Patch
from stalebench.gold.functions import gold_functions
from stalebench.records import Suite
from stalebench.spec import Spec
from stalebench.suites import suite
from stalebench.syntax import Kind, definitions, touched


def gold_suite(objects: Objects, spec: Spec, patch: Patch, tree: str) -> Suite:
    """The test functions that a test patch adds or changes, as they stand in `tree`, where it is composed.

    `files` are the modules that collect them; for a method of a class that only other modules collect, these.
    """
    functions: set[str] = set()
    files: set[str] = set()
    for change in patch.changes:
        names = _gold_in(objects, spec, change, tree)
        if names:
            functions |= {f"{change.path}::{name}" for name in names}
            files |= _collecting(objects, spec, tree, change.path, names)
    return suite(files, functions) if files else suite((), ())


def touched_suite(objects: Objects, spec: Spec, patches: Sequence[Patch], tree: str) -> Suite:
    """Every test of each test module that the patches touch, and of each module that uses what they touch."""
    paths = sorted({change.path for patch in patches for change in patch.changes if change.new})
    files = {path for path in paths if spec.is_test_module(path) and objects.find(tree, path)}
    for patch in patches:
        for change in patch.changes:
            if not spec.is_test_module(change.path):
                files |= set(_users(objects, spec, tree, change))
    return suite(files, None)


def _gold_in(objects: Objects, spec: Spec, change: Change, tree: str) -> set[str]:
    """The gold functions of one changed file that are there in the tree."""
    there = objects.find(tree, change.path)
    if change.new is None or there is None or not change.path.endswith(".py"):
        return set()
    old = objects.blob(change.old.id) if change.old else None
    try:
        names = gold_functions(old, objects.blob(change.new.id), spec.runner)
        return names & {item.name for item in definitions(objects.blob(there.id))}
    except SyntaxError:
        return set()


def _collecting(objects: Objects, spec: Spec, tree: str, path: str, names: set[str]) -> set[str]:
    """The file itself if it is collected, else the modules near it that name one of the tests' classes."""
    if spec.is_test_module(path):
        return {path}
    owners = {name.partition(".")[0] for name in names if "." in name}
    return {module for module, content in _modules(objects, spec, tree, path) if _mentions(content, owners)}


def _users(objects: Objects, spec: Spec, tree: str, change: Change) -> Iterator[str]:
    """The test modules that use a changed conftest, helper module or data file."""
    words = _words(objects, change)
    for module, content in _modules(objects, spec, tree, change.path):
        if _mentions(content, words):
            yield module


def _words(objects: Objects, change: Change) -> set[str]:
    """What a user of the file has to write: a conftest's fixtures, a module's name, a data file's name."""
    name = posixpath.basename(change.path)
    if not name.endswith(".py"):
        return {name}
    if name != "conftest.py":
        return {posixpath.basename(posixpath.dirname(change.path)) if name == "__init__.py" else name[:-3]}
    old = objects.blob(change.old.id) if change.old else None
    new = objects.blob(change.new.id) if change.new else None
    try:
        functions = {d.name for d in definitions(new or b"") if d.kind is Kind.FUNCTION}
    except SyntaxError:
        return set()
    return touched(old, new) & functions


def _modules(objects: Objects, spec: Spec, tree: str, path: str) -> Iterator[tuple[str, bytes]]:
    """The test modules below the folder of a file, with their content: those that can use it."""
    folder = posixpath.dirname(path)
    top = objects.find(tree, folder) if folder else None
    if folder and (top is None or not top.is_folder):
        return
    for module, entry in objects.files(top.id if top else tree, f"{folder}/" if folder else ""):
        if spec.is_test_module(module):
            yield module, objects.blob(entry.id)


def _mentions(content: bytes, words: Iterable[str]) -> bool:
    """Whether one of the words stands in a text as a word of its own."""
    patterns = [re.escape(word.encode()) for word in words if word]
    return bool(patterns) and re.search(rb"\b(?:" + b"|".join(patterns) + rb")\b", content) is not None
