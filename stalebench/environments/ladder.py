"""The ladder of recipes for a commit: plans in the order in which they are tried. Builds nothing.

1. `spec`: the recipe of the specification for the commit's date
2. `lock`: the groups or extras of the tree, at the versions of its lock file
3. `groups`: dependency groups of the tree (PEP 735, Poetry)
4. `extras`: the extras named like tests
5. `ci`: what tox, nox and CI workflows install, as far as it is written down
6. `requirements`: requirements files named like tests
7. `bare`: the project's dependencies and a test runner

All but the first add the project's own dependencies. Rungs that ask for the same are tried once. So that
one environment serves many commits, packages are bounded by the start of the commit's quarter, not by its
day; by the end of the quarter where nothing fits, as for a project that asks for a brand-new release.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from typing import Final

from stalebench.compose.objects import Objects
from stalebench.environments.ci import ci_requirements
from stalebench.environments.declared import Declared, Lines
from stalebench.environments.metadata import Distribution
from stalebench.environments.pythons import fitting
from stalebench.spec import Recipe, Spec

TESTS: Final = ("test", "tests", "testing")
DEVELOPMENT: Final = ("dev", "develop", "development", "ci", "all", "complete")
REQUIREMENTS_FOLDERS: Final = ("", "requirements", "tests/requirements", "test", "tests", "ci")
REQUIREMENTS: Final = re.compile(r"^(requirements[-_.])?(py3|(test|tests|testing|dev|ci)\b[-\w]*)\.(txt|in)$")
RUNNERS: Final = {"pytest": ["pytest>=7"], "django": [], "unittest": []}
"""What the plugin for a runner works with."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an environment is to hold; equal plans share one.

    `newest` are dates to bound the packages by, tried in order; None is no bound. `commit` is where the
    install commands run; None where there are none, since then nothing depends on it.
    """

    rung: str
    python: str
    packages: tuple[str, ...]
    constraints: tuple[str, ...] = ()
    install: tuple[str, ...] = ()
    metadata: Distribution | None = None
    env: tuple[tuple[str, str], ...] = ()
    newest: tuple[str | None, ...] = (None,)
    commit: str | None = None

    @property
    def digest(self) -> str:
        """A hash of all of it but the rung's name, 32 hexadecimal digits."""
        content = {name: value for name, value in asdict(self).items() if name != "rung"}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def plans(spec: Spec, objects: Objects, commit: str, day: date, stands_for: str) -> Iterator[Plan]:
    """The plans for a commit of that day, best first; install commands run where another stands for it."""
    declared = Declared(objects, objects.tree_of(commit))
    recipe = next((recipe for recipe in spec.recipes if recipe.covers(day)), None)
    if recipe is not None:
        yield _of_recipe(recipe, declared, stands_for, day)
    python = fitting(declared.requires_python, quarter(day)[0])
    seen: set[str] = set()
    for rung, requirements, constraints in _rungs(declared):
        packages = tuple(sorted({*declared.dependencies, *requirements, *RUNNERS[spec.runner]}))
        plan = Plan(
            rung,
            python,
            packages,
            constraints,
            metadata=declared.distribution,
            newest=tuple(each.isoformat() for each in quarter(day)),
        )
        if plan.digest not in seen:
            seen.add(plan.digest)
            yield plan


def quarter(day: date) -> tuple[date, date]:
    """The first day of the day's quarter, and of the next quarter."""
    month = 3 * ((day.month - 1) // 3) + 1
    first = date(day.year, month, 1)
    return first, date(day.year + month // 10, (month + 2) % 12 + 1, 1)


def _of_recipe(recipe: Recipe, declared: Declared, commit: str, day: date) -> Plan:
    """Packages are bounded by the recipe's end, else by the quarter; those that are pinned need no bound."""
    is_pinned = all(re.search(r"===?\s*[\w.!+]+$", package) for package in recipe.packages)
    ends = [recipe.until] if recipe.until else [] if is_pinned else quarter(day)
    newest: list[str | None] = [end.isoformat() for end in ends]
    if is_pinned:
        newest.append(None)
    return Plan(
        rung="spec",
        python=recipe.python,
        packages=recipe.packages,
        install=recipe.install,
        metadata=declared.distribution if recipe.metadata else None,
        env=recipe.env,
        newest=tuple(newest),
        commit=commit if recipe.install else None,
    )


def _rungs(declared: Declared) -> Iterator[tuple[str, Lines, tuple[str, ...]]]:
    """Rung, requirements, constraints. A rung may have two steps: for tests, then for all of development."""
    groups, extras = list(_named(declared, declared.groups)), list(_named(declared, declared.extras))
    if declared.locked:
        for requirements in (groups or extras or [[]])[:2]:
            yield "lock", requirements, declared.locked
    for rung, steps in (
        ("groups", groups),
        ("extras", extras),
        ("ci", ci_requirements(declared)),
        ("requirements", _requirements(declared)),
        ("bare", [[]]),
    ):
        yield from ((rung, step, ()) for step in steps)


def _named(declared: Declared, sets: dict[str, Lines]) -> Iterator[Lines]:
    """What sets named like tests hold; then with those for development, if there are any."""
    found: Lines = []
    for names in (TESTS, DEVELOPMENT):
        lines = [line for name, held in sets.items() if name.lower() in names for line in held]
        if lines:
            found = [*found, *declared.requirements(lines)]
            yield found


def _requirements(declared: Declared) -> Iterator[Lines]:
    for path in declared.files(*REQUIREMENTS_FOLDERS):
        folder, _, name = path.rpartition("/")
        if REQUIREMENTS.match(name) or (folder == "requirements" and name == "requirements.txt"):
            lines = declared.requirements((declared.text(path) or "").splitlines(), folder)
            if lines:
                yield lines
