"""Gold tests: which test functions a pull adds or changes, and which test files it touches."""

from stalebench.gold.functions import gold_functions
from stalebench.gold.suites import gold_suite, touched_suite, unparsed

__all__ = ["gold_functions", "gold_suite", "touched_suite", "unparsed"]
