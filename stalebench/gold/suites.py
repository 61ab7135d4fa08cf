"""Suites of a pull: its gold functions, and every test of the files that it touches. Runs nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from stalebench.compose.objects import Change, Objects
from stalebench.compose.patch import Patch
from stalebench.gold.files import TestFiles, mentions
from stalebench.gold.functions import changed_and_users, gold_functions
from stalebench.records import Suite
from stalebench.spec import Spec
from stalebench.suites import suite
from stalebench.syntax import definitions, parse


def gold_suite(objects: Objects, spec: Spec, patch: Patch, tree: str) -> Suite:
    """The test functions that a test patch adds or changes, as they stand in `tree`, where it is composed.

    `files` are the modules that collect them: their own, and those with subclasses of their classes. What no
    module collects is not gold. A patch of test data alone has no gold functions.
    """
    functions: set[str] = set()
    files: set[str] = set()
    for change in patch.changes:
        names = _gold_in(objects, spec, change, tree)
        collecting = _collecting(TestFiles(objects, spec, tree), change.path, names) if names else set()
        if collecting:
            functions |= {f"{change.path}::{name}" for name in names}
            files |= collecting
    return suite(files, functions)


def unparsed(objects: Objects, patch: Patch) -> tuple[str, ...]:
    """The Python files of a test patch that this Python cannot parse: no test of theirs is known."""
    found = []
    for change in patch.changes:
        if change.new is not None and change.path.endswith(".py"):
            try:
                parse(objects.blob(change.new.id))
            except SyntaxError:
                found.append(change.path)
    return tuple(found)


def touched_suite(objects: Objects, spec: Spec, patches: Sequence[Patch], tree: str) -> Suite:
    """Every test of each test module that the patches touch, and of each module that uses what they touch.

    Hooks of a conftest, and its fixtures that every test uses, are used by none in particular.
    """
    files: set[str] = set()
    for change in (change for patch in patches for change in patch.changes):
        if not spec.is_test_module(change.path):
            files |= set(_users(objects, TestFiles(objects, spec, tree), change))
        elif objects.find(tree, change.path):
            files.add(change.path)
    return suite(files, None)


def _gold_in(objects: Objects, spec: Spec, change: Change, tree: str) -> set[str]:
    """The gold functions of one changed file that are there in the tree."""
    there = objects.find(tree, change.path)
    if change.new is None or there is None or not change.path.endswith(".py"):
        return set()
    try:
        names = gold_functions(_content(objects, change)[0], objects.blob(change.new.id), spec.runner)
        return names & {item.name for item in definitions(objects.blob(there.id))} if names else names
    except SyntaxError:
        return set()


def _content(objects: Objects, change: Change) -> tuple[bytes | None, bytes | None]:
    """Both versions of a changed file."""
    old, new = (objects.blob(entry.id) if entry else None for entry in (change.old, change.new))
    return old, new


def _collecting(files: TestFiles, path: str, names: set[str]) -> set[str]:
    """The modules that collect a file's tests: itself if it is one, and where they are inherited."""
    own = {path} if files.is_module(path) else set()
    classes = {name.partition(".")[0] for name in names if "." in name}
    return own | {other for other in files.inheriting(path, classes) if files.is_module(other)}


def _users(objects: Objects, files: TestFiles, change: Change) -> Iterator[str]:
    """The test modules that use a changed conftest, helper module or data file."""
    if not change.path.endswith(".py"):
        yield from files.naming(change.path)
        return
    old, new = _content(objects, change)
    try:
        words = changed_and_users(old, new or b"")
    except SyntaxError:
        words = set()
    folder, _, name = change.path.rpartition("/")
    if name == "conftest.py":
        yield from (path for path, content in files.modules(folder) if mentions(content, words))
        return
    yield from files.importing(change.path, words)
    if name != "__init__.py":  # also by a dotted name in a string, as Django's settings and URLs
        stem = posixpath.splitext(name)[0]
        yield from (path for path, content in files.modules(folder) if mentions(content, {stem}))
