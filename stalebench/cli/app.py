"""The commands, in the order in which `--help` lists them."""

from __future__ import annotations

from typing import Annotated

import typer

from stalebench.cli import (
    candidates,
    compose,
    demo,
    doctor,
    grade,
    mine,
    pulls,
    query,
    run,
    schema,
    spec,
    validate,
    version,
)

app = typer.Typer(
    name="stalebench",
    help="Find pairs of changes that pass alone and fail together.",
    epilog="Exit codes: 0 done, 1 failed, 2 bad usage or input, 3 nothing to do, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

for command in (
    mine.mine,
    pulls.pulls,
    candidates.candidates,
    compose.compose,
    validate.validate,
    run.run,
    grade.grade,
    query.query,
    schema.schema,
    doctor.doctor,
):
    app.command()(command)
app.add_typer(spec.app, name="spec")
app.command()(demo.demo)
app.command()(version.version)


def _version(asked: bool) -> None:
    if asked:
        version.version()
        raise typer.Exit


@app.callback()
def root(
    *,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find pairs of changes that pass alone and fail together."""
