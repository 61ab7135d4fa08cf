"""`stalebench demo`: the repository that `stalebench mine --repo demo` works on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stalebench.cli import options


def demo(
    path: Annotated[Path, typer.Argument(help="A folder that does not exist yet.")],
    *,
    verbose: options.Verbose = False,
) -> None:
    """Write the demo repository, to look at or to mine."""
    from stalebench.cli import output  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.demo import build  # noqa: PLC0415

    output.lines([str(build(path))])
