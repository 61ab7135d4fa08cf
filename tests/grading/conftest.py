"""Small mined repositories to grade patches on: real pulls, real checks, an agent's patch as files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from stalebench import spec, tables
from stalebench.agents.fixed import FixedPatch
from stalebench.compose import Entry, Objects, Patch, as_text
from stalebench.compose.objects import FILE
from stalebench.grading.grading import write_grades
from stalebench.grading.records import Attempt, Condition, Grade, Grading
from stalebench.grading.running import RunRequest, run
from stalebench.mine import MineRequest, mine
from stalebench.progress import Silent
from tests.repositories import Builder

Files = Mapping[str, "bytes | str | tuple[int, bytes] | None"]
"""Contents by path; with a mode where it is not that of a plain file, None for no such file."""

PAIR = "2+1"


class Small:
    """A dataset of one valid pair, `2+1`, and ways to grade other patches for its tasks."""

    def __init__(self, folder: Path, base: Files, first: Files, second: Files, *, repeats: int = 1) -> None:
        self.folder = folder
        built = Builder(folder / "git")
        built.land(plain(base))
        built.land(plain(first), "First (#1)")
        built.land(plain(second), "Second (#2)")
        chosen = replace(spec.load("demo"), name="small", clone_url=str(folder / "git"))
        (folder / "small.toml").write_text(spec.to_toml(chosen))
        self.data = folder / "data"
        request = MineRequest(self.data, spec_file=folder / "small.toml", repeats=repeats, engine="serial")
        self.report = mine(request, Silent())
        self.objects = Objects(folder / "git")
        self.first, self.second = first, second

    @property
    def base(self) -> str:
        """The tree that every patch is made for."""
        (pair,) = tables.read(self.data, "compositions", tables.TABLES["compositions"].record)
        return str(pair.base_tree)

    def patch(self, files: Files) -> bytes:
        """The patch that makes these files of the base, as text."""
        edits = {path: None if file is None else self._entry(file) for path, file in files.items()}
        after = self.objects.edit(self.base, edits)
        return as_text(self.objects, Patch.between(self.objects, self.base, after))

    def _entry(self, file: bytes | str | tuple[int, bytes]) -> Entry:
        mode, content = file if isinstance(file, tuple) else (FILE, file)
        return Entry(mode, self.objects.put_blob(content.encode() if isinstance(content, str) else content))

    def graded(self, out: Path, first: bytes | None, second: bytes | None, *, clash: bool = False) -> Graded:
        """What these patches come to, solo and blind."""
        given = {(PAIR, 1): first, (PAIR, 2): second}
        source = FixedPatch("theirs", "given")
        run(RunRequest(self.data, out, source, given=given, clash=clash, engine="serial"), Silent())
        return Graded(out)


def plain(files: Files) -> dict[str, str | bytes | None]:
    """The files that a Builder can land: those without a mode of their own."""
    return {path: file for path, file in files.items() if not isinstance(file, tuple)}


class Graded:
    """The tables of one run."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.attempts = {(each.condition, each.task): each for each in tables.read(out, "patches", Attempt)}

    def grade(self, condition: Condition, grading: Grading = Grading.STANDARD) -> Grade:
        (found,) = (
            each
            for each in tables.read(self.out, "grades", Grade)
            if (each.condition, each.grading) == (condition, grading)
        )
        return found

    def again(self, *gradings: Grading) -> Graded:
        """Graded again, in these ways too."""
        write_grades(self.out, Silent(), gradings)
        return Graded(self.out)

    @property
    def solved(self) -> tuple[bool | None, ...] | None:
        return self.grade(Condition.SOLO).solved


CORE = "def one():\n    return 0\n\n\n# in between\n\n\ndef two():\n    return 0\n"
ONE, TWO = CORE.replace("0", "1", 1), CORE[::-1].replace("0", "1", 1)[::-1]


def asserting(name: str) -> str:
    return f"from shop import core\n\n\ndef test_{name}():\n    assert core.{name}() == 1\n"


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """Two functions that have to return 1, with configuration of pytest in shared files."""
    base = {
        "shop/__init__.py": "",
        "shop/core.py": CORE,
        "tests/test_base.py": "def test_base():\n    pass\n",
        "pyproject.toml": "[project]\nname = 'shop'\nversion = '1'\n",
        "setup.cfg": "[metadata]\nname = shop\n",
    }
    both = ONE.replace("two():\n    return 0", "two():\n    return 1")
    return Small(
        tmp_path_factory.mktemp("small"),
        base,
        {"shop/core.py": ONE, "tests/test_one.py": asserting("one")},
        {"shop/core.py": both, "tests/test_two.py": asserting("two")},
    )
