"""Claims about sandboxed processes: nothing survives them, each shown with one that tries."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from stalebench.errors import RunBroken
from stalebench.run.process import Ending, Line
from tests.run.processes import (
    HOLD,
    MODES,
    PYTHON,
    is_free,
    lines_of,
    process,
)

DAEMON = (
    HOLD
    + """
import resource
import signal
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 32):
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_IGN)
        os.write(3, b"daemon\\n")
        time.sleep(600)
    os._exit(0)
os.wait()
time.sleep(0.1)
"""
)


@pytest.mark.parametrize("isolation", MODES)
def test_a_daemon_that_holds_every_pipe_dies_with_its_parent(
    folder: Path, isolation: tuple[str, ...] | None
) -> None:
    with process(DAEMON, folder, isolation=isolation) as running:
        lines, status = lines_of(running)
        assert is_free(folder)
    assert lines == [b"daemon"]
    assert status.ending is Ending.EXITED


@pytest.mark.parametrize("isolation", MODES)
def test_kill_ends_a_daemon_too(folder: Path, isolation: tuple[str, ...] | None) -> None:
    with process(DAEMON + "time.sleep(600)", folder, isolation=isolation) as running:
        assert isinstance(running.next(60), Line)
        running.kill()
        status = running.wait(60)
        assert status is not None
        assert status.ending is Ending.KILLED
        assert is_free(folder)


@pytest.mark.parametrize("isolation", MODES)
def test_leaving_the_block_ends_everything(folder: Path, isolation: tuple[str, ...] | None) -> None:
    with process(DAEMON + "time.sleep(600)", folder, isolation=isolation) as running:
        assert isinstance(running.next(60), Line)
    assert is_free(folder)


@pytest.mark.parametrize("isolation", MODES)
def test_nothing_survives_a_kill_of_stalebench_itself(
    folder: Path, isolation: tuple[str, ...] | None
) -> None:
    script = folder / "script.py"
    script.write_text(DAEMON + "time.sleep(600)", encoding="utf-8")
    code = f"""
from pathlib import Path
from stalebench.run.process import Process, environment
folder, python = Path({str(folder)!r}), Path({str(PYTHON)!r})
options = dict(cwd=folder, env=environment(python), writable=[folder], isolation={isolation})
with Process([python, "script.py"], **options) as run:
    run.next()
    print("running", flush=True)
    run.wait()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.readline() == "running\n"
        assert not is_free(folder)
        supervisor.kill()
    deadline = time.monotonic() + 30
    while not is_free(folder):
        assert time.monotonic() < deadline, "something survived"
        time.sleep(0.05)


def test_a_run_that_kills_all_it_may_cannot_hide(folder: Path) -> None:
    """Without a process namespace, the launcher itself is within reach."""
    code = DAEMON + "os.kill(os.getppid(), 9)\ntime.sleep(600)"
    with process(code, folder, isolation=()) as running, pytest.raises(RunBroken, match="launcher"):
        running.wait(60)
    assert is_free(folder)
