from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

import stalebench
from stalebench import tables
from stalebench.tables.views import dataset_names
from tests.tables import samples


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return samples.write_dataset(tmp_path_factory.mktemp("data") / "toy")


def rows(path: Path | list[Path], query: str) -> list[tuple[object, ...]]:
    with stalebench.connect(path) as connection:
        return connection.execute(query).fetchall()


def test_every_table_is_a_view(out: Path) -> None:
    for table in tables.TABLES.values():
        columns = [name for name, *_ in rows(out, f"DESCRIBE {table.name}")]
        assert columns == [*(column.name for column in table.columns), "dataset"]


def test_every_derived_view_has_the_columns_that_it_declares(out: Path) -> None:
    for view in tables.DERIVED.values():
        described = [(name, kind) for name, kind, *_ in rows(out, f"DESCRIBE {view.name}")]
        assert described == [*((column.name, column.type) for column in view.columns), ("dataset", "VARCHAR")]


def test_nested_columns_can_be_queried(out: Path) -> None:
    assert rows(out, "SELECT tasks[2].pull, clash[1].kind, len(delta_blind) FROM pairs") == [
        ("2", "joint", 1)
    ]


def test_the_query_of_the_issue_works(out: Path) -> None:
    query = "select reason, count(*) from rejections group by all order by 2 desc, 1"
    assert rows(out, query) == [("codes_conflict", 1), ("gold_passes_on_base", 1), ("no_test_files", 1)]


def test_the_funnel_counts_in_and_out(out: Path) -> None:
    assert rows(out, "SELECT stage, entered, passed FROM funnel ORDER BY step") == [
        ("pulls", 4, 3),
        ("candidates", 3, 3),
        ("compose", 3, 2),
        ("validate", 2, 1),
    ]


def test_each_rejection_is_counted_by_stage_and_reason(out: Path) -> None:
    assert rows(out, "SELECT stage, reason, rejected FROM reasons ORDER BY ALL") == [
        ("compose", "codes_conflict", 1),
        ("pulls", "no_test_files", 1),
        ("validate", "gold_passes_on_base", 1),
    ]


def test_the_tests_of_a_pair_are_rows(out: Path) -> None:
    assert rows(out, "SELECT pair, pull, test, role FROM pair_tests ORDER BY ALL") == [
        ("2+1", "1", "tests/test_a.py::test_price", "f2p"),
        ("2+1", "1", "x", "p2p"),
        ("2+1", "2", "tests/test_b.py::test_bulk", "f2p"),
    ]


def test_the_failures_of_a_pair_are_rows(out: Path) -> None:
    assert rows(out, "SELECT measure, test, kind FROM pair_failures ORDER BY ALL") == [
        ("clash", "tests/test_a.py::test_price", "joint"),
        ("delta_blind", "tests/test_a.py::test_price", None),
    ]


def test_a_relative_path_works_from_any_folder(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(out.parent)
    with stalebench.connect("toy") as connection:
        monkeypatch.chdir(tmp_path)
        assert connection.execute("SELECT count(*) FROM pulls").fetchone() == (4,)


@pytest.mark.parametrize("name", ["a b", "it's", "[x]", "a*b", "q?", "ü", "{a,b}", "a\\b"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    tables.create(out, "toy", {})
    tables.write(out, "pulls", samples.PULLS)
    assert rows(out, "SELECT count(*), any_value(dataset) FROM pulls") == [(4, name)]
    assert len(list(tables.read(out, "pulls"))) == 4


def test_several_datasets_are_one_union_and_rows_tell_theirs(out: Path, tmp_path: Path) -> None:
    other = samples.write_dataset(tmp_path / "other")
    query = "SELECT dataset, count(*) FROM pulls GROUP BY ALL ORDER BY ALL"
    assert rows([out, other], query) == [("other", 4), ("toy", 4)]
    assert rows([out, other], "SELECT dataset, passed FROM funnel WHERE stage = 'validate' ORDER BY ALL") == [
        ("other", 1),
        ("toy", 1),
    ]
    assert rows([out, out], query) == [("toy", 4)]


def test_a_folder_of_datasets_gives_all_of_them(tmp_path: Path) -> None:
    for name in ("one", "two"):
        samples.write_dataset(tmp_path / name)
    (tmp_path / "notes.txt").write_text("not a dataset")
    assert rows(tmp_path, "SELECT DISTINCT dataset FROM pairs ORDER BY 1") == [("one",), ("two",)]


def test_datasets_of_one_name_are_told_apart_by_the_folders_above() -> None:
    paths = [Path("/a/x/toy"), Path("/a/y/toy")]
    assert dataset_names(paths) == ["x/toy", "y/toy"]


def test_a_table_that_is_not_there_yet_says_so_only_when_asked(tmp_path: Path) -> None:
    tables.create(tmp_path, "toy", {})
    tables.write(tmp_path, "pulls", samples.PULLS)
    assert rows(tmp_path, "SELECT stage, passed FROM funnel") == [("pulls", 3)]
    for query in ("SELECT count(*) FROM pairs", "FROM pair_tests"):
        with pytest.raises(duckdb.Error, match="run `stalebench validate` first"):
            rows(tmp_path, query)


def test_a_view_sees_what_is_written_after_it_was_made(tmp_path: Path) -> None:
    tables.create(tmp_path, "toy", {})
    tables.write(tmp_path, "pulls", samples.PULLS[:1])
    with stalebench.connect(tmp_path) as connection:
        tables.write(tmp_path, "pulls", samples.PULLS)
        assert connection.execute("SELECT count(*) FROM pulls").fetchone() == (4,)


def test_connecting_writes_nothing(out: Path) -> None:
    before = sorted(os.walk(out))
    rows(out, "SELECT * FROM pairs")
    assert sorted(os.walk(out)) == before
