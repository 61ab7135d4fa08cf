"""Runs statements over a dataset, and gives their results in one of four ways."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Protocol

import duckdb

from stalebench.cli import output
from stalebench.errors import StalebenchError, UsageError
from stalebench.tables import connect

BATCH: Final = 1_000
MOST_ROWS: Final = 1_000
"""How many rows a table on the terminal shows; the other ways give all."""


Query = str | duckdb.Statement


class Way(Protocol):
    """How a result is given."""

    every: bool
    """Whether the result of each statement is given, or only the last one's."""

    def give(self, connection: duckdb.DuckDBPyConnection, query: Query) -> None:
        """Run a statement, and give its result."""
        ...


class Box:
    """A table for people."""

    every = True

    def give(self, connection: duckdb.DuckDBPyConnection, query: Query) -> None:
        """Print a table as wide as the terminal or as it needs to be."""
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
        result = connection.sql(query)
        if result is not None:
            result.show(max_width=width, max_rows=MOST_ROWS)


class Json:
    """One document with the columns and all rows."""

    every = False

    def give(self, connection: duckdb.DuckDBPyConnection, query: Query) -> None:
        """Print the document, once all rows are known: a query that fails half way prints none."""
        result = connection.execute(query)
        described = result.description or []
        names = _unique([str(column[0]) for column in described])
        kinds = [
            {"name": name, "type": str(column[1])} for name, column in zip(names, described, strict=True)
        ]
        with output.whole() as stream:
            columns = json.dumps(kinds)
            stream.write(f'{{"schema_version": {output.JSON_VERSION}, "columns": {columns}, "rows": [')
            for index, row in enumerate(_rows(result)):
                text = json.dumps(_plain(dict(zip(names, row, strict=True))), default=str, allow_nan=False)
                stream.write(f"{',' if index else ''}\n{text}")
            stream.write("\n]}\n")


class Csv:
    """A header and all rows; what is nested stands as JSON."""

    every = False

    def give(self, connection: duckdb.DuckDBPyConnection, query: Query) -> None:
        """Print the rows."""
        result = connection.execute(query)
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([column[0] for column in result.description or []])
        for row in _rows(result):
            writer.writerow([_flat(value) for value in row])


class Parquet:
    """A Parquet file."""

    every = False

    def __init__(self, path: Path) -> None:
        self.path = path

    def give(self, connection: duckdb.DuckDBPyConnection, query: Query) -> None:
        """Write the file beside its place, and put it there whole."""
        result = connection.sql(query)
        if result is None:
            raise UsageError("the last statement has no rows to write", fix="end with a SELECT")
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
        statements = connection.extract_statements(_readable(text))
        if not statements:
            raise UsageError("there is no statement", "the text is empty", 'try "from funnel"')
        _interruptible(connection, lambda: _give(connection, statements, way))


def _readable(text: str) -> str:
    """The text, if it is any. Raises UsageError."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"the query cannot be read: its character {error.start + 1} is none",
            "it is not UTF-8, or the locale of the terminal is another",
            "give it as UTF-8, with LC_ALL=C.UTF-8 or PYTHONUTF8=1 where the locale is C",
        ) from error
    return text


def _give(connection: duckdb.DuckDBPyConnection, statements: list[duckdb.Statement], way: Way) -> None:
    for number, statement in enumerate(statements, 1):
        if _has_rows(statement) if way.every else number == len(statements):
            way.give(connection, statement)
        else:
            connection.execute(statement)


def _has_rows(statement: duckdb.Statement) -> bool:
    return set(statement.expected_result_type) == {duckdb.ExpectedResultType.QUERY_RESULT}


def _interruptible(connection: duckdb.DuckDBPyConnection, work: Callable[[], None]) -> None:
    """Work in a thread: DuckDB does not look at signals, this one does and stops it."""
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        try:
            working.result()
        except (KeyboardInterrupt, SystemExit):
            while not working.done():
                connection.interrupt()
                wait([working], timeout=0.1)
            raise


@contextmanager
def _plainly() -> Iterator[None]:
    """Say what DuckDB refuses in its own words, without a traceback."""
    try:
        yield
    except duckdb.Error as error:
        raise UsageError(
            str(error).strip(), fix="`stalebench schema` lists the tables and their columns"
        ) from error


def _rows(result: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
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
