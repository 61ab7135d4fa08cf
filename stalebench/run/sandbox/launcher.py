"""Stands between stalebench and one untrusted command: isolates it, waits for it, and takes it down.

Run as a program of its own (`start`), with the request on standard input. Three processes: the launcher,
which dies with stalebench; below it process 1 of the namespace, which takes everything down with
it; below that the command. Where no process namespace is granted, the launcher adopts orphans and kills
whatever stems from it. Says what happens in short lines on the status pipe, and decides nothing.
"""

from __future__ import annotations

import fcntl
import marshal
import os
import resource
import select
import sys
import time

from . import isolation, kernel
from .descendants import descendants

TYPE_CHECKING = False  # importing typing would double the start-up time
if TYPE_CHECKING:
    from typing import Any, NoReturn

    Request = dict[str, Any]

_CHANNEL, _CONFIG, _STATUS = 3, 4, 5
"""Where the command finds its side channel and its payload; the last is closed when the command starts."""
_KILL, _STOP = 9, 19
_POLL_MILLISECONDS = 200


def start() -> NoReturn:
    """Serve the one request that stands on standard input."""
    with open(0, "rb", closefd=False) as stream:
        request: Request = marshal.load(stream)  # noqa: S302 - written by stalebench itself
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if request["probe"]:
        _probe(request)
    step = ""
    try:
        _raise_oom_score()
        for step in request["steps"]:
            isolation.STEPS[step](request)
    except OSError as error:
        _report(request, f"broken {step}: {error}")
        os._exit(1)
    if "processes" in request["steps"]:
        _watch_namespace(request)
    _watch_descendants(request)


def _report(request: Request, line: str) -> None:
    os.write(request["status"], os.fsencode(line.replace("\n", " ")) + b"\n")


def _raise_oom_score() -> None:
    """When memory runs out, the kernel takes the code under test before anything else."""
    with open("/proc/self/oom_score_adj", "wb") as file:
        file.write(b"1000")


def _probe(request: Request) -> NoReturn:
    """Try every step and say which ones are granted."""
    for step in request["steps"]:
        try:
            isolation.STEPS[step](request)
            if step == "processes":
                _probe_processes(request)
        except OSError as error:
            _report(request, f"denied {step}: {error}")
        else:
            _report(request, f"granted {step}")
    os._exit(0)


def _probe_processes(request: Request) -> None:
    child = os.fork()
    if child == 0:
        try:
            isolation.mount_processes(request)
        except OSError as error:
            os._exit(error.errno or 1)
        os._exit(0)
    number = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if number:
        raise OSError(number, f"mount /proc: {os.strerror(number)}")


def _watch_namespace(request: Request) -> NoReturn:
    """The launcher's part with a process namespace: no more than to end process 1 when it is told to."""
    kernel.die_with_parent()
    launcher = os.pidfd_open(os.getpid())
    first = os.fork()
    if first == 0:
        _be_first(request, launcher)
    _report(request, f"root {first}")
    _close_all_but(request["status"], request["lifeline"])
    handle = os.pidfd_open(first)
    readable, _, _ = select.select([handle, request["lifeline"]], [], [])
    if handle not in readable:
        os.kill(first, _KILL)
    os.waitpid(first, 0)
    os._exit(0)


def _be_first(request: Request, launcher: int) -> NoReturn:
    """Process 1: mount /proc, start the command, reap orphans; its own end is the end of all others."""
    kernel.die_with_parent()
    if select.select([launcher], [], [], 0)[0]:  # it was gone before the line above
        os._exit(1)
    try:
        isolation.mount_processes(request)
    except OSError as error:
        _report(request, f"broken processes: {error}")
        os._exit(1)
    target = _fork_target(request)
    _close_all_but(request["status"])
    kernel.forbid_tracing()
    kernel.drop_privileges()
    while True:
        process, status, usage = os.wait4(-1, 0)
        if process == target:
            _report_end(request, status, usage)
            os._exit(0)


def _watch_descendants(request: Request) -> NoReturn:
    """The launcher's part without a process namespace: adopt orphans, and kill all descendants at the end."""
    kernel.adopt_orphans()
    parent = os.getppid()
    target = _fork_target(request)
    _report(request, f"root {os.getpid()}")
    _close_all_but(request["status"], request["lifeline"])
    kernel.forbid_tracing()
    poll = select.poll()
    poll.register(request["lifeline"], select.POLLIN)
    poll.register(os.pidfd_open(target), select.POLLIN)
    ended = False
    while not ended:
        told = any(number == request["lifeline"] for number, _ in poll.poll(_POLL_MILLISECONDS))
        ended = _reap(request, target) or told or os.getppid() != parent
    _kill_descendants()
    os._exit(0)


def _reap(request: Request, target: int) -> bool:
    """Collect what has ended; whether the command is among it."""
    while True:
        process, status, usage = os.wait4(-1, os.WNOHANG)
        if process == target:
            _report_end(request, status, usage)
            return True
        if process == 0:
            return False


def _kill_descendants() -> None:
    """Stop all before the first dies, so that none can start another meanwhile; until none is left."""
    while True:
        alive = descendants(os.getpid())
        for number in (_STOP, _KILL):
            for process in alive:
                try:
                    os.kill(process, number)
                except ProcessLookupError:
                    continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)


def _report_end(request: Request, status: int, usage: resource.struct_rusage) -> None:
    code = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    _report(request, f"end {code} {seconds:.3f} {usage.ru_maxrss}")


def _close_all_but(*kept: int) -> None:
    """Let go of what only the command may hold: a pipe's end is seen only once all have closed it."""
    low = 0
    for number in sorted(kept):
        os.closerange(low, number)
        low = number + 1
    os.closerange(low, max(low, os.sysconf("SC_OPEN_MAX")))


def _fork_target(request: Request) -> int:
    target = os.fork()
    if target:
        return target
    try:
        _become_target(request)
    except OSError as error:
        _report(request, f"broken exec: {error}")
    os._exit(127)


def _become_target(request: Request) -> NoReturn:
    kernel.die_with_parent()
    os.setsid()
    os.umask(0o022)
    _place_handles(request)
    for name, (soft, hard) in request["limits"].items():
        _limit(getattr(resource, name), soft, hard)
    kernel.drop_privileges()
    kernel.default_signals()
    os.chdir(request["cwd"])
    os.execve(request["argv"][0], request["argv"], request["env"])  # noqa: S606


def _place_handles(request: Request) -> None:
    """Output, side channel and payload at fixed numbers; the status pipe closes at exec, all others now."""
    names = ("channel", "config", "status")
    high = [fcntl.fcntl(request[name], fcntl.F_DUPFD_CLOEXEC, _STATUS + 1) for name in names]
    os.dup2(request["output"], 1)
    os.dup2(request["output"], 2)
    os.dup2(high[0], _CHANNEL)
    os.dup2(high[1], _CONFIG)
    request["status"] = os.dup2(high[2], _STATUS, inheritable=False)
    os.closerange(_STATUS + 1, os.sysconf("SC_OPEN_MAX"))


def _limit(which: int, soft: int, hard: int) -> None:
    """Never above what this process may set."""
    ceiling = resource.getrlimit(which)[1]
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(which, (soft, hard))


if __name__ == "__main__":
    sys.exit("started as a module by stalebench, never by hand")
