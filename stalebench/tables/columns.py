"""What a table is: the record that a row holds, and its columns with their types. Names no table.

Column types are derived from the record types, so that a table and its record cannot drift apart.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its DuckDB type and what it means."""

    name: str
    type: str
    doc: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table: the record that a row holds, the columns it is sorted by, and what each column means."""

    name: str
    doc: str
    record: Any
    """A dataclass."""
    key: tuple[str, ...]
    stage: str
    """The stage, and the command, that writes it."""
    docs: Mapping[str, str]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in the order of the record's fields."""
        hints = hints_of(self.record)
        return tuple(Column(name, type_of(hint), self.docs.get(name, "")) for name, hint in hints.items())


@cache
def hints_of(record: Hashable) -> Mapping[str, Any]:
    """The record's fields with their types, in order."""
    hints = typing.get_type_hints(record)
    return {field.name: hints[field.name] for field in fields(typing.cast("Any", record))}


def type_of(hint: Any) -> str:
    """The DuckDB type that holds a record's field. Raises TypeError for one that no table can hold."""
    optional, inner = without_none(hint)
    if optional:
        return type_of(inner)
    if typing.get_origin(hint) is tuple:
        return f"{type_of(item_of(hint))}[]"
    if isinstance(hint, type):
        if is_record(hint):
            members = (f'"{name}" {type_of(member)}' for name, member in hints_of(hint).items())
            return f"STRUCT({', '.join(members)})"
        for python, duckdb in _SCALARS:
            if issubclass(hint, python):
                return duckdb
    raise TypeError(f"no column type for {hint!r}")


def is_record(hint: Any) -> bool:
    """Whether a type is a record: a row, or a struct in one."""
    return is_dataclass(hint)


_SCALARS: Final = ((bool, "BOOLEAN"), (int, "BIGINT"), (float, "DOUBLE"), (str, "VARCHAR"), (Enum, "VARCHAR"))


def without_none(hint: Any) -> tuple[bool, Any]:
    """Whether a type allows None, and the type without it."""
    if typing.get_origin(hint) not in (types.UnionType, typing.Union):
        return False, hint
    members = [member for member in typing.get_args(hint) if member is not type(None)]
    if len(members) != 1:
        raise TypeError(f"no column type for {hint!r}")
    return True, members[0]


def item_of(hint: Any) -> Any:
    """The type of the items of `tuple[X, ...]`."""
    arguments = typing.get_args(hint)
    if len(arguments) != 2 or arguments[1] is not Ellipsis:  # noqa: PLR2004 - X and the dots
        raise TypeError(f"only tuple[X, ...] has a column type, not {hint!r}")
    return arguments[0]
