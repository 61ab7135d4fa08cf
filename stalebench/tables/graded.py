"""The tables of a graded run: instances, the patches made for them, the columns that ran, and the grades."""

from __future__ import annotations

from typing import Final

from stalebench.grading.records import Attempt, ColumnRun, Grade, Instance
from stalebench.tables.columns import Table

_INSTANCES = Table(
    "instances",
    "What was graded: a base commit and N tasks.",
    Instance,
    ("id",),
    "run",
    {
        "id": "pairs.id, or the ids of N pulls joined by +, the newest first",
        "repo": "the repository",
        "tier": "mined, synthetic or derived",
        "base_commit": "the commit that every patch is made for",
        "base_tree": "its tree",
        "environment": "environments.key of the mined pair",
        "by_function": "the test patches were composed function by function: there is no clash to be known",
        "concurrent": "neither's fork point contains the other's landing; null where a head is not known",
        "tasks": "per task, the older pull first: its text, its gold tests, and SHA-256 of its human patches",
        "flaky": "tests that differ between two runs of one tree: they count nowhere",
        "set_aside": "why no agent was started on it; null where it is in use",
        "detail": "that in words",
    },
)
_PATCHES = Table(
    "patches",
    "One attempt of an agent at one task. A solo patch serves solo and blind.",
    Attempt,
    ("id",),
    "run",
    {
        "id": "instance/condition/trial/order/task",
        "instance": "instances.id",
        "condition": "solo, informed or comm",
        "trial": "from 0",
        "order": "the order of tasks for informed, as 1.2; else empty",
        "task": "the task's place in instances.tasks, from 1",
        "agent": "who made it",
        "status": "patch, empty, timed_out, over_cost, agent_failed, does_not_apply, no_prediction, "
        "not_started, merge_conflict or infra",
        "detail": "that in words",
        "workspace_tree": "the tree that the agent was given",
        "prompt": "SHA-256 of the prompt, kept in texts/",
        "message": "SHA-256 of the message about the others' changes, kept in texts/; null outside of comm",
        "patch": "SHA-256 of all that it changed, kept in patches/; null for nothing",
        "code_patch": "SHA-256 of the part that is graded; null where it changed nothing",
        "discarded": "files whose changes are edits to tests: not graded",
        "ungraded": "files that are neither source nor test: not graded",
        "cost": "US dollars; null where the agent does not tell",
        "input_tokens": "as the agent tells",
        "output_tokens": "as the agent tells",
        "steps": "as the agent tells",
        "trajectory": "a file in the run's folder",
    },
)
_RUNS = Table(
    "runs",
    "One column of the outcome matrix of one instance in one trial: its tree, or why it did not run.",
    ColumnRun,
    ("subject", "column", "suite", "repeat"),
    "run",
    {
        "subject": "instances.id and the trial, as `id/0`",
        "column": "W0, W1.. as written; G0, G1.. graded; M merged; H1.. merged with one task's tests; I1.2 "
        "informed in that order; C comm; S1.3 these tasks together; K1.. and KM with agents' test edits kept",
        "suite": "which selection ran: gold, own, touched or alone; empty where no suite could run",
        "repeat": "which run of the column, from 0",
        "tree": "the tree that ran; null where none did",
        "environment": "environments.key; null where none did",
        "reason": "why it did not run: merge_conflict, infra, or a missing patch's status; null where it ran",
        "detail": "that in words",
        "unloaded": "files that did not load: every test that another column finds in them has failed",
    },
)
_GRADES = Table(
    "grades",
    "What the patches of one instance come to together, under one condition, in one trial and order.",
    Grade,
    ("id", "grading"),
    "run",
    {
        "id": "instance/condition/trial/order",
        "instance": "instances.id",
        "agent": "who made the patches",
        "condition": "solo, blind, informed or comm",
        "trial": "from 0",
        "order": "the order of tasks for informed, as 1.2; else empty",
        "grading": "standard, or one of the known mistakes: own-tests-only, keep-test-edits",
        "reason": "why there is no verdict: merge_conflict, infra, not_run, or a missing patch's status; "
        "null for a complete grade",
        "detail": "that in words",
        "observable": "each solo patch passes its own gold tests, as written and with the combined suite",
        "unobservable": "unsolved, tests_interact or flaky; null for an observable one",
        "solved": "per task: whether its solo patch passes its own gold tests both ways",
        "delta": "the condition's delta: promised by the solo patches, not passing in its final tree",
        "delta_strict": "blind: tests that pass with each patch alone and fail merged",
        "clash": "blind: tests green on every branch as written and red together, with the kind of each",
        "broken_alone": "blind: per task, tests that pass without its patch and not with it alone",
        "unsolved": "per task: its gold tests that fail (solo and blind: alone; else: in the final tree)",
        "repaired_together": "blind: tests that pass merged, though nobody promised them",
        "vanished": "blind: promised tests that are absent from the merged tree",
        "leave_one_out": "more than two tasks: per task, the delta of all others; null where there is none",
        "smallest": "more than two tasks: a smallest subset that still fails together",
        "flaky": "tests that were left out, because they differ between two runs of one tree",
        "cost": "US dollars of the attempts made for this condition alone; null where an agent does not tell",
    },
)

GRADED: Final = (_INSTANCES, _PATCHES, _RUNS, _GRADES)
