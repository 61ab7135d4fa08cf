"""An agent sees one tree and no history; what it leaves is taken to the byte, whatever it did to git."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pygit2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stalebench.agents.workspace import Untakeable, taken, workspace
from stalebench.compose import Entry, Objects
from stalebench.compose.objects import EMPTY_TREE

File = bytes | tuple[int, bytes]
LINK, EXECUTABLE, SUBMODULE = 0o120000, 0o100755, 0o160000
BASE: Mapping[str, File] = {
    "pkg/__init__.py": b"",
    "pkg/a.py": b"x = 1\n",
    "pkg/data.bin": b"\0\r\n\xff",
    "crlf.txt": b"1\r\n2\n3",
    "tool": (EXECUTABLE, b"#!/bin/sh\n"),
    "link": (LINK, b"pkg/a.py"),
    "sub": (SUBMODULE, b"1" * 40),
    "\udcff\n": b"odd\n",
    ".gitattributes": b"*.txt text eol=crlf\n*.py filter=evil ident\n",
    ".gitignore": b"*.log\n/build/\n!kept.log\n",
    "pkg/.gitignore": b"made.py\n",
    "pkg/made.py": b"tracked = 1\n",
    "fixtures/x.egg-info/PKG-INFO": b"Name: x\n",
}


@dataclass(frozen=True)
class Place:
    """An agent's folder, and the objects that it was written from."""

    objects: Objects
    base: str
    folder: Path

    def tree(self, files: Mapping[str, File]) -> str:
        edits: dict[str, Entry | None] = {}
        for path, file in files.items():
            mode, content = file if isinstance(file, tuple) else (0o100644, file)
            oid = content.decode() if mode == SUBMODULE else self.objects.put_blob(content)
            edits[path] = Entry(mode, oid)
        return self.objects.edit(EMPTY_TREE, edits)

    def taken(self) -> str:
        return taken(self.objects, self.base, self.folder)

    def changes(self) -> dict[str, Entry | None]:
        return {change.path: change.new for change in self.objects.changes(self.base, self.taken())}

    def git(self, *arguments: str) -> str:
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", "-C", str(self.folder), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout


@pytest.fixture
def place(tmp_path: Path) -> Place:
    pygit2.init_repository(str(tmp_path / "clone"), bare=True)
    made = Place(Objects(tmp_path / "clone"), EMPTY_TREE, tmp_path / "work")
    base = made.tree(BASE)
    workspace(made.objects, base, made.folder)
    return Place(made.objects, base, made.folder)


# What it sees


def test_the_files_are_written_to_the_byte(place: Place) -> None:
    for path, file in BASE.items():
        mode, content = file if isinstance(file, tuple) else (0o100644, file)
        there = place.folder / path
        if mode == LINK:
            assert os.fsencode(there.readlink()) == content
        elif mode == SUBMODULE:
            assert list(there.iterdir()) == []
        else:
            assert there.read_bytes() == content
            assert bool(there.stat().st_mode & 0o100) == (mode == EXECUTABLE)


def test_its_one_commit_holds_the_very_tree(place: Place) -> None:
    told = place.git("log", "--all", "--format=%T|%P|%an|%ad|%cd|%D", "--date=iso-strict").splitlines()
    day = "2020-01-01T00:00:00+00:00"
    assert told == [f"{place.base}||stalebench|{day}|{day}|HEAD -> main"]


def test_git_finds_nothing_to_report(place: Place) -> None:
    assert place.git("status", "--porcelain") == ""
    place.git("fsck", "--strict")


def test_there_is_no_other_ref_reflog_or_object(place: Place) -> None:
    assert place.git("for-each-ref", "--format=%(refname)") == "refs/heads/main\n"
    assert place.git("reflog", "--all") == ""
    there = place.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    reachable = place.git("rev-list", "--all", "--objects", "--no-object-names").split()
    assert sorted(there) == sorted(set(reachable))
    assert not (place.folder / ".git/hooks").exists()


def test_nothing_of_another_tree_is_found(place: Place, tmp_path: Path) -> None:
    place.tree({"pkg/a.py": b"future_name = 1\n"})
    other = tmp_path / "other"
    workspace(place.objects, place.base, other)
    seen = Place(place.objects, place.base, other)
    assert seen.git("log", "--all", "-S", "future_name") == ""
    assert seen.git("log", "--all", "-S", "x = 1", "--format=%s") == "The project as it is\n"
    pack = next((other / ".git/objects/pack").glob("*.pack"))
    assert b"future_name" not in pack.read_bytes()


def test_two_workspaces_of_one_tree_have_the_same_commit(place: Place, tmp_path: Path) -> None:
    assert workspace(place.objects, place.base, tmp_path / "again") == place.git("rev-parse", "HEAD").strip()


def test_an_agent_can_commit_and_diff(place: Place) -> None:
    (place.folder / "pkg/a.py").write_bytes(b"x = 2\n")
    assert place.git("diff", "--stat").count("pkg/a.py") == 1
    place.git("commit", "-aqm", "mine")
    assert place.changes().keys() == {"pkg/a.py"}


# What it leaves


def test_an_untouched_workspace_is_its_tree(place: Place) -> None:
    assert place.taken() == place.base


def remove_git(folder: Path) -> None:
    shutil.rmtree(folder / ".git")


def break_git(folder: Path) -> None:
    (folder / ".git/config").write_text("[core]\n\tfsmonitor = touch /tmp/ran\n\tworktree = /\n[broken")
    (folder / ".git/HEAD").unlink()


def redirect_git(folder: Path) -> None:
    shutil.rmtree(folder / ".git")
    (folder / ".git").write_text("gitdir: /nowhere\n")


def link_git(folder: Path) -> None:
    shutil.rmtree(folder / ".git")
    (folder / ".git").symlink_to("/")


def ignore_all(folder: Path) -> None:
    (folder / ".git/info/exclude").write_text("*\n")


def change_times(folder: Path) -> None:
    for path in ("pkg/a.py", "crlf.txt"):
        os.utime(folder / path, (0, 0))


@pytest.mark.parametrize(
    "deed",
    [remove_git, break_git, redirect_git, link_git, ignore_all, change_times],
    ids=lambda deed: deed.__name__,
)
def test_what_is_done_to_git_changes_nothing(place: Place, deed: Callable[[Path], None]) -> None:
    deed(place.folder)
    assert place.taken() == place.base
    (place.folder / "pkg/new.py").write_bytes(b"y = 1")
    assert place.changes().keys() == {"pkg/new.py"}


def test_a_filter_of_the_agent_does_not_run(place: Place, tmp_path: Path) -> None:
    place.git("config", "filter.evil.clean", f"touch {tmp_path}/ran; cat")
    (place.folder / "pkg/a.py").write_bytes(b"$Id$\r\n")
    assert place.changes() == {"pkg/a.py": Entry(0o100644, place.objects.put_blob(b"$Id$\r\n"))}
    assert not (tmp_path / "ran").exists()


def test_hidden_changes_are_taken(place: Place) -> None:
    place.git("update-index", "--assume-unchanged", "pkg/a.py")
    place.git("update-index", "--skip-worktree", "crlf.txt")
    (place.folder / "pkg/a.py").write_bytes(b"x = 3\n")
    (place.folder / "crlf.txt").write_bytes(b"1\r\n2\n3\n")
    assert place.changes().keys() == {"pkg/a.py", "crlf.txt"}


def test_every_kind_of_change_is_taken(place: Place) -> None:
    work = place.folder
    (work / "pkg/a.py").rename(work / "pkg/b.py")
    (work / "pkg/data.bin").write_bytes(b"\0" * 9)
    (work / "crlf.txt").write_bytes(b"1\n2\n3")
    (work / "tool").chmod(0o644)
    (work / "link").unlink()
    (work / "link").symlink_to("/etc/passwd")
    (work / "pkg/made.py").unlink()
    (work / "new \udcfe").write_bytes("é".encode("latin-1"))
    (work / "run.sh").write_bytes(b"")
    (work / "run.sh").chmod(0o755)
    blob = place.objects.put_blob
    assert place.changes() == {
        "pkg/a.py": None,
        "pkg/b.py": Entry(0o100644, blob(b"x = 1\n")),
        "pkg/data.bin": Entry(0o100644, blob(b"\0" * 9)),
        "crlf.txt": Entry(0o100644, blob(b"1\n2\n3")),
        "tool": Entry(0o100644, blob(b"#!/bin/sh\n")),
        "link": Entry(LINK, blob(b"/etc/passwd")),
        "pkg/made.py": None,
        "new \udcfe": Entry(0o100644, blob(b"\xe9")),
        "run.sh": Entry(EXECUTABLE, blob(b"")),
    }


def test_files_and_folders_change_places(place: Place) -> None:
    work = place.folder
    shutil.rmtree(work / "pkg")
    (work / "pkg").symlink_to("/etc")
    (work / "tool").unlink()
    (work / "tool").mkdir()
    (work / "tool/inner").write_bytes(b"1")
    found = place.changes()
    assert found["pkg"] == Entry(LINK, place.objects.put_blob(b"/etc"))
    assert {path for path, new in found.items() if new is None} == {
        "tool",
        *(path for path in BASE if path.startswith("pkg/")),
    }
    assert found.keys() - BASE.keys() == {"pkg", "tool/inner"}


def test_nested_repositories_are_folders_and_submodules_stay(place: Place) -> None:
    nested = place.folder / "vendored"
    nested.mkdir()
    subprocess.run(["git", "init", "-q", str(nested)], check=True)
    (nested / "code.py").write_bytes(b"z = 1\n")
    (place.folder / "sub/inside").write_bytes(b"1")
    assert place.changes().keys() == {"vendored/code.py"}
    shutil.rmtree(place.folder / "sub")
    assert place.changes().keys() == {"vendored/code.py"}


LEFT_OUT = [
    "pkg/__pycache__/a.cpython-311.pyc",
    "pkg/a.pyc",
    ".pytest_cache/v/x",
    ".mypy_cache/x",
    ".ruff_cache/x",
    ".hypothesis/x",
    ".tox/py/x",
    ".nox/x",
    "node_modules/x/y.js",
    "pkg.egg-info/PKG-INFO",
    "fixtures/x.egg-info/SOURCES.txt",
    "env/pyvenv.cfg",
    "env/lib/site.py",
    "a.log",
    "deep/er/b.log",
    "build/lib/x.py",
]
TAKEN = ["kept.log", "deep/build/x.py", "made.py", "pkg/build.py", "env2/lib/site.py", "dist/x"]


def test_caches_environments_and_what_the_base_ignores_are_left_out(place: Place) -> None:
    for path in [*LEFT_OUT, *TAKEN]:
        (place.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (place.folder / path).write_bytes(b"1")
    assert place.changes().keys() == set(TAKEN)


def test_the_agents_own_ignore_rules_hide_nothing(place: Place) -> None:
    (place.folder / ".gitignore").write_bytes(b"*\n")
    (place.folder / "pkg/.gitignore").unlink()
    (place.folder / "pkg/new.py").write_bytes(b"1")
    assert place.changes().keys() == {".gitignore", "pkg/.gitignore", "pkg/new.py"}


def test_a_tracked_file_is_taken_wherever_it_is(place: Place) -> None:
    (place.folder / "pkg/pyvenv.cfg").write_bytes(b"home = /\n")
    (place.folder / "pkg/made.py").write_bytes(b"tracked = 2\n")
    (place.folder / "pkg/a.py").write_bytes(b"x = 2\n")
    (place.folder / "fixtures/x.egg-info/PKG-INFO").unlink()
    assert place.changes().keys() == {
        "pkg/pyvenv.cfg",
        "pkg/made.py",
        "pkg/a.py",
        "fixtures/x.egg-info/PKG-INFO",
    }


def test_what_is_no_file_is_left_out(place: Place) -> None:
    os.mkfifo(place.folder / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(place.folder)
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
        assert place.taken() == place.base


def test_closed_files_and_folders_are_read(place: Place) -> None:
    (place.folder / "pkg/a.py").write_bytes(b"x = 5\n")
    (place.folder / "pkg/a.py").chmod(0)
    (place.folder / "pkg").chmod(0)
    assert place.changes().keys() == {"pkg/a.py"}


def test_too_much_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    with (place.folder / "huge").open("wb") as file:
        file.truncate((16 << 20) + 1)
    with pytest.raises(Untakeable, match="'huge' is larger than 16 MiB"):
        place.taken()
    (place.folder / "huge").unlink()
    monkeypatch.setattr("stalebench.agents.taking.MOST_FILES", 3)
    for number in range(4):
        (place.folder / f"n{number}").write_bytes(b"")
    with pytest.raises(Untakeable, match="more than 3 files"):
        place.taken()


def test_a_workspace_that_is_gone_is_refused(place: Place) -> None:
    shutil.rmtree(place.folder)
    with pytest.raises(Untakeable, match="is gone"):
        place.taken()
    place.folder.symlink_to("/etc")
    with pytest.raises(Untakeable, match="is gone"):
        place.taken()


def test_a_nesting_deeper_than_any_path_is_refused(place: Place) -> None:
    handle = os.open(place.folder, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=handle)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)
    with pytest.raises(Untakeable, match="cannot be read"):
        place.taken()


NAMES = st.sampled_from(["a", "b/c", "b/d e", "f/g/h", "\udcfe", "x\ny", "-z", "b"])
CONTENTS = st.binary(max_size=20) | st.sampled_from([b"a\r\n", b"a\n", b"a"])
FILES = CONTENTS | st.tuples(st.just(EXECUTABLE), CONTENTS) | st.tuples(st.just(LINK), st.just(b"a"))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=st.dictionaries(NAMES, FILES), base=st.dictionaries(NAMES, FILES))
def test_any_tree_is_written_and_taken_back(
    place: Place, tmp_path: Path, files: Mapping[str, File], base: Mapping[str, File]
) -> None:
    folder = tmp_path / "any"
    shutil.rmtree(folder, ignore_errors=True)
    tree = place.tree(files)
    workspace(place.objects, tree, folder)
    assert taken(place.objects, place.tree(base), folder) == tree


SOME_RULES = r"""
*.log
!keep.log
/build
out/
d/*
!d/keep.log
**/deep
a?c
*
!*/
!*.py
[ab].py
deep/**/x
/d/out
# no
\!odd
"""
RULES = st.lists(st.sampled_from([*SOME_RULES.strip().splitlines(), "trailing "]), max_size=4)
PATHS = [
    "x.log",
    "keep.log",
    "build/a.py",
    "d/keep.log",
    "d/out/x",
    "out/x",
    "d/deep/e/x",
    "!odd",
    "abc",
    "b.py",
]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(top=RULES, inner=RULES)
def test_what_is_ignored_is_what_git_ignores(
    place: Place, tmp_path: Path, top: list[str], inner: list[str]
) -> None:
    folder = tmp_path / "ignoring"
    shutil.rmtree(folder, ignore_errors=True)
    tree = place.tree({".gitignore": "\n".join(top).encode(), "d/.gitignore": "\n".join(inner).encode()})
    workspace(place.objects, tree, folder)
    for path in PATHS:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(b"1")
    here = Place(place.objects, tree, folder)
    listed = here.git("ls-files", "-z", "--others", "--exclude-standard").split("\0")[:-1]
    assert here.changes().keys() == set(listed)
