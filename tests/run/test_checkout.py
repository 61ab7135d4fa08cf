"""Claims about checkouts: whatever a run does to one, the next switch makes it equal to the tree."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stalebench.compose.objects import EMPTY_TREE, Entry, Objects
from stalebench.errors import RunBroken
from stalebench.run.checkout import Checkout, Switch
from stalebench.run.process import Ending, Process, environment
from stalebench.run.removal import remove
from stalebench.run.writing import modification_time

PYTHON = Path(sys.executable)
FILE, PROGRAM, LINK, SUBMODULE = 0o100644, 0o100755, 0o120000, 0o160000
COMMIT = "1234567890" * 4

Content = bytes | tuple[int, bytes]


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "git"], check=True)
    return Objects(tmp_path / "git")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "checkout"


def tree_of(objects: Objects, files: Mapping[str, Content]) -> str:
    """The tree of these files; a pair is a mode and a content."""
    edits = {}
    for path, content in files.items():
        mode, data = content if isinstance(content, tuple) else (FILE, content)
        edits[path] = Entry(mode, COMMIT if mode == SUBMODULE else objects.put_blob(data))
    return objects.edit(EMPTY_TREE, edits)


def on_disk(root: Path) -> dict[str, Content]:
    """All that is in a folder but bytecode, in the form of `tree_of`; empty folders are submodules."""
    found: dict[str, Content] = {}
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name != "__pycache__"]
        for name in [*names, *files]:
            path = Path(folder, name)
            mode = path.lstat().st_mode
            key = str(path.relative_to(root))
            if stat.S_ISLNK(mode):
                found[key] = (LINK, os.fsencode(path.readlink()))
            elif stat.S_ISDIR(mode):
                assert stat.S_IMODE(mode) == 0o755
                if not list(path.iterdir()):
                    found[key] = (SUBMODULE, b"")
            else:
                assert stat.S_ISREG(mode)
                data = path.read_bytes()
                found[key] = (PROGRAM, data) if stat.S_IMODE(mode) == 0o755 else data
                assert stat.S_IMODE(mode) in {0o755, 0o644}
    return found


PROJECT: dict[str, Content] = {
    "README": b"read me\n",
    "run.sh": (PROGRAM, b"#!/bin/sh\n"),
    "package/__init__.py": b"",
    "package/module.py": b"value = 1\n",
    "package/deep/er/module.py": b"value = 2\n",
    "package/data/binary": bytes(range(256)),
    "link": (LINK, b"package/module.py"),
    "broken-link": (LINK, b"nowhere"),
    "outward": (LINK, b"/etc"),
    "vendored": (SUBMODULE, b""),
    "folder with space/na\u00efve \u2603.py": b"x = 1\n",
    os.fsdecode(b"latin-\xe9.txt"): b"not UTF-8",
    "Case": b"upper",
    "case": b"lower",
}


# --- switching


def test_the_folder_equals_the_tree(objects: Objects, folder: Path) -> None:
    with Checkout(folder) as checkout:
        switch = checkout.switch(objects, tree_of(objects, PROJECT))
        assert on_disk(checkout.root) == PROJECT
    assert switch == Switch(written=len(PROJECT), removed=0, restored=0)


def test_only_what_differs_is_written(objects: Objects, folder: Path) -> None:
    changed = {**PROJECT, "package/module.py": b"value = 3\n", "added/new.py": b""}
    del changed["README"]
    with Checkout(folder) as checkout:
        checkout.switch(objects, tree_of(objects, PROJECT))
        before = (checkout.root / "run.sh").stat()
        assert checkout.switch(objects, tree_of(objects, changed)) == Switch(written=2, removed=1, restored=0)
        assert on_disk(checkout.root) == changed
        assert (checkout.root / "run.sh").stat().st_ctime_ns == before.st_ctime_ns


def test_files_become_folders_links_and_submodules_and_back(objects: Objects, folder: Path) -> None:
    forms: list[Mapping[str, Content]] = [
        {"x": b"file"},
        {"x/inner/file": b"folder"},
        {"x": (LINK, b"elsewhere")},
        {"x": (SUBMODULE, b"")},
        {"x": (PROGRAM, b"file")},
    ]
    with Checkout(folder) as checkout:
        for first in forms:
            for second in forms:
                for form in (first, second):
                    checkout.switch(objects, tree_of(objects, form))
                    assert on_disk(checkout.root) == form


PATHS = st.sampled_from(["a", "a/b", "a/b/c", "a/d", "b", "b/c/d/e", "c", "\u00e9", "a b/c"])
CONTENTS: st.SearchStrategy[Content] = st.one_of(
    st.sampled_from([b"", b"one", b"two"]),
    st.tuples(st.just(PROGRAM), st.sampled_from([b"one", b"two"])),
    st.tuples(st.just(LINK), st.sampled_from([b"a", b"../..", b"/etc/passwd"])),
    st.just((SUBMODULE, b"")),
)


def _without_clashes(files: Mapping[str, Content]) -> dict[str, Content]:
    """No file stands where another one needs a folder."""
    return {
        path: content for path, content in files.items() if not any(o.startswith(path + "/") for o in files)
    }


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(PATHS, CONTENTS).map(_without_clashes), min_size=2, max_size=5))
def test_any_sequence_of_trees_is_followed(
    objects: Objects, folder: Path, trees: list[dict[str, Content]]
) -> None:
    with Checkout(folder) as checkout:
        for files in trees:
            checkout.switch(objects, tree_of(objects, files))
            assert on_disk(checkout.root) == files


def test_a_real_tree_is_equal_for_git_too(objects: Objects, folder: Path, tmp_path: Path) -> None:
    source = Path(__file__).parents[2] / "stalebench"
    files: dict[str, Content] = {
        str(path.relative_to(source)): path.read_bytes() for path in source.rglob("*.py") if path.is_file()
    }
    tree = tree_of(objects, files)
    with Checkout(folder) as checkout:
        checkout.switch(objects, tree)
        git = ["git", f"--git-dir={tmp_path / 'other'}", f"--work-tree={checkout.root}"]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "-A"], check=True, cwd=checkout.root)
        made = subprocess.run([*git, "write-tree"], check=True, capture_output=True, text=True).stdout
    assert made.strip() == tree


# --- modification times


def test_other_content_of_the_same_length_has_another_second(objects: Objects, folder: Path) -> None:
    seconds = set()
    with Checkout(folder) as checkout:
        for number in range(50):
            checkout.switch(objects, tree_of(objects, {"module.py": b"value = %02d\n" % number}))
            seconds.add(int((checkout.root / "module.py").stat().st_mtime))
    assert len(seconds) == 50


def test_the_same_content_always_has_the_same_time(objects: Objects, folder: Path, tmp_path: Path) -> None:
    tree = tree_of(objects, {"module.py": b"value = 1\n"})
    with Checkout(folder) as checkout, Checkout(tmp_path / "other") as other:
        checkout.switch(objects, tree)
        other.switch(objects, tree)
        times = [(each.root / "module.py").stat().st_mtime_ns for each in (checkout, other)]
    assert times == [modification_time(objects.put_blob(b"value = 1\n"))] * 2


@given(st.binary(min_size=20, max_size=20))
def test_every_time_is_past_and_can_be_held_by_a_zip_archive(blob: bytes) -> None:
    assert 315_532_800 <= modification_time(blob.hex()) / 10**9 < 1_577_836_800


def test_bytecode_is_never_stale(objects: Objects, folder: Path) -> None:
    with Checkout(folder) as checkout:
        for value in range(5):
            checkout.switch(objects, tree_of(objects, {"module.py": b"print(%d)\n" % value}))
            ran = subprocess.run(
                [PYTHON, "-c", "import module"], cwd=checkout.root, capture_output=True, check=True, text=True
            )
            assert ran.stdout == f"{value}\n"


# --- what runs leave behind


def _replace_by_folder(root: Path) -> None:
    (root / "README").unlink()
    (root / "README" / "inner").mkdir(parents=True)
    (root / "README" / "inner" / "file").touch()


def _link_folder_outward(root: Path) -> None:
    shutil.rmtree(root / "package")
    (root / "package").symlink_to(root.parent.parent / "victim")


def _link_file_outward(root: Path) -> None:
    (root / "package" / "module.py").unlink()
    (root / "package" / "module.py").symlink_to(root.parent.parent / "victim" / "module.py")


def _hard_link_outward(root: Path) -> None:
    (root / "package" / "module.py").unlink()
    os.link(root.parent.parent / "victim" / "module.py", root / "package" / "module.py")


def _forge_same_size_and_time(root: Path) -> None:
    path = root / "package" / "module.py"
    found = path.stat()
    path.write_bytes(b"value = 9\n")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _swap_forged_file_in(root: Path) -> None:
    path = root / "package" / "module.py"
    found = path.stat()
    forged = root / "forged"
    forged.write_bytes(b"value = 9\n")
    os.utime(forged, ns=(found.st_atime_ns, found.st_mtime_ns))
    forged.replace(path)


def _close_everything(root: Path) -> None:
    for path in sorted(root.rglob("*"), reverse=True):
        if not path.is_symlink():
            path.chmod(0)
    root.chmod(0)


def _open_everything(root: Path) -> None:
    for path in root.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o777)


def _remove_the_root(root: Path) -> None:
    shutil.rmtree(root)


def _link_the_root(root: Path) -> None:
    shutil.rmtree(root)
    root.symlink_to(root.parent.parent / "victim")


def _leave_untracked(root: Path) -> None:
    (root / ".hidden").touch()
    (root / "build" / "lib").mkdir(parents=True)
    (root / "build" / "lib" / "file").touch()
    (root / "package" / "deep" / "empty").mkdir()
    (root / "vendored" / "not-empty").touch()
    os.mkfifo(root / "fifo")
    (root / os.fsdecode(b"\xff\xfe")).touch()
    (root / "dangling").symlink_to("nowhere")


def _leave_bytecode(root: Path) -> None:
    (root / "package" / "__pycache__").mkdir()
    (root / "package" / "__pycache__" / "module.cpython-311.pyc").write_bytes(b"forged")


def _nest_without_end(root: Path) -> None:
    before = Path.cwd()
    os.chdir(root)
    try:
        for _ in range(100):  # longer than any path may be
            Path("nested" * 10).mkdir()
            os.chdir("nested" * 10)
    finally:
        os.chdir(before)


def _rename_around(root: Path) -> None:
    (root / "README").rename(root / "readme")
    (root / "package" / "deep").rename(root / "deep")
    (root / "Case").rename(root / "middle")
    (root / "case").rename(root / "Case")
    (root / "middle").rename(root / "case")


def _move_links(root: Path) -> None:
    (root / "link").unlink()
    (root / "link").symlink_to("package/deep")
    (root / "vendored").rmdir()
    (root / "vendored").symlink_to(root.parent.parent / "victim")


HOSTILE: list[Callable[[Path], None]] = [
    _replace_by_folder,
    _link_folder_outward,
    _link_file_outward,
    _hard_link_outward,
    _forge_same_size_and_time,
    _swap_forged_file_in,
    _close_everything,
    _open_everything,
    _remove_the_root,
    _link_the_root,
    _leave_untracked,
    _leave_bytecode,
    _nest_without_end,
    _rename_around,
    _move_links,
]


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.__name__.strip("_"))
@pytest.mark.parametrize("target", ["same tree", "another tree"])
def test_whatever_a_run_does_the_next_one_finds_the_tree(
    objects: Objects, folder: Path, hostile: Callable[[Path], None], target: str
) -> None:
    victim = folder.parent / "victim"
    victim.mkdir()
    (victim / "module.py").write_bytes(b"outside")
    files = PROJECT if target == "same tree" else {**PROJECT, "package/module.py": b"value = 4\n", "new": b""}
    with Checkout(folder) as checkout:
        checkout.switch(objects, tree_of(objects, PROJECT))
        hostile(checkout.root)
        checkout.switch(objects, tree_of(objects, files))
        assert on_disk(checkout.root) == files
        assert not list(checkout.root.rglob("__pycache__"))
        assert checkout.switch(objects, tree_of(objects, files)) == Switch(0, 0, 0)
    assert [(path.name, path.read_bytes()) for path in victim.iterdir()] == [("module.py", b"outside")]


def test_what_was_put_right_is_counted(objects: Objects, folder: Path) -> None:
    tree = tree_of(objects, PROJECT)
    with Checkout(folder) as checkout:
        checkout.switch(objects, tree)
        (checkout.root / "README").unlink()
        (checkout.root / "run.sh").chmod(0o644)
        (checkout.root / "left-behind").touch()
        switch = checkout.switch(objects, tree)
    assert (switch.written, switch.restored) == (0, 2)


def test_a_run_in_the_sandbox_is_undone(objects: Objects, folder: Path) -> None:
    code = (
        "import os, shutil; os.chmod('README', 0); os.symlink('/etc', 'etc'); "
        "shutil.rmtree('package', ignore_errors=True); print('done')"
    )
    with Checkout(folder) as checkout:
        checkout.switch(objects, tree_of(objects, PROJECT))
        with Process(
            [PYTHON, "-c", code], cwd=checkout.root, env=environment(PYTHON), writable=[checkout.root]
        ) as run:
            status = run.wait(60)
        assert status is not None
        assert (status.ending, status.output) == (Ending.EXITED, "done\n")
        checkout.switch(objects, tree_of(objects, PROJECT))
        assert on_disk(checkout.root) == PROJECT


# --- bytecode

BIG = b"".join(
    b"def function_%d(a, b=None, *args, **kwargs):\n    return a, b, args, kwargs\n\n" % n
    for n in range(2000)
)


def _import_big(checkout: Checkout) -> str:
    code = "import big, os; print(big.function_7(1)[0], big.__cached__, os.path.exists(big.__cached__))"
    with Process(
        [PYTHON, "-c", code], cwd=checkout.root, env=environment(PYTHON), writable=[checkout.root]
    ) as run:
        status = run.wait(60)
    assert status is not None
    return status.output


def test_what_a_run_has_imported_comes_with_bytecode_next_time(objects: Objects, folder: Path) -> None:
    tree = tree_of(objects, {"big.py": BIG, "unused.py": BIG + b"\n"})
    with Checkout(folder) as checkout:
        checkout.switch(objects, tree, PYTHON)
        assert _import_big(checkout).endswith("False\n")
        checkout.switch(objects, tree, PYTHON)
        assert _import_big(checkout).endswith("True\n")
        cached = [path.name.split(".")[0] for path in (checkout.root / "__pycache__").iterdir()]
        assert cached == ["big"]
        assert checkout.switch(objects, tree, PYTHON) == Switch(0, 0, 0)
    with Checkout(folder) as checkout:
        assert checkout.switch(objects, tree, PYTHON) == Switch(0, 0, 0)
        assert _import_big(checkout).endswith("True\n")


def test_bytecode_goes_with_its_source(objects: Objects, folder: Path) -> None:
    first, second = (tree_of(objects, {"big.py": BIG + b"x = %d\n" % n, "other.py": b""}) for n in range(2))
    with Checkout(folder) as checkout:
        for _ in range(2):
            checkout.switch(objects, first, PYTHON)
            _import_big(checkout)
        [cached] = (checkout.root / "__pycache__").iterdir()
        before = cached.read_bytes()
        checkout.switch(objects, second)
        assert not cached.exists()
        checkout.switch(objects, second, PYTHON)
        assert cached.read_bytes() != before
        checkout.switch(objects, tree_of(objects, {"other.py": b""}))
        assert [path.name for path in checkout.root.iterdir()] == ["other.py"]


def test_forged_bytecode_is_never_used(objects: Objects, folder: Path) -> None:
    tree = tree_of(objects, {"big.py": BIG})
    with Checkout(folder) as checkout:
        for _ in range(2):
            checkout.switch(objects, tree, PYTHON)
            _import_big(checkout)
        [cached] = (checkout.root / "__pycache__").iterdir()
        found, trusted = cached.stat(), cached.read_bytes()
        cached.write_bytes(trusted.replace(b"function_7", b"function_x"))
        os.utime(cached, ns=(found.st_atime_ns, found.st_mtime_ns))
        checkout.switch(objects, tree, PYTHON)
        assert _import_big(checkout).startswith("1 ")
        assert cached.read_bytes() == trusted


def test_a_source_that_does_not_compile_is_no_obstacle(objects: Objects, folder: Path) -> None:
    tree = tree_of(objects, {"big.py": BIG + b"def\n"})
    with Checkout(folder) as checkout:
        for _ in range(3):
            checkout.switch(objects, tree, PYTHON)
            assert "SyntaxError" in _import_big(checkout)
        assert not (checkout.root / "__pycache__").exists()


# --- between processes


def test_what_is_known_serves_the_next_process(objects: Objects, folder: Path) -> None:
    tree = tree_of(objects, PROJECT)
    with Checkout(folder) as checkout:
        checkout.switch(objects, tree)
    (folder / "tree" / "README").write_bytes(b"changed")
    with Checkout(folder) as checkout:
        assert checkout.switch(objects, tree) == Switch(written=0, removed=1, restored=1)
        assert on_disk(checkout.root) == PROJECT


def test_a_tree_that_only_an_earlier_process_knew_is_no_obstacle(objects: Objects, folder: Path) -> None:
    with Checkout(folder) as checkout:
        checkout.switch(objects, tree_of(objects, PROJECT))
    fresh = Objects(objects.git_dir)
    with Checkout(folder) as checkout:
        assert checkout.switch(fresh, tree_of(fresh, {**PROJECT, "README": b"new"})).written == 1
        assert on_disk(checkout.root) == {**PROJECT, "README": b"new"}


def test_after_a_crash_nothing_is_trusted(objects: Objects, folder: Path) -> None:
    tree = tree_of(objects, PROJECT)
    code = f"""
import os
from pathlib import Path
from stalebench.run.checkout import Checkout
checkout = Checkout(Path({str(folder)!r}))
(checkout.root / "half-written").write_text("x")
os.kill(os.getpid(), 9)
"""
    with Checkout(folder) as checkout:
        checkout.switch(objects, tree)
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    with Checkout(folder) as checkout:
        assert checkout.switch(objects, tree).written == len(PROJECT)
        assert on_disk(checkout.root) == PROJECT


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"format": 99}', b"\xff\xfe"])
def test_a_damaged_state_is_no_obstacle(objects: Objects, folder: Path, damage: bytes) -> None:
    tree = tree_of(objects, PROJECT)
    with Checkout(folder) as checkout:
        checkout.switch(objects, tree)
    (folder / "state.json").write_bytes(damage)
    with Checkout(folder) as checkout:
        checkout.switch(objects, tree)
        assert on_disk(checkout.root) == PROJECT


def test_a_failed_switch_is_made_good_by_the_next(objects: Objects, folder: Path) -> None:
    tree = tree_of(objects, PROJECT)
    absent = objects.edit(tree, {"absent": Entry(FILE, "ab" * 20)})
    with Checkout(folder) as checkout:
        checkout.switch(objects, tree)
        with pytest.raises(Exception, match="no object"):
            checkout.switch(objects, absent)
        checkout.switch(objects, tree)
        assert on_disk(checkout.root) == PROJECT


def test_a_checkout_serves_one_at_a_time(folder: Path) -> None:
    with Checkout(folder), pytest.raises(RunBroken, match=f"in use by process {os.getpid()}"):
        Checkout(folder)
    Checkout(folder).close()


def test_a_checkout_can_be_waited_for(folder: Path) -> None:
    first = Checkout(folder)
    timer = threading.Timer(0.2, first.close)
    timer.start()
    Checkout(folder, wait=60).close()
    timer.join()


def test_the_lock_of_a_dead_process_does_not_count(folder: Path) -> None:
    code = f"""
import os
from pathlib import Path
from stalebench.run.checkout import Checkout
checkout = Checkout(Path({str(folder)!r}))
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert (folder / "lock").exists()
    Checkout(folder).close()


def test_a_closed_checkout_says_so(objects: Objects, folder: Path) -> None:
    checkout = Checkout(folder)
    checkout.close()
    checkout.close()
    with pytest.raises(RunBroken, match="closed"):
        checkout.switch(objects, EMPTY_TREE)


# --- what cannot be


@pytest.mark.parametrize("name", ["..", ".", ".git", ".GIT"])
def test_a_tree_that_leads_out_of_the_folder_is_refused(objects: Objects, folder: Path, name: str) -> None:
    inner = objects.edit(EMPTY_TREE, {"planted": Entry(FILE, objects.put_blob(b"x"))})
    tree = objects.edit(EMPTY_TREE, {name: Entry(0o040000, inner)})
    with Checkout(folder) as checkout, pytest.raises(RunBroken, match="no checkout may have"):
        checkout.switch(objects, tree)
    assert not (folder / "planted").exists()


def test_a_full_disk_is_named_with_its_path(objects: Objects, tmp_path: Path) -> None:
    """A file size limit stands for the full disk: it fails in the same place, without a disk to fill."""
    code = f"""
import resource, signal
from pathlib import Path
from stalebench.compose.objects import EMPTY_TREE, Entry, Objects
from stalebench.errors import RunBroken
from stalebench.run.checkout import Checkout
objects = Objects({str(objects.git_dir)!r})
tree = objects.edit(EMPTY_TREE, {{"big": Entry({FILE}, objects.put_blob(b"x" * 100_000))}})
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    with Checkout(Path({str(tmp_path / "full")!r})) as checkout:
        checkout.switch(objects, tree)
except RunBroken as error:
    print(error.exit_code, error)
"""
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.startswith(f"1 the checkout {tmp_path / 'full' / 'tree'} cannot be written")
    assert "MiB are free there" in ran.stdout


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunBroken, match="cannot be written"):
        Checkout(tmp_path / "file")


def test_no_handle_is_left(objects: Objects, folder: Path) -> None:
    trees = [tree_of(objects, {**PROJECT, "package/deep/x": b"%d" % number}) for number in range(5)]
    before = len(list(Path("/proc/self/fd").iterdir()))
    with Checkout(folder) as checkout:
        for tree in trees:
            checkout.switch(objects, tree)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_removal_takes_files_links_folders_and_nothing(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("kept")
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    (tmp_path / "folder" / "link").symlink_to(tmp_path / "kept")
    for name in ("file", "link", "folder", "nothing"):
        remove(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_the_lock_is_not_inherited_by_runs(objects: Objects, folder: Path) -> None:
    checkout = Checkout(folder)
    checkout.switch(objects, tree_of(objects, PROJECT))
    with Process([PYTHON, "-c", "import time; time.sleep(600)"], cwd=checkout.root, env=environment(PYTHON)):
        checkout.close()
        with (folder / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
