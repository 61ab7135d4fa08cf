"""The story of the demo, told in landings: what there was, and what happened to it, in order."""

from __future__ import annotations

from collections.abc import Iterator

from stalebench.demo.history import Landing
from stalebench.demo.story import beginnings, clashes, conflicts, drifts, oddities, signatures


def landings() -> Iterator[Landing]:
    """Every commit of the main line, in order."""
    yield from beginnings.LANDINGS
    yield from clashes.LANDINGS
    yield from signatures.LANDINGS
    yield from conflicts.LANDINGS
    yield from drifts.LANDINGS
    yield from oddities.LANDINGS
