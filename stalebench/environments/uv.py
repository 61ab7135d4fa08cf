"""uv as a subprocess: resolve, create, install, freeze. Knows nothing of recipes."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from stalebench.errors import EnvironmentBroken

TIMEOUT = 1800.0
"""Seconds that one call may take: a slow registry and large packages included."""


def resolve(requirements: Iterable[str], python: Path, exclude_newer: str | None) -> tuple[str, ...]:
    """The exact packages that satisfy the requirements, sorted. Raises EnvironmentBroken where none do."""
    newest = ["--exclude-newer", exclude_newer] if exclude_newer else []
    with tempfile.TemporaryDirectory(prefix="stalebench-") as folder:
        wanted = Path(folder, "requirements.in")
        wanted.write_text("\n".join(requirements) + "\n", encoding="utf-8")
        told = run(
            ["pip", "compile", "--no-header", "--no-annotate", "--python", python, *newest, wanted],
            cwd=Path(folder),
        )
    return tuple(
        sorted(line.strip() for line in told.splitlines() if line.strip() and not line.startswith("#"))
    )


def create(folder: Path, python: Path) -> Path:
    """Create a virtual environment in place of whatever is there; its interpreter."""
    run(["venv", "--clear", "--no-project", "--python", python, folder], cwd=folder.parent)
    return folder / "bin" / "python"


def install(packages: Sequence[str], python: Path) -> None:
    """Install exactly these packages."""
    if packages:
        run(["pip", "install", "--no-deps", "--python", python, *packages], cwd=python.parent)


def freeze(python: Path) -> tuple[str, ...]:
    """What is installed, sorted."""
    told = run(["pip", "freeze", "--python", python], cwd=python.parent)
    return tuple(sorted(line.strip() for line in told.splitlines() if line.strip()))


def run(arguments: Sequence[str | Path], cwd: Path) -> str:
    """What uv prints. Raises EnvironmentBroken with uv's last lines."""
    command = [binary(), "--no-progress", "--no-config", *map(str, arguments)]
    try:
        done = subprocess.run(
            command, cwd=cwd, env=_variables(), capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentBroken(
            f"uv {arguments[0]} took more than {TIMEOUT:.0f} s",
            "the registry is slow or out of reach",
            "try again",
        ) from error
    except OSError as error:
        raise EnvironmentBroken(
            f"uv cannot be started: {error}",
            "the disk is full, or uv is not installed",
            "stalebench doctor tells",
        ) from error
    if done.returncode:
        last = "\n".join(done.stderr.strip().splitlines()[-12:])
        raise EnvironmentBroken(
            f"uv {' '.join(map(str, arguments[:2]))} failed:\n{last}",
            "a package that this Python or platform lacks, a registry out of reach, or a full disk",
            "mend the recipe in the specification, or the connection, and run the same command again",
        )
    return done.stdout


def binary() -> str:
    """The path of uv. Raises EnvironmentBroken where it is not installed."""
    import uv  # noqa: PLC0415 - only where an environment is made

    try:
        return str(uv.find_uv_bin())
    except FileNotFoundError as error:
        raise EnvironmentBroken(
            "uv is not there", "the package was removed from the environment", "pip install uv"
        ) from error


def _variables() -> dict[str, str]:
    """This process's environment, without what would make uv look at another environment or project."""
    dropped = {"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "UV_PROJECT_ENVIRONMENT"}
    return {name: value for name, value in os.environ.items() if name not in dropped}
