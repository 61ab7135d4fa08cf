"""From the options of `run` and `grade` to what the library takes. Decides nothing about patches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from stalebench.cli import output
from stalebench.errors import UsageError

if TYPE_CHECKING:
    from stalebench.agents import Agent
    from stalebench.agents.fixed import FixedPatch
    from stalebench.agents.options import Options
    from stalebench.grading.records import Condition, Grading
    from stalebench.grading.running import Given

Word = TypeVar("Word", bound=StrEnum)
ORDERS = ("forward", "reverse", "both")


def source(
    name: str, chosen: Options, predictions: Path | None, data: Path, tasks: int
) -> tuple[Agent | FixedPatch, Given | None]:
    """Who makes the patches, and those that are made already. Raises UsageError."""
    from stalebench.agents.fixed import FixedPatch  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.agents.registry import agent_named  # noqa: PLC0415

    if predictions is None:
        return agent_named(name, chosen), None
    from stalebench.grading.instances import instances  # noqa: PLC0415
    from stalebench.predictions import predicted  # noqa: PLC0415

    found = predicted(predictions, instances(data, tasks))
    if found.unknown:
        others = f"{len(found.unknown)} of {found.ids} predictions name no task of {data}"
        output.remark(f"{others}, as {found.unknown[0]}: left out")
    return FixedPatch(found.name, "given"), found.patches


def settings(given: Sequence[str]) -> dict[str, Any]:
    """`KEY=VALUE` as a mapping; a value that is JSON is taken as such. Raises UsageError."""
    found: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise UsageError(
                f"{text!r} is no option of a model", "a slip of the pen", "write it as KEY=VALUE"
            )
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


def conditions(text: str) -> tuple[Condition, ...]:
    """The conditions of a list with commas. Raises UsageError."""
    from stalebench.grading.records import Condition  # noqa: PLC0415

    return _words(text, Condition, "condition")


def gradings(text: str | None) -> tuple[Grading, ...]:
    """The ways of grading of a list with commas. Raises UsageError."""
    from stalebench.grading.records import Grading  # noqa: PLC0415

    return _words(text, Grading, "way of grading") if text else ()


def order_words(text: str) -> str:
    """Which orders of informed. Raises UsageError."""
    if text not in ORDERS:
        raise _unknown("order", text, ORDERS)
    return text


def _words(text: str, kind: type[Word], name: str) -> tuple[Word, ...]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    unknown = [word for word in words if word not in set(kind)]
    if unknown or not words:
        raise _unknown(name, ", ".join(unknown) or text, kind)
    return tuple(dict.fromkeys(kind(word) for word in words))


def _unknown(name: str, text: str, known: Iterable[str]) -> UsageError:
    return UsageError(f"no {name} is called {text!r}", "a slip of the pen", f"use: {', '.join(known)}")


def default_out(data: Path, agent: str) -> Path:
    """`runs/`, the dataset's and the agent's name."""
    name = "".join(letter if letter.isalnum() or letter in "-._" else "-" for letter in agent)
    return Path("runs") / f"{data.resolve().name}-{name.strip('-')[:60]}"
