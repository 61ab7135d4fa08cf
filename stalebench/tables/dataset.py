"""The dataset folder: what marks it as one, where its parts are, and the patches kept by content.

dataset.json                what it is, how it was made; nothing that depends on time or machine
<table>/<part>.parquet      one folder per table
patches/<aa>/<sha256>.patch patches in git's format
work/                       stored runs and checkouts: not part of the dataset
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from stalebench import __version__
from stalebench.errors import DatasetError, StalebenchError
from stalebench.tables.schema import SCHEMA_VERSION

MARK: Final = "dataset.json"


AGENT: Final = "agent"
"""The parameter that only graded runs have."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """What a dataset says of itself."""

    path: Path
    repo: str
    parameters: Mapping[str, Any]


def create(out: Path, repo: str, parameters: Mapping[str, Any]) -> None:
    """Make `out` a dataset of this repository, made with these parameters, or take up the one that is there.

    Raises DatasetError where `out` holds something else: nothing that stalebench did not write is touched.
    """
    refuse_foreign(out, repo, parameters.get(AGENT))
    content = {
        "schema_version": SCHEMA_VERSION,
        "stalebench": __version__,
        "repo": repo,
        "parameters": dict(parameters),
    }
    with writing(out / MARK) as temporary, disk(out / MARK):
        temporary.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def refuse_foreign(out: Path, repo: str | None = None, agent: str | None = None) -> None:
    """See that `out` can be a dataset of this repository (None: of any), and touch nothing.

    With an agent it is one of that agent's graded runs, else one of pairs. Raises DatasetError where it is no
    folder, holds another dataset, or files that are not a dataset's.
    """
    if out.exists() and not out.is_dir():
        raise DatasetError(f"{out} is no folder", "--out names a file", "name another folder")
    if (out / MARK).exists():
        there = describe(out)
        if repo not in (None, there.repo):
            raise DatasetError(
                f"{out} holds a dataset of {there.repo}, not of {repo}",
                "each repository has a dataset folder of its own",
                "name another folder, or remove that one",
            )
        if agent != there.parameters.get(AGENT):
            raise DatasetError(
                f"{out} holds {_holding(there.parameters.get(AGENT))}, and is to hold {_holding(agent)}",
                "each run has a folder of its own, and so have the pairs",
                "name another folder with --out",
            )
    elif out.is_dir() and any(not _ours(entry) for entry in out.iterdir()):
        raise DatasetError(
            f"{out} holds files that are not a dataset's",
            "--out names a folder that is used for something else",
            "name a new folder",
        )


def _holding(agent: str | None) -> str:
    return "pairs" if agent is None else f"a run of {agent}"


def describe(path: Path) -> Dataset:
    """What the dataset says of itself. Raises DatasetError for anything but a dataset of this version."""
    content = _content(path)
    version = content.get("schema_version")
    if version != SCHEMA_VERSION:
        writer = content.get("stalebench", "unknown")
        raise DatasetError(
            f"{path} has schema version {version}; this stalebench reads version {SCHEMA_VERSION}",
            "another version of stalebench wrote it",
            f"install the version that wrote it ({writer}), or mine into a new folder",
        )
    return Dataset(path, str(content.get("repo", "")), content.get("parameters", {}))


def _content(path: Path) -> dict[str, Any]:
    try:
        content = json.loads((path / MARK).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise DatasetError(
            f"{path} is no dataset: it has no {MARK}",
            "the path is wrong, or `stalebench mine` has not begun",
            "name the folder that `stalebench mine --out` wrote",
        ) from None
    except (OSError, ValueError) as error:
        raise DatasetError(
            f"{path / MARK} cannot be read: {error}",
            "it was edited or damaged",
            "mine again into a new folder",  # the same one is refused: nobody can tell what made it
        ) from error
    if not isinstance(content, dict):
        raise DatasetError(f"{path / MARK} holds no object", "it was edited", "mine again into a new folder")
    return content


def is_dataset(path: Path) -> bool:
    """Whether a folder is marked as a dataset."""
    return (path / MARK).is_file()


def _ours(entry: Path) -> bool:
    """Whether an entry of a folder that is no dataset yet may stand beside one."""
    return entry.name in {"work", f".{MARK}.tmp"} or is_dataset(entry)


def found(where: Path) -> list[Dataset]:
    """The dataset at a path, or all of those one level below it, by name. Raises DatasetError for none."""
    if is_dataset(where) or not where.is_dir():
        return [describe(where)]
    below = [describe(path) for path in sorted(where.iterdir()) if is_dataset(path)]
    return below or [describe(where)]


def parts(out: Path, table: str) -> list[Path]:
    """The Parquet files of a table, sorted; none if its stage has not run."""
    return sorted(path for path in (out / table).glob("*.parquet") if not path.name.startswith("."))


def drop(out: Path, table: str, part: str | None = None) -> None:
    """Remove a table, or one part of it: a stage begins so with the tables that depend on it."""
    names = parts(out, table) if part is None else [out / table / f"{part}.parquet"]
    for path in names:
        path.unlink(missing_ok=True)


@contextmanager
def writing(target: Path) -> Iterator[Path]:
    """A file beside the target that replaces it when the block ends well, and vanishes when it does not.

    Readers see the old file or the new one, never a part of one. The name is fixed, so that what a killed
    writer leaves is replaced by the next.
    """
    temporary = target.with_name(f".{target.name}.tmp")
    with disk(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield temporary
        with disk(target):
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def disk(target: Path) -> Iterator[None]:
    """Say plainly that a file could not be written. Raises StalebenchError for an OSError."""
    try:
        yield
    except OSError as error:
        raise StalebenchError(
            f"cannot write {target}: {error.strerror or error}",
            "the disk is full, or the folder may not be written to",
            "make room, then run the same command again: what was there before is untouched",
        ) from error


def keep_patch(out: Path, content: bytes) -> str:
    """Keep a patch by its content, once; its SHA-256."""
    digest = hashlib.sha256(content).hexdigest()
    path = patch_path(out, digest)
    if not path.is_file() or path.stat().st_size != len(content):
        with writing(path) as temporary, disk(path):
            temporary.write_bytes(content)
    return digest


def patch_path(out: Path, digest: str) -> Path:
    """Where the patch with this SHA-256 is kept."""
    return out / "patches" / digest[:2] / f"{digest}.patch"


def prune_patches(out: Path, keep: Collection[str]) -> None:
    """Remove every kept patch but those with these SHA-256: what an earlier, larger dataset left."""
    for path in sorted((out / "patches").glob("??/*")):
        if path.name.removesuffix(".patch") not in keep:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
