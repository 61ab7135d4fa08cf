"""A patch's text, read onto its tree, is that patch again; what does not fit is refused by name."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stalebench.compose import Patch, as_text
from stalebench.compose.reading import Refusal, Unreadable, read_patch

if TYPE_CHECKING:
    from .conftest import File, Scratch

    Files = dict[str, File]

LINK, EXECUTABLE, SUBMODULE = 0o120000, 0o100755, 0o160000
TEXT = b"".join(b"line %d\n" % number for number in range(30))
NAMES = [
    "a",
    "b b",
    "d/x",
    "d/e/y",
    "d",
    'q"\\\t\n',
    "\udcff",
    "é",
    " z ",
    "a/b",
    "-n",
    "new\r",
    "@@ -1 +1 @@",
]

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c\r\n", b"\xff\n", b"--- a/x\n"]), max_size=30)
ENDS = st.sampled_from([b"", b"end", b"\0", b"rename from a\n", b"\r", b"GIT binary patch\n"])
CONTENTS = st.builds(lambda lines, end: b"".join(lines) + end, LINES, ENDS) | st.just(TEXT)
FILES = (
    CONTENTS
    | st.tuples(st.just(EXECUTABLE), CONTENTS)
    | st.tuples(st.just(LINK), st.sampled_from([b"a", b"../b b", b"\xff"]))
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=st.dictionaries(st.sampled_from(NAMES), FILES),
    after=st.dictionaries(st.sampled_from(NAMES), FILES),
)
def test_reading_takes_back_what_was_written(scratch: Scratch, before: Files, after: Files) -> None:
    patch = scratch.patch(before, after)
    assert read_patch(scratch.objects, patch.before, as_text(scratch.objects, patch)) == patch


MOVED: Files = {"old/name.py": TEXT, "link": (LINK, b"old/name.py"), "data": b"\0" * 50, "tool": b"x\n"}
MOVES: dict[str, tuple[Files, Files]] = {
    "a rename": (MOVED, {**MOVED, "old/name.py": b"", "new/näme b.py": TEXT}),
    "a rename with a change": ({"old.py": TEXT}, {"new.py": TEXT.replace(b"line 3\n", b"three\n")}),
    "two renames, one over the other": ({"a": TEXT, "b": TEXT * 2}, {"b": TEXT, "c": TEXT * 2}),
    "a link that is retargeted": ({"l": (LINK, b"a")}, {"l": (LINK, b"../elsewhere")}),
    "two new empty files": ({"a": b"1\n"}, {"a": b"1\n", "p/__init__.py": b"", "q/__init__.py": b""}),
    "a binary file": ({"a": bytes(range(256)) * 9}, {"a": bytes(range(255, -1, -1)) * 300}),
    "latin-1": (
        {"a": "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1")},
        {"a": "x = 'ü'".encode("latin-1")},
    ),
    "a mode alone": ({"a b": TEXT}, {"a b": (EXECUTABLE, TEXT)}),
    "a file that makes room for a folder": ({"a": b"1\n"}, {"a/b": b"2\n", "a/c": b""}),
    "a folder that makes room for a file": ({"a/b": b"2\n", "a/c": b""}, {"a": b"1\n"}),
    "beside a submodule": ({"sub": (SUBMODULE, b"1" * 40), "a": b"1\n"}, {"sub": (SUBMODULE, b"1" * 40)}),
    "line ends of all kinds": ({"a": b"1\r\n2\n3\r"}, {"a": b"1\n2\r\n3\r\r\n"}),
}


@pytest.mark.parametrize("name", MOVES)
def test_reading_takes_back(scratch: Scratch, name: str) -> None:
    patch = scratch.patch(*MOVES[name])
    assert read_patch(scratch.objects, patch.before, as_text(scratch.objects, patch)) == patch


@pytest.mark.parametrize(
    "options",
    [[], ["--no-prefix"], ["--full-index", "--binary"], ["-M"], ["--src-prefix=i/", "--dst-prefix=w/"]],
)
def test_what_git_diff_writes_is_read(scratch: Scratch, options: list[str]) -> None:
    before = {"p/a.py": TEXT, "p/b.py": TEXT, "p/gone.py": b"x\n"}
    after = {"p/a.py": TEXT.replace(b"line 9\n", b"nine\n"), "p/c.py": TEXT, "p/new.py": b"y"}
    patch = scratch.patch(before, after)
    text = scratch.git("diff", *options, scratch.written(patch.before), scratch.written(patch.after))
    assert read_patch(scratch.objects, patch.before, text) == patch


PLAIN = b"""--- {old}p/a.py\t2024-01-01 00:00:00
+++ {new}p/a.py\t2024-01-02 00:00:00
@@ -8,3 +8,3 @@
 line 7
-line 8
+eight
 line 9
"""


@pytest.mark.parametrize(("old", "new"), [(b"a/", b"b/"), (b"", b""), (b"old/", b"new/")])
def test_a_plain_unified_diff_is_read(scratch: Scratch, old: bytes, new: bytes) -> None:
    patch = scratch.patch({"p/a.py": TEXT}, {"p/a.py": TEXT.replace(b"line 8\n", b"eight\n")})
    text = PLAIN.replace(b"{old}", old).replace(b"{new}", new)
    assert read_patch(scratch.objects, patch.before, text) == patch
    assert read_patch(scratch.objects, patch.before, text.rstrip()) == patch


@pytest.mark.parametrize("text", [b"", b"\n", b" \r\n\t"])
def test_blank_text_is_the_empty_patch(scratch: Scratch, text: bytes) -> None:
    tree = scratch.tree({"a": b"1\n"})
    assert read_patch(scratch.objects, tree, text) == Patch(tree, tree, ())


def test_a_hunk_may_have_moved(scratch: Scratch) -> None:
    patch = scratch.patch({"a": TEXT}, {"a": TEXT.replace(b"line 9\n", b"nine\n")})
    longer = scratch.tree({"a": b"new\n" * 9 + TEXT})
    found = read_patch(scratch.objects, longer, as_text(scratch.objects, patch))
    assert scratch.files(found.after) == {"a": b"new\n" * 9 + TEXT.replace(b"line 9\n", b"nine\n")}


CHANGE: tuple[Files, Files] = ({"a": TEXT}, {"a": TEXT.replace(b"line 9\n", b"nine\n")})
CRLF = TEXT.replace(b"\n", b"\r\n")
NEW = b"diff --git a/%b b/%b\nnew file mode %b\n--- /dev/null\n+++ b/%b\n@@ -0,0 +1 @@\n+x\n"


def new_file(path: bytes, mode: bytes = b"100644") -> bytes:
    return NEW % (path, path, mode, path)


REFUSED: dict[str, tuple[Files, bytes, Refusal]] = {
    "prose": ({"a": TEXT}, b"I could not find the bug.\n", Refusal.NO_PATCH),
    "half a patch": ({"a": TEXT}, b"--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n line 0\n", Refusal.NO_PATCH),
    "another content": ({"a": b"line 9\n"}, b"", Refusal.DOES_NOT_APPLY),
    "no such file": ({"b": TEXT}, b"", Refusal.DOES_NOT_APPLY),
    "line feeds on carriage returns": ({"a": CRLF}, b"", Refusal.DOES_NOT_APPLY),
    "a file that is there": ({"a": TEXT}, new_file(b"a"), Refusal.DOES_NOT_APPLY),
    "a folder that is there": ({"a/b": TEXT}, new_file(b"a"), Refusal.DOES_NOT_APPLY),
    "a file for a folder": ({"a": TEXT}, new_file(b"a/b"), Refusal.DOES_NOT_APPLY),
    "a path above": ({"a": TEXT}, new_file(b"../a"), Refusal.OUTSIDE),
    "a hook of git": ({"a": TEXT}, new_file(b".git/hooks/post-checkout", b"100755"), Refusal.OUTSIDE),
    "git's folder in another case": ({"a": TEXT}, new_file(b"d/.GIT/config"), Refusal.OUTSIDE),
    "through a link": ({"l": (LINK, b"/etc")}, new_file(b"l/passwd"), Refusal.OUTSIDE),
    "through a link of its own": (
        {"a": b""},
        new_file(b"l", b"120000").replace(b"+x", b"+/etc\n\\ No newline at end of file")
        + new_file(b"l/passwd"),
        Refusal.OUTSIDE,
    ),
    "a submodule": (
        {"a": TEXT},
        new_file(b"sub", b"160000").replace(b"+x", b"+Subproject commit " + b"1" * 40),
        Refusal.SUBMODULE,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(scratch: Scratch, name: str) -> None:
    files, text, refusal = REFUSED[name]
    text = text or as_text(scratch.objects, scratch.patch(*CHANGE))
    with pytest.raises(Unreadable) as caught:
        read_patch(scratch.objects, scratch.tree(files), text)
    assert caught.value.refusal is refusal, caught.value.cause


def test_carriage_returns_on_line_feeds_are_refused(scratch: Scratch) -> None:
    text = as_text(scratch.objects, scratch.patch({"a": CRLF}, {"a": CRLF.replace(b"9", b"nine")}))
    with pytest.raises(Unreadable) as caught:
        read_patch(scratch.objects, scratch.tree({"a": TEXT}), text)
    assert caught.value.refusal is Refusal.DOES_NOT_APPLY


def test_a_change_of_a_submodule_is_refused(scratch: Scratch) -> None:
    patch = scratch.patch({"s": (SUBMODULE, b"1" * 40)}, {"s": (SUBMODULE, b"2" * 40)})
    with pytest.raises(Unreadable) as caught:
        read_patch(scratch.objects, patch.before, as_text(scratch.objects, patch))
    assert caught.value.refusal is Refusal.SUBMODULE


def test_a_refusal_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(Unreadable(Refusal.OUTSIDE, "invalid path '../a'")))  # noqa: S301
    assert (error.refusal, error.cause) == (Refusal.OUTSIDE, "invalid path '../a'")
    assert "outside" in error.message
