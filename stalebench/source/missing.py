"""The error for an object that a complete clone would hold. Nothing else."""

from stalebench.errors import SourceError


def missing(what: str) -> SourceError:
    """Says that the clone is incomplete, since it lacks `what`."""
    return SourceError(
        f"the clone lacks {what}",
        "a partial clone (git clone --filter), or an interrupted or damaged one",
        "complete it with `git fetch --refetch --no-filter`, or clone again without --filter",
    )
