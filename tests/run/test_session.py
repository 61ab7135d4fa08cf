"""Claims about the order of processes: what runs again, what is blamed, and when a run says nothing.

The processes are scripted; real ones are in the tests of crashes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from stalebench.errors import RunBroken
from stalebench.outcomes import Outcome
from stalebench.run.attempt import Attempt, End, Job, Test
from stalebench.run.process import Ending, Status
from stalebench.run.session import Session
from stalebench.spec import Limits
from stalebench.suites import suite

FILE = "tests/test_x.py"
FILES = (FILE, "tests/test_y.py", "more/test_z.py")


def attempt(
    end: End,
    announced: str = "",
    ran: str = "",
    *,
    running: str | None = None,
    loading: str | None = None,
    started: bool = True,
) -> Attempt:
    """A process that announced tests and ran some, each named by one letter."""
    tests = {letter: Test(letter, f"{FILE}::{letter}", FILE) for letter in announced}
    results = {
        letter: {"id": letter, "outcome": "passed", "error": "", "seconds": 0.0, "tail": ""} for letter in ran
    }
    return Attempt(
        end,
        started=started,
        ready=bool(announced),
        tests=tests,
        results=results,
        running=running,
        loading=loading,
        loaded_any=loading is not None,
        reason="why",
    )


def work_off(
    *attempts: Attempt, files: tuple[str, ...] = (FILE,), functions: tuple[str, ...] | None = None
) -> tuple[Session, list[Job]]:
    """A session that meets these attempts, one after the other, and the jobs that it gave out."""
    jobs: list[Job] = []
    script: Iterator[Attempt] = iter(attempts)

    def scripted(job: Job, deadline: float) -> Attempt:
        assert deadline > 0
        jobs.append(job)
        return next(script)

    session = Session(suite(files, functions), Limits(), scripted)
    session.work_off(files)
    assert next(script, None) is None, "a process was expected that was not started"
    return session, jobs


def outcomes(session: Session) -> dict[str, Outcome]:
    return {result.id: result.outcome for result in session.requested()}


def only(job: Job) -> str:
    return "".join(sorted(job.only or ()))


def test_a_closed_process_is_the_only_one() -> None:
    session, jobs = work_off(attempt(End.CLOSED, "ab", "ab"))
    assert outcomes(session) == {"a": Outcome.PASSED, "b": Outcome.PASSED}
    assert len(jobs) == 1


def test_after_a_death_the_rest_runs_without_the_suspect_which_runs_alone() -> None:
    session, jobs = work_off(
        attempt(End.DIED, "abcd", "a", running="b"),
        attempt(End.DIED, "b", running="b"),
        attempt(End.CLOSED, "cd", "cd"),
    )
    assert [(only(job), job.alone) for job in jobs] == [("", False), ("b", True), ("cd", False)]
    assert outcomes(session) == dict.fromkeys("acd", Outcome.PASSED) | {"b": Outcome.CRASHED}


def test_a_suspect_that_passes_alone_has_passed() -> None:
    session, _ = work_off(attempt(End.DIED, "ab", "a", running="b"), attempt(End.CLOSED, "b", "b"))
    assert outcomes(session) == dict.fromkeys("ab", Outcome.PASSED)


def test_a_process_that_dies_between_tests_is_blamed_on_the_last_that_ended() -> None:
    session, jobs = work_off(
        attempt(End.DIED, "abc", "ab"), attempt(End.DIED, "b", "b"), attempt(End.CLOSED, "c", "c")
    )
    assert [only(job) for job in jobs] == ["", "b", "c"]
    assert outcomes(session) == {"a": Outcome.PASSED, "b": Outcome.CRASHED, "c": Outcome.PASSED}


def test_a_hang_is_not_run_again() -> None:
    session, jobs = work_off(attempt(End.HUNG, "ab", running="a"), attempt(End.CLOSED, "b", "b"))
    assert [only(job) for job in jobs] == ["", "b"]
    assert outcomes(session) == {"a": Outcome.TIMED_OUT, "b": Outcome.PASSED}


def test_results_that_do_not_agree_with_the_exit_are_dropped_and_made_again() -> None:
    session, jobs = work_off(
        attempt(End.DOUBTFUL, "ab", "ab"), attempt(End.CLOSED, "ab", "a"), attempt(End.CLOSED, "b", "b")
    )
    assert [(only(job), job.again) for job in jobs] == [("", False), ("", True), ("b", False)]
    assert outcomes(session) == dict.fromkeys("ab", Outcome.PASSED)


@pytest.mark.parametrize(
    ("attempts", "message"),
    [
        ([attempt(End.DOUBTFUL, "a", "a")] * 2, "do not agree"),
        ([attempt(End.LATE, "ab", "a")], "within the time"),
        ([attempt(End.DIED, started=False)], "did not start"),
        ([attempt(End.CLOSED, "ab")], "without running"),
        ([attempt(End.DIED, "ab", running="a"), attempt(End.CLOSED, "z", "z")], "not collected again"),
    ],
    ids=["doubtful twice", "late", "not started", "nothing run", "another collection"],
)
def test_what_did_not_run_is_never_a_failure(attempts: list[Attempt], message: str) -> None:
    with pytest.raises(RunBroken, match=message):
        work_off(*attempts)


def test_the_number_of_processes_is_bounded() -> None:
    def endless(job: Job, deadline: float) -> Attempt:
        del deadline
        letters = only(job) or "".join(map(chr, range(0x4E00, 0x4E00 + 500)))
        return attempt(End.HUNG, letters, running=letters[0])

    session = Session(suite([FILE], None), Limits(), endless)
    with pytest.raises(RunBroken, match="processes"):
        session.work_off([FILE])


def test_a_file_that_ends_collection_is_tried_alone_before_it_is_blamed() -> None:
    session, jobs = work_off(
        attempt(End.DIED, loading=FILE),
        attempt(End.CLOSED, "a", "a"),
        attempt(End.CLOSED, "b", "b"),
        files=FILES,
    )
    assert [job.files for job in jobs] == [FILES, (FILE,), FILES[1:]]
    assert session.unloaded == {}
    assert outcomes(session) == dict.fromkeys("ab", Outcome.PASSED)


@pytest.mark.parametrize("end", [End.HUNG, End.STOPPED])
def test_a_file_that_says_why_or_hangs_is_blamed_at_once(end: End) -> None:
    session, jobs = work_off(
        attempt(end, loading=FILE), attempt(End.CLOSED, "b", "b"), files=FILES, functions=(f"{FILE}::a",)
    )
    assert [job.files for job in jobs] == [FILES, FILES[1:]]
    assert session.unloaded == {FILE: "why"}
    assert outcomes(session)[f"{FILE}::a"] is Outcome.NOT_COLLECTED


def test_a_start_that_fails_is_tried_folder_by_folder() -> None:
    session, jobs = work_off(
        attempt(End.STOPPED), attempt(End.STOPPED), attempt(End.CLOSED, "c", "c"), files=FILES
    )
    assert [job.files for job in jobs] == [FILES, FILES[:2], FILES[2:]]
    assert session.unloaded == dict.fromkeys(FILES[:2], "why")


AGREEING = Attempt(
    tests={"a": Test("a", "f", "p")},
    results={"a": {}},
    received=5,
    closing={"exit": 1, "number": 4, "results": 1},
)
EXITED = Status(Ending.EXITED, 1, None, 0.0, 0.0, 0.0, "")


@pytest.mark.parametrize(
    ("made", "status", "agrees"),
    [
        (AGREEING, EXITED, True),
        (AGREEING, replace(EXITED, code=0), False),
        (AGREEING, replace(EXITED, ending=Ending.SIGNALLED, code=None, signal=9), False),
        (replace(AGREEING, received=6), EXITED, False),
        (replace(AGREEING, results={}), EXITED, False),
        (replace(AGREEING, running="a"), EXITED, False),
        (replace(AGREEING, closing=None), EXITED, False),
    ],
)
def test_a_closing_message_must_agree_with_all_else(made: Attempt, status: Status, *, agrees: bool) -> None:
    assert made.agrees(status) is agrees
