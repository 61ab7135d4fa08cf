"""Clones of remote repositories in the user's cache folder, with the heads of their pulls. Asks nothing.

One folder per address, made and updated by the same steps, so that an interrupted clone goes on where it
stopped. A lock keeps two processes from filling one folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from stalebench.errors import SourceError

_URL: Final = re.compile(r"^(?:https?|ssh|git|file)://\S+$|^[\w.-]+@[\w.-]+:\S+$")
_OWNER_NAME: Final = re.compile(r"^[A-Za-z0-9][\w-]*/[A-Za-z0-9_.][\w.-]*$")
_STEPS: Final = (
    ("--prune", "+refs/heads/*:refs/heads/*"),
    ("+refs/pull/*/head:refs/pull/*/head", "+refs/merge-requests/*/head:refs/merge-requests/*/head"),
)
"""Branches first: the heads of pulls are then small additions, and are kept even if only some arrive."""


def user_cache() -> Path:
    """STALEBENCH_CACHE, else the folder of stalebench among this user's caches, as the platform has it."""
    if told := os.environ.get("STALEBENCH_CACHE"):
        return Path(told)
    if named := os.environ.get("XDG_CACHE_HOME"):
        return Path(named) / "stalebench"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "stalebench"
    return Path.home() / ".cache" / "stalebench"


def address_of(where: str) -> str | None:
    """The address to fetch from, for an URL or a GitHub `owner/name`; None for anything else."""
    if _URL.match(where):
        return where
    if _OWNER_NAME.match(where):
        return f"https://github.com/{where.removesuffix('.git')}.git"
    return None


def without_credentials(text: str) -> str:
    """The text with no name or password in the addresses in it: for the disk and the terminal."""
    return re.sub(r"(?<=://)[^/@\s]*@", "", text)


def folder_of(address: str, cache: Path | None = None) -> Path:
    """Where the clone of an address is kept."""
    words = re.findall(r"[\w-]+", address.removesuffix(".git").partition("://")[2] or address)
    digest = hashlib.sha256(address.encode()).hexdigest()[:8]
    return (cache or user_cache()) / "clones" / f"{'+'.join(words[-2:])}-{digest}.git"


def fetched(address: str, cache: Path | None = None, *, verbose: bool = False) -> Path:
    """The up-to-date bare clone of an address, made if it is not there yet."""
    folder = folder_of(address, cache)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_suffix(".lock")):
        _git("init", "--quiet", "--bare", str(folder), address=address)  # which keeps what is there
        plain = without_credentials(address)
        _git("-C", str(folder), "config", "remote.origin.url", plain, address=address)
        head = _remote_head(folder, address)
        for refs in _STEPS:
            shown = ("--progress",) if verbose else ("--quiet",)
            here = ("-C", str(folder), "-c", "gc.auto=0", "-c", "maintenance.auto=false")
            _git(*here, "fetch", *shown, "--no-tags", address, *refs, address=address, verbose=verbose)
        _git("-C", str(folder), "symbolic-ref", "HEAD", head, address=address)
    return folder


def _remote_head(folder: Path, address: str) -> str:
    told = _git("-C", str(folder), "ls-remote", "--symref", address, "HEAD", address=address)
    found = re.search(r"^ref: (refs/heads/\S+)\tHEAD$", told, re.MULTILINE)
    if found is None:
        raise SourceError(
            f"{without_credentials(address)} does not say which branch is its main one",
            "an empty repository, or a detached HEAD on the server",
            "clone it by hand and pass the path",
        )
    return found[1]


def _git(*arguments: str, address: str, verbose: bool = False) -> str:
    """Runs git without any prompt and away from the repository that the caller may stand in."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "SSH_ASKPASS": "true", "LC_ALL": "C"}
    ssh = {"GIT_SSH_COMMAND": "ssh -oBatchMode=yes", "GCM_INTERACTIVE": "never"}
    try:
        done = subprocess.run(
            ["git", *arguments],
            env=kept | quiet | ssh,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if verbose else subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError as error:
        raise SourceError("git is not on PATH", "it is not installed", "install git 2.30 or newer") from error
    if done.returncode:
        said = (done.stderr or "").strip()
        raise SourceError(
            without_credentials(f"git could not fetch {address}: {said or 'see above'}"),
            "a misspelt or private repository, or no network",
            "check the address with `git ls-remote`; or pass the path of a clone you have",
        )
    return done.stdout


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Waits until no other process holds the lock; the system frees it, however its holder ends."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
