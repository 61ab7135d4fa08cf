"""The git source: from a clone to the pulls that landed on its main line. Writes into no user's clone."""

from stalebench.source.clone import Clone, name_of, open_clone
from stalebench.source.pulls import landed, newest

__all__ = ["Clone", "landed", "name_of", "newest", "open_clone"]
