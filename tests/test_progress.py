from __future__ import annotations

import io
import os
import pty
import subprocess
import sys

import pytest

from stalebench import progress

TELLING = """
import sys
from stalebench import progress
with progress.of(quiet="quiet" in sys.argv) as told:
    told.stage("compose", 3)
    for _ in range(3): told.advance()
    told.note("a pair [with] brackets")
    told.stage("validate", None)
    told.advance(2)
print("data")
"""


def test_a_log_gets_one_line_for_each_stage_and_note() -> None:
    stream = io.StringIO()
    with progress.Lines(stream) as told:
        told.stage("compose", 3)
        told.advance()
        told.note("a pair")
        told.stage("validate", None)
    assert stream.getvalue() == "compose: 3\na pair\nvalidate\n"


@pytest.mark.parametrize(
    ("arguments", "said"), [([], "compose: 3\na pair [with] brackets\nvalidate\n"), (["quiet"], "")]
)
def test_no_bar_is_drawn_where_stderr_is_no_terminal(arguments: list[str], said: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", TELLING, *arguments], capture_output=True, text=True, check=True
    )
    assert (ran.stdout, ran.stderr) == ("data\n", said)


def test_a_terminal_gets_bars_on_stderr_and_stdout_holds_data_only() -> None:
    ours, theirs = pty.openpty()
    ran = subprocess.run(
        [sys.executable, "-c", TELLING],
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    drawn = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert ran.stdout == b"data\n"
    assert "3/3" in drawn
    assert "2/2" in drawn
    assert "a pair [with] brackets" in drawn
