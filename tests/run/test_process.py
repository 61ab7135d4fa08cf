"""Claims about sandboxed processes: how they end, what they tell, and many of them at once."""

from __future__ import annotations

import hashlib
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stalebench.errors import RunBroken
from stalebench.run.process import Ending, Line, Process, Status, capabilities, environment
from tests.run.processes import (
    MODES,
    PYTHON,
    lines_of,
    process,
    result,
    wait_for,
)


@pytest.mark.parametrize("isolation", MODES)
def test_an_exit_code_is_told(folder: Path, isolation: tuple[str, ...] | None) -> None:
    status = result(
        "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)", folder, isolation=isolation
    )
    assert (status.ending, status.code, status.signal) == (Ending.EXITED, 7, None)
    assert sorted(status.output.splitlines()) == ["err", "out"]


@pytest.mark.parametrize("isolation", MODES)
def test_a_deadly_signal_is_told(folder: Path, isolation: tuple[str, ...] | None) -> None:
    status = result("import os; os.kill(os.getpid(), 11)", folder, isolation=isolation)
    assert (status.ending, status.code, status.signal) == (Ending.SIGNALLED, None, signal.SIGSEGV)


def test_signals_act_as_on_any_fresh_program(folder: Path) -> None:
    code = """
    import signal
    print([signal.getsignal(number) == signal.SIG_DFL for number in (signal.SIGTERM, signal.SIGHUP)])
    print([line.split()[1] for line in open("/proc/self/status") if line.startswith("SigBlk")])
    """
    assert result(code, folder).output == "[True, True]\n['0000000000000000']\n"


def test_the_status_comes_again_for_each_call(folder: Path) -> None:
    with process("", folder) as running:
        status = running.wait(60)
        assert running.next(0) is status
        assert running.wait(0) is status


def test_output_that_is_not_utf8_does_no_harm(folder: Path) -> None:
    status = result("import os; os.write(1, b'before \\xff\\xc3 after')", folder)
    assert status.output == "before \ufffd\ufffd after"


def test_only_the_end_of_long_output_is_kept(folder: Path) -> None:
    status = result("print('x' * 300_000); print('the end')", folder)
    assert status.output.endswith("x\nthe end\n")
    assert len(status.output) == 65_536


def test_closed_output_does_no_harm(folder: Path) -> None:
    status = result("import os; os.close(1); os.close(2); os._exit(3)", folder)
    assert (status.ending, status.code) == (Ending.EXITED, 3)


def test_a_missing_program_is_no_verdict(folder: Path) -> None:
    with (
        pytest.raises(RunBroken, match="no program"),
        Process([folder / "bin" / "python"], cwd=folder, env=environment(PYTHON)),
    ):
        pass


def test_a_missing_folder_is_no_verdict(folder: Path) -> None:
    with (
        pytest.raises(RunBroken, match="set up"),
        Process([PYTHON, "-c", ""], cwd=folder / "gone", env=environment(PYTHON)) as running,
    ):
        running.wait(60)


def test_lines_come_in_order_with_the_cut_one_last(folder: Path) -> None:
    code = """
    import os
    channel = int(os.environ["STALEBENCH_CHANNEL"])
    for number in range(20_000):
        os.write(channel, b"line %d\\n" % number)
    os.write(channel, b"cut sho")
    os._exit(0)
    """
    with process(code, folder) as running:
        lines, status = lines_of(running)
    assert lines == [b"line %d" % number for number in range(20_000)] + [b"cut sho"]
    assert status.code == 0


def test_a_line_comes_while_the_process_runs(folder: Path) -> None:
    code = """
    import os, time
    os.write(int(os.environ["STALEBENCH_CHANNEL"]), b"started\\n")
    time.sleep(600)
    """
    with process(code, folder) as running:
        before = time.monotonic()
        line = running.next(60)
        assert isinstance(line, Line)
        assert line.data == b"started"
        assert before - 60 < line.at <= time.monotonic()
        assert running.next(0.05) is None


def test_the_payload_is_handed_over_whole_and_once(folder: Path) -> None:
    payload = bytes(range(256)) * 8192
    code = """
    import hashlib, os
    config = int(os.environ["STALEBENCH_CONFIG"])
    data = open(config, "rb", closefd=False).read()
    print(len(data), hashlib.sha256(data).hexdigest(), os.read(config, 1))
    """
    status = result(code, folder, payload=payload)
    assert status.output == f"{len(payload)} {hashlib.sha256(payload).hexdigest()} b''\n"


def test_an_unread_payload_holds_nobody_up(folder: Path) -> None:
    assert result("import os; os.close(4)", folder, payload=b"x" * 1_000_000).code == 0
    assert result("", folder, payload=b"x" * 1_000_000).code == 0


def test_a_closed_channel_is_not_the_end(folder: Path) -> None:
    with process("import os; os.write(3, b'bye\\n'); os.close(3); print('still here')", folder) as running:
        lines, status = lines_of(running)
    assert lines == [b"bye"]
    assert status.output == "still here\n"


def handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@contextmanager
def same_number_of_handles() -> Iterator[None]:
    before = handles()
    yield
    assert handles() == before


def children() -> list[str]:
    """The process ids of this process's children, zombies included."""
    return " ".join(path.read_text() for path in Path("/proc/self/task").glob("*/children")).split()


def test_no_handle_thread_or_zombie_is_left(folder: Path) -> None:
    result("", folder)  # whatever is opened once for good
    threads, others = threading.active_count(), children()  # of tests before this one
    with same_number_of_handles():
        for number in range(15):
            assert result(f"raise SystemExit({number})", folder).code == number
    assert threading.active_count() == threads
    assert children() == others


def test_several_are_supervised_from_several_threads(tmp_path: Path) -> None:
    statuses: dict[int, list[Status]] = {}

    def work(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        code = f"import os; os.write(3, b'{number}\\n'); print({number}); raise SystemExit({number})"
        statuses[number] = [result(code, folder) for _ in range(3)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {number: [(s.code, s.output) for s in found] for number, found in statuses.items()} == {
        number: [(number, f"{number}\n")] * 3 for number in range(6)
    }


def test_a_late_kill_hits_nobody_else(folder: Path) -> None:
    """The first process has let go of its handles by then, and the second one holds the same numbers."""
    with process("", folder) as first:
        first.wait(60)
        code = "import time; open('ready', 'w').close(); time.sleep(0.5); print('lives')"
        with process(code, folder) as second:
            wait_for(folder / "ready")
            first.kill()
            status = second.wait(60)
    assert status is not None
    assert (status.ending, status.output) == (Ending.EXITED, "lives\n")


def test_capabilities_are_told_by_name() -> None:
    assert [capability.name for capability in capabilities()] == ["files", "network", "ipc", "processes"]
    assert all(capability.detail for capability in capabilities())


def test_the_whole_output_can_be_kept_as_bytes_even_of_a_killed_process(folder: Path) -> None:
    code = (
        "import os, time; os.write(1, bytes(range(256)) * 1000); os.write(3, b'written\\n'); time.sleep(600)"
    )
    kept = folder.parent / "kept"
    with Process([PYTHON, "-S", "-c", code], cwd=folder, env=environment(PYTHON), output=kept) as running:
        assert isinstance(running.next(60), Line)
        running.kill()
        running.wait(60)
    assert kept.read_bytes() == bytes(range(256)) * 1000
