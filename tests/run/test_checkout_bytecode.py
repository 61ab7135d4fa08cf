"""Claims about checkouts: bytecode is kept with its source, and never used for another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from stalebench.compose.objects import Objects
from stalebench.run.checkout import Checkout, Switch
from stalebench.run.process import Process, environment
from tests.run.trees import tree_of

PYTHON = Path(sys.executable)


def test_bytecode_is_never_stale(objects: Objects, folder: Path) -> None:
    with Checkout(folder) as checkout:
        for value in range(5):
            checkout.switch(objects, tree_of(objects, {"module.py": b"print(%d)\n" % value}))
            ran = subprocess.run(
                [PYTHON, "-c", "import module"], cwd=checkout.root, capture_output=True, check=True, text=True
            )
            assert ran.stdout == f"{value}\n"


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
