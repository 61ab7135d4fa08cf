"""`would_apply` says what `git apply` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from stalebench.compose import as_text
from stalebench.compose.strict import would_apply

if TYPE_CHECKING:
    from .conftest import File, Scratch

    Files = dict[str, File]

LINK, SUBMODULE = 0o120000, 0o160000
TEXT = b"".join(b"line %d\n" % number for number in range(30))
CHANGED = TEXT.replace(b"line 15\n", b"new\n")

CASES: dict[str, tuple[Files, Files, Files, bool]] = {
    # before, after, tree, whether it applies
    "the same tree": ({"a": TEXT}, {"a": CHANGED}, {"a": TEXT}, True),
    "lines that moved": ({"a": TEXT}, {"a": CHANGED}, {"a": b"x\n" * 9 + TEXT}, True),
    "a change far away": ({"a": TEXT}, {"a": CHANGED}, {"a": TEXT.replace(b"line 2\n", b"")}, True),
    "a change in the context": ({"a": TEXT}, {"a": CHANGED}, {"a": TEXT.replace(b"line 13\n", b"")}, False),
    "a change already there": ({"a": TEXT}, {"a": CHANGED}, {"a": CHANGED}, False),
    "a new file": ({"a": b""}, {"a": b"", "b": b"1\n"}, {"a": b"2"}, True),
    "a new file that is there": ({"a": b""}, {"a": b"", "b": b"1\n"}, {"b": b"1\n"}, False),
    "a missing file": ({"a": TEXT}, {"a": CHANGED}, {"b": TEXT}, False),
    "a removed file": ({"a": TEXT, "b": b""}, {"b": b""}, {"a": TEXT}, True),
    "a removed file with other content": ({"a": TEXT, "b": b""}, {"b": b""}, {"a": TEXT + b"x\n"}, False),
    "a renamed file that moved on": ({"a": TEXT}, {"b": CHANGED}, {"a": b"x\n" + TEXT}, True),
    "a rename onto a file": ({"a": TEXT}, {"b": TEXT}, {"a": TEXT, "b": b""}, False),
    "a binary file": ({"a": b"\0"}, {"a": b"\0\1"}, {"a": b"\0"}, True),
    "another binary file": ({"a": b"\0"}, {"a": b"\0\1"}, {"a": b"\0\2"}, False),
    "a link in place of a file": ({"a": TEXT}, {"a": CHANGED}, {"a": (LINK, TEXT)}, False),
    "a folder that becomes a file": ({"a/b": TEXT}, {"a": b"1\n"}, {"a/b": TEXT, "c": b""}, True),
}


def accepted(scratch: Scratch, tree: str, patch: bytes) -> bool:
    scratch.git("read-tree", scratch.written(tree))
    return scratch.succeeds("apply", "--cached", "--check", "-", data=patch)


@pytest.mark.parametrize("name", CASES)
def test_what_git_apply_accepts_and_refuses(scratch: Scratch, name: str) -> None:
    before, after, files, expected = CASES[name]
    patch, tree = scratch.patch(before, after), scratch.tree(files)
    assert would_apply(scratch.objects, tree, patch) is expected
    assert accepted(scratch, tree, as_text(scratch.objects, patch)) is expected


def test_a_new_file_below_a_file_is_refused(scratch: Scratch) -> None:
    """Git finds out when it writes the file, not with `--check`."""
    patch = scratch.patch({"a": b""}, {"a": b"", "b/c": b"1\n"})
    assert not would_apply(scratch.objects, scratch.tree({"b": b"1\n"}), patch)


def test_a_submodule_bump_is_refused(scratch: Scratch) -> None:
    patch = scratch.patch({"s": (SUBMODULE, b"1" * 40)}, {"s": (SUBMODULE, b"2" * 40)})
    assert not would_apply(scratch.objects, scratch.tree({"s": (SUBMODULE, b"3" * 40)}), patch)


LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"d"]), max_size=16)


@st.composite
def versions(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    """A text, and two that come from it."""
    old = draw(LINES)
    texts = [old]
    for _ in range(2):
        lines = list(old)
        for _ in range(draw(st.integers(1, 2))):
            at = draw(st.integers(0, len(lines)))
            lines[at : at + draw(st.integers(0, 2))] = draw(
                st.lists(st.sampled_from([b"x", b"a", b""]), max_size=2)
            )
        texts.append(lines)
    ends = [draw(st.sampled_from([b"\n", b"\n", b""])) for _ in texts]
    one, two, three = (
        b"\n".join(lines) + (end if lines else b"") for lines, end in zip(texts, ends, strict=True)
    )
    return one, two, three


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example((b"a\nb", b"a\nb\nc", b"a\nb\nmore"))
@example((b"1\n2\n3\n4\n5\n6", b"1\n2\nx\n4\n5\n6", b"0\n1\n2\n3\n4\n5\n6\n7\n"))
@given(versions())
def test_random_hunks_fit_where_git_says(scratch: Scratch, texts: tuple[bytes, bytes, bytes]) -> None:
    before, after, other = texts
    patch, tree = scratch.patch({"a": before}, {"a": after}), scratch.tree({"a": other})
    if patch.changes:
        text = as_text(scratch.objects, patch)
        assert would_apply(scratch.objects, tree, patch) is accepted(scratch, tree, text)
