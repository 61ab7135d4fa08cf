"""Tables as Parquet files: written whole, sorted and byte for byte the same for the same records; read back.

Rows pass one at a time, so that memory stays flat for millions of them. Knows nothing of views.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar, overload

import duckdb

from stalebench.errors import DatasetError, StalebenchError
from stalebench.tables.codec import decoder, encoder
from stalebench.tables.dataset import describe, disk, parts, writing
from stalebench.tables.schema import Table
from stalebench.tables.schema import table as table_of

ROW_GROUP: Final = 50_000
"""Rows in a row group: fixed, since the files must not depend on DuckDB's default."""
BATCH: Final = 2_000
MEMORY: Final = "512MB"
"""What DuckDB may take to sort a table; the rest goes to disk."""
LINE_LIMIT: Final = 16 << 20
"""DuckDB's own limit on the length of a JSON line; raised only where a record is longer."""

Row = TypeVar("Row")


def write(out: Path, table: str, records: Iterable[object], part: str = "part-0") -> int:
    """Write one part of a table, replacing the part of that name; the number of rows.

    The same records, in whatever order, give the same bytes.
    """
    schema = table_of(table)
    target = out / table / f"{part}.parquet"
    with writing(target) as parquet:
        lines = parquet.with_suffix(".ndjson")
        try:
            rows, longest = _write_lines(lines, target, schema, records)
            _to_parquet(lines, parquet, schema, max(longest + 1, LINE_LIMIT), out)
        finally:
            lines.unlink(missing_ok=True)
    return rows


def _write_lines(lines: Path, target: Path, schema: Table, records: Iterable[object]) -> tuple[int, int]:
    """Write each record as a line of JSON; how many there are, and the length of the longest."""
    encode = encoder(schema.record)
    rows = longest = 0
    with lines.open("w", encoding="utf-8") as file:
        for batch in _batches(records):
            texts = [json.dumps(encode(_of(schema, record)), allow_nan=False) + "\n" for record in batch]
            with disk(target):  # only here: an error of whoever makes the records is not the disk's
                file.writelines(texts)
                file.flush()
            rows += len(texts)
            longest = max(longest, *map(len, texts))
    return rows, longest


def _batches(records: Iterable[object]) -> Iterator[list[object]]:
    rest = iter(records)
    while batch := list(itertools.islice(rest, BATCH)):
        yield batch


def _of(schema: Table, record: object) -> object:
    if not isinstance(record, schema.record):
        raise TypeError(f"a row of {schema.name} is a {schema.record.__name__}, not {record!r}")
    return record


def _to_parquet(lines: Path, parquet: Path, schema: Table, line_limit: int, out: Path) -> None:
    """Sort the lines by the table's key, then by all else, and write them as Parquet."""
    columns = {column.name: column.type for column in schema.columns}
    order = [*schema.key, *(name for name in columns if name not in schema.key)]
    options = f"maximum_object_size = {line_limit}, columns = {literal_map(columns)}"
    rows = (
        f"read_json({literal(globbed(lines))}, format = 'newline_delimited', compression = 'none', {options})"
    )
    layout = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP}, USE_TMP_FILE false"
    query = f"SELECT * FROM {rows} ORDER BY {', '.join(map(identifier, order))}"  # noqa: S608 - quoted
    try:
        with session(out / "work" / "spill") as connection:
            connection.execute(f"COPY ({query}) TO {literal(parquet)} ({layout})")
    except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
        raise StalebenchError(
            f"cannot write table {schema.name}: {_first_line(error)}",
            "the disk is full, or the folder may not be written to",
            "make room, then run the same command again: what was there before is untouched",
        ) from error


@contextmanager
def session(spill: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB of one thread and bounded memory, that fetches nothing and leaves nothing behind."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,
        "memory_limit": MEMORY,
        "autoinstall_known_extensions": False,
        "temp_directory": str(spill) if spill else "",
    }
    connection = duckdb.connect(":memory:", config=config)
    try:
        yield connection
    finally:
        connection.close()


@overload
def read(out: Path, table: str) -> Iterator[Any]: ...


@overload
def read(out: Path, table: str, record: type[Row]) -> Iterator[Row]: ...


def read(out: Path, table: str, record: type[Any] | None = None) -> Iterator[Any]:
    """The records of a table, equal to those that were written, in the order of its parts and of its key.

    Raises DatasetError at once where the table is missing or damaged, or has other columns.
    """
    schema = table_of(table)
    if record is not None and record is not schema.record:
        raise TypeError(f"a row of {table} is a {schema.record.__name__}, not a {record.__name__}")
    describe(out)
    paths = parts(out, table)
    if not paths:
        raise missing_table(out, schema)
    with session() as connection:
        check_parts(connection, paths, schema)
    return itertools.chain.from_iterable(_records(path, schema) for path in paths)


def _records(path: Path, schema: Table) -> Iterator[Any]:
    decode = decoder(schema.record)
    names = [column.name for column in schema.columns]
    try:
        with session() as connection:
            cursor = connection.execute(f"SELECT * FROM read_parquet({literal(globbed(path))})")  # noqa: S608
            while rows := cursor.fetchmany(BATCH):
                for row in rows:
                    yield decode(dict(zip(names, row, strict=True)))
    except duckdb.Error as error:
        raise damaged(path, _first_line(error)) from error


def check_parts(connection: duckdb.DuckDBPyConnection, paths: Iterable[Path], schema: Table) -> None:
    """See that files are whole and have the table's columns. Raises DatasetError."""
    expected = [(column.name, column.type.replace('"', "")) for column in schema.columns]
    for path in paths:
        try:
            query = f"DESCRIBE SELECT * FROM read_parquet({literal(globbed(path))})"  # noqa: S608 - quoted
            columns = connection.execute(query).fetchall()
        except duckdb.Error as error:
            raise damaged(path, _first_line(error)) from error
        if [(str(name), str(kind).replace('"', "")) for name, kind, *_ in columns] != expected:
            raise DatasetError(
                f"{path} has other columns than table {schema.name}",
                "another version of stalebench wrote it",
                "mine again with this version, or install that one",
            )


def missing_table(out: Path, schema: Table) -> DatasetError:
    """The error for a table that no stage has written."""
    return DatasetError(
        f"{out} has no table {schema.name}",
        "the stage that writes it has not run",
        f"run `stalebench {schema.stage}` on it" if " " not in schema.stage else "run `stalebench mine`",
    )


def damaged(path: Path, detail: str) -> DatasetError:
    """The error for a Parquet file that cannot be read."""
    return DatasetError(
        f"{path} cannot be read: {detail}",
        "it was cut short or changed after it was written",
        "remove it and run the same command again: finished runs are not repeated",
    )


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


def globbed(path: Path) -> str:
    """A path as a pattern of DuckDB's that matches only itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path))


def literal(value: object) -> str:
    """A text as a literal of SQL."""
    return "'" + str(value).replace("'", "''") + "'"


def literal_map(pairs: Mapping[str, str]) -> str:
    """A struct literal of SQL."""
    return "{" + ", ".join(f"{literal(key)}: {literal(value)}" for key, value in pairs.items()) + "}"


def identifier(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'
