"""What the project's texts tell a user to type exists: every command, and every option of an error."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import stalebench
from stalebench.cli.app import app

PACKAGE = Path(stalebench.__file__).parent
COMMAND = re.compile(r"`stalebench ([^`]+)`")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
SPEAKING = re.compile(r"(?:Error|Finding|Broken|OutOfReach|_Known|NothingToDo)$")
"""What is made of texts for users."""
OF_OTHERS = {"--depth", "--filter", "--no-filter", "--refetch", "--unshallow", "--global", "--add"}
"""Options of git and uv."""


def texts(tree: ast.AST) -> Iterator[str]:
    """The texts of a syntax tree, what is filled in left out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def parsed() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield str(path.relative_to(PACKAGE)), ast.parse(path.read_text(encoding="utf-8"))


def commands() -> dict[str, Any]:
    """Each command by its words, as `spec show`."""
    root: Any = typer.main.get_command(app)
    found = {}
    for name, command in root.commands.items():
        found[name] = command
        found |= {f"{name} {inner}": below for inner, below in getattr(command, "commands", {}).items()}
    return found


def options(command: Any) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts} | {"--help"}


MENTIONS = sorted(
    {
        (where, mention)
        for where, tree in parsed()
        for text in texts(tree)
        for mention in COMMAND.findall(text)
    }
)


@pytest.mark.parametrize(("where", "mention"), MENTIONS)
def test_a_command_that_is_named_can_be_typed(where: str, mention: str) -> None:
    known = commands()
    words = mention.split()
    is_group = any(name.startswith(f"{words[0]} ") for name in known)
    name = " ".join(words[:2]) if is_group and len(words) > 1 else words[0]
    assert name in known, f"{where} names `stalebench {mention}`"
    assert set(OPTION.findall(mention)) <= options(known[name])


def test_an_option_that_an_error_names_is_one() -> None:
    known = OF_OTHERS.union(*map(options, commands().values()))
    strange = {
        (where, option)
        for where, tree in parsed()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and SPEAKING.search(ast.unparse(call.func))
        for text in texts(call)
        for option in OPTION.findall(text)
        if option not in known
    }
    assert strange == set()
