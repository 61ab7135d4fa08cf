"""Composes patches on a base tree: three-way, in memory, on git objects, never on a checkout."""

from __future__ import annotations

from stalebench.compose.objects import Change, Entry, Objects
from stalebench.compose.patch import Patch, as_text, split

__all__ = ["Change", "Entry", "Objects", "Patch", "as_text", "split"]
