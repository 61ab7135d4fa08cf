"""Real processes in the sandbox, to make claims about: how they are started, ended and looked at."""

from __future__ import annotations

import fcntl
import os
import sys
import textwrap
import time
from pathlib import Path

import pytest

from stalebench.run.launch import _try_steps
from stalebench.run.process import Line, Process, ProcessLimits, Status, capabilities, environment

PYTHON = Path(sys.executable)
GRANTED = {capability.name for capability in capabilities() if capability.granted}
THROUGH_USER = ("user", "files", "network", "ipc", "processes")
MODES = [
    pytest.param(None, id="all isolation that is granted"),
    pytest.param(
        THROUGH_USER,
        id="through a user namespace",
        marks=pytest.mark.skipif(
            set(_try_steps(THROUGH_USER)[0]) != {*THROUGH_USER},
            reason="this machine grants no user namespaces",
        ),
    ),
    pytest.param((), id="no isolation at all"),
]
HOLD = """
import fcntl, os, sys, time
def hold():  # the lock is free again only once every process that inherits it is dead
    handle = os.open("held", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(handle, True)
    fcntl.flock(handle, fcntl.LOCK_EX)
    open("ready", "w").close()
hold()
"""


def process(
    code: str,
    folder: Path,
    *,
    limits: ProcessLimits | None = None,
    payload: bytes = b"",
    variables: tuple[tuple[str, str], ...] = (),
    isolation: tuple[str, ...] | None = None,
) -> Process:
    script = folder / "script.py"
    script.write_text(textwrap.dedent(code), encoding="utf-8")
    return Process(
        [PYTHON, "-S", "script.py"],
        cwd=folder,
        env=environment(PYTHON, variables),
        payload=payload,
        writable=[folder],
        limits=limits,
        isolation=isolation,
    )


def result(code: str, folder: Path, **options: object) -> Status:
    with process(code, folder, **options) as running:  # type: ignore[arg-type]
        status = running.wait(60)
    assert status is not None
    return status


def lines_of(running: Process) -> tuple[list[bytes], Status]:
    lines = []
    while isinstance(event := running.next(60), Line):
        lines.append(event.data)
    assert event is not None
    return lines, event


def is_free(folder: Path) -> bool:
    """Whether no process holds the lock any more."""
    handle = os.open(folder / "held", os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.01)


def needs(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(name not in GRANTED, reason=f"this machine grants no {name} isolation")
