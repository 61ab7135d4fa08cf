"""What one finished change means for code that others write at the same time: facts, and the text of them.

A message made so is an *oracle message*: it comes from the finished patch, so it is complete as far as the
kinds of facts go, and never wrong. No agent writes such messages about its own work by itself.
"""

from __future__ import annotations

from stalebench.messages.describe import describe
from stalebench.messages.facts import Added, AfterWrite, Changed, Fact, Removed, Renamed, Returns, Signature
from stalebench.messages.text import parse, render

__all__ = [
    "Added",
    "AfterWrite",
    "Changed",
    "Fact",
    "Removed",
    "Renamed",
    "Returns",
    "Signature",
    "describe",
    "parse",
    "render",
]
