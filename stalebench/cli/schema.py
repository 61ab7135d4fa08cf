"""`stalebench schema`: what the tables hold."""

from __future__ import annotations

from typing import Annotated

import typer

from stalebench.cli import options


def schema(
    table: Annotated[str | None, typer.Argument(help="One table; all of them by default.")] = None,
    *,
    json: options.Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/dataset.md.")] = False,
    verbose: options.Verbose = False,
) -> None:
    """Print the tables, their columns and what they mean."""
    from stalebench.cli import output  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.tables import document  # noqa: PLC0415

    if markdown:
        output.lines(document.page().splitlines())
        return
    described = document.described(table)
    if json:
        output.document({"tables": described})
        return
    for each in described:
        output.lines([f"{each['name']}: {each['doc']}"])
        rows = [(f"  {column['name']}", column["type"], column["doc"]) for column in each["columns"]]
        output.lines([*output.columns(rows), ""])
