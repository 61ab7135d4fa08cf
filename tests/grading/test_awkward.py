"""Awkward tests and awkward files, from a mined pull to its grade: each has its right outcome and name."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stalebench import tables
from stalebench.agents import Assignment, Worked
from stalebench.compose.objects import LINK
from stalebench.grading.instances import instances
from stalebench.grading.records import Condition, Grade, Instance, Status
from stalebench.grading.running import RunRequest, run
from stalebench.predictions import predicted, written
from stalebench.progress import Silent
from stalebench.records import Pair
from tests.grading.conftest import CORE, ONE, PAIR, TWO, Files, Graded, Small, asserting

TESTS = '''\
import os
import subprocess
import sys
import time

import pytest

from shop import core


class Address:
    pass


VALUES = ["a b", "a - b", "x::y", "br]k[t", "", "line\\nbreak"]


@pytest.mark.parametrize("value", VALUES, ids=VALUES)
def test_any(value):
    assert core.one() == 1


@pytest.mark.parametrize("value", [Address()], ids=repr)
def test_address(value):
    assert core.one() == 1


class TestFirst:
    """The same words."""

    def test_it(self):
        """And these."""
        assert core.one() == 1


class TestSecond:
    """The same words."""

    def test_it(self):
        """And these."""
        assert core.one() == 1


def test_broken_bytes():
    os.write(1, b"\\xff\\xfe not UTF-8\\n")
    sys.stdout.buffer.write(b"\\xff\\n")
    assert core.one() == 1


def test_grandchild():
    code = "import subprocess, sys; subprocess.Popen(['sleep', '600'])"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert core.one() == 1


def test_time_zone():
    assert time.tzname[0] == "UTC"
    assert core.one() == 1


def test_set_order():
    assert core.one() == 1
    assert "".join({"one", "two", "three", "four"}) == "ORDER"


def test_one_time_in_three():
    assert core.one() == 1
    assert int(os.environ["PYTHONHASHSEED"]) % 3 != 1
'''
FLAKY = {"test_one_time_in_three", "test_set_order"}
"""They go by the hash seed, which is another one for each repeat."""
IDS = {
    *(f"test_any[{value}]" for value in ("a b", "a - b", "x::y", "br]k[t", "")),
    "test_any[line\\nbreak]",
    "TestFirst::test_it",
    "TestSecond::test_it",
    "test_broken_bytes",
    "test_grandchild",
    "test_time_zone",
}
BASE: Files = {
    "shop/__init__.py": "",
    "shop/core.py": CORE,
    "tests/test_base.py": "def test_base():\n    pass\n",
}
BOTH = ONE.replace("two():\n    return 0", "two():\n    return 1")
SECOND: Files = {"shop/core.py": BOTH, "tests/test_two.py": asserting("two")}


@pytest.fixture(scope="module")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """A pull whose gold tests have awkward names and manners."""
    code = "print(''.join({'one', 'two', 'three', 'four'}), end='')"
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    tests = TESTS.replace("ORDER", told.stdout)
    first = {"shop/core.py": ONE, "tests/test_awkward.py": tests}
    return Small(tmp_path_factory.mktemp("awkward"), BASE, first, SECOND, repeats=2)


def names(tests: tuple[str, ...]) -> set[str]:
    return {test.removeprefix("tests/test_awkward.py::") for test in tests}


def test_awkward_tests_are_mined_under_their_full_names_and_the_flaky_ones_left_out(awkward: Small) -> None:
    (pair,) = tables.read(awkward.data, "pairs", Pair)
    mine = pair.tasks[0]
    found = names(mine.f2p)
    (address,) = (name for name in found if name.startswith("test_address"))
    assert address.endswith("Address object at 0x0>]")
    assert found - {address} == IDS
    assert names(pair.flaky) == FLAKY
    assert pair.delta_blind == ()


def test_a_patch_is_graded_on_them(awkward: Small, tmp_path: Path) -> None:
    patches = [awkward.patch({"shop/core.py": code}) for code in (ONE, TWO)]
    found = awkward.graded(tmp_path / "run", *patches)
    assert found.solved == (True, True)
    blind = found.grade(Condition.BLIND)
    assert (blind.reason, blind.delta) == (None, ())


def test_each_of_them_is_counted_once_where_it_fails_together(awkward: Small, tmp_path: Path) -> None:
    """The second patch takes the first one's work back, as far as it can without touching it."""
    undone = (
        TWO.replace("# in between", "_one = None")
        + "\n\nif '1' in open(__file__).read()[:30]:\n    one = two = lambda: 2\n"
    )
    found = awkward.graded(
        tmp_path / "run", awkward.patch({"shop/core.py": ONE}), awkward.patch({"shop/core.py": undone})
    )
    blind = found.grade(Condition.BLIND)
    assert found.solved == (True, True)
    assert blind.delta is not None
    failed = names(blind.delta) - {"tests/test_two.py::test_two"}
    assert {name for name in failed if not name.startswith("test_address")} == IDS
    assert len(blind.delta) == len(set(blind.delta))


LATIN = "# -*- coding: latin-1 -*-\nNAME = 'größe'\n".encode("latin-1")
AWKWARD_BASE: Files = {
    **BASE,
    "shop/crlf.txt": b"a\r\nb\r\n",
    "shop/lf.txt": b"a\nb\n",
    "shop/logo.bin": b"\x00\x01\xff" * 20,
    "shop/latin.py": LATIN.replace(b"gr", b"Gr"),
    "shop/tail.txt": b"no newline",
    "shop/räum lich.txt": b"1\n",
}
AWKWARD_FILES: Files = {
    "shop/core.py": ONE,
    "shop/crlf.txt": b"a\nb\n",
    "shop/lf.txt": b"a\r\nb\r\nc",
    "shop/logo.bin": b"\x00\x02\xff" * 20,
    "shop/latin.py": LATIN,
    "shop/tail.txt": b"no newline either",
    "shop/räum lich.txt": b"2\n",
    "shop/empty.txt": b"",
    "shop/also_empty.py": b"",
}
AWKWARD_TEST = """\
from pathlib import Path

from shop import core, latin

HERE = Path(core.__file__).parent


def test_files():
    assert (HERE / "crlf.txt").read_bytes() == b"a\\nb\\n"
    assert (HERE / "lf.txt").read_bytes() == b"a\\r\\nb\\r\\nc"
    assert (HERE / "logo.bin").read_bytes() == b"\\x00\\x02\\xff" * 20
    assert latin.NAME == "gr\\xf6\\xdfe"
    assert (HERE / "tail.txt").read_bytes() == b"no newline either"
    assert (HERE / "r\\xe4um lich.txt").read_bytes() == b"2\\n"
    assert (HERE / "empty.txt").read_bytes() == (HERE / "also_empty.py").read_bytes() == b""


def test_link():
    assert core.one() == 1
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """A pull that changes files of every awkward kind."""
    first = {**AWKWARD_FILES, "tests/test_files.py": AWKWARD_TEST}
    second = {**SECOND}
    return Small(tmp_path_factory.mktemp("files"), AWKWARD_BASE, first, second)


def test_a_pull_of_awkward_files_is_valid(files: Small) -> None:
    assert files.report.funnel["valid"] == 1
    (pair,) = tables.read(files.data, "pairs", Pair)
    assert pair.tasks[0].f2p == ("tests/test_files.py::test_files", "tests/test_files.py::test_link")


def test_predictions_of_awkward_files_are_graded_to_the_byte(files: Small, tmp_path: Path) -> None:
    link: Files = {**AWKWARD_FILES, "shop/link": (LINK, b"lf.txt")}
    file = tmp_path / "preds.jsonl"
    patches = [(f"{PAIR}:1", files.patch(link)), (f"{PAIR}:2", files.patch({"shop/core.py": TWO}))]
    file.write_text("".join(written("theirs", patches)))
    found = predicted(file, instances(files.data))
    graded = files.graded(tmp_path / "run", found.patches[PAIR, 1], found.patches[PAIR, 2])
    assert graded.solved == (True, True)
    assert graded.grade(Condition.BLIND).delta == ()


@dataclass(frozen=True)
class Writer:
    """An agent that writes files into its workspace, links too."""

    files: str
    name: str = "writer"
    wants_plan: bool = False
    settings: dict[str, str | int | float | bool | None] = field(default_factory=dict)

    def work(self, assignment: Assignment) -> Worked:
        for path, content in json.loads(self.files)[assignment.id.rpartition("/")[2]].items():
            target = assignment.workspace / path
            target.unlink(missing_ok=True)
            target.write_bytes(content.encode("latin-1"))
        if assignment.id.endswith("/1"):
            (assignment.workspace / "shop" / "link").symlink_to("lf.txt")
        return Worked(Status.PATCH)


def test_what_an_agent_left_of_awkward_files_is_graded_to_the_byte(files: Small, tmp_path: Path) -> None:
    texts = {
        number: {
            path: (content if isinstance(content, bytes) else str(content).encode()).decode("latin-1")
            for path, content in chosen.items()
        }
        for number, chosen in (("1", AWKWARD_FILES), ("2", {"shop/core.py": TWO}))
    }
    out = tmp_path / "run"
    run(RunRequest(files.data, out, Writer(json.dumps(texts)), clash=False, engine="serial"), Silent())
    graded = Graded(out)
    assert graded.solved == (True, True)
    assert graded.grade(Condition.BLIND).delta == ()


def test_no_instance_was_set_aside(awkward: Small, files: Small, tmp_path: Path) -> None:
    for number, small in enumerate((awkward, files)):
        out = tmp_path / str(number)
        small.graded(out, b"", b"")
        assert {each.set_aside for each in tables.read(out, "instances", Instance)} == {None}
        assert {grade.solved for grade in tables.read(out, "grades", Grade)} == {(False, False)}
