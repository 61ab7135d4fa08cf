"""Small projects in git, with dates of our choice, and specifications for them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from stalebench.compose.objects import Objects
from stalebench.environments.declared import Declared
from stalebench.spec import Recipe, Spec
from tests import repositories
from tests.repositories import Files, repository, tree

DAY = datetime(2024, 5, 17, 12, tzinfo=UTC)

SOURCE = "def double(number):\n    return 2 * number\n"
UNITTEST = (
    "import unittest\n\nfrom thing import double\n\n\n"
    "class DoubleTest(unittest.TestCase):\n"
    "    def test_double(self):\n"
    "        # A comment that makes this file long enough to be a real module of tests for the gate,\n"
    "        # which begins with the smallest that are not next to empty.\n"
    "        self.assertEqual(double(2), 4)\n"
)
FILES = {"thing/__init__.py": SOURCE, "tests/__init__.py": "", "tests/test_thing.py": UNITTEST}


def commit(folder: Path, files: Files, when: datetime = DAY) -> str:
    """Commit these files, and nothing else, on top of what is there."""
    repo = repository(folder / ".git" if (folder / ".git").exists() else folder)
    parents = [] if repo.head_is_unborn else [str(repo.head.target)]
    made = repositories.commit(repo, tree(repo, files), parents, when=int(when.timestamp()))
    repo.references.create("refs/heads/main", made, force=True)
    return made


def declared(folder: Path, files: Mapping[str, str]) -> Declared:
    """What a tree of these files declares."""
    made = commit(folder, files)
    objects = Objects(folder)
    return Declared(objects, objects.tree_of(made))


def spec_for(*recipes: Recipe, runner: str = "unittest", import_name: str = "thing") -> Spec:
    """A specification for projects of these files."""
    return Spec(
        name="thing",
        repository="someone/thing",
        clone_url="",
        branch="main",
        landing=("plain",),
        runner=runner,
        import_name=import_name,
        source=("/thing/**",),
        source_exclude=(),
        test=("/tests/**",),
        test_modules=("/tests/**/test_*.py",),
        recipes=recipes,
    )
