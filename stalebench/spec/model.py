"""The specification of one repository as a value. Reads no file and runs nothing.

Globs are those of gitignore (`*` stays within a folder, `**` does not, a leading `/` anchors at the root,
`!` takes back what an earlier glob of the same list matched).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from pathspec import GitIgnoreSpec

LANDINGS: Final = ("merge", "squash", "plain")
"""How a change can land: a merge commit, one commit that names its pull, one commit that names none."""

RUNNERS: Final = ("pytest", "django", "unittest")

Globs = tuple[str, ...]


class Kind(StrEnum):
    """What a file is to its repository. Documentation and tooling are OTHER."""

    SOURCE = "source"
    DATA = "data"
    """What source reads at run time, as templates: part of the code patch, but no source file."""
    TEST = "test"
    OTHER = "other"

    @property
    def in_code_patch(self) -> bool:
        """Whether changes to such files belong to the code patch of a pull."""
        return self in (Kind.SOURCE, Kind.DATA)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to make an environment for base commits whose committer date is in [since, until).

    `packages` are requirements, `install` are commands run in a checkout. `metadata` says that the
    project's own distribution metadata (entry points) must be visible to its tests.
    """

    python: str
    since: date | None = None
    until: date | None = None
    packages: tuple[str, ...] = ()
    install: tuple[str, ...] = ()
    metadata: bool = False
    env: tuple[tuple[str, str], ...] = ()

    def covers(self, day: date) -> bool:
        """Whether the recipe is meant for a base commit of that day."""
        return (self.since is None or self.since <= day) and (self.until is None or day < self.until)

    @property
    def variables(self) -> Mapping[str, str]:
        """`env` as a mapping."""
        return MappingProxyType(dict(self.env))


@dataclass(frozen=True, slots=True)
class Limits:
    """What one test and one run may take before they are stopped."""

    test_seconds: float = 120.0
    run_seconds: float = 1800.0
    memory_mib: int = 4096
    output_mib: int = 16


@dataclass(frozen=True, slots=True)
class Spec:
    """All that stalebench needs to know about one repository.

    `test` are the files of the test patch, helpers and data included; `test_modules` those of them that
    a runner collects. `data` are files that source reads at run time: they go with the code patch, but
    neither count as source files nor make two pulls a pair. What matches several is the first of test,
    source and data.
    """

    name: str
    repository: str
    clone_url: str
    branch: str | None
    landing: tuple[str, ...]
    runner: str
    import_name: str
    source: Globs
    source_exclude: Globs
    test: Globs
    test_modules: Globs
    data: Globs = ()
    recipes: tuple[Recipe, ...] = ()
    limits: Limits = field(default_factory=Limits)

    def kind(self, path: str) -> Kind:
        """What the file at `path` is."""
        return _kind(self.test, self.source, self.source_exclude, self.data, path)

    def is_test_module(self, path: str) -> bool:
        """Whether a runner collects the file as a module of tests."""
        return matches(self.test_modules, path)

    def digest(self) -> str:
        """A hash of everything the specification says, 32 hexadecimal digits."""
        content = json.dumps(asdict(self), sort_keys=True, default=str)
        return hashlib.sha256(content.encode()).hexdigest()[:32]


def matches(globs: Globs, path: str) -> bool:
    """Whether the globs, taken together as one gitignore file, match the path."""
    return _compiled(globs).match_file(path)


@lru_cache(maxsize=256)
def _compiled(globs: Globs) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(globs)


@lru_cache(maxsize=65536)
def _kind(test: Globs, source: Globs, exclude: Globs, data: Globs, path: str) -> Kind:
    if matches(test, path):
        return Kind.TEST
    if matches(source, path) and not matches(exclude, path):
        return Kind.SOURCE
    return Kind.DATA if matches(data, path) else Kind.OTHER
