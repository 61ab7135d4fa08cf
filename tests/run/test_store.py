"""Claims about stored runs, and about the runner that asks for them first."""

from __future__ import annotations

import logging
import multiprocessing
import resource
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stalebench.errors import InfraError, RunBroken
from stalebench.outcomes import Outcome
from stalebench.records import Run, TestResult
from stalebench.run import RUNNER_VERSION, Runner, RunStore
from stalebench.spec import Limits
from stalebench.suites import suite

RUN = Run(
    tree="a" * 40,
    suite="b" * 32,
    environment="key",
    version=1,
    repeat=0,
    results=(
        TestResult("t.py::test_a[ä\udc80\n]", "t.py::test_a", Outcome.FAILED, "KeyError", 0.25, "tail\udcff"),
        TestResult("t.py::test_b", "t.py::test_b", Outcome.PASSED),
    ),
    unloaded=(("u.py", "why"),),
    seconds=1.5,
)
TEXT = st.text(st.characters())


def got(store: RunStore, run: Run) -> Run | None:
    return store.get(run.tree, run.suite, run.environment, run.version, run.repeat)


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


def stored_file(store: RunStore) -> Path:
    (path,) = store.folder.rglob("*.json")
    return path


def test_what_is_put_is_got(store: RunStore) -> None:
    assert got(store, RUN) is None
    store.put(RUN)
    assert got(store, RUN) == RUN


@given(
    st.lists(st.builds(TestResult, TEXT, TEXT, st.sampled_from(Outcome), TEXT, st.floats(0, 1e6), TEXT)),
    st.lists(st.tuples(TEXT, TEXT)),
)
def test_any_text_survives(
    tmp_path_factory: pytest.TempPathFactory, results: list[TestResult], unloaded: list[tuple[str, str]]
) -> None:
    store = RunStore(tmp_path_factory.mktemp("runs"))
    run = replace(RUN, results=tuple(results), unloaded=tuple(unloaded))
    store.put(run)
    assert got(store, run) == run


@pytest.mark.parametrize(
    "change",
    [{"tree": "c" * 40}, {"suite": "c" * 32}, {"environment": "other"}, {"version": 2}, {"repeat": 1}],
    ids=lambda change: next(iter(change)),
)
def test_a_run_is_got_by_its_whole_name_only(store: RunStore, change: dict[str, Any]) -> None:
    store.put(RUN)
    assert got(store, replace(RUN, **change)) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda _: b"",
        lambda data: data.replace(b"failed", b"passed"),
        lambda data: data.replace(b'"repeat":0', b'"repeat":1'),
        lambda _: b"[]",
        lambda data: b"\xff" + data,
    ],
    ids=["cut", "empty", "forged", "renamed", "other", "bytes"],
)
def test_a_damaged_file_is_absent_and_said(
    store: RunStore, damage: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    store.put(RUN)
    path = stored_file(store)
    path.write_bytes(damage(path.read_bytes()))
    with caplog.at_level(logging.WARNING, "stalebench.run"):
        assert got(store, RUN) is None
    assert str(path) in caplog.text
    store.put(RUN)
    assert got(store, RUN) == RUN


def test_a_run_of_another_name_in_its_place_is_absent(store: RunStore, tmp_path: Path) -> None:
    store.put(RUN)
    other = RunStore(tmp_path / "other")
    other.put(replace(RUN, repeat=1))
    stored_file(store).write_bytes(stored_file(other).read_bytes())
    assert got(store, RUN) is None


def test_a_full_disk_leaves_nothing_half_written(store: RunStore) -> None:
    store.put(RUN)
    big = replace(RUN, repeat=1, unloaded=(("u.py", "x" * 100_000),))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(InfraError, match="cannot be stored"):
            store.put(big)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.suffix for path in store.folder.rglob("*") if path.is_file()] == [".json"]
    assert got(store, big) is None


def test_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(InfraError, match="way out"):
        RunStore(tmp_path / "runs").put(RUN)


def _put_and_get(folder: Path, rounds: int) -> bool:
    store = RunStore(folder)
    for _ in range(rounds):
        store.put(RUN)
        if got(store, RUN) != RUN:
            return False
    return True


def test_several_processes_may_write_the_same_run(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.starmap(_put_and_get, [(tmp_path, 30)] * 3) == [True] * 3
    assert len(list(tmp_path.rglob("*.*"))) == 1


COUNTING = {
    "tests/test_c.py": """
        import time
        def test_c(): raise ValueError(time.monotonic_ns())
    """
}


def test_a_runner_runs_each_run_once(site: Any, store: RunStore) -> None:
    runner = Runner(site.objects, site.checkout, store, site.spec)
    tree = site.tree(COUNTING)
    wanted = suite(["tests/test_c.py"], None)
    first = runner.run(tree, wanted, site.built)
    assert runner.run(tree, wanted, site.built) == first
    assert runner.run(tree, wanted, site.built, repeat=1).results[0].tail != first.results[0].tail
    assert (first.version, first.suite, first.tree) == (RUNNER_VERSION, wanted.id, tree)


def test_a_broken_run_is_never_stored(make_site: Callable[..., Any], store: RunStore) -> None:
    site = make_site(limits=Limits(run_seconds=2.0))
    runner = Runner(site.objects, site.checkout, store, site.spec)
    tree = site.tree({"tests/test_t.py": "import time\ndef test_t(): time.sleep(60)"})
    with pytest.raises(RunBroken):
        runner.run(tree, suite(["tests/test_t.py"], None), site.built)
    assert not list(store.folder.rglob("*"))
