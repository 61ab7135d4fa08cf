"""Composes patches on a base tree: three-way, in memory, on git objects, never on a checkout."""

from __future__ import annotations

from stalebench.compose.composing import compose
from stalebench.compose.objects import Change, Entry, Objects
from stalebench.compose.patch import Patch, as_text, split
from stalebench.compose.results import Clash, Conflict, Tree

__all__ = ["Change", "Clash", "Conflict", "Entry", "Objects", "Patch", "Tree", "as_text", "compose", "split"]
