# ruff: noqa: E501 - a table of cases, one a line
"""A candidate is rejected for the right reason, or has the trees of the design."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pygit2
import pytest

from stalebench.compose import Objects, Patch
from stalebench.compose.pair import compose_candidate
from stalebench.reasons import Reason
from stalebench.records import Candidate, Composition, Pull

if TYPE_CHECKING:
    from .conftest import File, Scratch

    Files = dict[str, File]

SUBMODULE = 0o160000
TEXT = b"".join(b"line %d\n" % number for number in range(20))
TESTS = b"def test_one():\n    assert 1\n"
BASE: Files = {"code.py": TEXT, "test_code.py": TESTS}


def line(number: int, new: bytes, text: bytes = TEXT) -> bytes:
    return text.replace(b"line %d\n" % number, new + b"\n")


def test(name: str) -> bytes:
    return b"\n\ndef test_%b():\n    assert %b\n" % (name.encode(), name.encode())


test.__test__ = False  # type: ignore[attr-defined]


@dataclass
class World:
    """A clone whose only commit is the base, and patches of made-up pulls."""

    git_dir: Path
    scratch: Scratch
    base: Files

    def compose(self, *halves: tuple[Patch, Patch]) -> tuple[Composition, Objects]:
        objects = self.scratch.objects
        repo = pygit2.Repository(str(self.git_dir))
        tree = self.scratch.tree(self.base)
        for _, kind, content in objects.made():
            repo.odb.write(int(_KINDS[kind]), content)
        who = pygit2.Signature("t", "t@localhost", 0, 0)
        base = str(repo.create_commit(None, who, who, "", pygit2.Oid(hex=tree), []))
        pulls = [pull(str(number), base) for number in range(1, len(halves) + 1)]
        candidate = Candidate("2+1", "t/t", ("1", "2"), base, 1.0, ("code.py",), (), None)
        found = compose_candidate(objects, candidate, pulls, halves, keep=True)
        return found, objects

    def pull(
        self, before: Files, code: Files | None = None, tests: Files | None = None
    ) -> tuple[Patch, Patch]:
        """The code patch and the test patch of a pull that was written on `before`."""
        return (
            self.scratch.patch(before, before | (code or {})),
            self.scratch.patch(before, before | (tests or {})),
        )


_KINDS = {b"blob": pygit2.enums.ObjectType.BLOB, b"tree": pygit2.enums.ObjectType.TREE}


def pull(name: str, commit: str) -> Pull:
    return Pull(
        id=name, repo="t/t", number=None, landing="plain", base_commit=commit, merge_commit=commit,
        head_commit=None, fork_commit=None, created_at=None, merged_at="2024-01-01T00:00:00Z", title="",
        text="", issues=(), source_files=(), test_files=(), other_files=(), reason=None,
    )  # fmt: skip


@pytest.fixture
def world(scratch: Scratch) -> World:
    subprocess.run(["git", "init", "-q", "--bare", str(scratch.git_dir)], check=True)
    return World(scratch.objects.git_dir, scratch, dict(BASE))


def test_a_clean_pair_has_all_trees_of_the_design(world: World) -> None:
    one = world.pull(BASE, {"code.py": line(3, b"one")}, {"test_a.py": TESTS})
    two = world.pull(BASE, {"code.py": line(15, b"two")}, {"test_b.py": TESTS})
    found, _ = world.compose(one, two)
    assert (found.reason, found.detail, found.by_function) == (None, "", False)
    assert found.strict_apply == (True, True)
    tree = world.scratch.tree
    assert found.base_tree == tree(BASE)
    assert found.code_trees == (
        tree(BASE | {"code.py": line(3, b"one")}), tree(BASE | {"code.py": line(15, b"two")})
    )  # fmt: skip
    assert found.tests_tree == tree(BASE | {"test_a.py": TESTS, "test_b.py": TESTS})
    merged = line(15, b"two", line(3, b"one"))
    assert found.merged_tree == tree(BASE | {"code.py": merged, "test_a.py": TESTS, "test_b.py": TESTS})


def test_a_patch_that_only_three_ways_apply_is_not_strict(world: World) -> None:
    later = BASE | {"code.py": line(5, b"later")}
    one = world.pull(BASE, {"code.py": line(15, b"one")}, {"test_a.py": TESTS})
    two = world.pull(later, {"code.py": line(7, b"two", line(5, b"later"))}, {"test_b.py": TESTS})
    found, _ = world.compose(one, two)
    assert found.reason is None
    assert found.strict_apply == (True, False)


LATER: Files = BASE | {
    "code.py": line(3, b"later"),
    "new.py": b"1\n",
    "test_new.py": TESTS,
    "s": (SUBMODULE, b"1" * 40),
}
REJECTED: dict[str, tuple[Files, Files, Files, Reason, str]] = {
    # the newer pull: before, code, tests; the reason, and the file that is named
    "code": (LATER, {"code.py": line(3, b"mine")}, {"test_b.py": b""}, Reason.CODE_CONFLICTS_WITH_BASE, "code.py"),
    "missing": (LATER, {"new.py": b"2\n"}, {"test_b.py": b""}, Reason.FILE_MISSING_ON_BASE, "new.py"),
    "applied": (BASE | {"code.py": line(4, b"old")}, {"code.py": TEXT}, {"test_b.py": b""}, Reason.ALREADY_APPLIED, "code.py"),
    "codes": (BASE, {"code.py": line(9, b"other")}, {"test_b.py": b""}, Reason.CODES_CONFLICT, "code.py"),
    "test base": (LATER, {"x.py": b""}, {"test_new.py": b"x = 1\n"}, Reason.TESTS_CONFLICT_WITH_BASE, "test_new.py"),
    "tests": (BASE, {"x.py": b""}, {"test_a.py": b"def test_two():\n    assert 3\n"}, Reason.TESTS_CONFLICT, "test_a.py"),
    "submodule": (LATER, {"s": (SUBMODULE, b"2" * 40)}, {"test_b.py": b""}, Reason.UNSUPPORTED_CHANGE, "s"),
    "test submodule": (LATER, {"x.py": b""}, {"s": (SUBMODULE, b"2" * 40)}, Reason.UNSUPPORTED_CHANGE, "s"),
}  # fmt: skip


@pytest.mark.parametrize("name", REJECTED)
def test_each_conflict_has_its_reason_and_names_the_pull_and_the_file(world: World, name: str) -> None:
    before, code, tests, reason, path = REJECTED[name]
    older = world.pull(BASE, {"code.py": line(9, b"one")}, {"test_a.py": b"def test_two():\n    assert 2\n"})
    found, _ = world.compose(older, world.pull(before, code, tests))
    assert found.reason is reason
    assert path in found.paths
    assert path in found.detail
    assert found.detail.startswith("pull 2: ")
    assert "\n" not in found.detail
    assert (found.merged_tree, found.tests_tree, found.code_trees) == (None, None, ())
    assert len(found.strict_apply) == 2


def test_different_tests_added_at_one_place_are_composed_by_function(world: World) -> None:
    one = world.pull(BASE, {"code.py": line(3, b"one")}, {"test_code.py": TESTS + test("two")})
    two = world.pull(BASE, {"code.py": line(15, b"two")}, {"test_code.py": TESTS + test("three")})
    found, objects = world.compose(one, two)
    assert (found.reason, found.by_function) == (None, True)
    assert found.merged_tree is not None
    entry = objects.find(found.merged_tree, "test_code.py")
    assert entry is not None
    content = objects.blob(entry.id)
    assert all(name in content for name in (b"test_one", b"test_two", b"test_three"))
