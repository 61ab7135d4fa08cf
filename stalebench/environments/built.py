"""An environment that is there. Plain and picklable; knows nothing of how it was made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stalebench.records import Environment


@dataclass(frozen=True, slots=True)
class Built:
    """A record of an environment, its interpreter on this machine, and the variables that its tests need.

    `earlier` are the rungs of the ladder that were tried before, each with why it did not do.
    """

    record: Environment
    python: Path
    variables: tuple[tuple[str, str], ...] = ()
    earlier: tuple[tuple[str, str], ...] = ()
