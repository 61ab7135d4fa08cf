"""`stalebench query`: SQL over one or several datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stalebench.cli import options


def query(
    dataset: Annotated[Path, typer.Argument(help="A dataset, or a folder of datasets.")],
    sql: Annotated[str, typer.Argument(help="One or several statements; - reads them from stdin.")],
    *,
    json: options.Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    parquet: Annotated[Path | None, typer.Option(metavar="FILE", help="Write Parquet.")] = None,
    verbose: options.Verbose = False,
) -> None:
    """Ask a dataset in DuckDB's SQL.

    There is a view for each table: see `stalebench schema`.
    With --json, --csv and --parquet only the result of the last statement is given.
    """
    import sys  # noqa: PLC0415 - what is slow waits until it is needed

    from stalebench.cli import results  # noqa: PLC0415
    from stalebench.errors import UsageError  # noqa: PLC0415

    if json + csv + (parquet is not None) > 1:
        raise UsageError("--json, --csv and --parquet exclude each other", fix="give one of them")
    text = sys.stdin.read() if sql == "-" and sys.stdin else sql
    way = (
        results.Json()
        if json
        else results.Csv()
        if csv
        else results.Parquet(parquet)
        if parquet
        else results.Box()
    )
    results.ask(dataset, text, way)
