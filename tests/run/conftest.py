"""A place to run suites in: a bare repository, a checkout, and the environment that these tests run in."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stalebench.compose.objects import EMPTY_TREE, FILE, Entry, Objects
from stalebench.environments import Built
from stalebench.records import Environment, Run, Suite, TestResult
from stalebench.run import run
from stalebench.run.checkout import Checkout
from stalebench.spec import Limits, Spec
from stalebench.suites import suite
from tests.repositories import repository


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    """The objects of an empty repository."""
    repository(tmp_path / "git")
    return Objects(tmp_path / "git")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder, for a checkout or to run in."""
    made = tmp_path / "checkout"
    made.mkdir()
    return made


@dataclass
class Site:
    """Where runs take place. Trees are made of texts or bytes by path."""

    folder: Path
    runner: str = "pytest"
    limits: Limits = field(default_factory=Limits)
    variables: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        repository(self.folder / "git")
        self.objects = Objects(self.folder / "git")
        self.checkout = Checkout(self.folder / "checkout")
        record = Environment("k", "o/n", "3.11", "spec", (), (), None)
        self.built = Built(record, Path(sys.executable), self.variables)

    @property
    def spec(self) -> Spec:
        return Spec(
            name="n",
            repository="o/n",
            clone_url="",
            branch=None,
            landing=("merge",),
            runner=self.runner,
            import_name="pkg",
            source=("/pkg/**",),
            source_exclude=(),
            test=("/tests/**",),
            test_modules=("/tests/**/test_*.py",),
            limits=self.limits,
        )

    def tree(self, files: Mapping[str, str | bytes]) -> str:
        entries: dict[str, Entry | None] = {}
        for path, content in files.items():
            data = content if isinstance(content, bytes) else textwrap.dedent(content).encode()
            entries[path] = Entry(FILE, self.objects.put_blob(data))
        return self.objects.edit(EMPTY_TREE, entries)

    def run(
        self,
        files: Mapping[str, str | bytes],
        functions: Iterable[str] | None = None,
        modules: Iterable[str] | None = None,
        repeat: int = 0,
    ) -> Run:
        """Run these functions of these modules; as a rule all, of all files called test_*.py or tests.py."""
        named = [
            path for path in files if path.rpartition("/")[2].startswith("test") and path.endswith(".py")
        ]
        return self.run_suite(self.tree(files), suite(modules or named, functions), repeat)

    def run_suite(self, tree: str, wanted: Suite, repeat: int = 0) -> Run:
        return run(self.objects, tree, wanted, self.built, self.spec, self.checkout, repeat)


MakeSite = Callable[..., Site]


@pytest.fixture(scope="module")
def make_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeSite]:
    """Makes sites that are given back at the end of the module."""
    made: list[Site] = []

    def make(
        runner: str = "pytest", limits: Limits | None = None, variables: tuple[tuple[str, str], ...] = ()
    ) -> Site:
        site = Site(tmp_path_factory.mktemp("site"), runner, limits or Limits(), variables)
        made.append(site)
        return site

    yield make
    for site in made:
        site.checkout.close()


@pytest.fixture(scope="module")
def site(make_site: MakeSite) -> Site:
    """A site with pytest and patience."""
    return make_site()


Outcomes = Callable[[Run], dict[str, str]]


@pytest.fixture(scope="session")
def outcomes() -> Outcomes:
    """The outcome of each test of a run, by the id without its path."""

    def by_name(made: Run) -> dict[str, str]:
        return {result.id.partition("::")[2]: str(result.outcome) for result in made.results}

    return by_name


Find = Callable[[Run, str], TestResult]


@pytest.fixture(scope="session")
def find() -> Find:
    """The one result whose id ends with this."""

    def one(made: Run, ending: str) -> TestResult:
        (found,) = [result for result in made.results if result.id.endswith(ending)]
        return found

    return one
