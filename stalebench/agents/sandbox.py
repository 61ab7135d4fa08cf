"""What an agent sees of this machine, and what it may use of it. Starts nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from stalebench.agents import Budget
from stalebench.errors import UsageError
from stalebench.run.limits import ProcessLimits
from stalebench.run.process import environment
from stalebench.run.surroundings import interpreter_folders

_SYSTEM: Final = {
    "bin",
    "boot",
    "dev",
    "etc",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "nix",
    "opt",
    "sbin",
    "usr",
    "var",
}
_HANDLED: Final = {"home", "proc", "root", "run", "sys", "tmp"}
"""Folders that every process has covered anyhow, or that the kernel makes."""
_WITHOUT_LIMIT: Final = 7 * 86_400.0
_IDENTITY: Final = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "agent"), ("EMAIL", "agent@localhost"))
}
"""Some agents commit; the patch is taken from the work tree whether or not they do."""


def hidden_folders() -> list[Path]:
    """Folders of this machine that are no part of its system: datasets, clones and runs may lie there."""
    found = (path for path in Path("/").iterdir() if path.name not in _SYSTEM | _HANDLED)
    return sorted(path for path in found if path.is_dir() and not path.is_symlink())


def limits(budget: Budget) -> ProcessLimits:
    """What an agent and all that it starts may use together: time as assigned, much of everything else."""
    seconds = _WITHOUT_LIMIT if budget.seconds is None else budget.seconds
    return ProcessLimits(
        wall_seconds=seconds, memory_mib=8192, output_mib=64, processes=1024, address_space=False
    )


def variables(python: Path | None, programs: Iterable[Path], passed: dict[str, str]) -> dict[str, str]:
    """All variables of an agent: nothing of our environment but what is passed by name."""
    made = environment(python or Path("/usr/bin/python3"), [*_IDENTITY.items(), *passed.items()])
    further = [str(folder) for folder in programs if str(folder) not in made["PATH"].split(os.pathsep)]
    if "PATH" not in passed:
        made["PATH"] = os.pathsep.join([made["PATH"], *dict.fromkeys(further)])
    return made


def passed(names: Iterable[str]) -> dict[str, str]:
    """The variables of our environment that these names stand for."""
    names = list(names)
    if missing := [name for name in names if name not in os.environ]:
        raise UsageError(
            f"not set in the environment: {', '.join(missing)}",
            "an agent was told to be given them, and they were not exported here",
            f"export {missing[0]}=..., or do not pass it",
        )
    return {name: os.environ[name] for name in names}


def seen(python: Path | None, program: Path) -> list[Path]:
    """What must be seen for a program to start, and for the project to be imported.

    The program itself and each file that it is a link to; where that is in a virtual environment, all of it.
    """
    shown = [] if python is None else interpreter_folders(python)
    links = [program]
    while links[-1].is_symlink():
        links.append(Path(os.path.abspath(links[-1].parent / links[-1].readlink())))  # noqa: PTH100
    for link in links:
        home = link.parent.parent
        if (home / "pyvenv.cfg").is_file():
            shown += interpreter_folders(link.parent / "python")
        else:
            shown.append(link)
    return shown
