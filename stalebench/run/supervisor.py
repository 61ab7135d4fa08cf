"""The thread that drains, limits and ends one sandboxed process. Makes no sense of what it says."""

from __future__ import annotations

import os
import selectors
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, Final

from stalebench.errors import RunBroken
from stalebench.run.launch import launch
from stalebench.run.limits import Ending, Line, ProcessLimits, Status
from stalebench.run.survivors import MARK, kill_marked
from stalebench.run.usage import memory_of, processes_below

_MIB: Final = 1024 * 1024
_CHUNK: Final = 1 << 16
_KEPT_OUTPUT: Final = 1 << 16
_CALM, _ALERT = 0.25, 0.05
"""Seconds between two looks at memory: usually, and near the limit."""
_PATIENCE: Final = 5.0
"""Seconds that the launcher has to take everything down."""

Event = Line | Status | RunBroken


class Supervisor:
    """One process under watch, by a thread of its own.

    Calls `deliver` with each line, and at the end with a status or an error; writes all output to `sink`.
    """

    def __init__(
        self,
        request: Mapping[str, Any],
        payload: bytes,
        limits: ProcessLimits,
        deliver: Callable[[Event], None],
        sink: BinaryIO | None = None,
    ) -> None:
        self._thread = threading.Thread(target=self._run, name="stalebench-supervisor", daemon=True)
        self.started = threading.Event()
        self.tail = bytearray()
        self._request = request
        self._payload = memoryview(payload)
        self._limits = limits
        self._deliver = deliver
        self._sink = sink
        self._selector = selectors.DefaultSelector()
        self._open: set[int] = set()
        self._closing = threading.Lock()
        self._wake_reader, self._wake_writer = self._pipe()
        self._handlers: dict[int, Callable[[], bool]] = {}
        self._launcher: subprocess.Popen[bytes] | None = None
        self._root: int | None = None
        self._begun = time.monotonic()
        self._reason: Ending | None = None
        self._told_at = 0.0
        self._end: tuple[int, float, float] | None = None
        self._broken = ""
        self._is_disk_full = False
        self._over = False
        self._line = bytearray()
        self._counts = {"output": 0, "channel": 0}
        self._peak = 0

    # --- from other threads

    def start(self) -> None:
        """Start the process; `started` is set once it runs, or once it is clear that it will not."""
        self._thread.start()

    def join(self) -> None:
        """Wait until all is over."""
        self._thread.join()

    def kill(self) -> None:
        """Ask for the end of everything."""
        with self._closing:  # else the number may by now be another thread's handle
            if self._wake_writer in self._open:
                os.write(self._wake_writer, b"k")

    # --- in the thread

    def _run(self) -> None:
        """Launch, watch until nothing is left, and tell."""
        last: Event
        try:
            self._start_launcher()
            self._watch()
            last = self._result()
        except OSError as error:
            last = RunBroken(
                f"a run cannot be supervised: {error}", "the machine lacks memory, files or processes"
            )
        finally:
            self._clean_up()
        self._deliver(last)
        self.started.set()

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._open.update(ends)
        return ends

    def _close(self, handle: int) -> None:
        with self._closing:
            if handle in self._open:
                self._open.remove(handle)
                os.close(handle)

    def _start_launcher(self) -> None:
        config, self._config_writer = self._pipe()
        self._lifeline: int
        lifeline, self._lifeline = self._pipe()
        self._channel, channel = self._pipe()
        self._output, output = self._pipe()
        self._status, status = self._pipe()
        ends = {
            "channel": channel,
            "config": config,
            "output": output,
            "status": status,
            "lifeline": lifeline,
        }
        self._launcher = launch({**self._request, **ends}, tuple(ends.values()))
        for handle in ends.values():
            self._close(handle)
        self._listen(self._wake_reader, self._on_wake)
        self._listen(self._channel, self._on_channel)
        self._listen(self._output, self._on_output)
        self._listen(self._status, self._on_status)
        self._listen(self._config_writer, self._on_config, selectors.EVENT_WRITE)

    def _listen(self, handle: int, handler: Callable[[], bool], events: int = selectors.EVENT_READ) -> None:
        os.set_blocking(handle, False)
        self._selector.register(handle, events, handler)

    def _watch(self) -> None:
        look_at = self._begun
        while not self._over:
            now = time.monotonic()
            if now >= look_at:
                look_at = now + self._look(now)
            for key, _ in self._selector.select(max(0.0, min(look_at, self._wall_end()) - now)):
                self._serve(key)
        for handle, handler in ((self._channel, self._on_channel), (self._output, self._on_output)):
            while handle in self._selector.get_map() and self._reason is None and handler():
                pass  # what stood in the pipe at the end

    def _serve(self, key: selectors.SelectorKey) -> None:
        if not key.data():
            self._forget(key.fd)

    def _forget(self, handle: int) -> None:
        with suppress(KeyError):
            self._selector.unregister(handle)
        self._close(handle)

    def _wall_end(self) -> float:
        return self._begun + self._limits.wall_seconds if self._reason is None else self._told_at + _PATIENCE

    def _look(self, now: float) -> float:
        """Check time, memory and processes; seconds until the next look."""
        if now >= self._wall_end():
            self._time_is_up()
        if self._root is None or self._reason is not None:
            return _CALM
        limit = self._limits.memory_mib * _MIB
        processes = processes_below(self._root)
        memory = memory_of(processes, limit)
        self._peak = max(self._peak, memory)
        if memory > limit:
            self._stop(Ending.OUT_OF_MEMORY)
        elif len(processes) > self._limits.processes:
            self._stop(Ending.TOO_MANY_PROCESSES)
        elif _free_mib(self._request["scratch"]) < self._limits.free_mib:
            self._is_disk_full = True
            self._stop(Ending.KILLED)
        return _ALERT if 2 * memory > limit or 2 * len(processes) > self._limits.processes else _CALM

    def _time_is_up(self) -> None:
        if self._reason is None:
            self._stop(Ending.WALL_TIMEOUT)
        elif self._launcher is not None:
            self._launcher.kill()  # takes process 1 with it, and so everything

    def _stop(self, reason: Ending) -> None:
        """Make the launcher take everything down; the first reason counts."""
        if self._reason is None:
            self._reason = reason
            self._told_at = time.monotonic()
            self._close(self._lifeline)

    # --- one handler for each pipe: whether it stays open

    def _read(self, handle: int) -> bytes | None:
        """What there is to read; nothing at its end; None if there is nothing yet."""
        try:
            return os.read(handle, _CHUNK)
        except BlockingIOError:
            return None

    def _on_wake(self) -> bool:
        self._stop(Ending.KILLED)
        return False

    def _on_output(self) -> bool:
        data = self._read(self._output)
        if not data:
            return data is None and not self._over
        if self._sink is not None:
            self._sink.write(data)
        self.tail += data
        if len(self.tail) > 2 * _KEPT_OUTPUT:
            del self.tail[:-_KEPT_OUTPUT]
        return self._count("output", len(data), self._limits.output_mib, Ending.OUTPUT_FLOOD)

    def _on_channel(self) -> bool:
        data = self._read(self._channel)
        if not data:
            return data is None and not self._over
        self._line += data
        *whole, rest = self._line.split(b"\n")
        self._line = bytearray(rest)
        now = time.monotonic()
        for line in whole:
            self._deliver(Line(bytes(line), now))
        return self._count("channel", len(data), self._limits.channel_mib, Ending.CHANNEL_FLOOD)

    def _count(self, name: str, size: int, limit_mib: int, reason: Ending) -> bool:
        self._counts[name] += size
        if self._counts[name] > limit_mib * _MIB:
            self._stop(reason)
            return False
        return True

    def _on_status(self) -> bool:
        data = self._read(self._status)
        if data is None:
            return True
        for line in data.decode(errors="replace").splitlines():  # short lines arrive whole
            self._on_report(*line.split(" ", 1))
        self._over = not data
        return bool(data)

    def _on_report(self, word: str, rest: str) -> None:
        if word == "root":
            self._root = int(rest)
            self.started.set()
        elif word == "broken":
            self._broken = rest
        elif word == "end":
            code, seconds, peak = rest.split()
            self._end = (int(code), float(seconds), int(peak) * 1024)

    def _on_config(self) -> bool:
        try:
            self._payload = self._payload[os.write(self._config_writer, self._payload) :]
        except BrokenPipeError:
            return False  # it closed the pipe unread, or is gone
        return bool(self._payload)

    # --- the end

    def _result(self) -> Event:
        seconds = time.monotonic() - self._begun
        if self._broken:
            step, _, detail = self._broken.partition(": ")
            return RunBroken(
                f"the sandbox cannot be set up ({step}: {detail})",
                "a folder, an interpreter or a right that was there before is gone",
                "run `stalebench doctor`",
            )
        if self._is_disk_full:
            return RunBroken(
                f"less than {self._limits.free_mib} MiB are free at {self._request['scratch']}",
                "the disk is full, or a test writes without end",
                "make room there, or set TMPDIR to a larger disk",
            )
        if self._line:
            self._deliver(Line(bytes(self._line), time.monotonic()))
        if self._end is None and self._reason is None:
            return RunBroken(
                "the launcher of the sandbox died", "it was killed from outside, or memory ran out"
            )
        code, cpu, peak = self._end or (None, 0.0, 0)
        ending = self._reason or (Ending.SIGNALLED if code is not None and code < 0 else Ending.EXITED)
        return Status(
            ending=ending,
            code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            seconds=seconds,
            cpu_seconds=cpu,
            peak_mib=max(self._peak, peak) / _MIB,
            output=self.output(),
        )

    def output(self) -> str:
        """The end of what was written so far, as text."""
        return bytes(self.tail[-_KEPT_OUTPUT:]).decode(errors="replace")

    def _clean_up(self) -> None:
        if self._launcher is not None:
            self._close(self._lifeline)
            try:
                self._launcher.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._launcher.kill()
                self._launcher.wait()
        if mark := self._request["env"].get(MARK):
            kill_marked(mark)
        self._selector.close()
        for handle in list(self._open):
            self._close(handle)


def _free_mib(folder: str) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize // _MIB
