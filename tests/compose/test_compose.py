# ruff: noqa: E501 - tables of cases, one a line
"""Composing patches agrees with git, and says what each conflict is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from stalebench.compose import Clash, Conflict, Patch, Tree, compose

if TYPE_CHECKING:
    from .conftest import File, Scratch

LINK, EXECUTABLE, SUBMODULE = 0o120000, 0o100755, 0o160000
ONE, TWO = b"1" * 40, b"2" * 40
TEXT = b"".join(b"line %d\n" % number for number in range(20))

Files = dict[str, "File"]


def changed(old: bytes, new: bytes, text: bytes = TEXT) -> bytes:
    assert old in text
    return text.replace(old, new)


COMPOSES: dict[str, tuple[Files, Files, Files, Files]] = {
    # name: before, base, after, expected
    "changes of different lines": (
        {"a": TEXT}, {"a": changed(b"line 2\n", b"base\n")}, {"a": changed(b"line 12\n", b"patch\n")},
        {"a": changed(b"line 12\n", b"patch\n", changed(b"line 2\n", b"base\n"))},
    ),
    "a change that the base already holds": (
        {"a": TEXT}, {"a": changed(b"line 2\n", b"new\n")}, {"a": changed(b"line 2\n", b"new\n")},
        {"a": changed(b"line 2\n", b"new\n")},
    ),
    "files that only the base has": ({"a": b"1\n"}, {"a": b"1\n", "b": b"2\n"}, {"a": b"3\n"}, {"a": b"3\n", "b": b"2\n"}),
    "a new empty file": ({"a": b"1"}, {"a": b"2"}, {"a": b"1", "dir/__init__.py": b""}, {"a": b"2", "dir/__init__.py": b""}),
    "one new file on both sides": ({}, {"a": b"x"}, {"a": b"x"}, {"a": b"x"}),
    "a removed file": ({"a": b"1", "b": b"1"}, {"a": b"1", "b": b"2"}, {"b": b"1"}, {"b": b"2"}),
    "a file removed on both sides": ({"a": b"1", "b": b"1"}, {"b": b"2"}, {"b": b"1"}, {"b": b"2"}),
    "a mode of one side and lines of the other": (
        {"a": TEXT}, {"a": (EXECUTABLE, TEXT)}, {"a": changed(b"line 2", b"new")},
        {"a": (EXECUTABLE, changed(b"line 2", b"new"))},
    ),
    "carriage returns": (
        {"a": b"1\r\n2\r\n3\r\n4\r\n5\r\n"}, {"a": b"one\r\n2\r\n3\r\n4\r\n5\r\n"}, {"a": b"1\r\n2\r\n3\r\n4\r\nfive\r\n"},
        {"a": b"one\r\n2\r\n3\r\n4\r\nfive\r\n"},
    ),
    "no final line feed": (
        {"a": b"1\n2\n3\n4\n5"}, {"a": b"one\n2\n3\n4\n5"}, {"a": b"1\n2\n3\n4\nfive"}, {"a": b"one\n2\n3\n4\nfive"}
    ),
    "bytes that are not UTF-8": (
        {"a": b"\xe9\n2\n3\n4\n5\n"}, {"a": b"\xe8\n2\n3\n4\n5\n"}, {"a": b"\xe9\n2\n3\n4\n\xff\n"}, {"a": b"\xe8\n2\n3\n4\n\xff\n"}
    ),
    "names with spaces, letters and bytes of all kinds": (
        {"a b/é.py": b"1"}, {"a b/é.py": b"1", "x": b"1"}, {"a b/é.py": b"2", "\udcff\n": b"3"},
        {"a b/é.py": b"2", "x": b"1", "\udcff\n": b"3"},
    ),
    "a binary file that only the patch changes": ({"a": b"\0" + TEXT, "b": b"1"}, {"a": b"\0" + TEXT, "b": b"2"}, {"a": b"\0", "b": b"1"}, {"a": b"\0", "b": b"2"}),
    "a link that only the patch changes": (
        {"a": (LINK, b"x"), "b": b"1"}, {"a": (LINK, b"x"), "b": b"2"}, {"a": (LINK, b"y"), "b": b"1"}, {"a": (LINK, b"y"), "b": b"2"}
    ),
    "a file that becomes a link": (
        {"a": b"x", "b": b"1"}, {"a": b"x", "b": b"2"}, {"a": (LINK, b"b"), "b": b"1"}, {"a": (LINK, b"b"), "b": b"2"}
    ),
    "a file that becomes a folder": ({"a": b"x", "b": b"1"}, {"a": b"x", "b": b"2"}, {"a/c": b"other", "b": b"1"}, {"a/c": b"other", "b": b"2"}),
    "a folder that becomes a file": ({"a/c": b"x", "b": b"1"}, {"a/c": b"x", "b": b"2"}, {"a": b"other", "b": b"1"}, {"a": b"other", "b": b"2"}),
    "a submodule that stays": ({"s": (SUBMODULE, ONE), "a": b"1"}, {"s": (SUBMODULE, TWO), "a": b"1"}, {"s": (SUBMODULE, ONE), "a": b"2"}, {"s": (SUBMODULE, TWO), "a": b"2"}),
    "a rename in the patch of a file that the base changed": (
        {"a": TEXT}, {"a": changed(b"line 2\n", b"base\n")}, {"b": changed(b"line 12\n", b"patch\n")},
        {"b": changed(b"line 12\n", b"patch\n", changed(b"line 2\n", b"base\n"))},
    ),
    "a change of a file that the base renamed": (
        {"a": TEXT}, {"b": changed(b"line 2\n", b"base\n")}, {"a": changed(b"line 12\n", b"patch\n")},
        {"b": changed(b"line 12\n", b"patch\n", changed(b"line 2\n", b"base\n"))},
    ),
    "one rename on both sides": ({"a": TEXT}, {"b": changed(b"line 2\n", b"base\n")}, {"b": TEXT}, {"b": changed(b"line 2\n", b"base\n")}),
}  # fmt: skip

CONFLICTS: dict[str, tuple[Files, Files, Files, Clash]] = {
    "changes of one line": ({"a": b"1\n"}, {"a": b"2\n"}, {"a": b"3\n"}, Clash.CONTENT),
    "changes of neighbouring lines": ({"a": b"1\n2\n"}, {"a": b"one\n2\n"}, {"a": b"1\ntwo\n"}, Clash.CONTENT),
    "a binary file": ({"a": b"\0" + TEXT}, {"a": b"\0x" + TEXT}, {"a": b"\0" + TEXT + b"y"}, Clash.BINARY),
    "a link": ({"a": (LINK, b"x")}, {"a": (LINK, b"y")}, {"a": (LINK, b"z")}, Clash.LINK),
    "a link against a changed file": ({"a": TEXT}, {"a": (LINK, b"y")}, {"a": TEXT + b"z"}, Clash.TYPE),
    "removed against changed": ({"a": b"1\n", "b": b""}, {"a": b"2\n", "b": b""}, {"b": b""}, Clash.DELETED),
    "changed against removed": ({"a": b"1\n", "b": b""}, {"b": b""}, {"a": b"2\n", "b": b""}, Clash.MISSING),
    "new on both sides": ({}, {"a": b"1\n"}, {"a": b"2\n"}, Clash.EXISTS),
    "a new file where a folder is": ({}, {"a/b": b"1\n"}, {"a": b"2\n"}, Clash.FOLDER),
    "a new folder where a file is": ({}, {"a": b"1\n"}, {"a/b": b"2\n"}, Clash.FOLDER),
    "two names for one file": ({"a": TEXT}, {"b": TEXT}, {"c": TEXT + b"x"}, Clash.RENAMED),
    "a rename onto a file of the base": ({"a": TEXT}, {"a": TEXT, "b": b"other\n"}, {"b": TEXT}, Clash.EXISTS),
    "renamed against removed": ({"a": TEXT, "c": b""}, {"c": b""}, {"b": TEXT + b"x", "c": b""}, Clash.MISSING),
    "a new file in a folder that the base renamed": (
        {"a/1": TEXT, "a/2": TEXT + b"2"}, {"b/1": TEXT, "b/2": TEXT + b"2"},
        {"a/1": TEXT, "a/2": TEXT + b"2", "a/3": b"3"}, Clash.RENAMED,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPOSES)
def test_patches_compose_as_git_merges_them(scratch: Scratch, name: str) -> None:
    before, base, after, expected = COMPOSES[name]
    composed = compose(scratch.objects, scratch.tree(base), [scratch.patch(before, after)])
    assert composed == Tree(scratch.tree(expected))
    assert scratch.merged(*map(scratch.tree, (before, base, after))) == composed.id


@pytest.mark.parametrize("name", CONFLICTS)
def test_what_git_refuses_is_a_conflict_with_its_reason(scratch: Scratch, name: str) -> None:
    before, base, after, clash = CONFLICTS[name]
    composed = compose(scratch.objects, scratch.tree(base), [scratch.patch(before, after)])
    assert isinstance(composed, Conflict)
    assert (composed.clash, composed.index, composed.with_base) == (clash, 0, True)
    assert composed.paths
    assert composed.paths[0] in composed.detail
    assert scratch.merged(*map(scratch.tree, (before, base, after))) is None


@pytest.mark.parametrize("old", [None, ONE])
def test_a_submodule_bump_is_not_supported_even_on_its_own_base(scratch: Scratch, old: bytes | None) -> None:
    before: Files = {"s": (SUBMODULE, old)} if old else {"a": b""}
    patch = scratch.patch(before, before | {"s": (SUBMODULE, TWO)})
    composed = compose(scratch.objects, patch.before, [patch])
    assert isinstance(composed, Conflict)
    assert composed.clash is Clash.SUBMODULE


def test_patches_that_conflict_only_with_each_other_are_told_apart(scratch: Scratch) -> None:
    base: Files = {"a": b"1\n2\n3\n", "b": b"x\n"}
    one = scratch.patch(base, base | {"a": b"1\ntwo\n3\n"})
    other = scratch.patch(base, base | {"a": b"1\n2\nthree\n", "b": b"y\n"})
    composed = compose(scratch.objects, one.before, [one, other])
    assert isinstance(composed, Conflict)
    assert (composed.index, composed.with_base, composed.paths) == (1, False, ("a",))


def test_a_conflict_names_all_its_files(scratch: Scratch) -> None:
    before: Files = {"a": b"1\n", "b": b"1\n", "c": b"1\n"}
    patch = scratch.patch(before, {"a": b"2\n", "b": b"2\n", "c": b"2\n"})
    composed = compose(scratch.objects, scratch.tree({"a": b"3\n", "b": b"1\n", "c": b"3\n"}), [patch])
    assert isinstance(composed, Conflict)
    assert composed.paths == ("a", "c")


def test_a_name_cannot_break_the_line_of_a_detail(scratch: Scratch) -> None:
    patch = scratch.patch({"a\nb": b"1\n"}, {"a\nb": b"2\n"})
    composed = compose(scratch.objects, scratch.tree({"a\nb": b"3\n"}), [patch])
    assert isinstance(composed, Conflict)
    assert "\n" not in composed.detail


WORDS = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\n", b"\n", b"e\r\n"]), max_size=12)
CONTENTS = st.builds(lambda lines, tail: b"".join(lines) + tail, WORDS, st.sampled_from([b"", b"", b"end"]))
PATHS = ["a", "b", "d/a", "d/b"]
TREES = st.dictionaries(st.sampled_from(PATHS), CONTENTS, min_size=1)
quickly = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def edited(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with a few lines replaced."""
    lines = content.splitlines(keepends=True)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines)))
        lines[at : at + draw(st.integers(0, 2))] = draw(
            st.lists(st.sampled_from([b"x\n", b"a\n", b"\n"]), max_size=2)
        )
    return b"".join(lines)


@st.composite
def versions(draw: st.DrawFn) -> tuple[Files, Files, Files]:
    """A tree and two that come from it."""
    before = draw(TREES)
    sides = [
        {path: draw(edited(content)) for path, content in before.items() if draw(st.integers(0, 5))}
        | draw(st.dictionaries(st.sampled_from(PATHS), CONTENTS, max_size=1))
        for _ in range(2)
    ]
    return dict(before), dict(sides[0]), dict(sides[1])


@quickly
@given(versions())
def test_random_trees_compose_exactly_as_git_merges_them(
    scratch: Scratch, three: tuple[Files, Files, Files]
) -> None:
    before, base, after = three
    composed = compose(scratch.objects, scratch.tree(base), [scratch.patch(before, after)])
    mine = composed.id if isinstance(composed, Tree) else None
    assert mine == scratch.merged(*map(scratch.tree, (before, base, after)))


@quickly
@given(TREES)
def test_the_empty_patch_changes_nothing(scratch: Scratch, files: Files) -> None:
    tree = scratch.tree(files)
    assert compose(scratch.objects, tree, []) == Tree(tree)
    empty = Patch.between(scratch.objects, scratch.tree({"z": b""}), scratch.tree({"z": b""}))
    assert compose(scratch.objects, tree, [empty, empty]) == Tree(tree)


@quickly
@example(three=({"a": b"b\n", "b": b""}, {"a": b"", "d/a": b"b\n"}, {"d/a": b"b\n"}))
@example(three=({"a": b"b\n", "b": b""}, {"a": b"", "d/a": b""}, {"d/a": b"b\n"}))
@given(three=versions())
def test_the_order_of_patches_decides_nothing(scratch: Scratch, three: tuple[Files, Files, Files]) -> None:
    base, one, other = three
    patches = [scratch.patch(base, one), scratch.patch(base, other)]
    forth = compose(scratch.objects, patches[0].before, patches)
    back = compose(scratch.objects, patches[0].before, patches[::-1])
    assert isinstance(forth, Tree) == isinstance(back, Tree)
    if isinstance(forth, Tree):
        assert forth == back
