"""The gate of an environment: the project imports in it, and its runner finds at least one test.

Decides whether an environment may give outcomes at all, so that a broken one never becomes a verdict.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from stalebench.compose.objects import Objects
from stalebench.environments.built import Built
from stalebench.errors import EnvironmentBroken, RunBroken
from stalebench.spec import Spec
from stalebench.suites import suite

MODULES_TRIED = 6
SECONDS = 300.0


def passed(built: Built, spec: Spec, objects: Objects, commit: str, folder: Path) -> dict[str, str]:
    """What passed: the commit, and the module whose tests were found. Raises EnvironmentBroken."""
    from stalebench.run.checkout import Checkout  # noqa: PLC0415 - run needs environments, not the reverse

    tree = objects.tree_of(commit)
    try:
        with Checkout(folder) as checkout:
            checkout.switch(objects, tree)
            _install(built, checkout.root)
            _imports(built, spec, checkout.root)
            module = _collects(built, spec, objects, tree, checkout)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"commit": commit, "module": module}


def warm_matplotlib(python: Path, folder: Path) -> None:
    """Fill matplotlib's font cache once, since each run begins with an empty home."""
    folder.mkdir(parents=True, exist_ok=True)
    variables = {
        "MPLCONFIGDIR": str(folder),
        "MPLBACKEND": "Agg",
        "HOME": str(folder),
        "PATH": "/usr/bin:/bin",
    }
    code = "import matplotlib.font_manager"
    try:
        subprocess.run([python, "-c", code], env=variables, capture_output=True, timeout=SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvironmentBroken(
            f"matplotlib does not import: {error}",
            "versions that do not fit each other",
            "mend the recipe's pins",
        ) from error


def _install(built: Built, root: Path) -> None:
    for command in built.record.install:
        _sandboxed(built, ["sh", "-c", command], root, f"the install command `{command}`")


def _imports(built: Built, spec: Spec, root: Path) -> None:
    if spec.import_name:
        code = f"import sys; sys.path[:0] = ['src', 'lib', '.']; import {spec.import_name}"
        _sandboxed(built, [built.python, "-c", code], root, f"`import {spec.import_name}`")


def _sandboxed(built: Built, command: list[str | Path], root: Path, what: str) -> None:
    from stalebench.run.process import Ending, Process, ProcessLimits, environment  # noqa: PLC0415

    variables = environment(built.python, built.variables)
    limits = ProcessLimits(wall_seconds=SECONDS)
    writable = [root, built.python.parent.parent] if command[0] == "sh" else [root]
    with Process(command, cwd=root, env=variables, writable=writable, limits=limits) as process:
        status = process.wait()
    if status is None or status.ending is not Ending.EXITED or status.code != 0:
        last = "\n".join(status.output.strip().splitlines()[-8:]) if status else ""
        raise EnvironmentBroken(
            f"{what} fails in the environment:\n{last}",
            "a package is missing from the recipe, or is too new or too old for that commit",
            "mend the recipe of that date in the specification",
        )


def _collects(built: Built, spec: Spec, objects: Objects, tree: str, checkout: object) -> str:
    """The first of the smallest test modules of which a test runs to an outcome."""
    from stalebench.run.checkout import Checkout  # noqa: PLC0415
    from stalebench.run.session import run  # noqa: PLC0415

    assert isinstance(checkout, Checkout)  # noqa: S101 - named late, to keep the import inside
    tried = _smallest(spec, objects, tree)
    said = ""
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
        "the recipe lacks a package that the tests import, or the specification's test globs are wrong",
        "mend the recipe or the globs",
    )


def _smallest(spec: Spec, objects: Objects, tree: str) -> list[str]:
    """The smallest test modules that are not next to empty."""
    modules = [(path, entry) for path, entry in objects.files(tree) if spec.is_test_module(path)]
    sized = sorted(
        (len(objects.blob(entry.id)), path) for path, entry in modules[:: max(1, len(modules) // 60)]
    )
    return [path for size, path in sized if size > 300][:MODULES_TRIED]  # noqa: PLR2004 - next to empty
