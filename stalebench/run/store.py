"""Stored runs: one file for each, named by all that a run depends on. Runs nothing, decides nothing.

A file that is damaged counts as absent, and a warning of the logger `stalebench.run` says so. Any number
of processes may use one folder: a file appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from stalebench.errors import InfraError
from stalebench.outcomes import Outcome
from stalebench.records import Run, TestResult
from stalebench.whole import write_whole

FORMAT: Final = 1
_log = logging.getLogger("stalebench.run")


class RunStore:
    """A folder of stored runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, tree: str, suite: str, environment: str, version: int, repeat: int) -> Run | None:
        """The stored run of that name; None where there is none, or only a damaged one."""
        path = self._path(tree, suite, environment, version, repeat)
        try:
            run = _decoded(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(self.folder, error) from error
        except (ValueError, KeyError, TypeError) as error:
            _log.warning("%s is damaged and will be made again: %r", path, error)
            return None
        if (run.tree, run.suite, run.environment, run.version, run.repeat) != (
            tree,
            suite,
            environment,
            version,
            repeat,
        ):
            _log.warning("%s holds another run than its name says, and will be made again", path)
            return None
        return run

    def put(self, run: Run) -> None:
        """Store a run. Raises InfraError, and leaves nothing behind, if it cannot be written whole."""
        path = self._path(run.tree, run.suite, run.environment, run.version, run.repeat)
        try:
            write_whole(path, _encoded(run))
        except OSError as error:
            raise _unusable(self.folder, error) from error

    def _path(self, *name: str | int) -> Path:
        digest = hashlib.sha256(json.dumps(name).encode()).hexdigest()
        return self.folder / digest[:2] / f"{digest[2:40]}.json"


def _encoded(run: Run) -> bytes:
    content = json.dumps(asdict(run), separators=(",", ":"))
    digest = hashlib.sha256(content.encode()).hexdigest()
    return f'{{"format":{FORMAT},"sha256":"{digest}","run":{content}}}\n'.encode()


def _decoded(data: bytes) -> Run:
    whole = json.loads(data)
    content = whole["run"]
    text = json.dumps(content, separators=(",", ":"))
    if whole["format"] != FORMAT or whole["sha256"] != hashlib.sha256(text.encode()).hexdigest():
        raise ValueError("its content is not what was written")
    return Run(
        **{**content, "results": _results(content["results"]), "unloaded": _pairs(content["unloaded"])}
    )


def _results(rows: list[dict[str, Any]]) -> tuple[TestResult, ...]:
    return tuple(TestResult(**{**row, "outcome": Outcome(row["outcome"])}) for row in rows)


def _pairs(rows: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((path, tail) for path, tail in rows)


def _unusable(folder: Path, error: OSError) -> InfraError:
    return InfraError(
        f"a run cannot be stored in or read from {folder}: {error.strerror or error}",
        "a full disk, or a folder that belongs to another user",
        "free some space or choose another folder, and run the same command again",
    )
