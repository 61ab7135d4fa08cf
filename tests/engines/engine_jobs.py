"""Functions for worker processes to run: importable there by name, which a test module is not."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from stalebench.errors import RunBroken
from stalebench.run.scratch import scratch_folder
from stalebench.validate import Workspace


def double(workspace: Workspace, job: int) -> tuple[int, int]:
    return 2 * job, os.getpid()


def slot(workspace: Workspace, job: int) -> int:
    time.sleep(0.05)
    return workspace.slot


def die_once(workspace: Workspace, job: int) -> int:
    """Job 3 kills its worker the first time that it is tried."""
    mark = Path(workspace.site.work, "died")
    if job == 3 and not mark.exists():
        mark.write_text("once")
        os.kill(os.getpid(), signal.SIGKILL)
    return job


def die_always(workspace: Workspace, job: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return job


def complain(workspace: Workspace, job: int) -> int:
    raise RunBroken(f"job {job} broke", "because", "so what")


def use_scratch(workspace: Workspace, job: int) -> int:
    """Take a private folder; job 2 waits in it."""
    with scratch_folder() as folder:
        (folder / "file").touch()
        Path(workspace.site.work, f"pid-{os.getpid()}").touch()
        time.sleep(60 if job == 2 else 0)
    return job


class Closing:
    """In a runner's place: notes that it was closed."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def close(self) -> None:
        self.mark.touch()


def take_place(workspace: Workspace, job: int) -> int:
    vars(workspace)["runner"] = Closing(workspace.site.work / f"given-back-{workspace.slot}")
    time.sleep(0.2)
    return job


class Unpicklable(Exception):
    def __reduce__(self) -> str:
        return "nowhere"


def complain_unpicklably(workspace: Workspace, job: int) -> int:
    raise Unpicklable(f"job {job} broke")


def note_and_wait(workspace: Workspace, job: int) -> int:
    Path(workspace.site.work, f"pid-{os.getpid()}").touch()
    time.sleep(60)
    return job
