"""Claims about the private folders of runs: none is left for good, none is taken from a living process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

CODE = """
import os, sys
from stalebench.run.scratch import scratch_folder
with scratch_folder() as folder:
    (folder / "left-behind").mkdir(mode=0)
    print(folder.parent, flush=True)
    sys.stdin.readline()
"""


def started(temporary: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CODE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )


def session_of(process: subprocess.Popen[str]) -> Path:
    assert process.stdout is not None
    session = Path(process.stdout.readline().strip())
    an_hour_ago = time.time() - 3600
    os.utime(session, (an_hour_ago, an_hour_ago))
    return session


def test_a_process_leaves_nothing_at_its_end(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        session = session_of(process)
        assert session.exists()
        process.communicate("end\n")
    assert not session.exists()


def test_what_a_killed_process_left_goes_at_the_next_start_and_the_rest_stays(tmp_path: Path) -> None:
    with started(tmp_path) as killed, started(tmp_path) as living:
        dead, alive = session_of(killed), session_of(living)
        killed.kill()
        killed.wait()
        with started(tmp_path) as third:
            session_of(third)
            assert not dead.exists()
            assert alive.exists()
            third.communicate("end\n")
        living.communicate("end\n")
    assert list(alive.parent.iterdir()) == []
