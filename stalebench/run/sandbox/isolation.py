"""Enters the namespaces that keep untrusted code apart. Each step raises OSError where the kernel forbids it.

Nothing here falls back: which steps are wanted was found out beforehand, by trying them (`probe`).
"""

from __future__ import annotations

import os

from . import kernel

TYPE_CHECKING = False  # importing typing would double the start-up time
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final

    Plan = dict[str, Any]
    """What a step has to know: `covers`, `keep`, `writable`, `shared_memory` and `processes`."""

_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty")


def enter_user(_: Plan) -> None:
    """A user namespace in which this user is itself and may set up the other namespaces."""
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(kernel.NEW_USER)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def enter_files(plan: Plan) -> None:
    """A read-only file system without the private folders of this machine, but for what the plan names."""
    kernel.unshare(kernel.NEW_MOUNTS)
    kernel.mount("", "/", flags=kernel.RECURSIVE | kernel.PRIVATE)
    devices = [f"/dev/{name}" for name in _DEVICES if os.path.exists(f"/dev/{name}")]
    kept = sorted({*plan["keep"], *plan["writable"]}, key=len)
    handles = {path: os.open(path, os.O_PATH) for path in [*kept, *devices]}
    backings = {backing: os.open(backing, os.O_PATH) for _, backing in plan["covers"] if backing}
    try:
        for folder, backing in plan["covers"]:
            if backing:
                kernel.mount(_handle(backings[backing]), folder, flags=kernel.BIND)
            else:
                kernel.mount("tmpfs", folder, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, "size=1m,mode=755")
        _make_devices(plan["shared_memory"])
        for path in [*kept, *devices]:
            _bind(handles[path], path)
    finally:
        for handle in (*handles.values(), *backings.values()):
            os.close(handle)
    kernel.set_mount("/", add=kernel.READ_ONLY, recursive=True)
    covered = [folder for folder, backing in plan["covers"] if backing]
    for path in (*plan["writable"], *covered, "/dev/shm"):  # noqa: S108 - the private one
        kernel.set_mount(path, clear=kernel.READ_ONLY)


def _make_devices(shared_memory: int) -> None:
    """Only the devices that any program may use: uid 0 could open the disk, also without capabilities."""
    kernel.mount("tmpfs", "/dev", "tmpfs", kernel.NO_SUID, "size=64k,mode=755")
    os.mkdir("/dev/pts")
    os.mkdir("/dev/shm")  # noqa: S108
    kernel.mount(
        "devpts", "/dev/pts", "devpts", kernel.NO_SUID | kernel.NO_EXEC, "newinstance,ptmxmode=0666,mode=620"
    )
    flags = kernel.NO_SUID | kernel.NO_DEVICES
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", flags, f"size={shared_memory},mode=1777")  # noqa: S108
    for name, target in (("ptmx", "pts/ptmx"), ("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0")):
        os.symlink(target, f"/dev/{name}")
    for number, name in enumerate(("stdout", "stderr"), 1):
        os.symlink(f"/proc/self/fd/{number}", f"/dev/{name}")


def _bind(handle: int, path: str) -> None:
    """Show at `path` what the handle was opened on, whatever covers the path by now."""
    if not os.path.lexists(path):
        if os.path.isdir(_handle(handle)):
            os.makedirs(path)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC))
    kernel.mount(_handle(handle), path, flags=kernel.BIND | kernel.RECURSIVE)


def _handle(number: int) -> str:
    return f"/proc/self/fd/{number}"


def enter_network(_: Plan) -> None:
    """A network that holds 127.0.0.1 and nothing else."""
    kernel.unshare(kernel.NEW_NETWORK)
    kernel.raise_loopback()


def enter_ipc(_: Plan) -> None:
    """Shared memory, semaphores and message queues of its own."""
    kernel.unshare(kernel.NEW_IPC)


def enter_processes(_: Plan) -> None:
    """The next child is process 1 of a namespace that dies as a whole with it."""
    kernel.unshare(kernel.NEW_PIDS)


def mount_processes(plan: Plan) -> None:
    """In process 1: a /proc of its namespace; since Linux 6.14, also a cap on the number of processes."""
    flags = kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_EXEC
    kernel.mount("proc", "/proc", "proc", flags)
    release = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    if release >= (6, 14):  # before, the setting is one for the whole machine
        try:
            _write("/proc/sys/kernel/pid_max", str(max(400, 2 * plan["processes"])))
        except PermissionError:  # a backstop only: the supervisor counts processes anyhow
            pass
    kernel.set_mount("/proc", add=kernel.READ_ONLY)


def _write(path: str, text: str) -> None:
    """In one call and without a codec, which Python may no longer find once folders are covered."""
    handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


STEPS: Final[dict[str, Callable[[Plan], None]]] = {
    "user": enter_user,
    "files": enter_files,
    "network": enter_network,
    "ipc": enter_ipc,
    "processes": enter_processes,
}
"""In the order in which they have to be entered."""
