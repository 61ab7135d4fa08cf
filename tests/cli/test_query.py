from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.cli.command import Ran, stalebench
from tests.tables import samples


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return samples.write_dataset(tmp_path_factory.mktemp("data") / "toy")


def document(ran: Ran) -> dict[str, object]:
    assert ran.code == 0, ran.err
    read = json.loads(ran.out)
    assert read["schema_version"] == 1
    assert isinstance(read, dict)
    return read


def test_a_table_is_printed_for_each_statement(dataset: Path) -> None:
    ran = stalebench(
        "query", dataset, "create view v as from pulls; select count(*) as pulls from v; from reasons"
    )
    assert ran.code == 0
    assert ran.err == ""
    assert "pulls" in ran.out
    assert "gold_passes_on_base" in ran.out
    assert ran.out.count("┌") == 2


def test_a_table_cuts_no_cell_off_where_stdout_is_no_terminal(dataset: Path) -> None:
    assert "y" * 500 in stalebench("query", dataset, "select repeat('y', 500) as long, * from pairs").out


def test_json_is_one_document_with_nested_values(dataset: Path) -> None:
    read = document(stalebench("query", dataset, "select id, clash, concurrent from pairs", "--json"))
    assert read["rows"] == [
        {"id": "2+1", "clash": [{"test": "tests/test_a.py::test_price", "kind": "joint"}], "concurrent": None}
    ]
    assert read["columns"] == [
        {"name": "id", "type": "VARCHAR"},
        {"name": "clash", "type": "STRUCT(test VARCHAR, kind VARCHAR)[]"},
        {"name": "concurrent", "type": "BOOLEAN"},
    ]


def test_a_query_that_fails_half_way_prints_no_half_document(dataset: Path) -> None:
    late = "select case when i < 2500 then 1 else error('late') end from range(3000) t(i)"
    ran = stalebench("query", dataset, late, "--json")
    assert ran.code == 2
    assert "late" in json.loads(ran.out)["error"]["message"]


def test_a_query_that_is_no_text_is_refused_plainly(dataset: Path) -> None:
    ran = stalebench("query", dataset, "select '\udcff'")
    assert ran.code == 2
    assert "cannot be read" in ran.err
    assert "bug" not in ran.err


def test_json_gives_the_last_statement_only(dataset: Path) -> None:
    assert document(stalebench("query", dataset, "select 1; select 2 as b;", "--json"))["rows"] == [{"b": 2}]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1.50", 1.5),
        ("sum(2::bigint)", 2),
        ("avg(3)", 3.0),
        ("date '2024-01-31'", "2024-01-31"),
        ("'inf'::double", "inf"),
        ("map {'a': 1}", {"a": 1}),
        ("'a' || chr(0) || '\ud7ff\n'", "a\0\ud7ff\n"),
    ],
)
def test_json_holds_any_type(dataset: Path, expression: str, value: object) -> None:
    assert document(stalebench("query", dataset, f"select {expression} as x", "--json"))["rows"] == [
        {"x": value}
    ]


def test_columns_of_one_name_stay_apart_in_json(dataset: Path) -> None:
    read = document(stalebench("query", dataset, "select 1 as a, 2 as a", "--json"))
    assert read["rows"] == [{"a": 1, "a_2": 2}]


def test_an_empty_result_is_a_document_too(dataset: Path) -> None:
    assert document(stalebench("query", dataset, "from pulls where false", "--json"))["rows"] == []


def test_csv_has_a_header_and_nested_values_as_json(dataset: Path) -> None:
    ran = stalebench(
        "query", dataset, "select id, pulls, null as n, 'a,\"b\"' as t from candidates order by id", "--csv"
    )
    rows = list(csv.reader(io.StringIO(ran.out)))
    assert rows[0] == ["id", "pulls", "n", "t"]
    assert rows[1] == ["2+1", '["1", "2"]', "", 'a,"b"']
    assert len(rows) == 4


def test_parquet_is_written_whole(dataset: Path, tmp_path: Path) -> None:
    ran = stalebench("query", dataset, "from pairs", "--parquet", tmp_path / "pairs.parquet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.parquet"]
    with duckdb.connect() as connection:
        read = (
            connection.read_parquet(str(tmp_path / "pairs.parquet")).project("id, tasks[1].pull").fetchall()
        )
    assert read == [("2+1", "1")]


def test_parquet_into_a_folder_that_is_not_there_fails_plainly(dataset: Path, tmp_path: Path) -> None:
    ran = stalebench("query", dataset, "from pairs", "--parquet", tmp_path / "nowhere" / "pairs.parquet")
    assert ran.code == 1
    assert "cannot write" in ran.err
    assert "way out: " in ran.err


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("selec 1", "syntax error"),
        ("from pull", "pull"),
        ("select nope from pulls", "nope"),
        ("", "no statement"),
        ("select 1; select error('mine')", "mine"),
    ],
)
@pytest.mark.parametrize("flags", [(), ("--json",), ("--csv",)])
def test_an_error_of_sql_is_shown_plainly(dataset: Path, sql: str, said: str, flags: tuple[str, ...]) -> None:
    ran = stalebench("query", dataset, sql, *flags)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_one_way_to_give_a_result_excludes_the_others(dataset: Path) -> None:
    assert stalebench("query", dataset, "from pulls", "--json", "--csv").code == 2


def test_a_minus_reads_the_statements_from_stdin(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("select 7 as x"))
    assert document(stalebench("query", dataset, "-", "--json"))["rows"] == [{"x": 7}]


def test_a_folder_of_datasets_can_be_asked(dataset: Path) -> None:
    read = document(stalebench("query", dataset.parent, "select distinct dataset from pulls", "--json"))
    assert read["rows"] == [{"dataset": "toy"}]


def test_what_the_terminal_cannot_show_is_escaped(dataset: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "stalebench", "query", dataset, "select 'prüfung' as x"],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert b"pr\\xfcfung" in ran.stdout
