"""stalebench: pairs of changes that pass alone and fail together, mined, graded and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from stalebench.tables import connect

__version__: Final = "0.1.0.dev0"
__all__ = ["__version__", "connect"]


def __getattr__(name: str) -> Any:
    """`stalebench.connect`, loaded when it is asked for: DuckDB takes a third of a second to import."""
    if name == "connect":
        from stalebench.tables import connect  # noqa: PLC0415

        return connect
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
