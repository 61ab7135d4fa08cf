"""Claims about tests and files that end their process, or never end: nothing else is lost with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stalebench.errors import RunBroken
from stalebench.records import Run, TestResult
from stalebench.spec import Limits

Outcomes = Callable[[Run], dict[str, str]]
PATIENCE = Limits(test_seconds=4.0)


@pytest.fixture(scope="module")
def hasty(make_site: Callable[..., Any]) -> Any:
    return make_site(limits=PATIENCE)


DEATHS = {
    "exit_well": "os._exit(0)",
    "segfault": "ctypes.string_at(0)",
    "kill": "os.kill(os.getpid(), 9)",
    "stop": "raise KeyboardInterrupt",
    "leave": "pytest.exit('enough', returncode=0)",
}


@pytest.fixture(scope="module")
def deaths(site: Any) -> Run:
    lines = ["import ctypes, os, pytest", "def test_before(): pass"]
    for name, line in DEATHS.items():
        lines += [f"def test_{name}(): {line}", f"def test_after_{name}(): assert {len(name) % 2}"]
    made: Run = site.run({"tests/test_d.py": "\n".join(lines)})
    return made


@pytest.mark.parametrize("name", DEATHS)
def test_a_test_that_ends_its_process_is_crashed(deaths: Run, outcomes: Outcomes, name: str) -> None:
    assert outcomes(deaths)[f"test_{name}"] == "crashed"


@pytest.mark.parametrize("name", DEATHS)
def test_the_tests_after_a_crash_have_their_own_outcome(deaths: Run, outcomes: Outcomes, name: str) -> None:
    assert outcomes(deaths)[f"test_after_{name}"] == ("passed" if len(name) % 2 else "failed")


def test_a_crash_that_needs_an_earlier_test_is_not_blamed_on_its_victim(
    site: Any, outcomes: Outcomes
) -> None:
    files = {
        "tests/test_state.py": """
            import os
            state = []
            def test_spoils(): state.append(1)
            def test_victim():
                if state: os._exit(0)
            def test_other(): pass
        """
    }
    assert outcomes(site.run(files)) == {
        "test_spoils": "passed",
        "test_victim": "passed",
        "test_other": "passed",
    }


def test_a_process_that_ends_after_its_last_test_is_not_believed_for_that_test(
    site: Any, outcomes: Outcomes
) -> None:
    files = {
        "tests/conftest.py": """
            import os, pytest
            @pytest.hookimpl(tryfirst=True, hookwrapper=True)
            def pytest_sessionfinish():
                os._exit(0)
                yield
        """,
        "tests/test_x.py": "def test_a(): pass\ndef test_b(): pass",
    }
    assert outcomes(site.run(files)) == {"test_a": "passed", "test_b": "crashed"}


def test_a_hang_is_timed_out_and_the_rest_goes_on(
    hasty: Any, outcomes: Outcomes, find: Callable[[Run, str], TestResult]
) -> None:
    files = {
        "tests/test_h.py": """
            import signal, time
            def test_before(): pass
            def test_sleeps():
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(60)
            def test_after(): pass
        """
    }
    made = hasty.run(files)
    assert outcomes(made) == {"test_before": "passed", "test_sleeps": "timed_out", "test_after": "passed"}
    assert find(made, "test_sleeps").function == "tests/test_h.py::test_sleeps"


def test_files_that_end_or_hold_up_collection_are_unloaded(hasty: Any, outcomes: Outcomes) -> None:
    files = {
        "tests/test_exit.py": "import sys\nsys.exit(0)\ndef test_exit(): pass",
        "tests/test_die.py": "import os\nos._exit(0)\ndef test_die(): pass",
        "tests/test_hang.py": "import time\ntime.sleep(60)\ndef test_hang(): pass",
        "tests/test_stop.py": "raise KeyboardInterrupt\ndef test_stop(): pass",
        "tests/test_leave.py": "import pytest\npytest.exit('enough')\ndef test_leave(): pass",
        "tests/test_fine.py": "def test_fine(): pass",
    }
    wanted = [f"{path}::{path[6:-3]}" for path in files]
    made = hasty.run(files, wanted)
    assert outcomes(made) == {path[6:-3]: "passed" if "fine" in path else "not_collected" for path in files}
    assert [path for path, _ in made.unloaded] == sorted(path for path in files if "fine" not in path)


def test_a_conftest_that_ends_the_process_takes_only_its_folder(site: Any, outcomes: Outcomes) -> None:
    files = {
        "tests/a/conftest.py": "import os\nos._exit(0)",
        "tests/a/test_a.py": "def test_a(): pass",
        "tests/b/conftest.py": "raise SystemExit(0)",
        "tests/b/test_b.py": "def test_b(): pass",
        "tests/c/test_c.py": "def test_c(): pass",
    }
    made = site.run(files, [f"tests/{letter}/test_{letter}.py::test_{letter}" for letter in "abc"])
    assert outcomes(made) == {"test_a": "not_collected", "test_b": "not_collected", "test_c": "passed"}


def test_a_test_that_uses_up_the_memory_loses_nothing_else(
    make_site: Callable[..., Any], outcomes: Outcomes
) -> None:
    site = make_site(limits=Limits(memory_mib=512))
    files = {
        "tests/test_m.py": """
            def test_before(): pass
            def test_greedy():
                kept = []
                while True: kept.append(bytearray(b"x" * 50_000_000))
            def test_after(): pass
        """
    }
    found = outcomes(site.run(files))
    assert found.pop("test_greedy") in {"crashed", "failed"}
    assert found == {"test_before": "passed", "test_after": "passed"}


def test_a_child_that_outlives_its_test_changes_nothing(hasty: Any, outcomes: Outcomes) -> None:
    files = {
        "tests/test_g.py": """
            import os, subprocess, sys
            def test_child():
                subprocess.Popen([sys.executable, "-c", "import time; print('x'); time.sleep(60)"])
            def test_fork():
                if os.fork() == 0:
                    raise RuntimeError("the child goes on with the session")
            def test_bytes():
                os.write(1, b"\\xff\\xfe broken")
            def test_after(): pass
        """
    }
    assert outcomes(hasty.run(files)) == {
        "test_child": "passed",
        "test_fork": "passed",
        "test_bytes": "passed",
        "test_after": "passed",
    }


def test_a_run_that_takes_too_long_is_broken_and_no_verdict(make_site: Callable[..., Any]) -> None:
    site = make_site(limits=Limits(test_seconds=60.0, run_seconds=3.0))
    with pytest.raises(RunBroken, match="within the time"):
        site.run({"tests/test_t.py": "import time\ndef test_t(): time.sleep(60)"})


def test_an_interpreter_without_the_runner_is_broken_and_no_verdict(
    make_site: Callable[..., Any], tmp_path: Any
) -> None:
    site = make_site(variables=(("PYTHONPATH", str(tmp_path)),))
    (tmp_path / "pytest.py").write_text("raise ImportError('no pytest here')")
    with pytest.raises(RunBroken, match="no pytest here"):
        site.run({"tests/test_t.py": "def test_t(): pass"})


def test_a_pytest_in_the_checkout_is_not_the_one_that_runs(site: Any, outcomes: Outcomes) -> None:
    files = {
        "pytest.py": "raise ImportError('not mine')",
        "channel.py": "raise ImportError('not mine')",
        "sitecustomize.py": "import os; os._exit(0)",
        "tests/test_t.py": "def test_t(): assert False",
    }
    assert outcomes(site.run(files)) == {"test_t": "failed"}
