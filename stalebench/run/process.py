"""A process that runs untrusted code: isolated, limited, and taken down with everything it started.

Knows nothing of tests: it hands over the lines that the process writes to its side channel, and how it ended.
"""

from __future__ import annotations

import os
import queue
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from stalebench.errors import RunBroken
from stalebench.run.launch import Capability, capabilities, granted_steps
from stalebench.run.limits import Ending, Line, ProcessLimits, Status, resource_limits
from stalebench.run.scratch import scratch_folder
from stalebench.run.supervisor import Event, Supervisor
from stalebench.run.surroundings import covers, environment, home_variables, visible_folders
from stalebench.run.survivors import MARK

__all__ = [
    "CHANNEL_VARIABLE",
    "CONFIG_VARIABLE",
    "Capability",
    "Ending",
    "Line",
    "Process",
    "ProcessLimits",
    "Status",
    "capabilities",
    "environment",
]

CHANNEL_VARIABLE: Final = "STALEBENCH_CHANNEL"
"""Names the file descriptor of the side channel: a pipe to write lines to."""
CONFIG_VARIABLE: Final = "STALEBENCH_CONFIG"
"""Names the file descriptor of the payload: a pipe to read once, to its end."""

_MIB: Final = 1024 * 1024
_TEMPORARY: Final = "/tmp"  # noqa: S108 - the private one


class Process:
    """One untrusted command, from `with` to the end of the block; nothing it started outlives the block.

    The file system is read-only for it but for `writable` and a private HOME and temporary folder. Of the
    folders that are covered (homes, /tmp, /run) it sees only what lies in `cwd`, `writable`, `readable`,
    PYTHONPATH and its interpreter's folders; likewise of those named by `hidden`. All this as far as
    the machine grants it: see `capabilities`; `isolation` names the steps instead of all that are granted.

    `scratch` keeps HOME and the temporary folder for the next process; `output` is a file for all that it
    writes to standard output and standard error, up to the limit.
    """

    def __init__(
        self,
        argv: Sequence[str | Path],
        *,
        cwd: Path,
        env: Mapping[str, str],
        payload: bytes = b"",
        writable: Sequence[Path] = (),
        readable: Sequence[Path] = (),
        hidden: Sequence[Path] = (),
        scratch: Path | None = None,
        output: Path | None = None,
        limits: ProcessLimits | None = None,
        isolation: Sequence[str] | None = None,
    ) -> None:
        self._argv = [str(part) for part in argv]
        self._cwd = cwd
        self._env = dict(env)
        self._payload = payload
        self._writable = [Path(os.path.abspath(path)) for path in writable]  # noqa: PTH100 - links stay
        self._readable = list(readable)
        self._hidden = list(hidden)
        self._scratch = scratch
        self._output = output
        self._limits = limits or ProcessLimits()
        self._isolation = isolation
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._last: Status | RunBroken | None = None
        self._stack = ExitStack()
        self._supervisor: Supervisor | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            scratch = self._scratch or stack.enter_context(scratch_folder())
            sink = None if self._output is None else stack.enter_context(self._output.open("wb"))
            request = self._request(scratch)
            supervisor = Supervisor(request, self._payload, self._limits, self._events.put, sink)
            supervisor.start()
            stack.callback(supervisor.join)
            stack.callback(supervisor.kill)
            supervisor.started.wait()
            self._supervisor = supervisor
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def next(self, timeout: float | None = None) -> Line | Status | None:
        """The next line, or the status once all is over; None if neither comes within `timeout` seconds."""
        if self._last is None:
            try:
                event = self._events.get(timeout=timeout)
            except queue.Empty:
                return None
            if isinstance(event, Line):
                return event
            self._last = event
        if isinstance(self._last, RunBroken):
            raise self._last
        return self._last

    def wait(self, timeout: float | None = None) -> Status | None:
        """The status, dropping the lines before it; None if it does not end within `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            event = self.next(left)
            if not isinstance(event, Line):
                return event

    def kill(self) -> None:
        """End everything that the process has started; the status tells `Ending.KILLED`."""
        if self._supervisor is not None:
            self._supervisor.kill()

    @property
    def tail(self) -> str:
        """The last output so far."""
        return "" if self._supervisor is None else self._supervisor.output()

    def _request(self, scratch: Path) -> dict[str, Any]:
        """All that the launcher has to know."""
        steps = granted_steps() if self._isolation is None else tuple(self._isolation)
        program = self._program()
        writable = [str(path) for path in self._writable]
        visible = visible_folders(program, self._cwd, self._env, [*self._readable, *self._writable])
        covered = covers(scratch, visible, self._hidden) if "files" in steps else []
        inside = _TEMPORARY if (_TEMPORARY, str(scratch)) in covered else str(scratch)
        (scratch / "home").mkdir(mode=0o700, exist_ok=True)
        processes = self._limits.processes
        private = home_variables(inside) | {CHANNEL_VARIABLE: "3", CONFIG_VARIABLE: "4"}
        if "processes" not in steps:
            private[MARK] = secrets.token_hex(16)
        return {
            "probe": False,
            "scratch": str(scratch),
            "steps": steps,
            "argv": [str(program), *self._argv[1:]],
            "cwd": os.path.abspath(self._cwd),  # noqa: PTH100 - links stay
            "env": self._env | private,
            "covers": covered,
            "keep": visible,
            "writable": writable if inside == _TEMPORARY else [*writable, str(scratch)],
            "shared_memory": self._limits.memory_mib * _MIB // 2,
            "processes": processes,
            "limits": resource_limits(self._limits, 2 * processes + 400 if "user" in steps else None),
        }

    def _program(self) -> Path:
        found = shutil.which(self._argv[0], path=self._env.get("PATH"))
        if found is None:
            raise RunBroken(
                f"there is no program {self._argv[0]}", "its environment was removed or never built"
            )
        return Path(os.path.abspath(found))  # noqa: PTH100 - links stay: a virtual environment is one
