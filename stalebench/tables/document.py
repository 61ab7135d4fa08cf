"""The schema as data and as the page `docs/dataset.md`: one text, where the columns are declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stalebench.errors import DatasetError
from stalebench.tables.derived import DERIVED
from stalebench.tables.schema import TABLES, Column


def described(name: str | None = None) -> list[dict[str, Any]]:
    """Each table and view with its columns, or the one of that name. Raises DatasetError."""
    views = [_described(view.name, view.doc, view.columns) for view in DERIVED.values()]
    every = [_described(table.name, table.doc, table.columns) for table in TABLES.values()] + views
    chosen = [each for each in every if name in (None, each["name"])]
    if not chosen:
        names = ", ".join(each["name"] for each in every)
        raise DatasetError(f"no table is called {name!r}", "a slip of the pen", f"use one of: {names}")
    return chosen


def _described(name: str, doc: str, columns: Sequence[Column]) -> dict[str, Any]:
    rows = [
        {"name": column.name, "type": column.type.replace('"', ""), "doc": column.doc} for column in columns
    ]
    return {"name": name, "doc": doc, "columns": rows}
