"""Claims about sandboxed processes: what they see and may write, and what not."""

from __future__ import annotations

import os
import socket
import sys
import textwrap
from pathlib import Path

import pytest

from stalebench.run.process import Ending, Process, environment
from tests.run.processes import (
    GRANTED,
    MODES,
    PYTHON,
    lines_of,
    needs,
    process,
    result,
)


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
