"""A small repository built in code, and a workspace whose environment is the demo's cached one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from stalebench import spec
from stalebench.records import Pull
from stalebench.validate import Site, Workspace
from tests.repositories import commit, repository, tree

Files = Mapping[str, str]

BASE: Files = {
    "shop/__init__.py": "",
    "shop/one.py": "def one():\n    return 0\n",
    "shop/two.py": "def two():\n    return 0\n",
    "tests/test_base.py": "def test_base():\n    assert True\n",
}


class Shop:
    """A base commit, pulls that each start from it, and the place where they are checked."""

    def __init__(self, folder: Path, base: Files) -> None:
        self.repo = repository(folder / "git")
        self.files = {**BASE, **base}
        self.base = commit(self.repo, tree(self.repo, self.files))
        self.workspace = Workspace(
            Site(folder / "git", replace(spec.load("demo"), name="small"), folder / "work")
        )

    def at(self, chosen: spec.Spec) -> Shop:
        """The same place, under another specification."""
        self.workspace.close()
        self.workspace = Workspace(replace(self.workspace.site, spec=chosen))
        return self

    def pull(self, name: str, files: Files) -> Pull:
        """A landed change of these files; a file of the base comes anew with its whole content."""
        merged = commit(self.repo, tree(self.repo, {**self.files, **files}), [self.base])
        return Pull(
            id=name,
            repo="o/n",
            number=int(name),
            landing="squash",
            base_commit=self.base,
            merge_commit=merged,
            head_commit=None,
            fork_commit=None,
            created_at=None,
            merged_at="2024-01-01T12:00:00Z",
            title="",
            text="",
            issues=(),
            source_files=tuple(sorted(path for path in files if path.startswith("shop/"))),
            test_files=tuple(sorted(path for path in files if path.startswith("tests/"))),
            other_files=(),
            reason=None,
        )


MakeShop = Callable[..., Shop]


@pytest.fixture
def make_shop(tmp_path: Path) -> Iterator[MakeShop]:
    """Makes one repository; files given replace those of the base."""
    made: list[Shop] = []

    def make(base: Files | None = None) -> Shop:
        made.append(Shop(tmp_path, base or {}))
        return made[-1]

    yield make
    for shop in made:
        shop.workspace.close()
