"""The command lines that the documentation gives for agents are ones that stalebench takes."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from stalebench.agents.command import Command
from stalebench.agents.options import Options
from stalebench.agents.registry import COMMAND, agent_named
from stalebench.cli.app import app

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
LINES = re.findall(r"^stalebench run .*?(?:[^\\]\n|\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
RECIPES = [shlex.split(line.replace("\\\n", " ")) for line in LINES if COMMAND in line]


def values(words: list[str], option: str) -> list[str]:
    return [after for word, after in pairwise(words) if word == option]


def known_options() -> set[str]:
    (run,) = (each for each in app.registered_commands if each.callback and each.callback.__name__ == "run")
    assert run.callback is not None
    return {name for name in run.callback.__annotations__ if name not in ("data", "return")}


def test_there_is_a_recipe_for_each_of_the_known_agents() -> None:
    programs = {values(words, "--agent")[0].removeprefix(COMMAND).split()[0] for words in RECIPES}
    assert programs == {"claude", "codex", "openhands", "aider"}


@pytest.mark.parametrize("words", RECIPES, ids=lambda words: values(words, "--agent")[0].split()[0])
def test_a_recipe_is_taken_as_it_stands(words: list[str]) -> None:
    (line,) = values(words, "--agent")
    options = Options(
        model=next(iter(values(words, "--model")), None),
        allowed_hosts=tuple(values(words, "--allow-host")),
        pass_env=tuple(values(words, "--pass-env")),
    )
    agent = agent_named(line, options)
    assert isinstance(agent, Command)
    assert agent.hosts
    given = {word[2:].replace("-", "_") for word in words if word.startswith("--")}
    assert given <= known_options()
