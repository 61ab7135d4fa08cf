"""Claims about checkouts: whatever a run does to one, the next switch makes it equal to the tree."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stalebench.compose.objects import Objects
from stalebench.run.checkout import Checkout, Switch
from stalebench.run.process import Ending, Process, environment
from tests.run.trees import PROJECT, on_disk, tree_of

PYTHON = Path(sys.executable)


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
