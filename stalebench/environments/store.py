"""The environments of this machine: one folder each in the user's cache, built under a lock.

A plan that was resolved once stays resolved on this machine, so that a registry that moves on changes
nothing in a dataset that is being made. A folder without its mark is half-built, and is built again.

```
environments/<hash>/          venv/, complete.json once it is built, gates/ that were passed
environments/plans/           what each plan was resolved to
environments/ladders/         for each plan that won: which rungs were tried before, and why they failed
environments/locks/           held by the kernel for a living process only
```
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from stalebench.compose.objects import Objects
from stalebench.environments import building
from stalebench.environments.building import Resolved
from stalebench.environments.built import Built
from stalebench.environments.failures import OutOfReach
from stalebench.environments.gate import gate
from stalebench.environments.history import representatives
from stalebench.environments.ladder import Plan, plans
from stalebench.environments.pythons import find_python
from stalebench.errors import EnvironmentBroken
from stalebench.records import Environment
from stalebench.source.fetching import user_cache
from stalebench.spec import Spec

_log: Final = logging.getLogger("stalebench.environments")


class EnvironmentStore:
    """Finds or builds the environment of a commit.

    What is broken stays broken for this object, whichever commit asks, and is tried again by the next.
    """

    def __init__(self, cache: Path | None = None) -> None:
        self.folder = (cache or user_cache()).absolute() / "environments"
        self._found: dict[tuple[Spec, str, str], Built] = {}
        self._made: dict[str, Built | EnvironmentBroken] = {}
        self._gated: dict[tuple[str, str, str], Built | EnvironmentBroken] = {}

    def built(self, spec: Spec, objects: Objects, commit: str, date: datetime) -> Built:
        """The environment for a commit of that date, by the first rung of the ladder that works.

        It is the same for all commits of a month that declare the same: the gate opens at the first commit of
        the month, or else at the first of the week, whichever of them asks. Raises EnvironmentBroken, with
        what each rung said, where none works; at once where the registry or the disk is at fault, since the
        next rung would be another environment than the one that a second try gives.
        """
        asked = (spec, str(objects.git_dir), commit)
        if asked not in self._found:
            self._found[asked] = self._climbed(spec, objects, commit, date)
        return self._found[asked]

    def _climbed(self, spec: Spec, objects: Objects, commit: str, date: datetime) -> Built:
        """The environment of the first rung that works."""
        failures: list[tuple[str, str]] = []
        stand_for_it = representatives(objects, commit)
        for plan in plans(spec, objects, commit, date.date(), stand_for_it[0]):
            found = self._environment(plan, spec, objects, stand_for_it)
            if isinstance(found, Built):
                self._note(plan, found, spec, failures)
                return replace(found, earlier=tuple(failures))
            if isinstance(found, OutOfReach):
                raise OutOfReach(*found.args)
            failures.append((plan.rung, str(found)))
        raise EnvironmentBroken(
            # Tables keep the first line: it says what stood in the way of the best rung.
            f"no environment for {spec.name} at {commit[:12]}: {_headline(failures[0])}\n"
            + "\n".join(f"{rung}: {said}" for rung, said in failures),
            "no recipe of the specification covers that date, or the packages of that time are gone",
            "add a recipe for that date to what `stalebench spec show` prints, and pass that file",
        )

    def _environment(
        self, plan: Plan, spec: Spec, objects: Objects, commits: tuple[str, ...]
    ) -> Built | EnvironmentBroken:
        """A plan's environment once it is past the gate at one of the commits, or why there is none."""
        if plan.digest not in self._made:
            self._made[plan.digest] = _or_broken(lambda: self._make(plan, spec, objects))
        found = made = self._made[plan.digest]
        for commit in dict.fromkeys(commits):
            if isinstance(made, EnvironmentBroken):
                break
            key = (plan.digest, _claim(spec), commit)
            if key not in self._gated:
                self._gated[key] = self._gate(made, spec, objects, commit)
            found = self._gated[key]
            if isinstance(found, Built):
                break
        return found

    def _make(self, plan: Plan, spec: Spec, objects: Objects) -> Built:
        base, version = find_python(plan.python)
        with self._locked(plan.digest):
            resolved = self._resolved(plan, base, version)
        content = [version, resolved.packages, plan.install, plan.commit, plan.env, _plain(plan.metadata)]
        key = _hash([*content, plan.rung, resolved.newest])
        folder = self.folder / _hash(content)
        with self._locked(folder.name):
            if not building.is_built(folder):
                building.build(plan, resolved, base, folder, objects)
        record = Environment(
            key, spec.name, version, plan.rung, resolved.packages, plan.install, resolved.newest
        )
        return Built(record, building.interpreter(folder), tuple(sorted(plan.env)))

    def _resolved(self, plan: Plan, base: Path, version: str) -> Resolved:
        """A plan as it was resolved the first time, else resolved now."""
        kept = self.folder / "plans" / f"{plan.digest}-{version}.json"
        told = _read(kept)
        if told is not None:
            return Resolved(version, tuple(told["packages"]), told["newest"])
        resolved = building.resolve(plan, base, version)
        with building.writing(self.folder):
            building.write(kept, {**asdict(resolved), "plan": asdict(plan)})
        return resolved

    def _gate(self, built: Built, spec: Spec, objects: Objects, commit: str) -> Built | EnvironmentBroken:
        """Let the environment through if it has passed at that commit before, or passes now."""
        folder = built.python.parents[2]
        passed = folder / "gates" / f"{commit}-{_claim(spec)}.json"

        def through() -> Built:
            with self._locked(folder.name), building.writing(folder):
                if not passed.is_file():
                    module = gate(built, spec, objects, commit, folder / "gate")
                    building.write(passed, {"repo": spec.name, "commit": commit, "module": module})
            return built

        return _or_broken(through)

    def _note(self, plan: Plan, found: Built, spec: Spec, failures: list[tuple[str, str]]) -> None:
        """Keep which rung won, and why those before it did not."""
        kept = self.folder / "ladders" / f"{spec.name}-{plan.digest}.json"
        if kept.is_file():
            return
        for rung, said in failures:
            _log.warning("%s: rung %s of the environments' ladder does not work: %s", spec.name, rung, said)
        building.write(kept, {"rung": plan.rung, "environment": asdict(found.record), "earlier": failures})

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        with building.writing(self.folder):
            place = self.folder / "locks"
            place.mkdir(parents=True, exist_ok=True)
            handle = (place / f"{name}.lock").open("w", encoding="ascii")
        with handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def _or_broken(make: Callable[[], Built]) -> Built | EnvironmentBroken:
    try:
        return make()
    except EnvironmentBroken as error:
        return error


def _headline(failure: tuple[str, str]) -> str:
    rung, said = failure
    return f"{rung}: {said.partition(chr(10))[0].rstrip(':')}"


def _claim(spec: Spec) -> str:
    """A short hash of all in a specification that the gate rests on."""
    return _hash([spec.name, spec.runner, spec.import_name, spec.test_modules])[:12]


def _hash(content: list[Any]) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]


def _plain(metadata: object) -> Any:
    return None if metadata is None else asdict(metadata)  # type: ignore[call-overload]


def _read(path: Path) -> dict[str, Any] | None:
    """A kept resolution; None where there is none, or only a damaged one."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    is_whole = isinstance(told, dict) and isinstance(told.get("packages"), list) and "newest" in told
    return told if is_whole else None
