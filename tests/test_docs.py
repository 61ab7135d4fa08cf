"""Every command of the README and the pages is run, in order, in one folder.

A block that cannot be run as it stands says why in an HTML comment before it, `<!-- not run: why -->`, or
what is put in its place, `<!-- with: WORDS = OTHER WORDS -->`. Lines that follow a command are the output it
must print; `…` stands for anything.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"(?:^<!-- (?P<way>not run|with): (?P<what>.*?) -->\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
SET_UP = re.compile(
    r"python3 -m venv \.venv && \.venv/bin/pip install -e \S+ && |\.venv/bin/pip install -e \S+ && "
)
"""Done already by whoever runs the tests, and from nothing by .ci/run."""


@dataclass(frozen=True)
class Command:
    page: str
    text: str
    output: str


def blocks(page: Path, *languages: str) -> Iterator[re.Match[str]]:
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["language"] in languages:
            yield block


def commands(page: Path) -> Iterator[Command]:
    for block in blocks(page, "console", "sh", "bash"):
        if block["way"] == "not run":
            continue
        body = block["body"]
        if block["way"] == "with":
            words, _, others = block["what"].partition(" = ")
            assert words in body, f"{page.name}: {words!r} is not in the block"
            body = body.replace(words, others)
        for entry in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            text, _, output = entry.partition("\n")
            yield Command(page.name, SET_UP.sub("", text), output)


class Reader:
    """Somebody who types the commands in a folder, each one once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: dict[str, subprocess.CompletedProcess[str]] = {}

    def run(self, text: str) -> subprocess.CompletedProcess[str]:
        if text not in self.seen:
            here = shlex.quote(str(Path(sys.executable).parent))
            self.seen[text] = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", text.replace(".venv/bin/", f"{here}/")],
                cwd=self.folder,
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "COLUMNS": "100"},
            )
        return self.seen[text]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    return Reader(tmp_path_factory.mktemp("reader"))


def words(text: str) -> str:
    """The words of an output: what a version of DuckDB draws around them does not matter, nor do times."""
    without_times = re.sub(r"\b\d+\.\d+ s\b", "…", text)
    return " ".join(re.sub(r"[─-╿]", " ", without_times).split())


def same(expected: str, printed: str) -> bool:
    """Whether the output is the expected one."""
    pattern = re.escape(words(expected)).replace("…", ".*?")
    return re.fullmatch(pattern, words(printed)) is not None


@pytest.mark.parametrize(
    "command",
    [pytest.param(each, id=each.text) for page in PAGES for each in commands(page)],
)
def test_the_command_works_and_prints_what_is_shown(command: Command, reader: Reader) -> None:
    ran = reader.run(command.text)
    assert ran.returncode == 0, ran.stderr
    if command.output:
        assert same(command.output, ran.stdout), ran.stdout


def test_the_readme_shows_what_the_main_job_prints(reader: Reader) -> None:
    (shown,) = blocks(ROOT / "README.md", "")
    ran = reader.run(next(commands(ROOT / "README.md")).text)
    assert same(shown["body"], ran.stdout), ran.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_of_the_page_works(page: Path, reader: Reader) -> None:
    for block in blocks(page, "python"):
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-c", block["body"]],
            cwd=reader.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_first_commands_are_the_two_that_a_newcomer_types() -> None:
    lines = re.findall(r"^\$ (.*)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert lines[:2] == [
        "python3 -m venv .venv && .venv/bin/pip install -e . && .venv/bin/stalebench mine --repo demo",
        ".venv/bin/pip install -e '.[dev]' && .venv/bin/pytest",
    ]


def test_no_page_names_a_place_of_one_machine() -> None:
    for page in [*PAGES, ROOT / "CHANGELOG.md", ROOT / ".ci" / "run"]:
        assert not re.findall(r"/(?:work|home|root|Users)/", page.read_text(encoding="utf-8")), page
