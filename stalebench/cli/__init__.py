"""The `stalebench` command: a thin layer, one file per command. Decides nothing but how to end.

Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2 bad usage or input,
3 nothing to do, 130 interrupted, 143 terminated. With --json, stdout is one document also where a command
fails: `error` then says what stderr says.
"""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import Final, NoReturn

from stalebench.errors import StalebenchError

USAGE: Final = 2
INTERRUPTED: Final = 130
TERMINATED: Final = 143
STOPPED: Final = "stopped; whatever was finished is kept"


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
    except (KeyboardInterrupt, SystemExit) as end:
        return _ended(arguments, INTERRUPTED if isinstance(end, KeyboardInterrupt) else end.code)
    except StalebenchError as error:
        _say(str(error))
        _trace(arguments)
        _answer(arguments, error.exit_code, error.message, error.cause, error.fix)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the last place that can say it plainly
        what = f"unexpected error: {type(error).__name__}: {error}"
        _say(what)
        _say(
            "this is a bug of stalebench: please report it, with the output of the same command and --verbose"
        )
        _trace(arguments)
        _answer(arguments, 1, what, "a bug of stalebench", "report it, with the output of --verbose")
        return 1
    return 0


def _ended(arguments: list[str], code: int | str | None) -> int | str | None:
    """The exit code of a command that was stopped, or that said itself how it ended."""
    if code in (INTERRUPTED, TERMINATED):
        _say(STOPPED)
        _answer(arguments, int(code), STOPPED)
    elif code == USAGE:  # whoever parses the arguments has said more
        _answer(arguments, USAGE, "the arguments are not understood", fix="see stderr, and --help")
    return code


def _answer(arguments: list[str], code: int, message: str, cause: str = "", fix: str = "") -> None:
    """Tell a program that asked for JSON in JSON."""
    if "--json" in arguments:
        from stalebench.cli import output  # noqa: PLC0415 - signals first

        with suppress(OSError):  # nobody reads it any more
            if not output.has_answered():
                output.document(
                    {"error": {"exit_code": code, "message": message, "cause": cause, "fix": fix}}
                )


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
