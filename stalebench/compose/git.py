"""Runs git on a repository that was made here, with no configuration but what stands in it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from stalebench.errors import SourceError


def git(git_dir: Path, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """What git says. Never for a repository that others could write to: its configuration names programs."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "GIT_DIR": str(git_dir),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
    }
    try:
        return subprocess.run(
            ["git", *arguments], cwd=git_dir, env=environment, input=data, capture_output=True, check=False
        )
    except FileNotFoundError as error:
        raise SourceError("git is not on PATH", "it is not installed", "install git 2.30 or newer") from error
