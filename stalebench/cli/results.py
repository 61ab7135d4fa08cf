"""Runs statements over a dataset, and gives their results in one of four ways."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Protocol

import duckdb

from stalebench.cli.output import JSON_VERSION
from stalebench.errors import StalebenchError, UsageError
from stalebench.tables import connect

BATCH: Final = 1_000
MOST_ROWS: Final = 1_000
"""How many rows a table on the terminal shows; the other ways give all."""


class Way(Protocol):
    """How a result is given."""

    every: bool
    """Whether the result of each statement is given, or only the last one's."""

    def give(self, result: duckdb.DuckDBPyRelation) -> None:
        """Give one result."""
        ...


class Box:
    """A table for people."""

    every = True

    def give(self, result: duckdb.DuckDBPyRelation) -> None:
        """Print a table, as wide as the terminal or as it needs to be."""
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
        result.show(max_width=width, max_rows=MOST_ROWS)


class Json:
    """One document with the columns and all rows."""

    every = False

    def give(self, result: duckdb.DuckDBPyRelation) -> None:
        """Print the document, row by row."""
        names = _unique(result.columns)
        kinds = [{"name": name, "type": str(kind)} for name, kind in zip(names, result.types, strict=True)]
        sys.stdout.write(f'{{"schema_version": {JSON_VERSION}, "columns": {json.dumps(kinds)}, "rows": [')
        for index, row in enumerate(_rows(result)):
            text = json.dumps(_plain(dict(zip(names, row, strict=True))), default=str, allow_nan=False)
            sys.stdout.write(f"{',' if index else ''}\n{text}")
        sys.stdout.write("\n]}\n")


class Csv:
    """A header and all rows; what is nested stands as JSON."""

    every = False

    def give(self, result: duckdb.DuckDBPyRelation) -> None:
        """Print the rows."""
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(result.columns)
        for row in _rows(result):
            writer.writerow([_flat(value) for value in row])


class Parquet:
    """A Parquet file."""

    every = False

    def __init__(self, path: Path) -> None:
        self.path = path

    def give(self, result: duckdb.DuckDBPyRelation) -> None:
        """Write the file beside its place, and put it there whole."""
        temporary = self.path.with_name(f".{self.path.name}.tmp")
        try:
            result.write_parquet(str(temporary), compression="zstd")
            temporary.replace(self.path)
        except (duckdb.IOException, OSError) as error:
            raise StalebenchError(
                f"cannot write {self.path}: {error}",
                "its folder is missing, or the disk is full",
                "name a file in a folder that is there",
            ) from error
        finally:
            temporary.unlink(missing_ok=True)


def ask(dataset: Path, text: str, way: Way) -> None:
    """Run the statements in order, and give their results. Raises UsageError for what DuckDB refuses."""
    with connect(dataset) as connection, _plainly():
        statements = connection.extract_statements(text)
        if not statements:
            raise UsageError("there is no statement", "the text is empty", 'try "from funnel"')
        for number, statement in enumerate(statements, 1):
            result = connection.sql(statement)
            if result is not None and (way.every or number == len(statements)):
                way.give(result)


@contextmanager
def _plainly() -> Iterator[None]:
    """Say what DuckDB refuses in its own words, without a traceback."""
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        raise UsageError(
            str(error).strip(), fix="`stalebench schema` lists the tables and their columns"
        ) from error


def _rows(result: duckdb.DuckDBPyRelation) -> Iterator[tuple[Any, ...]]:
    while rows := result.fetchmany(BATCH):
        yield from rows


def _unique(names: list[str]) -> list[str]:
    """Names with a number where one occurs again, as keys of an object."""
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return unique


def _plain(value: Any) -> Any:
    """What JSON can hold: decimals as numbers, no number that is none."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return value


def _flat(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float | Decimal):
        return value
    return json.dumps(_plain(value), default=str) if isinstance(value, dict | list | tuple) else str(value)
