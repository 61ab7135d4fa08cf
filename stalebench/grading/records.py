"""The records of grading: instances, attempts of agents, grades. Plain, frozen, and free of behaviour.

Conventions are those of `stalebench.records`. An *instance* has N tasks (two for mined pairs). An *attempt*
is one patch for one task under one condition; a *grade* is what the patches of one instance come to together,
under one condition and in one trial. Nothing here depends on time or on the machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from stalebench.records import Check, Clash, Pair, Pull, Task


class Condition(StrEnum):
    """What an agent knows of the others, as in the published study."""

    SOLO = "solo"
    """Alone on the base, graded alone."""
    BLIND = "blind"
    """The same patches as solo, merged."""
    INFORMED = "informed"
    """One after the other, each on the tree with the finished edits of those before it."""
    COMM = "comm"
    """Like blind, but each with a message that describes the others' finished changes."""


class Status(StrEnum):
    """How an attempt ended. The first two have been said by the agent itself."""

    PATCH = "patch"
    EMPTY = "empty"
    """It ended well and changed nothing."""
    TIMED_OUT = "timed_out"
    OVER_COST = "over_cost"
    """Its own limit of cost or steps."""
    FAILED = "agent_failed"
    """It ended with an error of its own."""
    UNAPPLIABLE = "does_not_apply"
    """A patch made elsewhere that the tree does not take."""
    NO_PREDICTION = "no_prediction"
    NOT_STARTED = "not_started"
    """The limit of cost of the whole run was reached before."""
    CONFLICT = "merge_conflict"
    """The tree that it should have started from does not compose."""
    INFRA = "infra"


class Unobservable(StrEnum):
    """Why an instance says nothing about interference."""

    UNSOLVED = "unsolved"
    """A patch does not pass its own task's gold tests as written."""
    TESTS_INTERACT = "tests_interact"
    """It passes them as written, and not with the combined suite: the suite is at fault."""
    FLAKY = "flaky"
    """Without the quarantined tests a task has no fail-to-pass test left."""


class SetAside(StrEnum):
    """Why an instance is set aside before any agent is started."""

    GOLD_FAILS = "gold_fails"
    """The human patch does not pass its gold tests, alone and as written."""
    EMPTY_PASSES = "empty_passes"
    """A fail-to-pass test passes without any patch."""
    TESTS_INTERACT = "tests_interact"
    TESTS_CONFLICT = "tests_conflict"
    """Of more than two: the human test patches do not compose."""
    FLAKY = "flaky"
    INFRA = "infra"
    BROKEN_DATASET = "broken_dataset"
    """A patch or a commit that it names is not there."""


class Grading(StrEnum):
    """How outcomes are graded: as the design says, or with one of the two known mistakes."""

    STANDARD = "standard"
    OWN_TESTS_ONLY = "own-tests-only"
    """Each patch alone is only graded on its own task's tests."""
    KEEP_TEST_EDITS = "keep-test-edits"
    """Agents' edits to tests stay in the graded trees."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """One task of an instance: what is asked, and the tests that tell.

    `gold` are functions, `gold_files` the modules that collect them; `f2p` and `p2p` are test ids.
    `code_patch` and `test_patch` are the SHA-256 of patches kept beside the tables. `scripted` says that the
    code patch stands for the agent's in every condition. The human patches are the halves of the diff from
    `from_commit` to `to_commit`; where these are None, the kept patches apply to the base itself.
    """

    repo: str
    pull: str
    title: str
    text: str
    gold: tuple[str, ...]
    gold_files: tuple[str, ...]
    f2p: tuple[str, ...]
    p2p: tuple[str, ...]
    code_patch: str
    test_patch: str
    from_commit: str | None = None
    to_commit: str | None = None
    scripted: bool = False


@dataclass(frozen=True, slots=True)
class Instance:
    """What is graded: a base and N tasks, the older pull first. `set_aside` is None while it is in use."""

    id: str
    repo: str
    tier: str
    base_commit: str
    base_tree: str
    environment: str
    by_function: bool
    concurrent: bool | None
    tasks: tuple[Assigned, ...]
    flaky: tuple[str, ...] = ()
    """Tests that are known to differ between two runs of one tree: they count nowhere."""
    set_aside: SetAside | None = None
    detail: str = ""


def instance_of(pair: Pair, pulls: Iterable[Pull], checks: Iterable[Check]) -> Instance:
    """A mined pair as an instance; the pull and the check of each of its tasks, in the order of the tasks."""
    return Instance(
        id=pair.id,
        repo=pair.repo,
        tier="mined",
        base_commit=pair.base_commit,
        base_tree=pair.base_tree,
        environment=pair.environment,
        by_function=pair.by_function,
        concurrent=pair.concurrent,
        tasks=tuple(map(assigned, pair.tasks, pulls, checks)),
        flaky=pair.flaky,
    )


def assigned(task: Task, pull: Pull, check: Check) -> Assigned:
    """A task of a mined pair as it is assigned."""
    return Assigned(
        repo=task.repo,
        pull=task.pull,
        title=pull.title,
        text=pull.text,
        gold=check.gold,
        gold_files=check.gold_files,
        f2p=task.f2p,
        p2p=task.p2p,
        code_patch=task.code_patch,
        test_patch=task.test_patch,
        from_commit=pull.base_commit,
        to_commit=pull.merge_commit,
    )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One patch for one task. The same attempt serves solo and blind: its condition is then solo.

    `id` is `instance/condition/trial/order/task`; `order` is the order of tasks for informed, as `1.2`, else
    empty; `task` counts from 1. `workspace_tree` is the tree that the agent was given. `prompt` and `message`
    are SHA-256 of texts kept beside the tables, `patch` that of all it changed, `code_patch` that of the part
    that is graded; None where there is none. `discarded` are its edits to tests, `ungraded` what is neither
    source nor test. `cost` is in US dollars; counts are None where the agent does not tell. `trajectory` is a
    path in the run's folder.
    """

    id: str
    instance: str
    condition: Condition
    trial: int
    order: str
    task: int
    agent: str
    status: Status
    detail: str
    workspace_tree: str
    prompt: str | None = None
    message: str | None = None
    patch: str | None = None
    code_patch: str | None = None
    discarded: tuple[str, ...] = ()
    ungraded: tuple[str, ...] = ()
    cost: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    steps: int | None = None
    trajectory: str | None = None


@dataclass(frozen=True, slots=True)
class ColumnRun:
    """One column of one subject on one suite: which tree it is, and whether it ran.

    `subject` is `instance/trial`. `column` is W0, W1.., G0, G1.., M, H1.., I1.2 (informed, in that order), C
    (comm); K0.. and KM with the agents' test edits kept. `reason` is None where it ran.
    """

    subject: str
    column: str
    suite: str
    repeat: int
    tree: str | None
    environment: str | None
    reason: str | None
    """merge_conflict, missing_patch, infra; None where it ran."""
    detail: str = ""
    unloaded: tuple[str, ...] = ()
    """Files that did not load."""


@dataclass(frozen=True, slots=True)
class Grade:
    """What the patches of one instance come to, under one condition, in one trial (and one order).

    `id` is `instance/condition/trial/order`. `reason` is None for a complete grade; `merge_conflict` leaves
    the deltas null, and so does an incomplete one (`missing_patch`, `infra`). `observable` is judged on the
    solo patches. Sets of tests are sorted; `broken_alone` and `unsolved` have one entry a task. `delta` is
    the condition's own: delta_blind for blind, null for solo. `solved` says per task whether its solo patch
    passes its own gold tests both as written and with the combined suite; null where that cannot be known.
    """

    id: str
    instance: str
    agent: str
    condition: Condition
    trial: int
    order: str
    grading: Grading
    reason: str | None
    detail: str
    observable: bool | None
    unobservable: Unobservable | None
    solved: tuple[bool | None, ...] | None
    delta: tuple[str, ...] | None
    delta_strict: tuple[str, ...] | None
    clash: tuple[Clash, ...] | None
    broken_alone: tuple[tuple[str, ...], ...] | None
    unsolved: tuple[tuple[str, ...], ...] | None
    repaired_together: tuple[str, ...] | None
    vanished: tuple[str, ...] | None
    leave_one_out: tuple[tuple[str, ...] | None, ...] | None
    """For more than two patches: per task, the delta of all others; null where these do not merge."""
    smallest: tuple[int, ...] | None
    """For more than two patches that interfere: the tasks of a smallest subset that still fails together."""
    flaky: tuple[str, ...]
    cost: float | None
    """US dollars of the attempts made for this condition alone; null where an agent does not tell."""
