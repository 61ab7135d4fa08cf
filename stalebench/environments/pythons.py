"""The Python interpreters of this machine, by asking each one for its version."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from stalebench.errors import EnvironmentBroken

ASK = "import sys; print('.'.join(map(str, sys.version_info[:3])), sys.implementation.name)"


def find_python(wanted: str) -> tuple[Path, str]:
    """An interpreter of a version (`3.11`, `3.11.7`; empty: the one that runs this), and its full version.

    Raises EnvironmentBroken where the machine has none.
    """
    if not wanted:
        return Path(sys.executable), ".".join(map(str, sys.version_info[:3]))
    known = installed()
    for version in sorted(known, key=_numbers, reverse=True):
        if version == wanted or version.startswith(f"{wanted}."):
            return known[version], version
    there = ", ".join(sorted(known, key=_numbers)) or "none"
    raise EnvironmentBroken(
        f"Python {wanted} is not on this machine; there are: {there}",
        "the commits of that time need another Python than those installed",
        f"`uv python install {wanted}` or `pyenv install {wanted}`, or change the recipe's `python`",
    )


@lru_cache(maxsize=1)
def installed() -> dict[str, Path]:
    """Full version → interpreter, for every CPython that answers."""
    found: dict[str, Path] = {}
    for path in _places():
        version = _version(path)
        if version:
            found.setdefault(version, path)
    return found


def _places() -> Iterator[Path]:
    """Where interpreters are looked for: this one, the search path, pyenv's and uv's folders."""
    yield Path(sys.executable).resolve()
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    for folder in folders:
        yield from sorted(folder.glob("python3.[0-9]*"))
    for root in _roots():
        yield from sorted(root.glob("*/bin/python3"))


def _roots() -> Iterator[Path]:
    home = Path.home()
    yield Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions"
    data = Path(os.environ.get("XDG_DATA_HOME", home / ".local" / "share"))
    yield Path(os.environ.get("UV_PYTHON_INSTALL_DIR", data / "uv" / "python"))


def _version(path: Path) -> str | None:
    """An interpreter's version; None for a shim without one, a script, or another Python than CPython."""
    if not os.access(path, os.X_OK) or path.name.endswith("-config"):
        return None
    try:
        done = subprocess.run(
            [path, "-I", "-S", "-c", ASK], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version, _, name = done.stdout.strip().partition(" ")
    return version if done.returncode == 0 and name == "cpython" else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
