"""The scripted agent: writes a known plan, adapted to what it sees or is told. No language model, no luck.

Its plan is what a reference agent would write on the plain base. What changed elsewhere it learns from its
condition alone: under informed from the files in its workspace, under comm from the message, else not at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from stalebench.agents import Assignment, Plan, Worked
from stalebench.agents.options import Options
from stalebench.agents.scripted.adapting import adapted
from stalebench.compose.merge import Merger
from stalebench.grading.records import Status
from stalebench.messages import Fact, describe, parse

TRAJECTORY: Final = "scripted.json"


@dataclass(frozen=True, slots=True)
class Scripted:
    """A deterministic agent that costs nothing. It takes no options."""

    options: Options = field(default_factory=Options)

    @property
    def name(self) -> str:
        """How it is called in tables."""
        return "scripted"

    @property
    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Raised whenever it could write something else."""
        return {"version": 1}

    @property
    def wants_plan(self) -> bool:
        """It cannot do without."""
        return True

    def work(self, assignment: Assignment) -> Worked:
        """Write the plan, adapted, into the workspace."""
        if assignment.plan is None:
            return Worked(Status.FAILED, "the scripted agent was given no plan", cost=0.0)
        working = _Working(assignment.plan, assignment.workspace, assignment.message)
        refused = working.work()
        said = json.dumps(working.told, indent=1) + "\n"
        (assignment.log / TRAJECTORY).write_text(said, encoding="utf-8")
        status, detail = (Status.FAILED, refused) if refused else (Status.PATCH, "")
        return Worked(status, detail, 0.0, 0, 0, len(working.told), TRAJECTORY)


class _Working:
    """One attempt."""

    def __init__(self, plan: Plan, workspace: Path, message: str | None) -> None:
        self.plan = plan
        self.workspace = workspace
        self.message = message
        self.told: list[dict[str, object]] = []

    def work(self) -> str:
        """Edit the workspace; why it was left as it is, if so."""
        base = self._base()
        seen = {path: self._seen(path) for path in {*base, *self._python()}}
        foreign = {path: content for path, content in seen.items() if content != base.get(path)}
        facts = [
            *describe({path: base.get(path) for path in foreign}, foreign),
            *parse(self.message or ""),
        ]
        own = describe(self.plan.before, self.plan.after)
        files = {path: self._adapted(path, base.get(path), foreign[path], own, "others'") for path in foreign}
        for path, content in self.plan.after.items():
            planned = self._adapted(path, self.plan.before.get(path), content, facts, "own")
            merged = self._merged(self.plan.before.get(path), files.get(path, seen.get(path)), planned)
            if isinstance(merged, str):
                return f"{path}: {merged}"
            files[path] = merged
        for path, content in files.items():
            self._write(path, content)
        return ""

    # What there is

    def _base(self) -> dict[str, bytes | None]:
        """The source files of the plain base, as far as it has read them."""
        return {**self.plan.known, **self.plan.before}

    def _python(self) -> set[str]:
        """The source files of the workspace in the folders that the base has some in."""
        folders = {path.rpartition("/")[0] for path in self.plan.known}
        return {
            str(path.relative_to(self.workspace))
            for folder in folders
            for path in (self.workspace / folder).glob("*.py")
            if path.is_file() and not path.is_symlink()
        } - self._unread(folders)

    def _unread(self, folders: set[str]) -> set[str]:
        """Files at the top of the workspace are its source only where the base has such."""
        return set() if "" in folders else {path.name for path in self.workspace.glob("*.py")}

    def _seen(self, path: str) -> bytes | None:
        try:
            return (self.workspace / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    # What becomes of it

    def _adapted(
        self,
        path: str,
        before: bytes | None,
        after: bytes | None,
        facts: tuple[Fact, ...] | list[Fact],
        whose: str,
    ) -> bytes | None:
        if after is None:
            return None
        content, used = adapted(path, before, after, facts)
        for fact in used:
            self.told.append({"file": path, "code": whose, "fact": type(fact).__name__, **asdict(fact)})
        return content

    @staticmethod
    def _merged(before: bytes | None, seen: bytes | None, planned: bytes | None) -> bytes | str | None:
        """Three ways, as git does it; in words what stands against it."""
        if seen in (planned, before):
            return planned
        if planned is None or seen is None:
            return "it was removed on one side and changed on the other"
        texts: Mapping[str, bytes] = {"before": before or b"", "seen": seen, "planned": planned}
        merged = Merger(texts.__getitem__).merge("before", "seen", "planned")
        return "both change the same lines" if merged is None else merged.content

    def _write(self, path: str, content: bytes | None) -> None:
        target = self.workspace / path
        if content is None:
            target.unlink(missing_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
