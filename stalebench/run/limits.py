"""What a supervised process may use, and how it can end. Values only."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_MIB: Final = 1024 * 1024
_ADDRESS_SPACE_FACTOR: Final = 4
_ADDRESS_SPACE_EXTRA_MIB: Final = 8192
_OPEN_FILES: Final = 4096


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Limits on a process and everything that it starts, taken together (`file_mib`: on each file)."""

    wall_seconds: float = 1800.0
    memory_mib: int = 4096
    output_mib: int = 16
    """Standard output and standard error."""
    channel_mib: int = 256
    """What may come over the side channel."""
    processes: int = 512
    file_mib: int = 2048
    free_mib: int = 256
    """What must stay free on the disk: a run that meets a full one tells nothing, and ends with an error."""
    address_space: bool = True
    """Whether to cap what may be reserved, too: engines of JavaScript reserve more than any sensible cap."""


class Ending(StrEnum):
    """Why a process is no more. All but the first two are kills of ours."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    WALL_TIMEOUT = "wall_timeout"
    OUT_OF_MEMORY = "out_of_memory"
    OUTPUT_FLOOD = "output_flood"
    CHANNEL_FLOOD = "channel_flood"
    TOO_MANY_PROCESSES = "too_many_processes"
    KILLED = "killed"
    """By `Process.kill`."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the side channel, without its end; the very last one may be cut short."""

    data: bytes
    at: float
    """`time.monotonic()` when it was read."""


@dataclass(frozen=True, slots=True)
class Status:
    """How a process ended. `output` is the end of what it wrote to standard output and standard error."""

    ending: Ending
    code: int | None
    signal: int | None
    seconds: float
    cpu_seconds: float
    peak_mib: float
    output: str


def resource_limits(limits: ProcessLimits, processes: int | None) -> dict[str, tuple[int, int]]:
    """The kernel's own limits on each process, by the name that `resource` has for them.

    Memory is watched from outside: address space is only a backstop, far above the limit, since numeric
    libraries reserve much more than they use. So is `processes`, which counts all threads of the user in the
    namespace; None where there is no such namespace, and the user's other processes would count.
    """
    space = limits.memory_mib * _ADDRESS_SPACE_FACTOR + _ADDRESS_SPACE_EXTRA_MIB
    values = {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": limits.file_mib * _MIB,
        "RLIMIT_NOFILE": _OPEN_FILES,
    }
    if limits.address_space:
        values["RLIMIT_AS"] = space * _MIB
    if processes is not None:
        values["RLIMIT_NPROC"] = processes
    return {name: (value, value) for name, value in values.items() if hasattr(resource, name)}
