from __future__ import annotations

import json

from stalebench import tables
from tests.cli.command import stalebench


def test_every_table_and_view_is_printed_with_its_columns() -> None:
    ran = stalebench("schema")
    assert ran.code == 0
    for name in [*tables.TABLES, *tables.DERIVED]:
        assert f"{name}: " in ran.out
    assert "days between the landings" in ran.out


def test_one_table_can_be_asked_for() -> None:
    ran = stalebench("schema", "rejections")
    assert "rejections: " in ran.out
    assert "pairs: " not in ran.out


def test_json_holds_the_types() -> None:
    read = json.loads(stalebench("schema", "candidates", "--json").out)
    assert read["schema_version"] == 1
    (table,) = read["tables"]
    assert {"name": "pulls", "type": "VARCHAR[]"}.items() <= table["columns"][2].items()
