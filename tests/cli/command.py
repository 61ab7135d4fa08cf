"""The command in this process: as `main` runs it, with its exit code and its two streams."""

from __future__ import annotations

import contextlib
import io
import signal
from dataclasses import dataclass

from stalebench.cli import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def stalebench(*arguments: object) -> Ran:
    """Run `stalebench ARGUMENTS`."""
    out, err = io.StringIO(), io.StringIO()
    before = signal.getsignal(signal.SIGTERM)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main([str(argument) for argument in arguments])
    except SystemExit as end:
        return Ran(int(end.code or 0), out.getvalue(), err.getvalue())
    finally:
        signal.signal(signal.SIGTERM, before)
    raise AssertionError("main came back")
