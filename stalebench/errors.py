"""The errors that stalebench raises on purpose, and the exit code of each.

StalebenchError
├── UsageError            2   a wrong option, file or repository: the caller can mend it
│   ├── SpecError         2   a repository specification that cannot be read or is wrong
│   ├── SourceError       2   a clone that is missing, shallow, partial, or lacks a ref
│   └── DatasetError      2   a dataset folder that is missing, broken or of another version
├── NothingToDo           3   a stage that has no input left
└── InfraError            1   the machine, not the code under test: no verdict may rest on it
    ├── EnvironmentBroken 1   an environment that cannot be built or does not pass its gate
    └── RunBroken         1   a run whose runner died or whose results cannot be trusted

Every error says what happened, the usual cause and the way out. All of them survive pickling,
since engines re-create them in another process.
"""

from __future__ import annotations


class StalebenchError(Exception):
    """Root of the tree: `message` says what happened, `cause` why as a rule, `fix` the way out."""

    exit_code = 1

    def __init__(self, message: str, cause: str = "", fix: str = "") -> None:
        super().__init__(message, cause, fix)
        self.message = message
        self.cause = cause
        self.fix = fix

    def __str__(self) -> str:
        parts = (
            self.message,
            self.cause and f"usual cause: {self.cause}",
            self.fix and f"way out: {self.fix}",
        )
        return "\n".join(part for part in parts if part)


class UsageError(StalebenchError):
    """A wrong option, file or repository."""

    exit_code = 2


class SpecError(UsageError):
    """A repository specification that cannot be read, found or derived."""


class SourceError(UsageError):
    """A clone that cannot serve as a source of pulls."""


class DatasetError(UsageError):
    """A dataset folder that cannot be read."""


class NothingToDo(StalebenchError):
    """A stage that has no input left."""

    exit_code = 3


class InfraError(StalebenchError):
    """The machine failed, not the code under test: no outcome and no verdict."""


class EnvironmentBroken(InfraError):
    """An environment that cannot be built, or that does not pass its gate."""


class RunBroken(InfraError):
    """A run whose runner died, or whose results cannot be trusted."""
