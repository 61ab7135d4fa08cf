"""The schema of a dataset: each table's record, its key, and what each column means.

Column types are derived from the record types, so that a table and its record cannot drift apart. No
column may hold the name or the mail address of a person. Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stalebench.errors import DatasetError
from stalebench.outcomes import Outcome
from stalebench.records import (
    Candidate,
    Cell,
    Check,
    Composition,
    Environment,
    Pair,
    Pull,
    Rejection,
)
from stalebench.tables.columns import Column, Table, hints_of, type_of
from stalebench.tables.graded import GRADED

__all__ = ["SCHEMA_VERSION", "TABLES", "Column", "Table", "hints_of", "table", "type_of"]

SCHEMA_VERSION: Final = 1
"""Grows by one with each change that an older reader would misread."""


def table(name: str) -> Table:
    """The table of that name. Raises DatasetError."""
    if name not in TABLES:
        raise DatasetError(
            f"no table is called {name!r}", "a slip of the pen", f"use one of: {', '.join(TABLES)}"
        )
    return TABLES[name]


_PULLS = Table(
    "pulls",
    "Every merged change of the time span, eligible or not.",
    Pull,
    ("merged_at", "id"),
    "pulls",
    {
        "id": "unique within the repository: the pull's number, else 12 digits of the landed commit",
        "repo": "the repository, by the name of its specification",
        "number": "the pull's number; null for a commit that landed without one",
        "landing": "how it landed: merge, squash or plain",
        "base_commit": "the first parent of merge_commit: the branch before the change",
        "merge_commit": "the branch with the change; the pull's diff is from base_commit to here",
        "head_commit": "the tip of the author's branch; null where the history does not tell",
        "fork_commit": "where the author's branch left the main branch; null where the history does not tell",
        "created_at": "when work began, as far as commits tell; null where they do not",
        "merged_at": "when it landed",
        "title": "its title, from the commit message",
        "text": "the rest of the message, without lines that name people",
        "issues": "numbers of the issues that title and text refer to",
        "source_files": "runtime source files it changes, as the specification says",
        "test_files": "test files it changes",
        "other_files": "files it changes that are neither (documentation, packaging, CI)",
        "reason": "why it is not eligible; null where it is",
    },
)
_CANDIDATES = Table(
    "candidates",
    "Pairs of eligible pulls that change a source file in common, newest first taken.",
    Candidate,
    ("id",),
    "candidates",
    {
        "id": "the pulls' ids joined by +, the newest first",
        "repo": "the repository",
        "pulls": "the pulls' ids, the one that landed first first",
        "base_commit": "the merge base of the pulls' base commits",
        "days_apart": "days between the landings",
        "shared_files": "source files that both change",
        "shared_symbols": "functions and classes that both touch, as path::Qualified.name",
        "concurrent": "neither's fork point contains the other's landing; null where a head is not known",
    },
)
_COMPOSITIONS = Table(
    "compositions",
    "How the patches of each candidate compose on its base.",
    Composition,
    ("candidate",),
    "compose",
    {
        "candidate": "candidates.id",
        "base_tree": "the tree of the base commit",
        "reason": "why the patches do not compose; null for a clean merge",
        "detail": "the reason in words",
        "paths": "the files that conflict",
        "strict_apply": "per pull: whether git apply, without three-way help, would accept its code patch",
        "by_function": "the test patches conflict as text and were composed function by function",
        "code_trees": "per pull: the tree of the base with its code patch",
        "tests_tree": "the tree of the base with all test patches",
        "merged_tree": "the tree of the base with all code and test patches",
    },
)
_CHECKS = Table(
    "checks",
    "Base validity: one pull's gold tests on one base, before and after its code patch.",
    Check,
    ("id",),
    "validate",
    {
        "id": "pull@base, the base by its first 12 digits",
        "pull": "pulls.id",
        "base_commit": "the base it was checked on",
        "environment": "environments.key; null where none could be built",
        "suite": "the id of the suite of its gold tests",
        "before_tree": "the base with its test patch only",
        "after_tree": "the base with its test and code patch",
        "gold": "its gold functions: those that it adds or changes, as path::Qualified.name",
        "gold_files": "the test modules that collect them",
        "f2p": "tests that fail before and pass after",
        "p2p": "tests that pass before and after",
        "flaky": "tests that differ between two runs of one tree",
        "reason": "why the check failed; null where the pull is valid on this base",
        "detail": "the reason in words",
    },
)
_PAIRS = Table(
    "pairs",
    "The valid pairs, with the control on their human patches.",
    Pair,
    ("id",),
    "validate",
    {
        "id": "candidates.id",
        "repo": "the repository",
        "base_commit": "the commit that both patches are applied to",
        "base_tree": "its tree",
        "environment": "environments.key",
        "tasks": "per pull, the older first: its check, its tests, and the SHA-256 of its two patches",
        "days_apart": "days between the landings",
        "shared_files": "source files that both change",
        "shared_symbols": "functions and classes that both touch",
        "concurrent": "neither's fork point contains the other's landing; null where a head is not known",
        "by_function": "the test patches were composed function by function",
        "tests_tree": "the base with both test patches",
        "merged_tree": "the base with all patches",
        "control": "complete, or why a column of the control is missing",
        "unobservable": "tests_interact or flaky; null for an observable pair",
        "delta_blind": "tests promised by the graded columns that fail merged; null where not known",
        "delta_strict": "tests that pass with each patch alone and fail merged",
        "clash": "tests green on every branch as written and red together, with the kind of each",
        "broken_alone": "per pull: tests that pass without its patch and fail with it alone",
        "repaired_together": "tests that pass merged, though nobody promised them",
        "vanished": "promised tests that are absent from the merged tree",
        "flaky": "tests that were left out, because they differ between two runs of one tree",
    },
)
_REJECTIONS = Table(
    "rejections",
    "Whatever did not get past a stage, each for one reason.",
    Rejection,
    ("stage", "subject", "reason"),
    "each stage",
    {
        "stage": "pulls, candidates, compose or validate",
        "subject": "pulls.id at stage pulls, candidates.id after it",
        "reason": "one of a closed list, see below",
        "detail": "the reason in words",
    },
)
_TEST_RESULTS = Table(
    "test_results",
    "The outcome matrix: one test in one column of a check, of a pair, or of a graded instance in one trial.",
    Cell,
    ("subject", "column", "suite", "repeat", "test"),
    "validate",
    {
        "subject": "checks.id, pairs.id, or instances.id with the trial, as `id/0`",
        "column": "of a check: before, after; of a pair: W0, W1.., G0, G1.., M, H1..; see runs for more",
        "suite": "which selection ran: gold, touched, own (one task's gold tests), `alone` and a suite's id",
        "repeat": "which run of the column, from 0",
        "test": "the test's id, as path::Class::name[parameters]",
        "function": "its function, as path::Qualified.name",
        "outcome": ", ".join(Outcome),
        "error": "the exception's class, for a failure",
        "tree": "the tree that ran",
    },
)
_ENVIRONMENTS = Table(
    "environments",
    "The virtual environments that served the runs.",
    Environment,
    ("key",),
    "validate",
    {
        "key": "hash of the Python version, the frozen packages and the install commands",
        "repo": "the repository",
        "python": "the Python version",
        "rung": "which recipe of the ladder won",
        "packages": "the frozen packages, as name==version",
        "install": "the commands that installed the checkout",
        "exclude_newer": "the date after which releases were ignored; null for none",
    },
)

TABLES: Final[Mapping[str, Table]] = {
    each.name: each
    for each in (
        _PULLS,
        _CANDIDATES,
        _COMPOSITIONS,
        _CHECKS,
        _PAIRS,
        _REJECTIONS,
        _TEST_RESULTS,
        _ENVIRONMENTS,
        *GRADED,
    )
}
