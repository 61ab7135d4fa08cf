"""Merging texts gives what git gives, decision by decision."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from .conftest import Scratch

FEW = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"}"]), max_size=40)
MANY = st.lists(st.sampled_from([b"%d" % number for number in range(30)] + [b""] * 10), max_size=60)


@st.composite
def three(draw: st.DrawFn) -> tuple[bytes, bytes, bytes]:
    old = draw(st.one_of(FEW, MANY))
    texts = [old]
    for _ in range(2):
        lines = list(old)
        for _ in range(draw(st.integers(1, 5))):
            at = draw(st.integers(0, len(lines)))
            if draw(st.booleans()) and lines:
                source = draw(st.integers(0, len(lines) - 1))
                lines[at:at] = lines[source : source + 4]
            else:
                lines[at : at + draw(st.integers(0, 4))] = draw(
                    st.lists(st.sampled_from([b"a", b"", b"x", b"y"]), max_size=3)
                )
        texts.append(lines)
    ends = [draw(st.sampled_from([b"\n", b""])) for _ in texts]
    return tuple(b"\n".join(lines) + (end if lines else b"") for lines, end in zip(texts, ends, strict=True))  # type: ignore[return-value]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(three(), min_size=25, max_size=25))
def test_random_texts_merge_as_in_git(scratch: Scratch, many: list[tuple[bytes, bytes, bytes]]) -> None:
    trees = [
        scratch.tree({f"{place:02}": texts[side] for place, texts in enumerate(many)}) for side in range(3)
    ]
    tree, *conflicts = scratch.merge_tree(*trees)
    rows = scratch.git("ls-tree", tree).decode().splitlines()
    ids = {row.split("\t")[1]: row.split()[2] for row in rows}
    for place, texts in enumerate(many):
        blobs = [scratch.objects.put_blob(text) for text in texts]
        if blobs[1] in (blobs[0], blobs[2]) or blobs[2] == blobs[0]:
            continue
        merged = scratch.objects.merger.merge(*blobs)
        name = f"{place:02}"
        assert (merged is None) == (name in conflicts), texts
        if merged is not None:
            assert scratch.objects.put_blob(merged.content) == ids[name], texts


def test_where_every_common_line_is_frequent_git_takes_another_diff(scratch: Scratch) -> None:
    old = b"".join(b"\n%d\n" % number for number in range(80)) + b"end\n"
    ours = old.replace(b"end", b"END").replace(b"\n7\n", b"\nseven\n")
    theirs = b"\n" * 30 + b"new\n" + b"\n" * 40
    trees = [scratch.tree({"a": text}) for text in (old, ours, theirs)]
    blobs = [scratch.objects.put_blob(text) for text in (old, ours, theirs)]
    assert (scratch.objects.merger.merge(*blobs) is None) == (scratch.merged(*trees) is None)


@pytest.mark.parametrize(
    ("old", "ours", "theirs"),
    [
        (b"1\n2\n3\n4\n5\n6\n7\n", b"0\n1\n2\n3\n4\n5\n6\n7\n", b"1\n2\n3\n4\n5\n6\n7\n8\n"),
        (b"a\r\nb\nc\rd\n", b"A\r\nb\nc\rd\n", b"a\r\nb\nc\rD\n"),
        (b"", b"x\n", b""),
    ],
)
def test_plain_texts_merge_as_git_merge_file_does(
    scratch: Scratch, tmp_path: Path, old: bytes, ours: bytes, theirs: bytes
) -> None:
    names = [tmp_path / name for name in ("ours", "old", "theirs")]
    for name, text in zip(names, (ours, old, theirs), strict=True):
        name.write_bytes(text)
    done = subprocess.run(["git", "merge-file", "-p", *map(str, names)], capture_output=True, check=False)
    merged = scratch.objects.merger.merge(*map(scratch.objects.put_blob, (old, ours, theirs)))
    expected = done.stdout if done.returncode == 0 else None
    assert (merged.content if merged else None) == expected
