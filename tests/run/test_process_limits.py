"""Claims about sandboxed processes: their limits hold, each shown with one that goes beyond."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from stalebench.errors import RunBroken
from stalebench.run.process import Ending, ProcessLimits
from tests.run.processes import (
    HOLD,
    MODES,
    is_free,
    process,
    result,
)


@pytest.mark.parametrize("isolation", MODES)
def test_a_hang_that_ignores_signals_ends_in_time(folder: Path, isolation: tuple[str, ...] | None) -> None:
    code = HOLD + "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass"
    status = result(code, folder, limits=ProcessLimits(wall_seconds=1), isolation=isolation)
    assert status.ending is Ending.WALL_TIMEOUT
    assert is_free(folder)


@pytest.mark.parametrize("isolation", MODES)
def test_a_stopped_process_ends_in_time(folder: Path, isolation: tuple[str, ...] | None) -> None:
    code = HOLD + "import signal\nos.kill(os.getpid(), signal.SIGSTOP)"
    status = result(code, folder, limits=ProcessLimits(wall_seconds=1), isolation=isolation)
    assert status.ending is Ending.WALL_TIMEOUT
    assert is_free(folder)


def test_a_flood_of_output_ends_the_process(folder: Path) -> None:
    status = result("while True: print('x' * 10_000)", folder, limits=ProcessLimits(output_mib=2))
    assert status.ending is Ending.OUTPUT_FLOOD


def test_a_flood_on_the_channel_ends_the_process(folder: Path) -> None:
    code = "import os\nwhile True: os.write(3, b'x' * 10_000)"
    status = result(code, folder, limits=ProcessLimits(channel_mib=2))
    assert status.ending is Ending.CHANNEL_FLOOD


@pytest.mark.parametrize("isolation", MODES)
def test_memory_without_end_ends_the_process(folder: Path, isolation: tuple[str, ...] | None) -> None:
    code = """
    import time
    held = []
    while True:
        held.append(b"x" * 5_000_000)
        time.sleep(0.005)
    """
    status = result(code, folder, limits=ProcessLimits(memory_mib=150), isolation=isolation)
    assert status.ending is Ending.OUT_OF_MEMORY
    assert status.peak_mib > 150


def test_memory_is_limited_for_all_processes_together(folder: Path) -> None:
    code = """
    import os, time
    for _ in range(6):
        if os.fork() == 0:
            held = b"x" * 40_000_000
            time.sleep(600)
    time.sleep(600)
    """
    assert result(code, folder, limits=ProcessLimits(memory_mib=150)).ending is Ending.OUT_OF_MEMORY


def test_memory_that_forks_share_counts_once(folder: Path) -> None:
    code = """
    import os, time
    held = b"x" * 80_000_000
    children = [os.fork() or (time.sleep(1), os._exit(0)) for _ in range(5)]
    for _ in children:
        os.wait()
    """
    assert result(code, folder, limits=ProcessLimits(memory_mib=200)).ending is Ending.EXITED


def test_address_space_that_is_only_reserved_does_not_count(folder: Path) -> None:
    code = "import mmap; reserved = mmap.mmap(-1, 4 << 30)\nprint('reserved')"
    assert result(code, folder, limits=ProcessLimits(memory_mib=100)).output == "reserved\n"


@pytest.mark.parametrize("isolation", MODES)
def test_a_fork_bomb_ends(folder: Path, isolation: tuple[str, ...] | None) -> None:
    code = (
        HOLD
        + """
for _ in range(300):  # a bounded one, for the sake of the machine should this test fail
    try:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
    except OSError:
        pass
time.sleep(600)
"""
    )
    status = result(code, folder, limits=ProcessLimits(processes=40), isolation=isolation)
    assert status.ending is Ending.TOO_MANY_PROCESSES
    assert is_free(folder)


def test_a_huge_file_cannot_be_written(folder: Path) -> None:
    code = """
    import os, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with open("huge", "wb", 0) as file:
            while True:
                file.write(b"x" * 1_000_000)
    except OSError as error:
        print(error.strerror)
    """
    assert result(code, folder, limits=ProcessLimits(file_mib=4)).output == "File too large\n"
    assert (folder / "huge").stat().st_size == 4 * 1024 * 1024


def test_a_full_disk_is_no_verdict(folder: Path) -> None:
    limits = ProcessLimits(free_mib=10**9)  # more than any disk has
    with (
        process("import time; time.sleep(600)", folder, limits=limits) as running,
        pytest.raises(RunBroken, match="free"),
    ):
        running.wait(60)


def test_no_core_is_dumped(folder: Path) -> None:
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE))"
    assert result(code, folder).output == "(0, 0)\n"


def test_address_space_may_be_left_unlimited(folder: Path) -> None:
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_AS)[1] == resource.RLIM_INFINITY)"
    ceiling = resource.getrlimit(resource.RLIMIT_AS)[1] == resource.RLIM_INFINITY
    assert result(code, folder, limits=ProcessLimits(address_space=False)).output == f"{ceiling}\n"
    assert result(code, folder).output == "False\n"
