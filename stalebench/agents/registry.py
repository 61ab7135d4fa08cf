"""From a text to an agent. Imports an agent only when it is asked for; starts none.

Plug-ins are entry points of the group `stalebench.agents`: functions that make an agent from `Options`. None
of them can take the place of an agent that stalebench brings.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, Final

from stalebench.agents import Agent
from stalebench.agents.fixed import GOLD, NOOP, FixedPatch
from stalebench.agents.options import Options
from stalebench.errors import StalebenchError, UsageError

__all__ = ["COMMAND", "GROUP", "Options", "agent_named", "names"]

GROUP: Final = "stalebench.agents"
"""The group of entry points that plug-ins are found in."""
COMMAND: Final = "command:"
"""What stands before a command line."""

_FIXED: Final = {agent.name: agent for agent in (GOLD, NOOP)}
_SHIPPED: Final = {
    "scripted": "stalebench.agents.scripted:Scripted",
    "mini-swe-agent": "stalebench.agents.mini:MiniSweAgent",
}
_EXTRAS: Final = {"mini-swe-agent": "minisweagent"}
"""Agents that come with an extra of their own name, and the package that it installs."""


def names() -> list[str]:
    """All that can be asked for on this machine: what stalebench brings, and what plug-ins add."""
    own = [*_FIXED, *_SHIPPED, f"{COMMAND}PROGRAM ARGUMENT..."]
    return [*own, *sorted(set(_plugins()) - {*own})]


def agent_named(text: str, options: Options | None = None) -> Agent | FixedPatch:
    """The agent that a text names, as it stands after `--agent`."""
    options = options or Options()
    if text in _FIXED:
        return _FIXED[text]
    if text.startswith(COMMAND):
        return _made(_load("stalebench.agents.command:Command"), text.removeprefix(COMMAND), options)
    if text in _SHIPPED:
        return _made(_shipped(text), options)
    if text in _plugins():
        return _made(_plugged(_plugins()[text]), options)
    raise UsageError(
        f"there is no agent {text!r}",
        "a slip of the pen, or a plug-in that is not installed here",
        f"name one of: {'; '.join(names())}",
    )


def _made(factory: Callable[..., Any], *arguments: Any) -> Agent:
    made: Agent = factory(*arguments)
    return made


def _load(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def _shipped(name: str) -> Callable[..., Any]:
    if name in _EXTRAS and find_spec(_EXTRAS[name]) is None:
        raise UsageError(
            f"the agent {name} is not installed here",
            "it comes with an extra of stalebench",
            f"pip install 'stalebench[{name}]'",
        )
    return _load(_SHIPPED[name])


def _plugins() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _plugged(entry: EntryPoint) -> Callable[..., Any]:
    """The factory; whatever goes wrong while it is imported is the plug-in's fault, and said to be."""
    try:
        factory: Callable[..., Any] = entry.load()
    except StalebenchError:
        raise
    except Exception as error:
        owner = entry.dist.name if entry.dist else "an unknown package"
        raise UsageError(
            f"the agent {entry.name} cannot be loaded: {type(error).__name__}: {error}",
            f"a fault of {owner}, which brings it as {entry.value}",
            "mend that package, or remove it",
        ) from error
    return factory
