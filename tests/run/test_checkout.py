"""Claims about checkouts: a switch makes the folder equal to the tree, or says why it cannot."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stalebench.compose.objects import EMPTY_TREE, Entry, Objects
from stalebench.errors import RunBroken
from stalebench.run.checkout import Checkout, Switch
from stalebench.run.removal import remove
from stalebench.run.writing import modification_time
from tests.run.trees import FILE, LINK, PROGRAM, PROJECT, SUBMODULE, Content, on_disk, tree_of


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
