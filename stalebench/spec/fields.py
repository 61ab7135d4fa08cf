"""Strict reading of one TOML table: every key is known and has its type, or the error names the place.

Knows nothing of specifications; see `loading` for what they hold.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from pathspec import GitIgnoreSpec

from stalebench.errors import SpecError


class Fields:
    """The keys of one table, each read once; `finish` refuses what nobody asked for."""

    def __init__(self, table: Mapping[str, Any], file: str, prefix: str = "") -> None:
        self._table, self._file, self._prefix = table, file, prefix
        self._asked: list[str] = []

    def wrong(self, key: str, expected: str) -> SpecError:
        """The error for a key that does not hold what is expected of it."""
        found = f"found {self._table[key]!r}" if key in self._table else "it is missing"
        return SpecError(
            f"{self._file}: {self._prefix}{key}: expected {expected}; {found}",
            "a slip in a specification that was written by hand",
            "correct the file; `stalebench spec show NAME` prints one that is right",
        )

    def text(self, key: str, pattern: str = r".+", expected: str = "text", default: str | None = None) -> str:
        """Text that matches the pattern as a whole."""
        value = self._value(key, default)
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise self.wrong(key, expected)
        return value

    def optional_text(self, key: str) -> str | None:
        """Text, or None where there is none."""
        return self.text(key) if self._value(key) is not None else None

    def texts(self, key: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        """A list of texts, none of them empty."""
        value = self._value(key, default)
        if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) and one for one in value):
            raise self.wrong(key, "a list of texts")
        return tuple(value)

    def choices(self, key: str, allowed: Sequence[str]) -> tuple[str, ...]:
        """One or more of the allowed words, each once."""
        value = self.texts(key)
        if not value or len(set(value)) < len(value) or not set(value) <= set(allowed):
            raise self.wrong(key, f"one or more of {', '.join(allowed)}, each once")
        return value

    def globs(self, key: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        """Globs that match something: no comment, no blank, nothing that gitignore would not read."""
        value = self.texts(key, default)
        for glob in value:
            if problem := _glob_problem(glob):
                raise self.wrong(key, f"globs as in a .gitignore file, but {glob!r} {problem}")
        return value

    def day(self, key: str) -> date | None:
        """A date without a time, or None where there is none."""
        value = self._value(key, None)
        if value is not None and (isinstance(value, datetime) or not isinstance(value, date)):
            raise self.wrong(key, "a date, as in 2022-07-01, without quotes")
        return value

    def number(self, key: str, default: float) -> float:
        """A number above 0."""
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
            raise self.wrong(key, "a number above 0")
        return float(value)

    def whole(self, key: str, default: int) -> int:
        """A whole number above 0."""
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            raise self.wrong(key, "a whole number above 0")
        return value

    def flag(self, key: str) -> bool:
        """True or false; false where it is not there."""
        value = self._value(key, default=False)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """A table of texts, sorted by name."""
        value = self._value(key, {})
        if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
            raise self.wrong(key, "a table from names to texts")
        return tuple(sorted(value.items()))

    def table(self, key: str) -> Fields:
        """A table below this one; an empty one where it is not there."""
        value = self._value(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, "a table")
        return Fields(value, self._file, f"{self._prefix}{key}.")

    def tables(self, key: str) -> list[Fields]:
        """A list of tables below this one."""
        value = self._value(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self.wrong(key, f"tables, each headed [[{key}]]")
        numbered = enumerate(value, 1)
        return [Fields(one, self._file, f"{self._prefix}{key}[{number}].") for number, one in numbered]

    def finish(self) -> None:
        """Refuses keys that nobody asked for."""
        for key in self._table:
            if key not in self._asked:
                near = difflib.get_close_matches(key, self._asked, 1)
                hint = f"did you mean {near[0]}? " if near else ""
                known = ", ".join(self._asked)
                raise SpecError(
                    f"{self._file}: {self._prefix}{key}: unknown key; expected one of {known}",
                    "a misspelt key, or one of a newer version",
                    f"{hint}Rename or remove it",
                )

    def _value(self, key: str, default: Any = None) -> Any:
        self._asked.append(key)
        return self._table.get(key, default)


def _glob_problem(glob: str) -> str:
    if glob != glob.strip():
        return "has blanks around it"
    if glob.startswith("#"):
        return "is a comment there"
    if glob.count("[") > glob.count("]"):
        return "has a bracket that is never closed"
    try:
        patterns = list(GitIgnoreSpec.from_lines([glob]).patterns)
    except ValueError as error:
        return f"is none: {error}"
    return "" if any(pattern.include is not None for pattern in patterns) else "matches nothing"
