"""`stalebench spec`: the specifications of repositories."""

from __future__ import annotations

from typing import Annotated

import typer

from stalebench.cli import options

app = typer.Typer(
    help="List, show or derive specifications.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def names(*, verbose: options.Verbose = False) -> None:
    """List the specifications that come with stalebench."""
    from stalebench import spec  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.cli import output  # noqa: PLC0415

    output.lines(spec.names())


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A name, or the path of a TOML file.")],
    *,
    verbose: options.Verbose = False,
) -> None:
    """Print a specification as TOML."""
    from stalebench import spec  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.cli import output  # noqa: PLC0415

    output.lines(spec.to_toml(spec.load(name)).splitlines())


@app.command()
def derive(
    clone: Annotated[str, typer.Option(metavar="PATH|URL", help="A full clone, or where to clone from.")],
    *,
    name: Annotated[str | None, typer.Option(help="Its name; the clone's by default.")] = None,
    cache: options.Cache = None,
    verbose: options.Verbose = False,
) -> None:
    """Derive a specification from a repository's tree.

    Save what it prints, correct it, and give it to `stalebench mine --spec FILE`.
    """
    from stalebench import spec  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.cli import output  # noqa: PLC0415
    from stalebench.compose.objects import Objects  # noqa: PLC0415
    from stalebench.source import name_of, open_clone  # noqa: PLC0415

    opened = open_clone(clone, cache)
    called = name or name_of(clone)
    output.lines(spec.to_toml(spec.derive(Objects(opened.git_dir), opened.tip, called)).splitlines())
