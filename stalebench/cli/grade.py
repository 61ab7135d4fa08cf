"""`stalebench grade`: a run graded again from its stored outcomes; nothing is run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stalebench.cli import options

Run = Annotated[Path, typer.Argument(metavar="RUN", help="A folder of `stalebench run`.")]
Gradings = Annotated[
    str | None,
    typer.Option(
        "--grading",
        metavar="LIST",
        help="Also with a known mistake: own-tests-only, keep-test-edits; with commas.",
    ),
]
SweBench = Annotated[
    Path | None,
    typer.Option("--swe-bench", metavar="FILE", help="Also write solo as a report of SWE-bench's form."),
]


def grade(
    run: Run,
    *,
    grading: Gradings = None,
    swe_bench: SweBench = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Grade a run again, from what is stored, and print the table per agent and condition."""
    from stalebench import progress  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.cli import graded, grades  # noqa: PLC0415
    from stalebench.grading.grading import write_grades  # noqa: PLC0415
    from stalebench.mine import claimed  # noqa: PLC0415

    wanted = graded.gradings(grading)
    with progress.of(quiet=quiet) as told, claimed(run):
        write_grades(run, told, wanted)
    grades.report(run, wanted, swe_bench, as_json=json)
