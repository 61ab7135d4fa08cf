"""The scripted agent: what it makes of a plan, of the files that it sees, and of a message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from stalebench.agents import Assignment, Budget, Plan, Worked
from stalebench.agents.scripted import TRAJECTORY, Scripted
from stalebench.agents.scripted.inverse import former
from stalebench.grading.records import Status
from stalebench.messages import Fact, Renamed, Returns, Signature, describe, render

Files = Mapping[str, str]

BASE = {"lib/a.py": "def f(a, b=1):\n    return a + b\n", "lib/user.py": "from lib.a import f\n"}


def bytes_of(files: Files) -> dict[str, bytes]:
    return {path: content.encode() for path, content in files.items()}


class Place:
    """A workspace with these files."""

    def __init__(self, folder: Path, seen: Files) -> None:
        self.folder = folder / "work"
        self.log = folder / "log"
        self.log.mkdir()
        for path, content in seen.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content)

    def work(self, planned: Files, message: str | None = None, base: Files = BASE) -> Worked:
        before: dict[str, bytes | None] = {path: bytes_of(base).get(path) for path in planned}
        plan = Plan(before, {**bytes_of(planned)}, bytes_of(base))
        return Scripted().work(
            Assignment("i", "p", message, self.folder, None, Budget(), self.log, plan=plan)
        )

    def files(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.folder)): path.read_text()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }


def about(after: Files, before: Files = BASE) -> str:
    return render(describe({path: bytes_of(before)[path] for path in after}, bytes_of(after)))


def written(tmp_path: Path, planned: str, message: str) -> str:
    """What it writes to lib/user.py instead of what it planned."""
    place = Place(tmp_path, BASE)
    assert place.work({"lib/user.py": planned}, message).status is Status.PATCH
    return place.files()["lib/user.py"]


def test_alone_it_writes_its_plan(tmp_path: Path) -> None:
    place = Place(tmp_path, BASE)
    planned = {"lib/user.py": "from lib.a import f\nx = f(1)\n", "lib/new.py": "y = 1\n"}
    worked = place.work(planned)
    assert (worked.status, worked.cost, worked.steps) == (Status.PATCH, 0.0, 0)
    assert place.files() == {**BASE, **planned}


GIVEN_ANOTHER_NAME = "def g(a, b=1):\n    return a + b\n"
USES: dict[str, tuple[str, str, str]] = {
    "a renamed function": (
        GIVEN_ANOTHER_NAME,
        "from lib.a import f\n\nx = f(1) + f (2)  # f\n",
        "from lib.a import f\n\nx = g(1) + g (2)  # f\n",
    ),
    "a renamed function, imported anew": (
        GIVEN_ANOTHER_NAME,
        "from lib.a import (f as one,)\nimport lib.a\nx = lib.a.f(1)\n",
        "from lib.a import (g as one,)\nimport lib.a\nx = lib.a.g(1)\n",
    ),
    "a new argument at the end": (
        "def f(a, c, b=1):\n    return a + b\n",
        "from lib.a import f\ndef user(c):\n    return f(1), f(a=f(1)), f(\n        1,\n    )\n",
        "from lib.a import f\n"  # noqa: ISC004 - one file
        "def user(c):\n    return f(1, c=c), f(a=f(1, c=c), c=c), f(\n        1,\n    c=c)\n",
    ),
    "a new argument of which nothing is known": (
        "def f(a, b=1, *, c):\n    return a + b\n",
        "from lib.a import f\nx = f(1, 2)\n",
        "from lib.a import f\nx = f(1, 2, c=None)\n",
    ),
    "a new argument in front": (
        "def f(c, a, b=1):\n    return a + b\n",
        "from lib.a import f\nx = f(1, 2)\n",
        "from lib.a import f\nx = f(None, 1, 2)\n",
    ),
    "an optional new argument": (
        "def f(a, b=1, c=2):\n    return a + b\n",
        "from lib.a import f\nx = f(1, 2)\n",
        "from lib.a import f\nx = f(1, 2)\n",
    ),
    "a renamed argument": (
        "def f(a, bb=1):\n    return a + bb\n",
        "from lib.a import f\nx = f(1, b=2)\n",
        "from lib.a import f\nx = f(1, bb=2)\n",
    ),
    "another value": (
        "def f(a, b=1):\n    return {'sum': a + b}\n",
        "from lib.a import f\nx = f(f(1), 2) - 1\n",
        "from lib.a import f\n"  # noqa: ISC004 - one file
        "x = (lambda value: value['sum'])(f((lambda value: value['sum'])(f(1)), 2)) - 1\n",
    ),
    "letters of several bytes before it": (
        GIVEN_ANOTHER_NAME,
        "from lib.a import f\nx = 'äöü€', f('ß'), f(1)\n",
        "from lib.a import f\nx = 'äöü€', g('ß'), g(1)\n",
    ),
    "a name that only looks the same": (
        GIVEN_ANOTHER_NAME,
        "def local():\n    return fee(1), 'f(1)'\n",
        "def local():\n    return fee(1), 'f(1)'\n",
    ),
}


@pytest.mark.parametrize(("changed", "planned", "expected"), USES.values(), ids=USES)
def test_new_code_is_adapted_to_what_a_message_says(
    tmp_path: Path, changed: str, planned: str, expected: str
) -> None:
    assert written(tmp_path, planned, about({"lib/a.py": changed})) == expected


@pytest.mark.parametrize(("changed", "planned", "expected"), USES.values(), ids=USES)
def test_new_code_is_adapted_in_the_same_way_to_what_stands_in_the_workspace(
    tmp_path: Path, changed: str, planned: str, expected: str
) -> None:
    place = Place(tmp_path, {**BASE, "lib/a.py": changed})
    place.work({"lib/user.py": planned})
    assert place.files() == {"lib/a.py": changed, "lib/user.py": expected}


def test_without_a_message_nothing_is_adapted(tmp_path: Path) -> None:
    planned = "from lib.a import f\nx = f(1)\n"
    assert written(tmp_path, planned, "Somebody changed something somewhere. Good luck!") == planned


def test_a_file_that_does_not_import_the_changed_one_keeps_its_own_names(tmp_path: Path) -> None:
    message = render([Renamed("other/b.py", "f", "g")])
    planned = "from lib.a import f\nx = f(1)\n"
    assert written(tmp_path, planned, message) == planned


def test_old_code_is_left_to_whoever_changed_it(tmp_path: Path) -> None:
    base = {**BASE, "lib/user.py": "from lib.a import f\nold = f(1)\n"}
    place = Place(tmp_path, base)
    place.work(
        {"lib/user.py": base["lib/user.py"] + "new = f(2)\n"}, about({"lib/a.py": GIVEN_ANOTHER_NAME}), base
    )
    assert place.files()["lib/user.py"] == "from lib.a import f\nold = f(1)\nnew = g(2)\n"


def test_what_others_wrote_is_adapted_to_its_own_change(tmp_path: Path) -> None:
    theirs = "from lib.a import f\nx = f(1)\n"
    place = Place(tmp_path, {**BASE, "lib/user.py": theirs})
    place.work({"lib/a.py": GIVEN_ANOTHER_NAME})
    assert place.files() == {"lib/a.py": GIVEN_ANOTHER_NAME, "lib/user.py": "from lib.a import f\nx = g(1)\n"}


BOOK = """\
class Book:
    def __init__(self, data):
        self.data = data

    def set(self, key, price):
        self.data[key] = price
"""
CACHED = BOOK.replace("= data\n", "= data\n        self.cache = {}\n") + "        self.cache.pop(key, None)\n"
WRITES: dict[str, tuple[str, str]] = {
    "one item": ("self.data[name] = 1", "self.data[name] = 1\n        self.cache.pop(name, None)"),
    "one item gone": ("del self.data[k]", "del self.data[k]\n        self.cache.pop(k, None)"),
    "one item by a method": (
        "self.data.pop('a', 0)",
        "self.data.pop('a', 0)\n        self.cache.pop('a', None)",
    ),
    "many items": (
        "self.data.update(many)",
        "self.data.update(many)\n        for key in many:\n            self.cache.pop(key, None)",
    ),
    "everything": ("self.data = many", "self.data = many\n        self.cache = {}"),
    "another attribute": ("self.other[name] = 1", "self.other[name] = 1"),
    "two in one line": ("self.data['a'] = 1; many()", "self.data['a'] = 1; many()"),
}


@pytest.mark.parametrize(("write", "expected"), WRITES.values(), ids=WRITES)
def test_a_new_write_keeps_the_others_invariant(tmp_path: Path, write: str, expected: str) -> None:
    base = {"lib/book.py": BOOK}
    method = "\n    def more(self, name, many, k):\n        "
    place = Place(tmp_path, base)
    place.work({"lib/book.py": BOOK + method + write + "\n"}, about({"lib/book.py": CACHED}, base), base)
    assert place.files()["lib/book.py"] == BOOK + method + expected + "\n"


def test_an_invariant_is_also_kept_for_writes_that_others_added(tmp_path: Path) -> None:
    more = "class Book:\n    def more(self, name):\n        self.data[name] = 1\n"
    place = Place(tmp_path, {"lib/book.py": BOOK.replace("class Book:\n", more + "\n")})
    assert place.work({"lib/book.py": CACHED}, base={"lib/book.py": BOOK}).detail == ""
    kept = more + "        self.cache.pop(name, None)\n\n"
    assert place.files()["lib/book.py"] == CACHED.replace("class Book:\n", kept)


def test_what_both_change_is_left_to_somebody_else(tmp_path: Path) -> None:
    place = Place(tmp_path, {**BASE, "lib/user.py": "from lib.b import f\n"})
    worked = place.work({"lib/user.py": "from lib.c import f\n"})
    assert (worked.status, worked.detail) == (Status.FAILED, "lib/user.py: both change the same lines")
    assert place.files()["lib/user.py"] == "from lib.b import f\n"


def test_it_says_what_it_did_and_why(tmp_path: Path) -> None:
    place = Place(tmp_path, BASE)
    worked = place.work(
        {"lib/user.py": "from lib.a import f\nx = f(1)\n"}, about({"lib/a.py": GIVEN_ANOTHER_NAME})
    )
    assert (worked.steps, worked.trajectory) == (1, TRAJECTORY)
    (step,) = json.loads((place.log / TRAJECTORY).read_text())
    assert step == {
        "file": "lib/user.py",
        "code": "own",
        "fact": "Renamed",
        "path": "lib/a.py",
        "old": "f",
        "new": "g",
    }


@pytest.mark.parametrize(
    ("old", "new", "way"),
    [
        ("a", "a", "value"),
        ("a + b", "(a + b, c)", "value[0]"),
        ("(a, b)", "{'x': b, 'y': a}", "(value['y'], value['x'])"),
        ("(a,)", "[a]", "(value[0],)"),
        ("{'x': a}", "(a, 1)", "{'x': value[0]}"),
        ("[a, 1]", "Row(x=a)", "[value.x, 1]"),
        ("a", "a * 100", "(value / 100)"),
        ("a", "(a / 2, b)", "(value[0] * 2)"),
        ("a", "f(a)", None),
        ("{**a}", "(a, 1)", None),
        ("a", "not python", None),
    ],
)
def test_the_former_value_is_found_in_the_new_one(old: str, new: str, way: str | None) -> None:
    assert former(old, new) == way


@pytest.mark.parametrize(
    "fact",
    [
        Signature("lib/a.py", "f", "no head", "f(a"),
        Returns("lib/a.py", "f", "((", "a"),
        Signature("lib/a.py", "f", "f(*a)", "f(*a, **k)"),
    ],
)
def test_a_fact_that_makes_no_sense_changes_nothing(tmp_path: Path, fact: Fact) -> None:
    planned = "from lib.a import f\nx = f(*y)\n"
    assert written(tmp_path, planned, render([fact])) == planned


def test_without_a_plan_it_fails_and_says_so(tmp_path: Path) -> None:
    place = Place(tmp_path, BASE)
    worked = Scripted().work(Assignment("i", "p", None, place.folder, None, Budget(), place.log))
    assert (worked.status, worked.detail) == (Status.FAILED, "the scripted agent was given no plan")
