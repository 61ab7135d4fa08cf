"""One attempt at one task: the tree that the agent is given, what it left there, and how it is kept.

Runs in a worker and returns texts and patches by content; whoever collects attempts keeps them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from stalebench.agents import Agent, Assignment, Budget, Plan, Worked
from stalebench.agents.fixed import FixedPatch
from stalebench.agents.workspace import Untakeable, taken, workspace
from stalebench.columns import Missing
from stalebench.compose import Conflict, Objects, Patch, as_text, compose
from stalebench.compose.reading import Unreadable, read_patch
from stalebench.errors import EnvironmentBroken
from stalebench.grading.edits import split_edits
from stalebench.grading.prompts import message_about, prompt_of
from stalebench.grading.records import Assigned, Attempt, Condition, Instance, Status
from stalebench.grading.trees import Trees
from stalebench.run.scratch import scratch_folder
from stalebench.validate.workspace import Workspace

FORMAT: Final = 1
"""Raised whenever the same job could come to another attempt."""


@dataclass(frozen=True, slots=True)
class AttemptJob:
    """One attempt to be made. `builds_on` are the attempts whose edits or messages it is given."""

    instance: Instance
    condition: Condition
    trial: int
    order: str
    task: int
    source: Agent | FixedPatch
    budget: Budget
    builds_on: tuple[Attempt, ...]
    folder: Path

    @property
    def id(self) -> str:
        """`instance/condition/trial/order/task`."""
        return f"{self.instance.id}/{self.condition}/{self.trial}/{self.order}/{self.task}"

    @property
    def assigned(self) -> Assigned:
        """The task."""
        return self.instance.tasks[self.task - 1]

    @property
    def log(self) -> str:
        """The folder of its trajectory, relative to the run's."""
        parts = [str(self.condition), str(self.trial), *([self.order] if self.order else []), str(self.task)]
        return f"trajectories/{self.instance.id}/{'-'.join(parts)}"


@dataclass(frozen=True, slots=True)
class Made:
    """An attempt with the texts and patches that it names, and the name under which it is stored."""

    attempt: Attempt
    key: str
    patches: tuple[bytes, ...] = ()
    texts: tuple[str, ...] = ()


def made(place: Workspace, job: AttemptJob) -> Made:
    """Make the attempt, or take the stored one of the same content."""
    return _Attempting(place, job).made()


class _Attempting:
    def __init__(self, place: Workspace, job: AttemptJob) -> None:
        self.place = place
        self.job = job
        self.objects: Objects = place.objects
        self.trees = Trees(place, job.instance, job.builds_on, job.folder)
        self.source = self._source()

    def made(self) -> Made:
        try:
            tree = self._given_tree()
            message = self._message()
        except Missing as missing:
            return Made(self._ended(_status_of(missing), missing.detail, ""), "")
        if isinstance(self.source, FixedPatch):
            return self._fixed(self.source, tree, message)
        return self._stored(tree, message) or self._worked(self.source, tree, message)

    def _source(self) -> Agent | FixedPatch:
        """A scripted task's patch stands for the agent's in every condition."""
        return FixedPatch(self.job.source.name, "gold") if self.job.assigned.scripted else self.job.source

    # What the agent is given

    def _given_tree(self) -> str:
        if self.job.condition is not Condition.INFORMED:
            return self.job.instance.base_tree
        order = [int(number) for number in self.job.order.split(".")]
        return self.trees.after(self.job.order, order[: order.index(self.job.task)])

    def _message(self) -> str | None:
        """An oracle message about the others' finished changes."""
        if self.job.condition is not Condition.COMM:
            return None
        others = [number for number in self.trees.numbers if number != self.job.task]
        return message_about(self.objects, self.trees.solo_codes(others))

    def _prompt(self, message: str | None) -> str:
        informed = self.job.condition is Condition.INFORMED
        return prompt_of(self.job.assigned, self.place.spec, message, informed=informed)

    # Patches that nobody has to write

    def _fixed(self, source: FixedPatch, tree: str, message: str | None) -> Made:
        if source.fixed == "empty":
            return self._finished(Worked(Status.PATCH), tree, tree, message)
        try:
            patch = self._fixed_patch(source)
        except Missing as missing:
            return Made(self._ended(_status_of(missing), missing.detail, tree), "")
        except Unreadable as error:
            return Made(self._ended(Status.UNAPPLIABLE, error.message, tree), "")
        if patch is None:
            return Made(self._ended(Status.NO_PREDICTION, "", tree), "")
        composed = compose(self.objects, tree, [patch])
        if isinstance(composed, Conflict):
            return Made(self._ended(Status.CONFLICT, composed.detail, tree), "")
        return self._finished(Worked(Status.PATCH), tree, composed.id, message)

    def _fixed_patch(self, source: FixedPatch) -> Patch | None:
        if source.fixed == "gold":
            return self.trees.human.codes[self.job.task - 1]
        if source.content is None:
            return None
        return read_patch(self.objects, self.job.instance.base_tree, source.content)

    # Agents

    def _key(self, agent: Agent, tree: str, message: str | None) -> str:
        said = [
            FORMAT,
            self.job.id,
            agent.name,
            agent.settings,
            asdict(self.job.budget) | {"cost": None},
            tree,
            self._prompt(message),
        ]
        return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()

    def _stored(self, tree: str, message: str | None) -> Made | None:
        assert not isinstance(self.source, FixedPatch)  # noqa: S101 - asked for agents only
        key = self._key(self.source, tree, message)
        path = stored_path(self.job.folder, key)
        return Made(decoded(path.read_text(encoding="utf-8")), key) if path.is_file() else None

    def _worked(self, agent: Agent, tree: str, message: str | None) -> Made:
        key = self._key(agent, tree, message)
        log = self.job.folder / self.job.log
        log.mkdir(parents=True, exist_ok=True)
        try:
            python = self.place.built(self.job.instance.base_commit).python
        except EnvironmentBroken as error:
            return Made(self._ended(Status.INFRA, error.message.partition("\n")[0], tree), "")
        with scratch_folder() as scratch:
            folder = scratch / "work"
            workspace(self.objects, tree, folder)
            worked = agent.work(self._assignment(agent, message, folder, python, log))
            try:
                left = taken(self.objects, tree, folder)
            except Untakeable as error:
                worked = replace(worked, status=Status.FAILED, detail=error.message)
                left = tree
        return replace(self._finished(worked, tree, left, message), key=key)

    def _assignment(
        self, agent: Agent, message: str | None, folder: Path, python: Path, log: Path
    ) -> Assignment:
        return Assignment(
            id=self.job.id,
            prompt=self._prompt(message),
            message=message,
            workspace=folder,
            python=python,
            budget=self.job.budget,
            log=log,
            trial=self.job.trial,
            plan=self._plan() if agent.wants_plan else None,
        )

    def _plan(self) -> Plan:
        """What a reference agent would write on the plain base, and the source files that it has read."""
        base = self.job.instance.base_tree
        composed = compose(self.objects, base, [self.trees.human.codes[self.job.task - 1]])
        after = base if isinstance(composed, Conflict) else composed.id
        changes = self.objects.changes(base, after)
        return Plan(
            {change.path: self._content(base, change.path) for change in changes},
            {change.path: self._content(after, change.path) for change in changes},
            dict(self._sources(base)),
        )

    def _sources(self, tree: str) -> Iterable[tuple[str, bytes]]:
        spec = self.place.spec
        for path, entry in self.objects.files(tree):
            if path.endswith(".py") and spec.kind(path).in_code_patch:
                yield path, self.objects.blob(entry.id)

    def _content(self, tree: str, path: str) -> bytes | None:
        entry = self.objects.find(tree, path)
        return None if entry is None or entry.is_folder else self.objects.blob(entry.id)

    # What is kept

    def _finished(self, worked: Worked, tree: str, left: str, message: str | None) -> Made:
        whole = Patch.between(self.objects, tree, left)
        edits = split_edits(self.objects, self.place.spec, whole, self.trees.human.tests)
        patch, code = as_text(self.objects, whole), as_text(self.objects, edits.code)
        prompt = self._prompt(message)
        is_empty = worked.status is Status.PATCH and not whole.changes
        attempt = replace(
            self._ended(Status.EMPTY if is_empty else worked.status, worked.detail, tree),
            prompt=_digest(prompt.encode()),
            message=None if message is None else _digest(message.encode()),
            patch=_digest(patch) if whole.changes else None,
            code_patch=_digest(code) if whole.changes else None,
            discarded=edits.discarded,
            ungraded=edits.ungraded,
            cost=worked.cost if worked.cost is not None or not isinstance(self.source, FixedPatch) else 0.0,
            input_tokens=worked.input_tokens,
            output_tokens=worked.output_tokens,
            steps=worked.steps,
            trajectory=f"{self.job.log}/{worked.trajectory}" if worked.trajectory else None,
        )
        texts = (prompt,) if message is None else (prompt, message)
        return Made(attempt, "", (patch, code) if whole.changes else (), texts)

    def _ended(self, status: Status, detail: str, tree: str) -> Attempt:
        return ended(self.job, status, detail, tree)


def ended(job: AttemptJob, status: Status, detail: str = "", tree: str = "") -> Attempt:
    """An attempt that left nothing."""
    return Attempt(
        id=job.id,
        instance=job.instance.id,
        condition=job.condition,
        trial=job.trial,
        order=job.order,
        task=job.task,
        agent=job.source.name,
        status=status,
        detail=detail,
        workspace_tree=tree,
        cost=0.0,
    )


def _status_of(missing: Missing) -> Status:
    return Status(missing.reason) if missing.reason in set(Status) else Status.INFRA


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def stored_path(folder: Path, key: str) -> Path:
    """Where a made attempt is stored."""
    return folder / "attempts" / key[:2] / f"{key}.json"


def encoded(attempt: Attempt) -> str:
    """An attempt as JSON."""
    return json.dumps({"format": FORMAT, **asdict(attempt)}, indent=1, sort_keys=True) + "\n"


def decoded(text: str) -> Attempt:
    """The attempt that was stored. Raises ValueError for another format."""
    content = json.loads(text)
    if content.pop("format") != FORMAT:
        raise ValueError("another format")
    lists: Sequence[str] = ("discarded", "ungraded")
    content |= {name: tuple(content[name]) for name in lists}
    content |= {"condition": Condition(content["condition"]), "status": Status(content["status"])}
    return Attempt(**content)
