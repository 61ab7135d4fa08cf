"""`stalebench version`."""

from __future__ import annotations

import sys

from stalebench import __version__


def version() -> None:
    """Print the version."""
    sys.stdout.write(f"stalebench {__version__}\n")
