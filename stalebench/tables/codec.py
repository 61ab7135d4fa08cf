r"""Records to rows and back, for any record that the schema can hold. Touches no file.

Text that is no Unicode (a path with a byte that is not UTF-8, held as a lone surrogate) is written the
way Python itself shows it, `\udcff`, and read back as it was; text that holds such a mark already has
its backslashes doubled, so that nothing is lost.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any

from stalebench.tables.columns import hints_of, is_record, item_of, without_none

_UNSAFE = re.compile(r"(\\*)([\ud800-\udfff])|(\\+)(?=ud[89a-f][0-9a-f]{2})")
_MARK = re.compile(r"(\\+)ud([89a-f][0-9a-f]{2})")


def escape(text: str) -> str:
    """Text that any UTF-8 reader takes; the inverse of `unescape`."""
    if text.isascii() and "\\ud" not in text:
        return text
    return _UNSAFE.sub(_escaped, text)


def unescape(text: str) -> str:
    """The text that was escaped."""
    return _MARK.sub(_unescaped, text) if "\\ud" in text else text


def _escaped(match: re.Match[str]) -> str:
    before, surrogate, marked = match.groups()
    if surrogate is None:
        return str(marked) * 2
    return f"{before}{before}\\u{ord(surrogate):04x}"


def _unescaped(match: re.Match[str]) -> str:
    slashes, digits = match.groups()
    kept = "\\" * (len(slashes) // 2)
    return kept + (chr(int(f"d{digits}", 16)) if len(slashes) % 2 else f"ud{digits}")


@cache
def encoder(hint: Any) -> Callable[[Any], Any]:
    """The function that turns a value of this type into what JSON can hold."""
    optional, inner = without_none(hint)
    if optional:
        encode = encoder(inner)
        return lambda value: None if value is None else encode(value)
    if typing.get_origin(hint) is tuple:
        item = encoder(item_of(hint))
        return lambda value: [item(each) for each in value]
    if is_record(hint):
        members = [(name, encoder(member)) for name, member in hints_of(hint).items()]
        return lambda value: {name: encode(getattr(value, name)) for name, encode in members}
    if issubclass(hint, Enum):
        return lambda value: value.value
    return escape if issubclass(hint, str) else lambda value: value


@cache
def decoder(hint: Any) -> Callable[[Any], Any]:
    """The function that turns what DuckDB returns for a column of this type back into the value."""
    optional, inner = without_none(hint)
    if optional:
        decode = decoder(inner)
        return lambda value: None if value is None else decode(value)
    if typing.get_origin(hint) is tuple:
        item = decoder(item_of(hint))
        return lambda value: tuple(item(each) for each in value)
    if is_record(hint):
        members = [(name, decoder(member)) for name, member in hints_of(hint).items()]
        return lambda value: hint(**{name: decode(value[name]) for name, decode in members})
    if issubclass(hint, Enum):
        return typing.cast("type[Enum]", hint)
    return unescape if issubclass(hint, str) else lambda value: value
