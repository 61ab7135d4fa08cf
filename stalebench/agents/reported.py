"""What an agent says of its own use, in a JSON file: dollars, tokens, steps. Believes numbers only."""

from __future__ import annotations

import json
import math
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_LARGEST: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Reported:
    """None for what was not said."""

    cost: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    steps: int | None = None


def reported(path: Path) -> Reported:
    """What a file says; nothing where there is none, or one that makes no sense."""
    try:
        said = json.loads(_content(path))
    except (OSError, ValueError, RecursionError):
        return Reported()
    if not isinstance(said, dict):
        return Reported()
    cost = _number(said.get("cost"))
    tokens = (_count(said.get(name)) for name in ("input_tokens", "output_tokens", "steps"))
    return Reported(cost, *tokens)


def _content(path: Path) -> bytes:
    """The bytes of a plain file: the agent may have put a link or a pipe there."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(handle, "rb") as file:  # noqa: PTH123 - a handle
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return b""
        return file.read(_LARGEST)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _count(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number == int(number) else None
