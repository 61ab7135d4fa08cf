"""The kernel calls that Python 3.11 lacks, through ctypes. Decides nothing about what to isolate."""

from __future__ import annotations

import ctypes
import os

TYPE_CHECKING = False  # importing typing would double the start-up time
if TYPE_CHECKING:
    from typing import Final

NEW_MOUNTS: Final = 0x00020000
NEW_IPC: Final = 0x08000000
NEW_USER: Final = 0x10000000
NEW_PIDS: Final = 0x20000000
NEW_NETWORK: Final = 0x40000000

READ_ONLY: Final = 1
NO_SUID: Final = 2
NO_DEVICES: Final = 4
NO_EXEC: Final = 8
BIND: Final = 4096
RECURSIVE: Final = 16384
PRIVATE: Final = 1 << 18

_MOUNT_SETATTR: Final = 442  # one number on every architecture
_AT_FDCWD: Final = -100
_AT_RECURSIVE: Final = 0x8000
_SECURE_NO_ROOT: Final = 0b11  # uid 0 gains no capabilities on exec, locked
_CAPABILITY_VERSION: Final = 0x20080522
_SIOCSIFFLAGS: Final = 0x8914
_UP_AND_RUNNING: Final = 0x41

_PR_DEATH_SIGNAL: Final = 1
_PR_DUMPABLE: Final = 4
_PR_DROP_BOUNDING: Final = 24
_PR_SECURE_BITS: Final = 28
_PR_SUBREAPER: Final = 36
_PR_NO_NEW_PRIVILEGES: Final = 38

_SIG_DFL: Final = 0
_libc = ctypes.CDLL(None, use_errno=True)


def _must(result: int, what: str) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Leave the namespaces that the flags name for fresh ones."""
    _must(_libc.unshare(flags), f"unshare({flags:#x})")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or change a mount."""
    encoded = [os.fsencode(text) or None for text in (source, target, kind)]
    result = _libc.mount(*encoded, ctypes.c_ulong(flags), os.fsencode(options) or None)
    _must(result, f"mount {source or kind} on {target}")


def set_mount(target: str, *, add: int = 0, clear: int = 0, recursive: bool = False) -> None:
    """Change the flags of a mount, and of those below it."""
    attributes = (ctypes.c_uint64 * 4)(add, clear, 0, 0)
    at = _AT_RECURSIVE if recursive else 0
    result = _libc.syscall(
        ctypes.c_long(_MOUNT_SETATTR),
        ctypes.c_long(_AT_FDCWD),
        os.fsencode(target),
        ctypes.c_ulong(at),
        attributes,
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )
    _must(result, f"mount_setattr {target}")


def _prctl(option: int, value: int) -> int:
    zero = ctypes.c_ulong(0)
    return int(_libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero))


def die_with_parent() -> None:
    """SIGKILL for this process as soon as the thread that forked it is gone."""
    _must(_prctl(_PR_DEATH_SIGNAL, 9), "prctl(PR_SET_PDEATHSIG)")


def adopt_orphans() -> None:
    """Descendants whose parent dies become children of this process, not of init."""
    _must(_prctl(_PR_SUBREAPER, 1), "prctl(PR_SET_CHILD_SUBREAPER)")


def forbid_tracing() -> None:
    """No process of the same user may trace this one or read its memory."""
    _must(_prctl(_PR_DUMPABLE, 0), "prctl(PR_SET_DUMPABLE)")


def drop_privileges() -> None:
    """No capability is left, and none can come back by exec: uid 0 is then a user like any other."""
    _must(_prctl(_PR_NO_NEW_PRIVILEGES, 1), "prctl(PR_SET_NO_NEW_PRIVS)")
    _prctl(_PR_SECURE_BITS, _SECURE_NO_ROOT)  # needs a capability: who lacks it has nothing to lose
    capability = 0
    while _prctl(_PR_DROP_BOUNDING, capability) == 0:
        capability += 1
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _must(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")


def default_signals() -> None:
    """Give back what Python ignores: SIGPIPE and SIGXFSZ act as for any fresh program."""
    for number in (13, 25):
        _libc.signal(number, ctypes.c_void_p(_SIG_DFL))


def raise_loopback() -> None:
    """Bring up 127.0.0.1 in a fresh network namespace."""
    sock = _must(_libc.socket(2, 2, 0), "socket")
    try:
        request = ctypes.create_string_buffer(
            b"lo".ljust(16, b"\0") + _UP_AND_RUNNING.to_bytes(2, "little"), 40
        )
        _must(_libc.ioctl(sock, ctypes.c_ulong(_SIOCSIFFLAGS), request), "loopback")
    finally:
        os.close(sock)
