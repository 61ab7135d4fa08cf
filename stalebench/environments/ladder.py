"""The ladder of recipes for a commit: plans in the order in which they are tried. Builds nothing.

1. `spec`: the recipe of the specification for the commit's date, and nothing else where there is one
2. `groups`: dependency groups of the tree (PEP 735), with the project's own dependencies
3. `extras`: the extras named like tests, likewise
4. `ci`: what tox and nox install, as far as it is written down as a list
5. `requirements`: requirements files named like tests
6. `bare`: the project's dependencies and a test runner
"""

from __future__ import annotations

import configparser
import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from typing import Any

from stalebench.compose.objects import Objects
from stalebench.environments.metadata import Distribution, distribution
from stalebench.spec import Recipe, Spec

TEST_NAMES = ("test", "tests", "testing", "dev", "develop", "development", "ci", "complete")
REQUIREMENTS = re.compile(
    r"^(requirements/)?(requirements[-_.])?(test|tests|testing|dev|py3|ci)[-\w]*\.(txt|in)$"
)
FOLDER = 0o40000
RUNNERS = {"pytest": ("pytest",), "django": (), "unittest": ()}


@dataclass(frozen=True, slots=True)
class Plan:
    """What an environment is to hold; equal plans share one."""

    rung: str
    python: str
    packages: tuple[str, ...]
    install: tuple[str, ...]
    metadata: Distribution | None
    env: tuple[tuple[str, str], ...]
    exclude_newer: str | None

    @property
    def digest(self) -> str:
        """A hash of all of it but the rung's name, 32 hexadecimal digits."""
        content = {name: value for name, value in asdict(self).items() if name != "rung"}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def plans(spec: Spec, objects: Objects, commit: str, moment: datetime) -> Iterator[Plan]:
    """The plans for a commit, best first."""
    tree = Tree(objects, objects.tree_of(commit))
    recipe = next((recipe for recipe in spec.recipes if recipe.covers(moment.date())), None)
    if recipe is not None:
        yield _of_recipe(recipe, tree)
    for rung, requirements in _rungs(tree):
        packages = tuple(sorted({*requirements, *RUNNERS[spec.runner]}))
        yield Plan(rung, "", packages, (), tree.distribution, (), quarter_end(moment.date()))


def quarter_end(day: date) -> str:
    """The first day of the next quarter: commits of one quarter share an environment."""
    first = date(day.year, 3 * ((day.month - 1) // 3) + 1, 1)
    following = (first + timedelta(days=100)).replace(day=1)
    return following.isoformat()


def _of_recipe(recipe: Recipe, tree: Tree) -> Plan:
    return Plan(
        rung="spec",
        python=recipe.python,
        packages=recipe.packages,
        install=recipe.install,
        metadata=tree.distribution if recipe.metadata else None,
        env=recipe.env,
        exclude_newer=recipe.until.isoformat() if recipe.until else None,
    )


class Tree:
    """The files of a commit that tell what its tests need."""

    def __init__(self, objects: Objects, tree: str) -> None:
        self.objects = objects
        self.tree = tree
        self.pyproject = self._toml("pyproject.toml")
        self.setup = self._ini("setup.cfg")
        self.distribution = distribution(self.pyproject, self.setup)

    def text(self, path: str) -> str | None:
        """A file's text; None where there is none."""
        entry = self.objects.find(self.tree, path)
        return None if entry is None else self.objects.blob(entry.id).decode("utf-8", "replace")

    def _toml(self, path: str) -> dict[str, Any]:
        try:
            return tomllib.loads(self.text(path) or "")
        except tomllib.TOMLDecodeError:
            return {}

    def _ini(self, path: str) -> configparser.ConfigParser:
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        try:
            parser.read_string(self.text(path) or "")
        except configparser.Error:
            return configparser.ConfigParser(interpolation=None)
        return parser

    def names(self) -> list[str]:
        """The files at the root, and in a `requirements` folder."""
        entries = self.objects.entries(self.tree)
        below = entries.get("requirements")
        nested = self.objects.entries(below.id) if below and below.mode == FOLDER else {}
        return [*entries, *(f"requirements/{name}" for name in nested)]


def _rungs(tree: Tree) -> Iterator[tuple[str, list[str]]]:
    needed = _dependencies(tree)
    for rung, found in (
        ("groups", _groups(tree)),
        ("extras", _extras(tree)),
        ("ci", _ci(tree)),
        ("requirements", _requirements(tree)),
    ):
        if found:
            yield rung, [*needed, *found]
    yield "bare", needed


def _dependencies(tree: Tree) -> list[str]:
    project = tree.pyproject.get("project", {})
    return [
        *project.get("dependencies", []),
        *_lines(tree.setup.get("options", "install_requires", fallback="")),
        *(_lines(tree.text("requirements.txt") or "") if not project.get("dependencies") else ()),
    ]


def _groups(tree: Tree) -> list[str]:
    groups = tree.pyproject.get("dependency-groups", {})
    return [line for name in TEST_NAMES if name in groups for line in _group(groups, name, ())]


def _group(groups: dict[str, Any], name: str, above: tuple[str, ...]) -> Iterator[str]:
    """A group's requirements, with those of the groups that it includes."""
    for line in groups.get(name, []):
        if isinstance(line, str):
            yield line
        elif isinstance(line, dict) and line.get("include-group") not in above:
            yield from _group(groups, str(line.get("include-group")), (*above, name))


def _extras(tree: Tree) -> list[str]:
    declared: dict[str, list[str]] = dict(tree.pyproject.get("project", {}).get("optional-dependencies", {}))
    if tree.setup.has_section("options.extras_require"):
        declared |= {name: _lines(text) for name, text in tree.setup.items("options.extras_require")}
    wanted = [line for name in TEST_NAMES for line in declared.get(name, [])]
    return [found for line in wanted for found in _own(line, tree, declared)]


def _own(line: str, tree: Tree, declared: dict[str, list[str]]) -> list[str]:
    """A requirement; one on the project's own extras (`name[viz]`) stands for what these hold."""
    own = tree.distribution.name if tree.distribution else ""
    named = re.fullmatch(rf"{re.escape(own)}\[([\w\s,-]+)\]", line.strip(), re.IGNORECASE)
    if not named or not own:
        return [line]
    return [found for extra in named[1].split(",") for found in declared.get(extra.strip(), [])]


def _ci(tree: Tree) -> list[str]:
    """The `deps` of tox, and what `session.install("…")` names in a noxfile."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(tree.text("tox.ini") or "")
    except configparser.Error:
        return []
    deps = _lines(parser.get("testenv", "deps", fallback=""))
    named = re.findall(r"session\.install\(([^)]*)\)", tree.text("noxfile.py") or "")
    quoted = [word for call in named for word in re.findall(r"[\"']([A-Za-z][^\"']*)[\"']", call)]
    return [line for line in (*deps, *quoted) if re.match(r"^[A-Za-z][\w.-]*\s*(\[|[<>=!~]|$)", line)]


def _requirements(tree: Tree) -> list[str]:
    files = [name for name in tree.names() if REQUIREMENTS.match(name)]
    return [line for name in files for line in _lines(tree.text(name) or "")]


def _lines(text: str) -> list[str]:
    """The requirements of a list in text; comments, options and references to other files left out."""
    stripped = (re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines())
    return [line for line in stripped if line and re.match(r"^[A-Za-z0-9]", line)]
