"""uv as a subprocess: resolve, create, install, freeze. Knows nothing of recipes.

uv reads the user's own configuration (`UV_*`, `uv.toml`) for where packages come from; neither that nor any
address reaches a message. What would change which packages are chosen is left out.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from stalebench.environments.failures import OutOfReach, explained

TIMEOUT: Final = 1800.0
"""Seconds that one call may take: a slow registry and large packages included."""

RUNNER_DAY: Final = "2022-03-01"
"""By then there was a pytest that the runner's plugin works with."""
RUNNER_NEEDS: Final = ("pytest", "iniconfig", "pluggy", "py", "tomli")

_HANDED_ON: Final = re.compile(
    r"PATH|HOME|USER|LOGNAME|TMPDIR|LANG|LC_\w+|UV_\w+|XDG_\w+|NETRC|(?i:\w+_proxy)|SSL_CERT_\w+|\w+_CA_BUNDLE"
    r"|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|PKG_CONFIG_PATH"
)
"""What uv may know of this process's environment: a package that is built from source sees it too."""
_CHOOSING: Final = re.compile(
    r"UV_(EXCLUDE_NEWER|CONSTRAINT|OVERRIDE|BUILD_CONSTRAINT|PRERELEASE|RESOLUTION|FORK_STRATEGY|PYTHON"
    r"|SYSTEM_PYTHON|PROJECT\w*|WORKING_DIRECTORY|NO_BINARY\w*|NO_SOURCES|TORCH_BACKEND|REQUIRE_HASHES)"
)
"""What would make the packages depend on whose machine it is."""


def resolve(
    requirements: Iterable[str], python: Path, newest: str | None, constraints: Iterable[str] = ()
) -> tuple[str, ...]:
    """The exact packages that satisfy the requirements, sorted. Raises EnvironmentBroken where none do.

    `newest` is a date: nothing uploaded on it or later is chosen. Constraints only narrow what is chosen.
    """
    bound = _bound(newest) if newest else []
    with tempfile.TemporaryDirectory(prefix="stalebench-") as folder:
        wanted, narrowed = Path(folder, "requirements.in"), Path(folder, "constraints.txt")
        wanted.write_text("".join(f"{line}\n" for line in requirements), encoding="utf-8")
        narrowed.write_text("".join(f"{line}\n" for line in constraints), encoding="utf-8")
        options = ["--quiet", "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
        told = run(
            ["pip", "compile", *options, "--python", python, *bound, "--constraints", narrowed, wanted]
        )
    return _listed(told)


def _bound(newest: str) -> list[str]:
    """Options for a date; what the runner itself needs may be newer than commits from before its time."""
    spared = [f"{name}={RUNNER_DAY}" for name in RUNNER_NEEDS if newest < RUNNER_DAY]
    return [
        "--exclude-newer",
        newest,
        *(word for each in spared for word in ("--exclude-newer-package", each)),
    ]


def create(folder: Path, python: Path) -> Path:
    """Create a virtual environment in place of whatever is there; its interpreter."""
    run(["venv", "--clear", "--no-project", "--python", python, folder])
    return folder / "bin" / "python"


def install(packages: Sequence[str], python: Path) -> None:
    """Install exactly these packages, with their bytecode: runs only read the environment."""
    if packages:
        run(["pip", "install", "--compile-bytecode", "--no-deps", "--python", python, *packages])


def freeze(python: Path) -> tuple[str, ...]:
    """What is installed, sorted."""
    return _listed(run(["pip", "freeze", "--python", python]))


def run(arguments: Sequence[str | Path], seconds: float = TIMEOUT) -> str:
    """What uv prints. Raises EnvironmentBroken with its last lines, the usual cause and the way out."""
    command = [binary(), "--no-progress", "--color", "never", *map(str, arguments)]
    status, out, said = _ended(command, seconds)
    if status:
        raise explained(f"uv {' '.join(map(str, arguments[:2]))}", said)
    return out


def binary() -> str:
    """The path of uv. Raises EnvironmentBroken where it is not installed."""
    import uv  # noqa: PLC0415 - only where an environment is made

    try:
        return str(uv.find_uv_bin())
    except FileNotFoundError as error:
        raise OutOfReach(
            "uv is not there", "the package was removed from the environment", "pip install uv"
        ) from error


def _ended(command: Sequence[str], seconds: float) -> tuple[int, str, str]:
    """Status, output and errors of a process, which takes along all that it started whatever happens."""
    try:
        # From the root, so that no project of the folder we happen to be in has a say.
        process = subprocess.Popen(
            command,
            cwd="/",
            env=_variables(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise explained("starting uv", str(error)) from error
    with process:
        try:
            out, said = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise OutOfReach(
                f"uv took more than {seconds:.0f} s and was stopped",
                "a registry that is slow or does not answer, or a package that is built from source",
                "run the same command again; what was fetched is kept",
            ) from error
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, out, said


def _variables() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if _HANDED_ON.fullmatch(name) and not _CHOOSING.fullmatch(name)
    }


def _listed(text: str) -> tuple[str, ...]:
    """The requirements in a list as text: sorted, without comments and options."""
    lines = (line.strip() for line in text.splitlines())
    return tuple(sorted(line for line in lines if line and not line.startswith(("#", "-"))))
