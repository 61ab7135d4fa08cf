"""The Python interpreters of this machine, by asking each one for its version."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Final

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from stalebench.errors import EnvironmentBroken

OLDEST: Final = (3, 8)
"""The oldest that the runner of stalebench works on."""

_ASK: Final = "import sys; print('.'.join(map(str, sys.version_info[:3])), sys.implementation.name)"


def find_python(wanted: str) -> tuple[Path, str]:
    """An interpreter of a version (`3.11`, `3.11.7`), the newest that matches, and its full version.

    Nothing named is the one that runs this. Raises EnvironmentBroken where the machine has none.
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


def fitting(requires: str, day: date) -> str:
    """The minor version, as `3.11`, to run a project of that day on: one this machine has, if any fits.

    The newest that was half a year old, since packages of the day have wheels for it; else the oldest.
    """
    try:
        allowed = SpecifierSet(requires)
    except InvalidSpecifier:
        allowed = SpecifierSet()
    minors = sorted({_numbers(version)[:2] for version in installed()})
    fit = [minor for minor in minors if minor >= OLDEST and any(_patches(allowed, minor))]
    if not fit:
        return _lowest(requires)
    seasoned = [minor for minor in fit if _half_a_year_old(minor) <= day]
    major, minor = seasoned[-1] if seasoned else fit[0]
    return f"{major}.{minor}"


@lru_cache(maxsize=1)
def installed() -> dict[str, Path]:
    """Full version → interpreter, for every CPython that answers."""
    found: dict[str, Path] = {}
    for path in _places():
        version = _version(path)
        if version:
            found.setdefault(version, path)
    return found


def _patches(allowed: SpecifierSet, minor: tuple[int, ...]) -> Iterator[bool]:
    """Whether each installed patch release of a minor version is allowed."""
    return (allowed.contains(version) for version in installed() if _numbers(version)[:2] == minor)


def _half_a_year_old(minor: tuple[int, ...]) -> date:
    """3.8 came in October 2019, and each year's October brings the next."""
    return date(2012 + minor[1], 4, 15)


def _lowest(requires: str) -> str:
    """The version that a project names as its oldest, to be told that it is missing."""
    named = re.search(r"(?:>=|==|~=|>)\s*(\d+\.\d+)", requires)
    return named[1] if named else ".".join(map(str, OLDEST))


def _places() -> Iterator[Path]:
    """Where interpreters are looked for: this one's, the search path, pyenv's and uv's folders.

    pyenv's shims answer only for the versions that are switched on, so its folders are looked at as well.
    """
    yield Path(sys.executable).resolve()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder:
            yield from sorted(Path(folder).glob("python3.[0-9]*"))
    for root in _roots():
        yield from sorted(root.glob("*/bin/python3"))


def _roots() -> Iterator[Path]:
    home = Path(os.environ.get("HOME") or "/")
    yield Path(os.environ.get("PYENV_ROOT") or home / ".pyenv") / "versions"
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    yield Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python")


def _version(path: Path) -> str | None:
    """An interpreter's version; None for a shim without one, a script, or another Python than CPython."""
    if not re.fullmatch(r"python3?(\.\d+)?", path.name) or not os.access(path, os.X_OK):
        return None
    try:
        done = subprocess.run(
            [path, "-I", "-S", "-c", _ASK],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version, _, name = done.stdout.strip().partition(" ")
    return version if done.returncode == 0 and name == "cpython" else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
