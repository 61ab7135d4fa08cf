"""Which part of an agent's patch is graded: its code. Its edits to tests are set aside and named.

So are files that steer or stand in for the test runner wherever they are: an edit to them says nothing about
the task, and could decide how tests come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from stalebench.compose import Change, Objects, Patch
from stalebench.spec import Kind, Spec

_RUNNER_FILES: Final = (
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "tox.ini",
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
)
"""Read by the test runner, or by Python when it starts."""
_RUNNER_FOLDERS: Final = ("*.egg-info", "*.dist-info")
"""A distribution's metadata, which can name plugins."""
_RUNNER_MODULES: Final = ("pytest", "_pytest", "py", "pluggy", "unittest")
"""What a module at the top of the search path would stand in for."""
_TOPS: Final = ("", "src/", "lib/")


@dataclass(frozen=True, slots=True)
class Edits:
    """A patch in its parts: `code` is graded, the paths of the others are only kept on record.

    `discarded` are edits to tests and to what runs them; `ungraded` are all else that is neither source nor
    data: documentation, packaging, shared configuration. Human patches carry neither.
    """

    code: Patch
    discarded: tuple[str, ...]
    ungraded: tuple[str, ...]


def split_edits(objects: Objects, spec: Spec, patch: Patch, gold_patches: Sequence[Patch]) -> Edits:
    """The parts of an agent's patch. Files that a gold test patch touches are tests, whatever the spec says.

    A rename from one part to another is a removal in the one and an addition in the other.
    """
    gold = {path for one in gold_patches for path in one.paths}
    changes = objects.changes(patch.before, patch.after)
    discarded = {change.path for change in changes if _steers_tests(spec, change.path, gold)}
    kept = [change for change in changes if change.path not in discarded]
    code = [change for change in kept if spec.kind(change.path).in_code_patch]
    ungraded = {change.path for change in kept} - {change.path for change in code}
    return Edits(_patch(objects, patch.before, code), tuple(sorted(discarded)), tuple(sorted(ungraded)))


def _steers_tests(spec: Spec, path: str, gold: set[str]) -> bool:
    *folders, name = path.split("/")
    return (
        path in gold
        or spec.kind(path) is Kind.TEST
        or any(fnmatchcase(name, pattern) for pattern in _RUNNER_FILES)
        or any(fnmatchcase(folder, pattern) for folder in folders for pattern in _RUNNER_FOLDERS)
        or _stands_in_for_runner(path)
    )


def _stands_in_for_runner(path: str) -> bool:
    inner = [path.removeprefix(top) for top in _TOPS if path.startswith(top)]
    return any(rest.partition("/")[0].removesuffix(".py") in _RUNNER_MODULES for rest in inner)


def _patch(objects: Objects, before: str, changes: Iterable[Change]) -> Patch:
    edits = {change.path: change.new for change in changes}
    return Patch.between(objects, before, objects.edit(before, edits) if edits else before)
