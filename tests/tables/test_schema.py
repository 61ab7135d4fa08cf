from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path

import pytest

from stalebench import tables
from stalebench.reasons import Reason, Stage
from stalebench.tables.columns import hints_of, type_of, without_none
from stalebench.tables.document import described, page, reasons


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    name: str
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Outer:
    flag: bool
    colour: Colour | None
    share: float
    inner: tuple[Inner, ...] | None
    nested: tuple[tuple[str, ...], ...]


def test_column_types_follow_from_the_record() -> None:
    assert [type_of(hint) for hint in hints_of(Outer).values()] == [
        "BOOLEAN",
        "VARCHAR",
        "DOUBLE",
        'STRUCT("name" VARCHAR, "sizes" BIGINT[])[]',
        "VARCHAR[][]",
    ]


@pytest.mark.parametrize("hint", [dict[str, int], list[str], str | int, tuple[str, int], object, bytes])
def test_a_field_that_no_column_holds_is_refused(hint: object) -> None:
    with pytest.raises(TypeError):
        type_of(hint)


@pytest.mark.parametrize("table", tables.TABLES.values(), ids=lambda table: table.name)
def test_each_column_is_documented_and_each_document_has_its_column(table: tables.Table) -> None:
    names = [field.name for field in fields(table.record)]
    assert list(table.docs) == names
    assert all(doc and "\n" not in doc for doc in table.docs.values())
    assert set(table.key) <= set(names)


@pytest.mark.parametrize("table", tables.TABLES.values(), ids=lambda table: table.name)
def test_a_column_that_is_said_to_be_null_can_be(table: tables.Table) -> None:
    said = {column.name for column in table.columns if "null" in column.doc}
    assert said <= {name for name, hint in hints_of(table.record).items() if without_none(hint)[0]}


def test_the_tables_of_the_issue_are_there() -> None:
    assert {"pulls", "candidates", "checks", "pairs", "rejections", "test_results", "environments"} <= set(
        tables.TABLES
    )


def test_no_column_can_hold_the_name_or_address_of_a_person() -> None:
    text = " ".join(
        f"{table['name']} {column['name']} {column['type']}".lower()
        for table in described()
        for column in table["columns"]
    )
    for word in ("author", "committer", "mail", "user", "login", "reviewer", "person", "signature"):
        assert word not in text


def test_nothing_that_differs_from_run_to_run_is_a_column() -> None:
    names = {column["name"] for table in described() for column in table["columns"]}
    assert not names & {"seconds", "duration", "started", "tail", "worker", "host", "path"}


def test_the_page_on_the_schema_is_the_one_that_is_declared() -> None:
    written = Path(__file__).parents[2] / "docs" / "dataset.md"
    assert written.read_text(encoding="utf-8") == page(), (
        "run `stalebench schema --markdown > docs/dataset.md`"
    )


def test_each_reason_is_explained() -> None:
    assert [reason for _, reason, _ in reasons()] == [str(reason) for reason in Reason]
    assert all(doc for _, _, doc in reasons())
    assert {stage for stage, _, _ in reasons()} == {str(stage) for stage in Stage}
