"""The environments of this machine: one folder each in the user's cache, named by key, built under a lock.

A plan that was resolved once stays resolved on this machine, so that a registry that moves on changes
nothing in a dataset that is being made. A folder without its mark is half-built, and is built again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from stalebench.compose.objects import Objects
from stalebench.environments import gate, metadata, uv
from stalebench.environments.built import Built
from stalebench.environments.ladder import Plan, plans
from stalebench.environments.pythons import find_python
from stalebench.errors import EnvironmentBroken
from stalebench.records import Environment
from stalebench.spec import Spec

MARK = "complete.json"


def cache_folder() -> Path:
    """The user's cache folder: STALEBENCH_CACHE, else `stalebench` in XDG_CACHE_HOME or ~/.cache."""
    told = os.environ.get("STALEBENCH_CACHE")
    if told:
        return Path(told)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stalebench"


class EnvironmentStore:
    """Finds or builds the environment of a commit; a plan that failed is not tried again by this object."""

    def __init__(self, cache: Path | None = None) -> None:
        self.folder = (cache or cache_folder()).absolute() / "environments"
        self._made: dict[str, Built | EnvironmentBroken] = {}
        self._gated: dict[tuple[str, str], Built | EnvironmentBroken] = {}

    def built(self, spec: Spec, objects: Objects, commit: str, date: datetime) -> Built:
        """The environment for a commit, by the first rung of the ladder that works.

        Raises EnvironmentBroken, with what each rung said, where none does.
        """
        failures: list[str] = []
        for plan in plans(spec, objects, commit, date):
            found = self._plan(plan, spec, objects, commit)
            if isinstance(found, Built):
                return found
            failures.append(f"{plan.rung}: {found.message}")
        raise EnvironmentBroken(
            f"no environment for {spec.name} at {commit[:12]}:\n"
            + "\n".join(failures or ["no recipe applies"]),
            "no recipe of the specification covers that date, or the packages have moved on",
            "add a recipe for that date to the specification, and try it with `stalebench mine --spec FILE`",
        )

    def _plan(self, plan: Plan, spec: Spec, objects: Objects, commit: str) -> Built | EnvironmentBroken:
        """A plan's environment, or why there is none: either is known from then on.

        What fails at the gate fails for the commit; what cannot be built fails for all.
        """
        if plan.digest not in self._made:
            self._made[plan.digest] = _or_broken(lambda: self._make(plan, spec))
        made = self._made[plan.digest]
        if isinstance(made, EnvironmentBroken):
            return made
        key = (plan.digest, commit)
        if key not in self._gated:
            self._gated[key] = _or_broken(lambda: self._gate(made, spec, objects, commit))
        return self._gated[key]

    def _make(self, plan: Plan, spec: Spec) -> Built:
        record = self._resolved(plan, spec)
        folder = self.folder / record.key
        with self._locked(record.key):
            if not (folder / MARK).is_file():
                self._build(plan, record, folder)
        return Built(record, folder / "venv" / "bin" / "python", self._variables(plan, folder))

    def _gate(self, built: Built, spec: Spec, objects: Objects, commit: str) -> Built:
        """Let the environment through if it has passed before, or passes now."""
        folder = self.folder / built.record.key
        with self._locked(built.record.key):
            if not (folder / "gate.json").is_file():
                _write(folder / "gate.json", gate.passed(built, spec, objects, commit, folder / "gate"))
        return built

    def _resolved(self, plan: Plan, spec: Spec) -> Environment:
        """The record of a plan: as it was resolved the first time, else resolved now."""
        python, version = find_python(plan.python)
        kept = self.folder / "plans" / f"{plan.digest}-{version}.json"
        if kept.is_file():
            told = json.loads(kept.read_text(encoding="utf-8"))
            packages = tuple(told["packages"])
        else:
            packages = uv.resolve(plan.packages, python, plan.exclude_newer)
            _write(kept, {"packages": list(packages), "plan": asdict(plan)})
        key = hashlib.sha256(
            json.dumps([version, packages, plan.install, asdict(plan)["metadata"], plan.env]).encode()
        ).hexdigest()[:32]
        return Environment(key, spec.name, version, plan.rung, packages, plan.install, plan.exclude_newer)

    def _build(self, plan: Plan, record: Environment, folder: Path) -> None:
        python, _ = find_python(plan.python)
        try:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            inside = uv.create(folder / "venv", python)
            uv.install(record.packages, inside)
            metadata.write(plan.metadata, folder / "venv")
            if _needs_matplotlib(record):
                gate.warm_matplotlib(inside, folder / "venv" / "matplotlib")
            _write(folder / MARK, {"frozen": list(uv.freeze(inside))})
        except OSError as error:
            raise EnvironmentBroken(
                f"cannot build an environment in {folder}: {error}",
                "the disk is full, or the cache folder may not be written to",
                "make room, or name another cache folder with STALEBENCH_CACHE or --cache",
            ) from error

    def _variables(self, plan: Plan, folder: Path) -> tuple[tuple[str, str], ...]:
        told = dict(plan.env)
        fonts = folder / "venv" / "matplotlib"
        if fonts.is_dir():
            told.setdefault("MPLCONFIGDIR", str(fonts))
        return tuple(sorted(told.items()))

    @contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{key}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _or_broken(make: Callable[[], Built]) -> Built | EnvironmentBroken:
    try:
        return make()
    except EnvironmentBroken as error:
        return error


def _needs_matplotlib(record: Environment) -> bool:
    return any(package.startswith("matplotlib==") for package in record.packages)


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(content, indent=1, default=str) + "\n", encoding="utf-8")
    temporary.replace(path)
