"""Runs a command of an environment in the sandbox, to its end. For building and the gate, not for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

SECONDS: Final = 600.0
LINES: Final = 10


def refusal(
    command: Sequence[str | Path],
    python: Path,
    variables: Iterable[tuple[str, str]],
    cwd: Path,
    *also_writable: Path,
) -> str | None:
    """None if the command ends well, else its last lines."""
    # run needs environments, not the reverse: only while it runs.
    from stalebench.run.process import Ending, Process, ProcessLimits, environment  # noqa: PLC0415

    limits = ProcessLimits(wall_seconds=SECONDS)
    variables = environment(python, variables, write_bytecode=bool(also_writable)).items()
    with Process(
        command, cwd=cwd, env=dict(variables), writable=[cwd, *also_writable], limits=limits
    ) as process:
        status = process.wait()
    if status is not None and status.ending is Ending.EXITED and status.code == 0:
        return None
    if status is None:
        return "it did not end"
    ending = f"exit status {status.code}" if status.ending is Ending.EXITED else str(status.ending)
    return "\n".join([*status.output.strip().splitlines()[-LINES:], ending])
