"""Datasets: records in and out of Parquet, the folder around them, and views over it for queries."""

from __future__ import annotations

from stalebench.tables.dataset import (
    Dataset,
    create,
    describe,
    drop,
    keep_patch,
    parts,
    patch_path,
    prune_patches,
    refuse_foreign,
)
from stalebench.tables.derived import DERIVED, View
from stalebench.tables.files import read, write
from stalebench.tables.schema import SCHEMA_VERSION, TABLES, Column, Table
from stalebench.tables.views import connect

__all__ = [
    "DERIVED",
    "SCHEMA_VERSION",
    "TABLES",
    "Column",
    "Dataset",
    "Table",
    "View",
    "connect",
    "create",
    "describe",
    "drop",
    "keep_patch",
    "parts",
    "patch_path",
    "prune_patches",
    "read",
    "refuse_foreign",
    "write",
]
