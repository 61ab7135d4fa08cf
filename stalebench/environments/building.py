"""Makes one environment in its folder: interpreter, packages, metadata, install commands.

Keeps nothing in mind and holds no lock; a folder counts as made once it has its mark.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from stalebench.compose.objects import Objects
from stalebench.environments import fonts, metadata, uv
from stalebench.environments.failures import OutOfReach, explained
from stalebench.environments.ladder import Plan
from stalebench.environments.sandboxed import refusal
from stalebench.errors import EnvironmentBroken, RunBroken
from stalebench.whole import write_whole

MARK: Final = "complete.json"
_SHELL: Final = "import os, sys; os.execvp('sh', ['sh', '-ec', sys.argv[1]])"


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a plan comes to on this machine: the exact packages, and the date that bounds them."""

    python: str
    packages: tuple[str, ...]
    newest: str | None


def resolve(plan: Plan, python: Path, version: str) -> Resolved:
    """Choose the packages of a plan, by the first of its bounds that has a solution."""
    *first, last = plan.newest
    for newest in first:
        try:
            packages = uv.resolve(plan.packages, python, newest, plan.constraints)
        except OutOfReach:
            raise
        except EnvironmentBroken:
            continue
        return Resolved(version, packages, newest)
    return Resolved(version, uv.resolve(plan.packages, python, last, plan.constraints), last)


def is_built(folder: Path) -> bool:
    """Whether the folder holds an environment from its interpreter to its mark."""
    return (folder / MARK).is_file() and interpreter(folder).exists()


def interpreter(folder: Path) -> Path:
    """The Python of an environment."""
    return folder / "venv" / "bin" / "python"


def build(plan: Plan, resolved: Resolved, base: Path, folder: Path, objects: Objects) -> None:
    """Make the environment, in place of whatever is left there. Raises EnvironmentBroken."""
    with writing(folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        python = uv.create(folder / "venv", base)
        uv.install(resolved.packages, python)
        frozen = uv.freeze(python)
        if plan.metadata is not None:
            metadata.write(plan.metadata, folder / "venv")
        if any(package.startswith("matplotlib==") for package in frozen):
            fonts.prepare(python, folder / "venv")
        if plan.commit is not None:
            _run_install_commands(plan, python, objects, folder)
        write(folder / MARK, {"rung": plan.rung, "frozen": frozen, "uv": uv.run(["--version"]).strip()})


def _run_install_commands(plan: Plan, python: Path, objects: Objects, folder: Path) -> None:
    """Run them in a checkout, without the network: what they build with must be among the packages."""
    from stalebench.run.checkout import Checkout  # noqa: PLC0415 - run needs environments, not the reverse

    assert plan.commit is not None  # noqa: S101 - for the type checker
    place = folder / "install"
    try:
        with Checkout(place) as checkout:
            checkout.switch(objects, objects.tree_of(plan.commit))
            for command in plan.install:
                # Through the interpreter, so that the sandbox shows what the environment rests on.
                through: list[str | Path] = [python, "-c", _SHELL, command]
                told = refusal(through, python, plan.env, checkout.root, folder / "venv")
                if told is not None:
                    raise EnvironmentBroken(
                        f"the install command `{command}` failed:\n{told}",
                        "it needs the network, which it does not get, or a compiler that is not here",
                        "name what it builds with in the recipe's packages, and build without isolation",
                    )
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turns what the file system or the sandbox refuses into EnvironmentBroken."""
    try:
        yield
    except OSError as error:
        raise explained(f"writing {folder}", str(error)) from error
    except RunBroken as error:
        raise OutOfReach(error.message, error.cause, error.fix) from error


def write(path: Path, content: Any) -> None:
    """Write JSON so that the file appears whole or not at all, whoever else writes it."""
    write_whole(path, (json.dumps(content, indent=1, sort_keys=True) + "\n").encode())
