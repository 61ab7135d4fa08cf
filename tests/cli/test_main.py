from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stalebench.cli.app import app
from stalebench.errors import NothingToDo
from tests.cli.command import stalebench
from tests.tables import samples

COMMANDS = (
    "mine",
    "pulls",
    "candidates",
    "compose",
    "validate",
    "run",
    "grade",
    "query",
    "schema",
    "doctor",
    "demo",
    "version",
    "spec",
)
SLOW = ("duckdb", "rich", "pygit2", "pathspec", "pytest", "concurrent.futures", "asyncio")
FOREVER = "select count(*) from range(10000000) t(i), range(100000) u(j) where i * j % 7 = 3"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return samples.write_dataset(tmp_path_factory.mktemp("data") / "toy")


def test_help_lists_every_command() -> None:
    ran = stalebench("--help")
    assert ran.code == 0
    assert re.findall(r"^  ([a-z]+)  ", ran.out.partition("Commands:")[2], re.MULTILINE) == list(COMMANDS)
    assert len(app.registered_commands) + len(app.registered_groups) == len(COMMANDS)


@pytest.mark.parametrize("command", [*COMMANDS, "spec show", "spec list", "spec derive"])
def test_each_command_explains_itself(command: str) -> None:
    ran = stalebench(*command.split(), "--help")
    assert ran.code == 0
    assert "Usage: stalebench " + command in ran.out
    assert ran.err == ""


def test_help_imports_nothing_slow() -> None:
    code = f"""
import sys
from stalebench.cli import main
try: main(["--help"])
except SystemExit: pass
print(sorted(set({SLOW!r}) & set(sys.modules)), file=sys.stderr)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr == "[]\n"


@pytest.mark.parametrize("arguments", [("version",), ("--version",)])
def test_the_version_is_said(arguments: tuple[str, ...]) -> None:
    assert re.fullmatch(r"stalebench \d+\.\d+\.\S+\n", stalebench(*arguments).out)


def test_the_package_runs_as_a_module() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "stalebench", "version"], capture_output=True, text=True, check=True
    )
    assert ran.stdout == stalebench("version").out


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("mien",),
        ("mine", "--nope"),
        ("mine", "--limit", "0"),
        ("mine", "--within", "-1"),
        ("mine", "--since", "yesterday"),
        ("query",),
        ("spec", "show", "no-such-repository"),
        ("schema", "pull"),
    ],
)
def test_bad_usage_exits_2_and_prints_no_data(arguments: tuple[str, ...]) -> None:
    ran = stalebench(*arguments)
    assert ran.code == 2
    assert "Traceback" not in ran.err
    if arguments:
        assert ran.out == ""
        assert ran.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("mine",), 2),
        (("mine", "--limit", "0"), 2),
        (("mine", "--nope"), 2),
        (("mine", "--repo", "no-such-repository"), 2),
        (("query", "no-such-folder", "from pulls"), 2),
        (("schema", "no-such-table"), 2),
    ],
)
def test_json_is_one_document_also_where_a_command_fails(arguments: tuple[str, ...], code: int) -> None:
    ran = stalebench(*arguments, "--json")
    assert ran.code == code
    error = json.loads(ran.out)["error"]
    assert error["exit_code"] == code
    assert error["message"]
    assert ran.err


def test_a_failure_after_the_document_adds_no_second_one(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails_afterwards(_: object, work: Callable[[], None]) -> None:
        work()
        raise NothingToDo("nothing")

    monkeypatch.setattr("stalebench.cli.results._interruptible", fails_afterwards)
    ran = stalebench("query", dataset, "select 1 as a", "--json")
    assert ran.code == 3
    assert json.loads(ran.out)["rows"] == [{"a": 1}]


def test_an_error_has_three_plain_parts_and_no_traceback(tmp_path: Path) -> None:
    ran = stalebench("query", tmp_path, "from pulls")
    assert ran.code == 2
    assert ran.out == ""
    assert re.fullmatch(r"stalebench: .* is no dataset.*\nusual cause: .*\nway out: .*\n", ran.err)


@pytest.mark.parametrize("flag", ["--verbose", "-v"])
def test_verbose_shows_the_traceback(tmp_path: Path, flag: str) -> None:
    ran = stalebench("query", tmp_path, "from pulls", flag)
    assert ran.code == 2
    assert "Traceback (most recent call last)" in ran.err


def test_an_unexpected_error_says_how_to_report_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("stalebench.cli.version.__version__")
    ran = stalebench("version")
    assert ran.code == 1
    assert "unexpected error: NameError" in ran.err
    assert "please report it" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_a_signal_stops_a_query_at_once(
    dataset: Path, number: int, code: int, flags: tuple[str, ...]
) -> None:
    query = [
        sys.executable,
        "-m",
        "stalebench",
        "query",
        str(dataset),
        "set threads = 1; select 1;" + FOREVER,
        *flags,
    ]
    with subprocess.Popen(query, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        if flags:  # nothing is printed before the end: only time tells that the query runs
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(timeout=2)
        elif running.stdout:
            assert running.stdout.readline()
        running.send_signal(number)
        _, complaint = running.communicate(timeout=30)
    assert running.returncode == code
    assert complaint == b"stalebench: stopped; whatever was finished is kept\n"


def test_a_reader_that_goes_away_is_no_error(dataset: Path) -> None:
    query = [
        sys.executable,
        "-m",
        "stalebench",
        "query",
        str(dataset),
        "select i from range(1000000) t(i)",
        "--csv",
    ]
    ours, theirs = os.pipe()
    with subprocess.Popen(query, stdout=theirs, stderr=subprocess.PIPE) as running:
        os.close(theirs)
        os.read(ours, 10)
        os.close(ours)
        _, complaint = running.communicate(timeout=60)
    assert complaint == b""
