"""The views that are derived from the tables: counts of the funnel, nested lists one row each. Only SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stalebench.outcomes import CLASS_OF, Outcome
from stalebench.tables.schema import Column


@dataclass(frozen=True, slots=True)
class View:
    """A derived view: the union of queries, each with the tables that it needs."""

    name: str
    doc: str
    columns: tuple[Column, ...]
    """Beside `dataset`, which every view has."""
    stage: str
    """The command that writes the tables it needs."""
    queries: tuple[tuple[tuple[str, ...], str], ...]
    order: str = "ALL"
    """What its rows are sorted by."""


_FUNNEL = View(
    "funnel",
    "How many came into each stage, and how many out of it.",
    (
        Column("step", "INTEGER", "1 to 4, to sort by"),
        Column("stage", "VARCHAR", "pulls, candidates, compose or validate"),
        Column("entered", "BIGINT", "how many the stage looked at"),
        Column("passed", "BIGINT", "how many it let through"),
    ),
    "pulls",
    (
        (
            ("pulls",),
            """SELECT 1 AS step, 'pulls' AS stage, count(*) AS entered,
                 count(*) FILTER (reason IS NULL) AS passed, dataset FROM pulls GROUP BY dataset""",
        ),
        (
            ("candidates", "rejections"),
            """SELECT 2 AS step, 'candidates' AS stage, count(*) AS entered,
                 count(*) FILTER (passed) AS passed, dataset
               FROM (SELECT true AS passed, dataset FROM candidates
                     UNION ALL
                     SELECT false, dataset FROM rejections WHERE stage = 'candidates') GROUP BY dataset""",
        ),
        (
            ("compositions",),
            """SELECT 3 AS step, 'compose' AS stage, count(*) AS entered,
                 count(*) FILTER (reason IS NULL) AS passed, dataset FROM compositions GROUP BY dataset""",
        ),
        (
            ("compositions", "pairs"),
            """SELECT 4 AS step, 'validate' AS stage, count(*) AS entered, count(p.id) AS passed, c.dataset
               FROM compositions c LEFT JOIN pairs p ON p.dataset = c.dataset AND p.id = c.candidate
               WHERE c.reason IS NULL GROUP BY c.dataset""",
        ),
    ),
    "dataset, step",
)
_REASONS = View(
    "reasons",
    "How many were turned away at each stage, by reason.",
    (
        Column("stage", "VARCHAR", "rejections.stage"),
        Column("reason", "VARCHAR", "rejections.reason"),
        Column("rejected", "BIGINT", "how many"),
    ),
    "pulls",
    ((("rejections",), "SELECT stage, reason, count(*) AS rejected, dataset FROM rejections GROUP BY ALL"),),
    "dataset, stage, rejected DESC, reason",
)
_PAIR_TESTS = View(
    "pair_tests",
    "One row for each gold test of a valid pair.",
    (
        Column("pair", "VARCHAR", "pairs.id"),
        Column("pull", "VARCHAR", "the pull whose test it is"),
        Column("test", "VARCHAR", "the test's id"),
        Column("role", "VARCHAR", "f2p or p2p"),
    ),
    "validate",
    tuple(
        (
            ("pairs",),
            f"""SELECT pair, task.pull AS pull, unnest(task.{role}) AS test, '{role}' AS role, dataset
                FROM (SELECT id AS pair, unnest(tasks) AS task, dataset FROM pairs)""",  # noqa: S608 - no input
        )
        for role in ("f2p", "p2p")
    ),
)
_PAIR_FAILURES = View(
    "pair_failures",
    "One row for each test of a valid pair that fails in combination, under each measure that counts it.",
    (
        Column("pair", "VARCHAR", "pairs.id"),
        Column("measure", "VARCHAR", "delta_blind, delta_strict or clash"),
        Column("test", "VARCHAR", "the test's id"),
        Column("kind", "VARCHAR", "the kind of a clash; null for a delta"),
    ),
    "validate",
    (
        *(
            (
                ("pairs",),
                f"""SELECT id AS pair, '{delta}' AS measure, unnest({delta}) AS test,
                    NULL::VARCHAR AS kind, dataset FROM pairs""",  # noqa: S608 - no input
            )
            for delta in ("delta_blind", "delta_strict")
        ),
        (
            ("pairs",),
            """SELECT pair, 'clash' AS measure, failure.test AS test, failure.kind AS kind, dataset
               FROM (SELECT id AS pair, unnest(clash) AS failure, dataset FROM pairs)""",
        ),
    ),
)

_CLASS: Final = (
    "CASE outcome " + " ".join(f"WHEN '{outcome}' THEN '{CLASS_OF[outcome]}'" for outcome in Outcome) + " END"
)
"""The class of an outcome, in SQL."""
_PATTERNS = View(
    "patterns",
    "One row for each test of a checked pull, a pair or a graded instance: its outcomes over all columns.",
    (
        Column("subject", "VARCHAR", "test_results.subject"),
        Column("test", "VARCHAR", "the test's id"),
        Column("pattern", "VARCHAR", "the column and the class in each, as `G0=fail G1=pass G2=fail M=pass`"),
    ),
    "validate",
    (
        (
            ("test_results",),
            f"""SELECT subject, test,
                 string_agg("column" || '=' || class, ' ' ORDER BY "column") AS pattern, dataset
               FROM (SELECT subject, test, "column", dataset, {_CLASS} AS class
                     FROM test_results WHERE suite = 'gold' AND repeat = 0)
               GROUP BY subject, test, dataset""",  # noqa: S608 - no input
        ),
    ),
)

DERIVED: Final[Mapping[str, View]] = {
    view.name: view for view in (_FUNNEL, _REASONS, _PAIR_TESTS, _PAIR_FAILURES, _PATTERNS)
}
