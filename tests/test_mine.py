"""The report of the main job: counts of what the tables hold, and what is left out of each count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from stalebench import tables
from stalebench.errors import DatasetError, UsageError
from stalebench.mine import GoldDelta, MineReport, claimed, report
from stalebench.reasons import Reason, Stage
from stalebench.records import Clash, Pair, Rejection
from tests.tables import samples

(PAIR,) = samples.PAIRS
QUIET = replace(PAIR, id="9+8", delta_blind=(), clash=())


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return samples.write_dataset(tmp_path / "data")


def gold_delta(out: Path, pairs: Sequence[Pair]) -> GoldDelta:
    tables.write(out, "pairs", pairs)
    return report(out, "toy", 0.0).gold_delta


def test_the_report_counts_each_table_once(out: Path) -> None:
    assert report(out, "toy", 1.26) == MineReport(
        repo="toy",
        out=str(out),
        funnel={"pulls": 4, "eligible": 3, "candidates": 3, "clean": 2, "valid": 1},
        rejected={"codes_conflict": 1, "gold_passes_on_base": 1, "no_test_files": 1},
        rejected_by_stage={
            "compose": {"codes_conflict": 1},
            "pulls": {"no_test_files": 1},
            "validate": {"gold_passes_on_base": 1},
        },
        gold_delta=GoldDelta(pairs=1, interfering=1, clashing=1, kinds={"joint": 1}),
        seconds=1.3,
    )


def test_reasons_stand_by_number_then_by_name(out: Path) -> None:
    reasons = [Reason.NO_TESTS, Reason.NO_SOURCE, Reason.TOO_MANY_SOURCES, Reason.TOO_MANY_SOURCES]
    rejected = [Rejection(Stage.PULLS, str(number), reason) for number, reason in enumerate(reasons)]
    tables.write(out, "rejections", rejected, part="pulls")
    counted = report(out, "toy", 0.0).rejected_by_stage["pulls"]
    assert list(counted.items()) == [
        ("too_many_source_files", 2),
        ("no_source_files", 1),
        ("no_test_files", 1),
    ]


def test_a_pair_without_a_complete_control_is_not_counted(out: Path) -> None:
    broken = replace(PAIR, id="9+8", control="infra: no room", delta_blind=None, clash=None)
    assert gold_delta(out, [PAIR, broken]) == GoldDelta(1, 1, 1, {"joint": 1})
    assert gold_delta(out, [broken]) == GoldDelta(0, 0, 0, {})
    assert report(out, "toy", 0.0).funnel["valid"] == 1


def test_an_unobservable_pair_does_not_interfere_but_may_clash(out: Path) -> None:
    assert gold_delta(out, [replace(PAIR, unobservable="tests_interact"), QUIET]) == GoldDelta(
        2, 0, 1, {"joint": 1}
    )


def test_what_a_count_leaves_out_is_said_by_why(out: Path) -> None:
    assert report(out, "toy", 0.0).left_out == {}
    broken = replace(QUIET, id="7+6", control="infra: no room", clash=None)
    tables.write(out, "pairs", [replace(PAIR, unobservable="flaky", clash=None), QUIET, broken])
    assert report(out, "toy", 0.0).left_out == {
        "uncontrolled": 1,
        "unobservable": 1,
        "clash_unknown": 1,
    }


def test_a_clash_that_cannot_be_known_is_none(out: Path) -> None:
    assert gold_delta(out, [replace(PAIR, by_function=True, clash=None)]) == GoldDelta(1, 1, 0, {})


def test_pairs_are_counted_once_and_clashes_by_kind(out: Path) -> None:
    clashes = tuple(Clash(f"t{number}", kind) for number, kind in enumerate(("tests", "joint", "tests")))
    found = gold_delta(out, [replace(PAIR, clash=clashes), QUIET])
    assert found == GoldDelta(2, 1, 1, {"joint": 1, "tests": 2})
    assert list(found.kinds) == ["joint", "tests"]


def test_a_dataset_whose_last_stage_has_not_run_has_no_report(out: Path) -> None:
    tables.drop(out, "pairs")
    with pytest.raises(DatasetError, match="has no table pairs"):
        report(out, "toy", 0.0)


def test_a_second_writer_is_refused_and_a_later_one_is_not(tmp_path: Path) -> None:
    with claimed(tmp_path), pytest.raises(UsageError, match="another process is writing"), claimed(tmp_path):
        pass
    with claimed(tmp_path):
        pass
