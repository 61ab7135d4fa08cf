"""Records of every table: any that hypothesis can think of, and one small dataset that hangs together."""

from __future__ import annotations

import typing
from enum import Enum
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from stalebench import tables
from stalebench.outcomes import Outcome
from stalebench.reasons import Reason, Stage
from stalebench.records import (
    Candidate,
    Cell,
    Check,
    Clash,
    Composition,
    Environment,
    Pair,
    Pull,
    Rejection,
    Task,
)
from stalebench.tables.columns import hints_of, is_record, item_of, without_none

TEXT = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.integers(0xD800, 0xDFFF).map(chr),  # a byte that is not UTF-8, and what no decoder gives
        st.sampled_from("\\ud8cxf0'\"\n\0"),
    ),
    max_size=12,
)


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a field's type."""
    optional, inner = without_none(hint)
    if optional:
        return st.none() | values(inner)
    if typing.get_origin(hint) is tuple:
        return st.lists(values(item_of(hint)), max_size=3).map(tuple)
    if is_record(hint):
        return st.builds(hint, **{name: values(member) for name, member in hints_of(hint).items()})
    if issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    scalars = {
        bool: st.booleans(),
        int: st.integers(-(2**63), 2**63 - 1),
        float: st.floats(allow_nan=False, allow_infinity=False),
        str: TEXT,
    }
    return scalars[hint]


def pull(name: str, reason: Reason | None = None) -> Pull:
    return Pull(
        id=name,
        repo="toy",
        number=int(name),
        landing="squash",
        base_commit="b" * 40,
        merge_commit="c" * 40,
        head_commit=None,
        fork_commit=None,
        created_at=None,
        merged_at=f"2024-01-{int(name):02}T00:00:00Z",
        title=f"Change {name}",
        text="",
        issues=(7,),
        source_files=("toy/a.py",),
        test_files=("tests/test_a.py",),
        other_files=(),
        reason=reason,
    )


PULLS = (pull("1"), pull("2"), pull("3"), pull("4", Reason.NO_TESTS))
CANDIDATES = (
    Candidate("2+1", "toy", ("1", "2"), "b" * 40, 1.0, ("toy/a.py",), ("toy/a.py::price",), None),
    Candidate("3+1", "toy", ("1", "3"), "b" * 40, 2.0, ("toy/a.py",), (), True),
    Candidate("3+2", "toy", ("2", "3"), "b" * 40, 1.0, ("toy/a.py",), (), True),
)
COMPOSITIONS = (
    Composition("2+1", "0" * 40, None, "", (), (True, True), False, ("1" * 40, "2" * 40), "3" * 40, "4" * 40),
    Composition("3+1", "0" * 40, None, "", (), (True, True), False, ("1" * 40, "2" * 40), "3" * 40, "4" * 40),
    Composition("3+2", "0" * 40, Reason.CODES_CONFLICT, "toy/a.py", ("toy/a.py",), (True, True), False),
)
CHECKS = tuple(
    Check(
        id=f"{name}@{'b' * 12}",
        pull=name,
        base_commit="b" * 40,
        environment="e1",
        suite="5" * 32,
        before_tree="6" * 40,
        after_tree="7" * 40,
        gold=("tests/test_a.py::test_price",),
        gold_files=("tests/test_a.py",),
        f2p=("tests/test_a.py::test_price",),
        p2p=(),
        flaky=(),
        reason=reason,
    )
    for name, reason in (("1", None), ("2", None), ("3", Reason.PASSES_ON_BASE))
)
PAIRS = (
    Pair(
        id="2+1",
        repo="toy",
        base_commit="b" * 40,
        base_tree="0" * 40,
        environment="e1",
        tasks=(
            Task("toy", "1", f"1@{'b' * 12}", ("tests/test_a.py::test_price",), ("x",), "8" * 64, "9" * 64),
            Task("toy", "2", f"2@{'b' * 12}", ("tests/test_b.py::test_bulk",), (), "a" * 64, "b" * 64),
        ),
        days_apart=1.0,
        shared_files=("toy/a.py",),
        shared_symbols=("toy/a.py::price",),
        concurrent=None,
        by_function=False,
        tests_tree="3" * 40,
        merged_tree="4" * 40,
        control="complete",
        unobservable=None,
        delta_blind=("tests/test_a.py::test_price",),
        delta_strict=(),
        clash=(Clash("tests/test_a.py::test_price", "joint"),),
        broken_alone=((), ("x",)),
        repaired_together=(),
        vanished=(),
        flaky=(),
    ),
)
REJECTIONS = {
    "pulls": (Rejection(Stage.PULLS, "4", Reason.NO_TESTS),),
    "candidates": (),
    "compose": (Rejection(Stage.COMPOSE, "3+2", Reason.CODES_CONFLICT, "toy/a.py"),),
    "validate": (Rejection(Stage.VALIDATE, "3+1", Reason.PASSES_ON_BASE, "pull 3"),),
}
CELLS = tuple(
    Cell(
        "2+1",
        column,
        "gold",
        0,
        "tests/test_a.py::test_price",
        "tests/test_a.py::test_price",
        outcome,
        "",
        "4" * 40,
    )
    for column, outcome in (("G0", Outcome.FAILED), ("G1", Outcome.PASSED), ("M", Outcome.FAILED))
)
ENVIRONMENTS = (Environment("e1", "toy", "3.11", "spec", ("pytest==8.0.0",), (), None),)


def write_dataset(out: Path, repo: str = "toy") -> Path:
    """A whole dataset with one valid pair that interferes."""
    tables.create(out, repo, {"since": None, "limit": 3})
    for name, records in (
        ("pulls", PULLS),
        ("candidates", CANDIDATES),
        ("compositions", COMPOSITIONS),
        ("checks", CHECKS),
        ("pairs", PAIRS),
        ("test_results", CELLS),
        ("environments", ENVIRONMENTS),
    ):
        tables.write(out, name, records)
    for part, rejected in REJECTIONS.items():
        tables.write(out, "rejections", rejected, part=part)
    return out
