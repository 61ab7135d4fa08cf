"""Starts the launcher of the sandbox, and finds out which isolation this machine grants."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from stalebench.errors import RunBroken
from stalebench.run.scratch import scratch_folder
from stalebench.run.surroundings import covers

_HERE: Final = str(Path(__file__).resolve().parent)
_PROGRAM: Final = f"import sys; sys.path.append({_HERE!r}); from sandbox.launcher import start; start()"
_STEPS: Final = {
    "files": "read-only file system, private /tmp, no private folders of this machine",
    "network": "no network but 127.0.0.1",
    "ipc": "shared memory and semaphores of its own",
    "processes": "process namespace: nothing can outlive a run",
}
_PROBE_SECONDS: Final = 20


@dataclass(frozen=True, slots=True)
class Capability:
    """One kind of isolation, and whether this machine grants it."""

    name: str
    granted: bool
    detail: str


def launch(request: Mapping[str, Any], handles: tuple[int, ...]) -> subprocess.Popen[bytes]:
    """Start the launcher on a request; it inherits `handles`.

    It dies with the thread that calls this, so that nothing survives a kill of stalebench.
    """
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={},
        cwd="/",
        pass_fds=handles,
        start_new_session=True,
    )
    assert process.stdin is not None  # noqa: S101 - for the type checker
    try:
        with process.stdin as stream:
            marshal.dump(dict(request), stream)
    except BrokenPipeError:
        pass  # it died: whoever reads its status pipe will see
    return process


def capabilities() -> tuple[Capability, ...]:
    """Which isolation this machine grants, found by trying; the same for the life of the process."""
    granted, denied = _probe()
    return tuple(
        Capability(name, name in granted, text if name in granted else denied.get(name, "not available"))
        for name, text in _STEPS.items()
    )


def granted_steps() -> tuple[str, ...]:
    """The steps of isolation that a run on this machine takes, in order."""
    return _probe()[0]


@cache
def _probe() -> tuple[tuple[str, ...], dict[str, str]]:
    """Granted steps, and why others are denied: directly, or else through a user namespace."""
    if not sys.platform.startswith("linux"):
        return (), dict.fromkeys(_STEPS, f"needs Linux, and this is {sys.platform}")
    direct = _try_steps(tuple(_STEPS))
    if "files" in direct[0]:
        return direct
    through_user = _try_steps(("user", *_STEPS))  # with nothing but itself granted, it is of no use
    return through_user if len(through_user[0]) > 1 else direct


def _try_steps(steps: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, str]]:
    reader, writer = os.pipe()
    with open(reader, encoding="utf-8", errors="replace") as lines, scratch_folder() as scratch:  # noqa: PTH123
        request = {
            "probe": True,
            "steps": steps,
            "status": writer,
            "covers": covers(scratch, []),
            "keep": [],
            "writable": [],
            "shared_memory": 1 << 20,
            "processes": 64,
        }
        process = launch(request, (writer,))
        os.close(writer)
        try:
            process.wait(_PROBE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        words = [line.rstrip("\n").split(" ", 1) for line in lines]
    granted = [word[1] for word in words if word[0] == "granted"]
    denied = dict(word[1].split(": ", 1) for word in words if word[0] == "denied")
    if not granted and not denied:
        raise RunBroken(
            "the launcher of the sandbox does not start",
            f"{sys.executable} cannot run on its own",
            "run `stalebench doctor`",
        )
    if "processes" in granted and "files" not in granted:  # /proc would show the wrong processes
        granted.remove("processes")
    return tuple(granted), denied
