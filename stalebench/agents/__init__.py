"""Agents: whoever turns a task and a workspace into an edited workspace. Grades nothing, sees no gold test.

An agent edits the files of its workspace; the patch is taken from there afterwards. `FixedPatch` agents (the
human patch, an empty one, predictions) name a patch instead and get no workspace.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from stalebench.grading.records import Status

__all__ = ["Agent", "Assignment", "Budget", "Plan", "Worked"]


@dataclass(frozen=True, slots=True)
class Budget:
    """What one attempt may take; None for no limit."""

    seconds: float | None = 1800.0
    cost: float | None = None
    """US dollars."""
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a reference agent would write on the plain base: the files of its change, before and after.

    Paths map to contents; None where the file does not exist. `known` are further source files of the base
    that it has read. Only agents that ask for it (`wants_plan`) are given one.
    """

    before: dict[str, bytes | None]
    after: dict[str, bytes | None]
    known: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assignment:
    """All that an agent is given.

    `workspace` is a git work tree with one root commit and no other history; `python` an interpreter in which
    the project can be imported from there; `log` a folder outside of it for the trajectory. `prompt` already
    holds `message`, which is also given alone, None outside of comm.
    """

    id: str
    prompt: str
    message: str | None
    workspace: Path
    python: Path | None
    budget: Budget
    log: Path
    trial: int = 0
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class Worked:
    """How an agent ended.

    `status` is PATCH where it ended by itself: whether it changed anything, the workspace tells. `trajectory`
    is the name of a file in the log folder; counts are None where it cannot tell.
    """

    status: Status
    detail: str = ""
    cost: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    steps: int | None = None
    trajectory: str | None = None


class Agent(Protocol):
    """One way to make patches. Plain values only, so that it can be sent to a worker."""

    @property
    def name(self) -> str:
        """How it is called in tables."""
        ...

    @property
    def settings(self) -> dict[str, str | int | float | bool | None]:
        """All that its results depend on besides the assignment: part of the name of a stored attempt."""
        ...

    @property
    def wants_plan(self) -> bool:
        """Whether it is a reference agent that is given a plan."""
        ...

    def work(self, assignment: Assignment) -> Worked:
        """Edit the workspace. Errors of the agent are a status, never raised; those of the machine are."""
        ...
