"""Claims about checkouts: one process at a time, and the next one trusts what it may."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from stalebench.compose.objects import EMPTY_TREE, Entry, Objects
from stalebench.errors import RunBroken
from stalebench.run.checkout import Checkout, Switch
from stalebench.run.process import Process, environment
from tests.run.trees import FILE, PROJECT, on_disk, tree_of

PYTHON = Path(sys.executable)


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


def test_the_lock_is_not_inherited_by_runs(objects: Objects, folder: Path) -> None:
    checkout = Checkout(folder)
    checkout.switch(objects, tree_of(objects, PROJECT))
    with Process([PYTHON, "-c", "import time; time.sleep(600)"], cwd=checkout.root, env=environment(PYTHON)):
        checkout.close()
        with (folder / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
