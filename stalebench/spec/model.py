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


class Kind(StrEnum):
    """What a file is to its repository. Documentation, data of the project and tooling are OTHER."""

    SOURCE = "source"
    TEST = "test"
    OTHER = "other"


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
    a runner collects. What is both test and source by its globs is a test.
    """

    name: str
    repository: str
    clone_url: str
    branch: str | None
    landing: tuple[str, ...]
    runner: str
    import_name: str
    source: tuple[str, ...]
    source_exclude: tuple[str, ...]
    test: tuple[str, ...]
    test_modules: tuple[str, ...]
    recipes: tuple[Recipe, ...] = ()
    limits: Limits = field(default_factory=Limits)

    def kind(self, path: str) -> Kind:
        """What the file at `path` is."""
        return _kind(self.source, self.source_exclude, self.test, path)

    def is_test_module(self, path: str) -> bool:
        """Whether a runner collects the file as a module of tests."""
        return matches(self.test_modules, path)

    def digest(self) -> str:
        """A hash of everything the specification says, 32 hexadecimal digits."""
        content = json.dumps(asdict(self), sort_keys=True, default=str)
        return hashlib.sha256(content.encode()).hexdigest()[:32]


def matches(globs: tuple[str, ...], path: str) -> bool:
    """Whether the globs, taken together as one gitignore file, match the path."""
    return _compiled(globs).match_file(path)


@lru_cache(maxsize=256)
def _compiled(globs: tuple[str, ...]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(globs)


@lru_cache(maxsize=65536)
def _kind(source: tuple[str, ...], exclude: tuple[str, ...], test: tuple[str, ...], path: str) -> Kind:
    if matches(test, path):
        return Kind.TEST
    if matches(source, path) and not matches(exclude, path):
        return Kind.SOURCE
    return Kind.OTHER
