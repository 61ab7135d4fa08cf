"""`stalebench doctor`: whether this machine has what the commands need."""

from __future__ import annotations

import typer

from stalebench.cli import options


def doctor(*, json: options.Json = False, verbose: options.Verbose = False) -> None:
    """Check this machine, and say what to mend."""
    from dataclasses import asdict  # noqa: PLC0415 - what is slow waits until it is needed

    from stalebench.cli import output  # noqa: PLC0415
    from stalebench.doctor import check  # noqa: PLC0415

    findings = check()
    if json:
        output.document(
            {
                "ok": all(each.ok or not each.needed for each in findings),
                "findings": [asdict(each) for each in findings],
            }
        )
    else:
        rows = [(each.verdict, each.name, each.detail) for each in findings]
        output.lines([*output.columns(rows)])
        output.lines([f"to mend {each.name}: {each.fix}" for each in findings if not each.ok and each.fix])
    if not all(each.ok or not each.needed for each in findings):
        raise typer.Exit(1)
