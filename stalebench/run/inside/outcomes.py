"""The words for outcomes, and the short account of a failure that goes with one. Decides nothing."""

from __future__ import annotations

import traceback
from typing import NamedTuple

PASSED = "passed"
FAILED = "failed"
ERROR = "error"
SKIPPED = "skipped"
XFAILED = "xfailed"
XPASSED = "xpassed"

TAIL_LINES = 20
TAIL_CHARACTERS = 4000


class Verdict(NamedTuple):
    """One outcome, with the exception's class and the last lines of its account."""

    outcome: str
    error: str = ""
    tail: str = ""


def tail(text: str) -> str:
    """The last lines of a text, bounded."""
    return "\n".join(text.rstrip().split("\n")[-TAIL_LINES:])[-TAIL_CHARACTERS:]


def tail_of(error: BaseException) -> str:
    """The last lines of an exception's traceback."""
    try:
        return tail("".join(traceback.format_exception(type(error), error, error.__traceback__)))
    except Exception:  # noqa: BLE001 - an exception whose text cannot be made is still an exception
        return type(error).__name__
