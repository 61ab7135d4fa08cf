"""Whether this machine has what the commands need, and what to mend where it has not. Changes nothing.

Names no registry and no variable's value: what is printed here can be shown to anybody.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

OLDEST_GIT: Final = (2, 30)
REGISTRY_SECONDS: Final = 20.0
GIB: Final = 1 << 30
CACHE_GIB: Final = 3.0
"""What the environments of one repository and their downloads take."""
TEMPORARY_GIB: Final = 1.0
MEMORY_GIB: Final = 2.0
PROBE: Final = "iniconfig"
"""A tiny package, to ask the registry for."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. What is not `needed` limits what can be done, and stops no command."""

    name: str
    ok: bool
    detail: str
    fix: str = ""
    needed: bool = True

    @property
    def verdict(self) -> str:
        """In a word."""
        return "ok" if self.ok else "MISSING" if self.needed else "limited"


def check(cache: Path | None = None) -> list[Finding]:
    """Look at everything, in the order in which it is needed."""
    from stalebench.source.fetching import user_cache  # noqa: PLC0415 - nothing is needed to import this

    folder = (cache or user_cache()).absolute()
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        _git,
        _libraries,
        _uv,
        _pythons,
        _machine,
        lambda: _space(folder),
        lambda: _cache(folder),
        _isolation,
        _registry,
    )
    return [finding for each in checks for finding in each()]


def _git() -> Iterator[Finding]:
    told = _said(["git", "--version"])
    found = re.search(r"(\d+)\.(\d+)[\w.]*", told)
    wanted = ".".join(map(str, OLDEST_GIT))
    is_new_enough = found is not None and (int(found[1]), int(found[2])) >= OLDEST_GIT
    yield Finding(
        "git",
        is_new_enough,
        f"{found[0]}, fetches repositories by address" if found else "not found on PATH",
        f"install git {wanted} or newer; clones that are there already are read without it",
    )


def _libraries() -> Iterator[Finding]:
    for name in ("pygit2", "duckdb", "pytest"):
        try:
            module = __import__(name)
        except ImportError as error:
            yield Finding(name, ok=False, detail=f"does not import: {error}", fix=f"pip install {name}")
            continue
        libgit2 = f", libgit2 {module.LIBGIT2_VERSION}" if name == "pygit2" else ""
        yield Finding(name, ok=True, detail=f"{module.__version__}{libgit2}")


def _uv() -> Iterator[Finding]:
    from stalebench.environments import uv  # noqa: PLC0415
    from stalebench.errors import EnvironmentBroken  # noqa: PLC0415

    try:
        told = uv.run(["--version"], REGISTRY_SECONDS).strip()
    except EnvironmentBroken as error:
        yield Finding("uv", ok=False, detail=error.message, fix=error.fix)
        return
    yield Finding("uv", ok=True, detail=told.removeprefix("uv "))


def _pythons() -> Iterator[Finding]:
    from stalebench import spec  # noqa: PLC0415
    from stalebench.environments.pythons import installed  # noqa: PLC0415

    versions = sorted(filter(_is_served, installed()), key=_numbers)
    minors = {".".join(version.split(".")[:2]) for version in versions}
    wanted = {recipe.python: name for name in spec.names() for recipe in spec.load(name).recipes}
    yield Finding(
        "Python", sys.version_info >= (3, 11), f"{', '.join(versions)}", "install Python 3.11 or newer"
    )
    for missing in sorted(set(wanted) - minors - set(versions) - {""}, key=_numbers):
        yield Finding(
            f"Python {missing}",
            ok=False,
            detail=f"not here; recipes of {wanted[missing]} ask for it",
            fix=f"uv python install {missing}, or pyenv install {missing}",
            needed=False,
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def _is_served(version: str) -> bool:
    from stalebench.environments.pythons import OLDEST  # noqa: PLC0415

    return _numbers(version)[:2] >= OLDEST


def _machine() -> Iterator[Finding]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    yield Finding("cores", ok=True, detail=str(cores))
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    except (ValueError, OSError):
        return
    yield Finding(
        "memory",
        memory >= MEMORY_GIB,
        f"{memory:.1f} GiB",
        f"tests of large projects take {MEMORY_GIB:.0f} GiB; run fewer at once with --jobs 1",
        needed=False,
    )


def _space(cache: Path) -> Iterator[Finding]:
    for name, folder, wanted in (
        ("disk of the cache", cache, CACHE_GIB),
        ("disk of the temporary folder", Path(tempfile.gettempdir()), TEMPORARY_GIB),
    ):
        free = shutil.disk_usage(_nearest(folder)).free / GIB
        yield Finding(
            name,
            free >= wanted,
            f"{free:.1f} GiB free",
            f"make room, or use another folder ({'STALEBENCH_CACHE' if folder == cache else 'TMPDIR'})",
        )


def _cache(folder: Path) -> Iterator[Finding]:
    try:
        with tempfile.TemporaryFile(dir=_nearest(folder)):  # it is made when there is something to keep
            pass
    except OSError as error:
        yield Finding("cache", ok=False, detail=f"{folder}: {error.strerror}", fix="set STALEBENCH_CACHE")
        return
    size = sum(_sizes(folder)) / GIB
    made = [each for each in _environments(folder) if (each / "complete.json").is_file()]
    yield Finding("cache", ok=True, detail=f"{folder}, {size:.1f} GiB, {len(made)} environments")
    torn = [each for each in _environments(folder) if each not in made and not _is_held(folder, each.name)]
    if torn:
        yield Finding(
            "half-built environments",
            ok=False,
            detail=f"{len(torn)}, left by processes that were killed",
            fix="nothing has to be done: each is built anew when it is asked for; or delete "
            + ", ".join(str(each) for each in torn),
            needed=False,
        )


def _nearest(folder: Path) -> Path:
    """The folder, or what there is above it."""
    return next(above for above in (folder, *folder.parents) if above.exists())


def _environments(cache: Path) -> list[Path]:
    """Folders of environments, finished or not; they are named by a hash."""
    return sorted(
        each for each in (cache / "environments").glob("*") if re.fullmatch(r"[0-9a-f]{32}", each.name)
    )


def _is_held(cache: Path, name: str) -> bool:
    """Whether a living process has the lock of an environment: the kernel frees those of dead ones."""
    try:
        with (cache / "environments" / "locks" / f"{name}.lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _sizes(folder: Path) -> Iterator[int]:
    for above, _, names in os.walk(folder):
        for name in names:
            try:
                yield (Path(above) / name).lstat().st_size
            except FileNotFoundError:  # removed by another process meanwhile
                continue


def _isolation() -> Iterator[Finding]:
    from stalebench.run.process import capabilities  # noqa: PLC0415

    for each in capabilities():
        yield Finding(
            f"isolation: {each.name}",
            each.granted,
            each.detail,
            "tests run without it: use code you trust, or a machine or container that allows user namespaces",
            needed=False,
        )


def _registry() -> Iterator[Finding]:
    from stalebench.environments import uv  # noqa: PLC0415
    from stalebench.errors import EnvironmentBroken  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="stalebench-") as folder:
        wanted = Path(folder, "requirements.in")
        wanted.write_text(f"{PROBE}\n", encoding="ascii")
        question: list[str | Path] = [
            "pip",
            "compile",
            "--quiet",
            "--no-deps",
            "--refresh",
            "--python",
            sys.executable,
        ]
        try:
            uv.run([*question, wanted], REGISTRY_SECONDS)
        except EnvironmentBroken as error:
            detail = f"gives no package: {error.cause}"
            yield Finding("registry", ok=False, detail=detail, fix=error.fix, needed=False)
            return
        try:
            uv.run([*question, "--exclude-newer", "2024-01-01", wanted], REGISTRY_SECONDS)
        except EnvironmentBroken:
            detail = "answers, but does not tell when packages were uploaded"
            fix = "use recipes that pin every package with =="
            yield Finding("registry", ok=False, detail=detail, fix=fix, needed=False)
            return
    yield Finding("registry", ok=True, detail="answers, and tells when packages were uploaded")


def _said(command: list[str]) -> str:
    """What a program prints; nothing where there is none or it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
