"""The gate of an environment: the project imports in it, and its runner finds at least one test.

Decides whether an environment may give outcomes at all, so that a broken one never becomes a verdict.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stalebench.compose.objects import Objects
from stalebench.environments.built import Built
from stalebench.environments.sandboxed import refusal
from stalebench.errors import EnvironmentBroken, RunBroken
from stalebench.spec import Spec
from stalebench.suites import suite

if TYPE_CHECKING:
    from stalebench.run.checkout import Checkout

MODULES_TRIED: Final = 6
MODULES_SIZED: Final = 60
NEXT_TO_EMPTY: Final = 300
"""Bytes below which a module hardly holds a test."""

COMPILED: Final = ("meson.build", "CMakeLists.txt", "Cargo.toml", "build.rs")


def gate(built: Built, spec: Spec, objects: Objects, commit: str, folder: Path) -> str:
    """The module of which a test was found. Raises EnvironmentBroken where the environment does not do.

    `folder` is for a checkout of the commit, and is removed again.
    """
    from stalebench.run.checkout import Checkout  # noqa: PLC0415 - run needs environments, not the reverse

    tree = objects.tree_of(commit)
    try:
        with Checkout(folder) as checkout:
            checkout.switch(objects, tree)
            _imports(built, spec, objects, tree, checkout.root)
            return _collects(built, spec, objects, tree, checkout)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _imports(built: Built, spec: Spec, objects: Objects, tree: str, root: Path) -> None:
    code = f"import sys; sys.path[:0] = ['src', 'lib', '.']; import {spec.import_name}"
    told = refusal([built.python, "-c", code], built.python, built.variables, root)
    if told is None:
        return
    needs_building = _compiled_parts(objects, tree)
    if needs_building:
        raise EnvironmentBroken(
            f"`import {spec.import_name}` fails, and parts of it must be built ({needs_building}):\n{told}",
            "projects are imported from their checkout, where nothing has been compiled",
            "such a project needs `install` commands in its recipe, and an import that finds what they build",
        )
    raise EnvironmentBroken(
        f"`import {spec.import_name}` fails in the environment:\n{told}",
        "a package is missing, or is too new or too old for that commit",
        "mend the recipe of that date in the specification",
    )


def _collects(built: Built, spec: Spec, objects: Objects, tree: str, checkout: Checkout) -> str:
    """The first of the smallest test modules of which a test has an outcome."""
    from stalebench.run.session import run  # noqa: PLC0415

    tried, said = _smallest(spec, objects, tree), ""
    for module in tried:
        try:
            found = run(objects, tree, suite([module], None), built, spec, checkout)
        except RunBroken as error:
            said = error.message
            continue
        if found.results:
            return module
        said = "\n".join(text for _, text in found.unloaded) or said
    raise EnvironmentBroken(
        f"no test is collected in {', '.join(tried) or 'the tree, which has no test module'}:\n{said}",
        "the environment lacks a package that the tests import, or the specification's globs are wrong",
        "mend the recipe of that date, or the globs, in the specification",
    )


def _smallest(spec: Spec, objects: Objects, tree: str) -> list[str]:
    """The smallest test modules that are not next to empty, out of some that are spread over the tree."""
    modules = [(path, entry) for path, entry in objects.files(tree) if spec.is_test_module(path)]
    spread = modules[:: max(1, len(modules) // MODULES_SIZED)]
    sized = sorted((len(objects.blob(entry.id)), path) for path, entry in spread)
    full = [path for size, path in sized if size > NEXT_TO_EMPTY]
    return (full or [path for _, path in sized])[:MODULES_TRIED]


def _compiled_parts(objects: Objects, tree: str) -> str:
    """A file that tells that a project has compiled parts; empty where none does."""
    for path, _ in objects.files(tree):
        if path in COMPILED or path.endswith((".pyx", ".pxd")):
            return path
    entry = objects.find(tree, "setup.py")
    if entry is not None and not entry.is_folder and b"ext_modules" in objects.blob(entry.id):
        return "setup.py"
    return ""
