"""Agents that name a patch instead of working: they need no workspace, and cost nothing. Makes no patch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Fixed = Literal["gold", "empty", "given"]


@dataclass(frozen=True, slots=True)
class FixedPatch:
    """An agent whose patch is known beforehand: the human one (`gold`), an empty one, or a `given` one.

    `content` is a given one, a patch in git's format on the base; None where there is no prediction.
    """

    name: str
    fixed: Fixed
    content: bytes | None = None

    @property
    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Which patch it is."""
        return {"fixed": self.fixed}

    @property
    def wants_plan(self) -> bool:
        """It needs nothing."""
        return False


GOLD = FixedPatch("gold", "gold")
NOOP = FixedPatch("noop", "empty")
