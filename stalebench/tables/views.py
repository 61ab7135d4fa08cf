"""A DuckDB connection with a view for each table of one or several datasets, and views derived from them.

Nothing is copied or locked: the views read the Parquet files wherever the caller stands, and a query that
comes after a writer sees what it wrote.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import duckdb

from stalebench.tables.dataset import Dataset, found, parts
from stalebench.tables.derived import DERIVED, View
from stalebench.tables.files import check_parts, globbed, identifier, literal
from stalebench.tables.schema import TABLES, Column, Table

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def connect(path: Paths) -> duckdb.DuckDBPyConnection:
    """A connection to an in-memory DuckDB with a view for each table of the dataset at `path`.

    `path` may also be a folder of datasets, or several of either: then each view is the union of their
    tables. The last column, `dataset`, names the folder that a row comes from. A table that no stage has
    written yet says so when it is queried. Raises DatasetError for a path that is no dataset, or for a
    damaged one.
    """
    where = [path] if isinstance(path, str | os.PathLike) else list(path)
    datasets = {dataset.path: dataset for each in where for dataset in found(Path(os.path.abspath(each)))}  # noqa: PTH100 - resolves dots, keeps links
    connection = duckdb.connect(":memory:", config={"autoinstall_known_extensions": False})
    try:
        _create_views(connection, list(datasets.values()))
    except BaseException:
        connection.close()
        raise
    return connection


def _create_views(connection: duckdb.DuckDBPyConnection, datasets: Sequence[Dataset]) -> None:
    names = dataset_names([dataset.path for dataset in datasets])
    there = set()
    for table in TABLES.values():
        sources = [
            _source(connection, dataset.path, name, table)
            for dataset, name in zip(datasets, names, strict=True)
            if parts(dataset.path, table.name)
        ]
        if sources:
            there.add(table.name)
        query = " UNION ALL ".join(sources) or not_there(table.columns, table.name, table.stage)
        connection.execute(f"CREATE VIEW {identifier(table.name)} AS {query}")
    for view in DERIVED.values():
        connection.execute(f"CREATE VIEW {identifier(view.name)} AS {_query(view, there)}")


def _source(connection: duckdb.DuckDBPyConnection, out: Path, name: str, table: Table) -> str:
    """The rows of one dataset's table, whole and checked."""
    files = parts(out, table.name)
    check_parts(connection, files, table)
    if "\\" in str(out):  # which no pattern of DuckDB can match: parts that come later are not seen there
        where = ", ".join(literal(globbed(file)) for file in files)
    else:
        where = literal(f"{globbed(out / table.name)}/*.parquet")
    return f"SELECT *, {literal(name)} AS dataset FROM read_parquet([{where}])"  # noqa: S608 - quoted


def dataset_names(paths: Sequence[Path]) -> list[str]:
    """A short name for each dataset: its folder's, with as many folders above as tell them apart."""
    for depth in range(1, max((len(path.parts) for path in paths), default=0) + 1):
        names = ["/".join(path.parts[-depth:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in paths]


def not_there(columns: Sequence[Column], name: str, stage: str) -> str:
    """A query with a table's columns that fails, and says why, when it is run."""
    empty = ", ".join(f"CAST(NULL AS {column.type}) AS {identifier(column.name)}" for column in columns)
    command = "stalebench mine" if " " in stage else f"stalebench {stage}"
    reason = f"table {name} is not there yet: run `{command}` first"
    return f"SELECT {empty}, '' AS dataset FROM (SELECT error({literal(reason)}) AS e) WHERE e IS NOT NULL"  # noqa: S608


def _query(view: View, there: set[str]) -> str:
    """The union of those queries whose tables are there."""
    queries = [query for needed, query in view.queries if there.issuperset(needed)]
    if queries:
        return f"{' UNION ALL '.join(f'({query})' for query in queries)} ORDER BY {view.order}"
    return not_there(view.columns, view.name, view.stage)
