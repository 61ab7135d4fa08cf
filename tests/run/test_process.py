"""Claims about sandboxed processes, each shown with a real one that misbehaves."""

from __future__ import annotations

import fcntl
import hashlib
import os
import resource
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stalebench.errors import RunBroken
from stalebench.run.launch import _try_steps
from stalebench.run.process import Ending, Line, Process, ProcessLimits, Status, capabilities, environment

PYTHON = Path(sys.executable)
GRANTED = {capability.name for capability in capabilities() if capability.granted}
THROUGH_USER = ("user", "files", "network", "ipc", "processes")
MODES = [
    pytest.param(None, id="all isolation that is granted"),
    pytest.param(
        THROUGH_USER,
        id="through a user namespace",
        marks=pytest.mark.skipif(
            set(_try_steps(THROUGH_USER)[0]) != {*THROUGH_USER},
            reason="this machine grants no user namespaces",
        ),
    ),
    pytest.param((), id="no isolation at all"),
]
HOLD = """
import fcntl, os, sys, time
def hold():  # the lock is free again only once every process that inherits it is dead
    handle = os.open("held", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(handle, True)
    fcntl.flock(handle, fcntl.LOCK_EX)
    open("ready", "w").close()
hold()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "checkout"
    inside.mkdir()
    return inside


def process(
    code: str,
    folder: Path,
    *,
    limits: ProcessLimits | None = None,
    payload: bytes = b"",
    variables: tuple[tuple[str, str], ...] = (),
    isolation: tuple[str, ...] | None = None,
) -> Process:
    script = folder / "script.py"
    script.write_text(textwrap.dedent(code), encoding="utf-8")
    return Process(
        [PYTHON, "-S", "script.py"],
        cwd=folder,
        env=environment(PYTHON, variables),
        payload=payload,
        writable=[folder],
        limits=limits,
        isolation=isolation,
    )


def result(code: str, folder: Path, **options: object) -> Status:
    with process(code, folder, **options) as running:  # type: ignore[arg-type]
        status = running.wait(60)
    assert status is not None
    return status


def lines_of(running: Process) -> tuple[list[bytes], Status]:
    lines = []
    while isinstance(event := running.next(60), Line):
        lines.append(event.data)
    assert event is not None
    return lines, event


def is_free(folder: Path) -> bool:
    """Whether no process holds the lock any more."""
    handle = os.open(folder / "held", os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.01)


def needs(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(name not in GRANTED, reason=f"this machine grants no {name} isolation")


# --- how it ends


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


# --- the side channel and the payload


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


# --- nothing survives


DAEMON = (
    HOLD
    + """
import resource
import signal
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 32):
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_IGN)
        os.write(3, b"daemon\\n")
        time.sleep(600)
    os._exit(0)
os.wait()
time.sleep(0.1)
"""
)


@pytest.mark.parametrize("isolation", MODES)
def test_a_daemon_that_holds_every_pipe_dies_with_its_parent(
    folder: Path, isolation: tuple[str, ...] | None
) -> None:
    with process(DAEMON, folder, isolation=isolation) as running:
        lines, status = lines_of(running)
        assert is_free(folder)
    assert lines == [b"daemon"]
    assert status.ending is Ending.EXITED


@pytest.mark.parametrize("isolation", MODES)
def test_kill_ends_a_daemon_too(folder: Path, isolation: tuple[str, ...] | None) -> None:
    with process(DAEMON + "time.sleep(600)", folder, isolation=isolation) as running:
        assert isinstance(running.next(60), Line)
        running.kill()
        status = running.wait(60)
        assert status is not None
        assert status.ending is Ending.KILLED
        assert is_free(folder)


@pytest.mark.parametrize("isolation", MODES)
def test_leaving_the_block_ends_everything(folder: Path, isolation: tuple[str, ...] | None) -> None:
    with process(DAEMON + "time.sleep(600)", folder, isolation=isolation) as running:
        assert isinstance(running.next(60), Line)
    assert is_free(folder)


@pytest.mark.parametrize("isolation", MODES)
def test_nothing_survives_a_kill_of_stalebench_itself(
    folder: Path, isolation: tuple[str, ...] | None
) -> None:
    script = folder / "script.py"
    script.write_text(DAEMON + "time.sleep(600)", encoding="utf-8")
    code = f"""
from pathlib import Path
from stalebench.run.process import Process, environment
folder, python = Path({str(folder)!r}), Path({str(PYTHON)!r})
options = dict(cwd=folder, env=environment(python), writable=[folder], isolation={isolation})
with Process([python, "script.py"], **options) as run:
    run.next()
    print("running", flush=True)
    run.wait()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.readline() == "running\n"
        assert not is_free(folder)
        supervisor.kill()
    deadline = time.monotonic() + 30
    while not is_free(folder):
        assert time.monotonic() < deadline, "something survived"
        time.sleep(0.05)


def test_a_run_that_kills_all_it_may_cannot_hide(folder: Path) -> None:
    """Without a process namespace, the launcher itself is within reach."""
    code = DAEMON + "os.kill(os.getppid(), 9)\ntime.sleep(600)"
    with process(code, folder, isolation=()) as running, pytest.raises(RunBroken, match="launcher"):
        running.wait(60)
    assert is_free(folder)


# --- limits


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


# --- what it sees


def test_no_variable_of_ours_is_handed_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "HTTPS_PROXY", "SSH_AUTH_SOCK", "PYTHONPATH", "SOME_KEY"):
        monkeypatch.setenv(name, "secret")
    status = result("import os; print(sorted(os.environ.items()))", folder, variables=(("WANTED", "yes"),))
    assert "secret" not in status.output
    assert "('WANTED', 'yes')" in status.output


def test_time_zone_locale_and_hash_seed_are_fixed(folder: Path) -> None:
    code = "import os, time; print(time.tzname[0], os.environ['LC_ALL'], hash('a'))"
    first, second = (result(code, folder).output for _ in range(2))
    assert first == second
    assert first.startswith("UTC C.UTF-8 ")


@pytest.mark.parametrize("isolation", MODES)
def test_home_and_temporary_folder_are_private_and_go(
    folder: Path, isolation: tuple[str, ...] | None
) -> None:
    code = """
    import os, tempfile
    for name in ("HOME", "TMPDIR"):
        open(os.path.join(os.environ[name], "left-behind"), "w").close()
    os.makedirs(os.path.join(tempfile.gettempdir(), "a", "b"))
    os.chmod(os.path.join(tempfile.gettempdir(), "a"), 0)
    print(sorted(os.listdir(os.environ["HOME"])), os.environ["TMPDIR"])
    """
    with process(code, folder, isolation=isolation) as running:
        _, status = lines_of(running)
    names, _, temporary = status.output.strip().rpartition(" ")
    assert names == "['left-behind']"
    assert not (Path(temporary) / "left-behind").exists()
    assert not (Path.home() / "left-behind").exists()


@needs("files")
def test_nothing_else_can_be_written(folder: Path) -> None:
    beside = folder.parent / "beside"
    beside.mkdir()
    places = [
        folder.parent / "x",
        beside / "x",
        Path(sys.prefix) / "x",
        Path(__file__).with_name("x"),
        Path("/etc/x"),
    ]
    code = f"""
    for path in {[str(place) for place in places]}:
        try:
            open(path, "w").close()
        except OSError:
            pass
    open("here", "w").close()
    """
    result(code, folder)
    assert not any(place.exists() for place in places)
    assert (folder / "here").exists()


@needs("files")
def test_private_folders_of_the_machine_are_not_seen(folder: Path) -> None:
    secret = folder.parent / "secret"  # below the machine's temporary folder
    secret.write_text("secret")
    code = f"""
    import os
    print(os.path.exists({str(secret)!r}), os.listdir("/run"))
    """
    assert result(code, folder).output == "False []\n"


@needs("files")
def test_what_is_named_readable_is_seen_and_not_written(folder: Path) -> None:
    shared = folder.parent / "shared"
    shared.mkdir()
    (shared / "fonts").write_text("cached")
    code = f"""
    print(open({str(shared / "fonts")!r}).read())
    try:
        open({str(shared / "fonts")!r}, "w")
    except OSError as error:
        print(error.strerror)
    """
    (folder / "script.py").write_text(textwrap.dedent(code))
    command = [str(PYTHON), "-S", "script.py"]
    with Process(
        command, cwd=folder, env=environment(PYTHON), writable=[folder], readable=[shared]
    ) as running:
        _, status = lines_of(running)
    assert status.output == "cached\nRead-only file system\n"


@needs("files")
def test_the_disks_of_the_machine_are_no_devices_here(folder: Path) -> None:
    code = """
    import os
    with open("/dev/null", "w") as null, open("/dev/urandom", "rb") as random:
        null.write("x"), random.read(1)
    print(*os.listdir("/dev"))
    """
    names = result(code, folder).output.split()
    assert {"null", "zero", "urandom", "shm", "pts", "ptmx"} <= set(names)
    assert len(names) < 20


@needs("files")
def test_shared_memory_and_pseudo_terminals_work(folder: Path) -> None:
    code = """
    import os, pty
    from multiprocessing.shared_memory import SharedMemory
    memory = SharedMemory(create=True, size=1000)
    memory.close(), memory.unlink()
    master, slave = pty.openpty()
    os.write(slave, b"terminal\\n")
    print(os.read(master, 100))
    """
    assert result(code, folder).output == "b'terminal\\r\\n'\n"


@needs("network")
def test_the_network_of_the_machine_is_out_of_reach(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"""
        import socket
        try:
            socket.create_connection(("127.0.0.1", {server.getsockname()[1]}), 5)
        except OSError as error:
            print(type(error).__name__)
        with socket.create_server(("127.0.0.1", 0)) as own:
            socket.create_connection(own.getsockname(), 5).close()
            print("its own is there")
        """
        assert result(code, folder).output == "ConnectionRefusedError\nits own is there\n"


@needs("processes")
def test_processes_of_the_machine_are_out_of_reach(folder: Path) -> None:
    code = (
        "import os; print(os.getpid(), sorted(int(name) for name in os.listdir('/proc') if name.isdigit()))"
    )
    assert result(code, folder).output == "2 [1, 2]\n"


def test_no_privilege_is_left(folder: Path) -> None:
    code = "print(open('/proc/self/status').read())"
    words = result(code, folder).output.split()
    assert words[words.index("NoNewPrivs:") + 1] == "1"
    assert int(words[words.index("CapEff:") + 1], 16) == 0


def test_modes_of_files_bind_also_who_is_root(folder: Path) -> None:
    code = """
    import os
    open("closed", "w").close()
    os.chmod("closed", 0)
    try:
        open("closed")
    except PermissionError:
        print("denied")
    """
    assert result(code, folder).output == "denied\n"


def test_it_may_remove_the_folder_it_stands_in(folder: Path) -> None:
    code = """
    import os, shutil
    shutil.rmtree(os.getcwd(), ignore_errors=True)
    print(os.listdir("."))
    """
    status = result(code, folder, isolation=None if "files" in GRANTED else ())
    assert status.ending is Ending.EXITED


def test_only_the_two_pipes_are_inherited(folder: Path) -> None:
    code = """
    import os
    found = []
    for number in range(1024):
        try:
            os.fstat(number)
        except OSError:
            continue
        found.append(number)
    print(found)
    """
    with (folder / "open-in-the-parent").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        assert result(code, folder).output == "[0, 1, 2, 3, 4]\n"


# --- many at once


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


@needs("files")
def test_what_is_named_hidden_is_not_seen_but_for_what_is_needed_in_it(folder: Path) -> None:
    code = f"""
    import os
    for path in ("/opt", "/srv", "/mnt", {str(folder)!r}):
        print(os.listdir(path) if os.path.isdir(path) else [])
    """
    (folder / "script.py").write_text(textwrap.dedent(code))
    hidden = [Path("/opt"), Path("/srv"), Path("/mnt"), folder.parent]
    command = [str(PYTHON), "-S", "script.py"]
    with Process(command, cwd=folder, env=environment(PYTHON), writable=[folder], hidden=hidden) as running:
        _, status = lines_of(running)
    shown = [name for name in ("/opt", "/srv", "/mnt") if sys.prefix.startswith(name)]
    assert status.output.count("[]\n") == 3 - len(shown)
    assert status.output.endswith("['script.py']\n")


@pytest.mark.parametrize("isolation", MODES)
def test_home_and_temporary_folder_can_be_kept_for_the_next_process(
    folder: Path, isolation: tuple[str, ...] | None
) -> None:
    scratch = folder.parent / "scratch"
    scratch.mkdir()
    write = 'import os; [open(os.environ[name] + "/kept", "a").write(name) for name in ("HOME", "TMPDIR")]'
    read = 'import os; print(*(open(os.environ[name] + "/kept").read() for name in ("HOME", "TMPDIR")))'
    for code in (write, read):
        with Process(
            [PYTHON, "-S", "-c", code],
            cwd=folder,
            env=environment(PYTHON),
            scratch=scratch,
            isolation=isolation,
        ) as running:
            _, status = lines_of(running)
    assert status.output == "HOME TMPDIR\n"
    assert (scratch / "kept").exists()


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


def test_address_space_may_be_left_unlimited(folder: Path) -> None:
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_AS)[1] == resource.RLIM_INFINITY)"
    ceiling = resource.getrlimit(resource.RLIMIT_AS)[1] == resource.RLIM_INFINITY
    assert result(code, folder, limits=ProcessLimits(address_space=False)).output == f"{ceiling}\n"
    assert result(code, folder).output == "False\n"
