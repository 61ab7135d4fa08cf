"""The `stalebench` command: a thin layer, one file per command. Decides nothing but how to end.

Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2 bad usage or input,
3 nothing to do, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Final, NoReturn

from stalebench.errors import StalebenchError

INTERRUPTED: Final = 130
TERMINATED: Final = 143


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command that the arguments name, and exit with its code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    signal.signal(signal.SIGTERM, _terminate)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot show is escaped, never an error
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_run(given))


def _run(arguments: list[str]) -> int | str | None:
    """Run the command; its exit code, with whatever went wrong said on stderr."""
    try:
        from stalebench.cli.app import app  # noqa: PLC0415 - signals first

        app(arguments, prog_name="stalebench")
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as end:
        if end.code in (INTERRUPTED, TERMINATED):
            _say("stopped; whatever was finished is kept")
        return end.code
    except StalebenchError as error:
        _say(str(error))
        _trace(arguments)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the last place that can say it plainly
        _say(f"unexpected error: {type(error).__name__}: {error}")
        _say(
            "this is a bug of stalebench: please report it, with the output of the same command and --verbose"
        )
        _trace(arguments)
        return 1
    return 0


def _trace(arguments: list[str]) -> None:
    """The traceback of the error at hand, for those who ask for it."""
    if "--verbose" in arguments or "-v" in arguments:
        import traceback  # noqa: PLC0415

        traceback.print_exc()


def _say(text: str) -> None:
    sys.stderr.write(f"stalebench: {text}\n")
    sys.stderr.flush()


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    """End as on an interrupt, so that whatever is open is closed."""
    raise SystemExit(TERMINATED)
