from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stalebench import tables
from stalebench.errors import DatasetError
from stalebench.records import Pull
from stalebench.tables.codec import escape, unescape
from tests.tables import samples


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dataset")
    tables.create(folder / "toy", "toy", {})
    return folder / "toy"


@pytest.mark.parametrize("table", sorted(tables.TABLES))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_records_come_back_equal(out: Path, table: str, data: st.DataObject) -> None:
    record = samples.values(tables.TABLES[table].record)
    records: list[Any] = data.draw(st.lists(record, max_size=4))
    assert tables.write(out, table, records) == len(records)
    back = list(tables.read(out, table))
    assert sorted(map(repr, back)) == sorted(map(repr, records))
    assert all(type(new) is type(old) for new, old in zip(back, records, strict=True))


@given(samples.TEXT)
def test_escaped_text_is_unicode_and_comes_back(text: str) -> None:
    escape(text).encode()
    assert unescape(escape(text)) == text


@given(st.lists(samples.TEXT, min_size=2, max_size=2, unique=True))
def test_no_two_texts_share_an_escape(texts: list[str]) -> None:
    assert escape(texts[0]) != escape(texts[1])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a/ü.py", "a/ü.py"),
        ("C:\\users", "C:\\users"),
        ("a\udcff.py", "a\\udcff.py"),
        ("a\\\udcff", "a\\\\\\udcff"),
        ("test[\\udcff]", "test[\\\\udcff]"),
    ],
)
def test_a_byte_that_is_not_utf8_is_shown_as_python_shows_it(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_rows_come_back_sorted_by_the_key(out: Path) -> None:
    tables.write(out, "pulls", reversed(samples.PULLS))
    assert list(tables.read(out, "pulls", Pull)) == list(samples.PULLS)


def test_parts_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    out = tmp_path / "toy"
    tables.create(out, "toy", {})
    tables.write(out, "rejections", samples.REJECTIONS["validate"], part="b")
    tables.write(out, "rejections", samples.REJECTIONS["compose"], part="a")
    assert list(tables.read(out, "rejections")) == [
        *samples.REJECTIONS["compose"],
        *samples.REJECTIONS["validate"],
    ]
    tables.drop(out, "rejections", "a")
    assert list(tables.read(out, "rejections")) == [*samples.REJECTIONS["validate"]]


def test_a_record_longer_than_a_json_line_of_duckdb_comes_back(out: Path) -> None:
    long = samples.pull("9")
    files = tuple(f"toy/{number:08}/{'x' * 80}.py" for number in range(200_000))
    object.__setattr__(long, "source_files", files)
    tables.write(out, "pulls", [long])
    assert next(tables.read(out, "pulls", Pull)).source_files == files


def test_a_record_of_another_table_is_refused(out: Path) -> None:
    with pytest.raises(TypeError, match="a row of pulls is a Pull"):
        tables.write(out, "pulls", [samples.CANDIDATES[0]])


def test_an_unknown_table_is_refused(out: Path) -> None:
    with pytest.raises(DatasetError, match="no table is called 'pull'"):
        tables.write(out, "pull", [])
