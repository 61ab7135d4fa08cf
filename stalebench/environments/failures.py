"""What uv's words mean: the usual cause of a failure, the way out, and whether another try may work."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from stalebench.errors import EnvironmentBroken

LINES: Final = 12


class OutOfReach(EnvironmentBroken):
    """The registry, the disk or uv itself: says nothing about the recipe, and may pass."""


class _Known(NamedTuple):
    words: str
    cause: str
    fix: str
    kind: type[EnvironmentBroken] = EnvironmentBroken


_KNOWN: Final = (
    _Known(
        r"No space left|Disk quota exceeded|os error 28\b|os error 122\b",
        "the disk of the cache folder or of the temporary folder is full",
        "make room, or name another cache folder with STALEBENCH_CACHE (and UV_CACHE_DIR for uv's own)",
        OutOfReach,
    ),
    _Known(
        r"Permission denied|Read-only file system",
        "the cache folder belongs to another user, or may not be written to",
        "name another cache folder with STALEBENCH_CACHE (and UV_CACHE_DIR for uv's own)",
        OutOfReach,
    ),
    _Known(
        r"upload (time|date)|upload-time",
        "the registry does not tell when packages were uploaded, so they cannot be bounded by a date",
        "pin every package of the recipe with ==, or use a registry that tells",
    ),
    _Known(
        r"error sending request|[Cc]onnection (refused|reset)|dns error|timed out|[Tt]imeout"
        r"|status (server error|code: 5)|HTTP status server|tcp connect|certificate|network is unreachable"
        r"|(401 Unauthorized|403 Forbidden|407 Proxy|429 Too Many)|network connectivity is disabled",
        "the package registry cannot be reached, or refuses",
        "check the connection, the proxy and uv's settings (UV_DEFAULT_INDEX), and run the command again",
        OutOfReach,
    ),
    _Known(
        r"No solution found|unsatisfiable|conflict|not found in the package registry",
        "the requirements contradict each other, or nothing that old fits this Python",
        "mend the recipe of that date in the specification: other versions, or another Python",
    ),
    _Known(
        r"Failed to build|build backend|metadata generation|Failed to download and build",
        "a package has no ready-made wheel for this Python and platform, and does not build here",
        "choose a version with a wheel, or an older Python, in the recipe of that date",
    ),
    _Known(
        r"No (interpreter|virtual environment) found|Querying Python|broken (interpreter|Python)",
        "the Python that the environment rests on was removed",
        "install it again, or delete that environment's folder so that it is built anew",
    ),
)
_ADDRESS: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s`'\"<>)\]]+")
_HOST: Final = re.compile(r"(?<=host )\S+|(?<=domain name )\S+")


def explained(what: str, said: str) -> EnvironmentBroken:
    """The error for what failed, with the last lines of what it said."""
    text = without_addresses(said).strip() or "it said nothing"
    known = next((known for known in _KNOWN if re.search(known.words, text)), None)
    message = f"{what} failed:\n" + "\n".join(text.splitlines()[-LINES:])
    if known is None:
        return EnvironmentBroken(
            message,
            "a package that this Python or platform lacks",
            "mend the recipe of that date in the specification",
        )
    return known.kind(message, known.cause, known.fix)


def without_addresses(text: str) -> str:
    """The text without addresses: they name the user's registry, and may hold a password."""
    return _HOST.sub("(host)", _ADDRESS.sub("(address)", text))
