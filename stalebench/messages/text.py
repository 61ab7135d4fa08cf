"""Facts as sentences, one a line, and back. Every sentence that `render` writes, `parse` reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from stalebench.messages.facts import Added, AfterWrite, Changed, Fact, Removed, Renamed, Returns, Signature

_SPECIAL: Final = {"`": "GRAVE ACCENT", "\n": "LINE FEED", "\r": "CARRIAGE RETURN"}
_ESCAPED: Final = re.compile(r"\\N\{(GRAVE ACCENT|LINE FEED|CARRIAGE RETURN|REVERSE SOLIDUS)\}")
_LETTERS: Final = {name: letter for letter, name in _SPECIAL.items()} | {"REVERSE SOLIDUS": "\\"}
_CODE: Final = re.compile(r"`([^`]*)`")


def render(facts: Iterable[Fact]) -> str:
    """The facts in words, sorted by file, without a line break at the end."""
    return "\n".join(_sentence(fact) for fact in sorted(facts, key=_order))


def parse(text: str) -> tuple[Fact, ...]:
    """The facts that a text states, in its order; other lines of it are passed over."""
    return tuple(fact for line in text.split("\n") if (fact := _fact(line)) is not None)


def _order(fact: Fact) -> tuple[object, ...]:
    return (fact.path, *(str(getattr(fact, name)) for name in fact.__slots__[1:]), type(fact).__name__)


def _sentence(fact: Fact) -> str:
    form, parts = _FORMS[type(fact)]
    said = _filled(form, parts(fact))
    if isinstance(fact, Signature) and fact.passed:
        said += "; for what is new it passes " + ", ".join(
            _code(f"{name}={value}") for name, value in fact.passed
        )
    return said


_FORMS: Final[dict[type, tuple[str, Callable[..., tuple[str, ...]]]]] = {
    Added: ("- #: # is new", lambda fact: (fact.path, fact.code)),
    Removed: ("- #: # is gone", lambda fact: (fact.path, fact.name)),
    Renamed: ("- #: # is now called #", lambda fact: (fact.path, fact.old, fact.new)),
    Signature: (
        "- #: # has other parameters: # is now #",
        lambda fact: (fact.path, fact.name, fact.old, fact.new),
    ),
    Returns: (
        "- #: # returns another value: # instead of #",
        lambda fact: (fact.path, fact.name, fact.new, fact.old),
    ),
    AfterWrite: (
        "- #: whenever # does #, it now has to do # next",
        lambda fact: (fact.path, fact.owner, fact.write, fact.then),
    ),
    Changed: ("- #: # has changed inside", lambda fact: (fact.path, fact.name)),
}
"""The sentence of each kind, with # for each piece of code. What is about a whole file names it twice."""

_MAKERS: Final[dict[type, Callable[[list[str]], Fact]]] = {
    Added: lambda part: Added(part[0], _unless_path(part)),
    Removed: lambda part: Removed(part[0], _unless_path(part)),
    Renamed: lambda part: Renamed(part[0], part[1], part[2]),
    Signature: lambda part: Signature(part[0], part[1], part[2], part[3], _passed(part[4:])),
    Returns: lambda part: Returns(part[0], part[1], part[3], part[2]),
    AfterWrite: lambda part: AfterWrite(part[0], part[1], part[2], part[3]),
    Changed: lambda part: Changed(part[0], _unless_path(part)),
}
_SHAPES: Final = {form.replace("#", "``"): kind for kind, (form, _) in _FORMS.items()}


def _filled(form: str, parts: tuple[str, ...]) -> str:
    path = parts[0]
    pieces = iter(_code(part or path) for part in parts)
    return re.sub("#", lambda _: next(pieces), form)


def _fact(line: str) -> Fact | None:
    parts = [_plain(code) for code in _CODE.findall(line)]
    shape = _CODE.sub("``", line).partition("; for what is new it passes ")[0]
    kind = _SHAPES.get(shape)
    return None if kind is None else _MAKERS[kind](parts)


def _unless_path(part: list[str]) -> str:
    return "" if part[1] == part[0] else part[1]


def _passed(parts: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, _, value in (part.partition("=") for part in parts))


def _code(text: str) -> str:
    """A piece of code between backticks, with what would end it or the line written by its name."""
    text = text.replace("\\N{", "\\N{REVERSE SOLIDUS}N{")
    for letter, name in _SPECIAL.items():
        text = text.replace(letter, f"\\N{{{name}}}")
    return f"`{text}`"


def _plain(code: str) -> str:
    return _ESCAPED.sub(lambda found: _LETTERS[found.group(1)], code)
