from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stalebench.engines import Engine, engine
from stalebench.errors import InfraError, RunBroken, UsageError
from stalebench.spec import Spec
from stalebench.validate import Site

HERE = Path(__file__).parent


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(HERE)
    import engine_jobs  # type: ignore[import-not-found]  # noqa: PLC0415

    return engine_jobs


@pytest.fixture
def site(tmp_path: Path) -> Site:
    spec = Spec(
        "toy", "", "", None, ("plain",), "pytest", "toy", ("toy/**",), (), ("tests/**",), ("test_*.py",)
    )
    return Site(tmp_path, spec, tmp_path)


@pytest.fixture(params=["serial", "local"])
def running(request: pytest.FixtureRequest, site: Site) -> Iterator[Engine]:
    started = engine(request.param, site, 2)
    yield started
    started.close()


@pytest.fixture
def local(site: Site) -> Iterator[Engine]:
    started = engine("local", site, 2)
    yield started
    started.close()


def test_every_job_comes_back_once_with_its_result(running: Engine, jobs: Any) -> None:
    results = {job: result for job, (result, _) in running.map(jobs.double, iter(range(20)))}
    assert results == {job: 2 * job for job in range(20)}


def test_local_work_is_done_by_several_other_processes(local: Engine, jobs: Any) -> None:
    pids = {pid for _, (_, pid) in local.map(jobs.double, range(50))}
    assert os.getpid() not in pids
    assert len(pids) <= 2


def test_no_two_workers_share_a_place(local: Engine, jobs: Any) -> None:
    assert {slot for _, slot in local.map(jobs.slot, range(12))} == {0, 1}


def test_an_engine_takes_several_batches(running: Engine, jobs: Any) -> None:
    for _ in range(2):
        assert sorted(job for job, _ in running.map(jobs.double, [1, 2, 3])) == [1, 2, 3]


def test_jobs_are_taken_from_their_source_only_as_they_can_be_done(local: Engine, jobs: Any) -> None:
    taken: list[int] = []

    def source() -> Iterator[int]:
        for job in range(100):
            taken.append(job)
            yield job

    results = local.map(jobs.double, source())
    next(results)
    assert len(taken) <= 10


def test_a_killed_worker_costs_no_result(local: Engine, jobs: Any) -> None:
    assert sorted(job for job, _ in local.map(jobs.die_once, range(10))) == list(range(10))


def test_a_job_that_always_kills_its_worker_is_given_up_with_its_name(local: Engine, jobs: Any) -> None:
    with pytest.raises(InfraError, match="worker of 7 died 3 times"):
        list(local.map(jobs.die_always, [7]))


def test_an_error_of_the_function_arrives_as_it_was_raised(running: Engine, jobs: Any) -> None:
    with pytest.raises(RunBroken, match="job 1 broke") as caught:
        list(running.map(jobs.complain, [1]))
    assert (caught.value.cause, caught.value.fix) == ("because", "so what")


def test_closing_ends_workers_that_are_at_work(local: Engine, jobs: Any, tmp_path: Path) -> None:
    results = local.map(jobs.note_and_wait, [1, 2])
    _start_in_background(results)
    pids = _wait_for_pids(tmp_path)
    local.close()
    assert all(_gone(pid) for pid in pids)


def test_closing_leaves_no_private_folder_of_any_worker(
    site: Site, jobs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    local = engine("local", site, 2)
    _start_in_background(local.map(jobs.use_scratch, [1, 2]))
    _wait_for_pids(tmp_path)
    assert list(temporary.glob("*/*-*"))
    local.close()
    assert not list(temporary.glob("*/*-*"))


def test_closing_lets_idle_workers_give_their_places_back(local: Engine, jobs: Any, tmp_path: Path) -> None:
    assert sorted(job for job, _ in local.map(jobs.take_place, range(4))) == [0, 1, 2, 3]
    local.close()
    assert {path.name for path in tmp_path.glob("given-back-*")} == {"given-back-0", "given-back-1"}


def test_an_error_that_cannot_be_sent_is_still_told(
    local: Engine, jobs: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RuntimeError, match="Unpicklable: job 1 broke"):
        list(local.map(jobs.complain_unpicklably, [1]))
    assert capfd.readouterr().err == ""


def test_workers_die_with_a_parent_that_is_killed(jobs: Any, tmp_path: Path) -> None:
    code = f"""
import sys; sys.path.insert(0, {str(HERE)!r})
from pathlib import Path
import engine_jobs
from stalebench.engines import engine
from stalebench.spec import Spec
from stalebench.validate import Site
if __name__ == "__main__":
    spec = Spec("toy", "", "", None, (), "pytest", "toy", (), (), (), ())
    list(engine("local", Site(Path({str(tmp_path)!r}), spec, Path({str(tmp_path)!r})), 2).map(
        engine_jobs.note_and_wait, [1, 2]))
"""
    script = tmp_path / "driver.py"
    script.write_text(code)
    driver = subprocess.Popen([sys.executable, script])
    pids = _wait_for_pids(tmp_path)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert all(_gone(pid) for pid in pids)


def test_an_unknown_engine_is_a_wrong_use(site: Site) -> None:
    with pytest.raises(UsageError, match="warp"):
        engine("warp", site, 2)


def _start_in_background(results: Iterator[Any]) -> None:
    import threading  # noqa: PLC0415

    def drain() -> None:
        try:
            list(results)
        except Exception:  # noqa: BLE001 - the pool is closed under it, on purpose
            return

    threading.Thread(target=drain, daemon=True).start()


def _wait_for_pids(folder: Path) -> list[int]:
    for _ in range(400):
        pids = [int(path.name.removeprefix("pid-")) for path in folder.glob("pid-*")]
        if len(pids) == 2:
            return pids
        time.sleep(0.05)
    pytest.fail("the workers did not start")


def _gone(pid: int) -> bool:
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False
