"""What can become of a test, and the three classes that every measure is made of."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    """One outcome of one test on one tree."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    NOT_COLLECTED = "not_collected"
    """Its file, a conftest or the runner did not load."""
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    """The process died while this test ran, also when it ran alone."""
    MISSING = "missing"
    """The file loaded (or is not there at all), and holds no such test."""


class Class(StrEnum):
    """What the measures see of an outcome."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    ABSENT = "absent"


CLASS_OF: Final[dict[Outcome, Class]] = {
    Outcome.PASSED: Class.PASS,
    Outcome.XPASSED: Class.PASS,
    Outcome.FAILED: Class.FAIL,
    Outcome.ERROR: Class.FAIL,
    Outcome.TIMED_OUT: Class.FAIL,
    Outcome.CRASHED: Class.FAIL,
    Outcome.NOT_COLLECTED: Class.FAIL,
    Outcome.SKIPPED: Class.ABSENT,
    Outcome.XFAILED: Class.ABSENT,
    Outcome.MISSING: Class.ABSENT,
}
