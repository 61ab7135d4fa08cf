"""Patches as text are what `git apply` reads, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stalebench.compose import as_text

if TYPE_CHECKING:
    from .conftest import File, Scratch

    Files = dict[str, File]

LINK, EXECUTABLE = 0o120000, 0o100755
TEXT = b"".join(b"line %d\n" % number for number in range(30))

CASES: dict[str, tuple[Files, Files]] = {
    "a new file and a removed one": ({"a": b"1\n"}, {"b": b"x\n2\n"}),
    "a new empty file": ({"a": b"1\n"}, {"a": b"1\n", "b/__init__.py": b""}),
    "an emptied file": ({"a": b"1\n"}, {"a": b""}),
    "a mode": ({"a": b"1\n"}, {"a": (EXECUTABLE, b"1\n")}),
    "a mode and lines": ({"a": b"1\n"}, {"a": (EXECUTABLE, b"2\n")}),
    "a rename": ({"a": TEXT}, {"d/b": TEXT}),
    "a rename with changes": ({"a b": TEXT}, {"b é": TEXT + b"more\n"}),
    "a link": ({"a": (LINK, b"x")}, {"a": (LINK, b"y")}),
    "a file that becomes a link": ({"a": b"x\n"}, {"a": (LINK, b"y")}),
    "a binary file": ({"a": b"\0old"}, {"a": b"\0new" * 100}),
    "a large binary file": ({}, {"a": bytes(range(256)) * 700}),
    "a binary file that goes": ({"a": b"\0old"}, {}),
    "names that must be quoted": (
        {'q"\\\t\n': b"1\n", "\udcff": b"2\n"},
        {'q"\\\t\n': b"2\n", "\udcff": b"3\n"},
    ),
    "no final line feed": ({"a": b"1\n2"}, {"a": b"1\n3"}),
    "a final line feed": ({"a": b"1\n2"}, {"a": b"1\n2\n"}),
    "carriage returns": ({"a": b"1\r\n2\r\n"}, {"a": b"1\r\n3\r\n"}),
    "bytes that are not UTF-8": ({"a": b"\xff\n\xfe\n"}, {"a": b"\xff\n\xfd\n"}),
}


def applied(scratch: Scratch, before: str, patch: bytes) -> str:
    """The tree that git makes of a patch."""
    scratch.git("read-tree", scratch.written(before))
    scratch.git("apply", "--cached", "--whitespace=nowarn", "-", data=patch)
    return scratch.git("write-tree").decode().strip()


@pytest.mark.parametrize("name", CASES)
def test_git_applies_the_text_of_a_patch(scratch: Scratch, name: str) -> None:
    patch = scratch.patch(*CASES[name])
    text = as_text(scratch.objects, patch)
    assert applied(scratch, patch.before, text) == patch.after


def test_the_text_of_the_empty_patch_is_empty(scratch: Scratch) -> None:
    assert as_text(scratch.objects, scratch.patch({"a": b"1"}, {"a": b"1"})) == b""


def test_the_text_is_what_git_diff_writes(scratch: Scratch) -> None:
    patch = scratch.patch({"a": TEXT, "m": TEXT}, {"a": TEXT.replace(b"line 7\n", b"seven\n"), "m2": TEXT})
    trees = [scratch.written(tree) for tree in (patch.before, patch.after)]
    theirs = scratch.git("diff", "-M", "--full-index", *trees).replace(b"similarity index 100%\n", b"")
    assert as_text(scratch.objects, patch) == theirs


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c\r\n", b"\xff\n"]), max_size=10).map(b"".join)
CONTENTS = st.builds(bytes.__add__, LINES, st.sampled_from([b"", b"end", b"\0"]))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(*[st.dictionaries(st.sampled_from(["a", "b", "c c"]), CONTENTS, min_size=1)] * 2)
def test_git_applies_random_patches(scratch: Scratch, before: Files, after: Files) -> None:
    patch = scratch.patch(before, after)
    text = as_text(scratch.objects, patch)
    if text:
        assert applied(scratch, patch.before, text) == patch.after
