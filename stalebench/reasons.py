"""The closed list of reasons: why a pull, a candidate pair or a check was turned away.

One reason each, the first that applies in the order of the stages. A word that is not here cannot
reach a table.
"""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """The stages of the funnel, in order."""

    PULLS = "pulls"
    CANDIDATES = "candidates"
    COMPOSE = "compose"
    VALIDATE = "validate"


class Reason(StrEnum):
    """Why something was rejected. The comment on each says at which stage it is given."""

    # pulls
    NO_SOURCE = "no_source_files"
    """It changes no source file of the repository's specification."""
    TOO_MANY_SOURCES = "too_many_source_files"
    """It changes more than 12 source files."""
    NO_TESTS = "no_test_files"
    """It changes no test file."""
    # candidates
    UNRELATED = "unrelated_histories"
    """The two base commits have no common ancestor."""
    # compose
    CODE_CONFLICTS_WITH_BASE = "code_conflicts_with_base"
    """One pull's code patch conflicts with the content of the shared base."""
    FILE_MISSING_ON_BASE = "file_missing_on_base"
    """One pull's code patch changes a file that the shared base does not have."""
    ALREADY_APPLIED = "already_applied"
    """The shared base already holds all that one pull's code patch does."""
    CODES_CONFLICT = "codes_conflict"
    """Each code patch applies to the base, but they conflict with each other."""
    TESTS_CONFLICT_WITH_BASE = "tests_conflict_with_base"
    """One pull's test patch does not apply to the shared base."""
    TESTS_CONFLICT = "tests_conflict"
    """Each test patch applies to the base, but they conflict with each other, also function by function."""
    UNSUPPORTED_CHANGE = "unsupported_change"
    """A submodule bump, or another change that no tree of files can hold."""
    # validate
    NO_GOLD_TESTS = "no_gold_tests"
    """Test files are changed, but no test function is added or changed, or none runs before and after."""
    PASSES_ON_BASE = "gold_passes_on_base"
    """No gold test fails on the base: it does not need the patch there (drift)."""
    FAILS_WITH_PATCH = "gold_fails_with_patch"
    """A gold test still fails on the base once the code patch is added."""
    FLAKY = "flaky"
    """Without the tests that differ between two runs of one column, no fail-to-pass test is left."""
    INFRA_ENVIRONMENT = "infra_environment"
    """No environment could be built for the base, or it does not pass its gate."""
    INFRA_RUN = "infra_run"
    """A run broke for a reason that lies in the machine."""
