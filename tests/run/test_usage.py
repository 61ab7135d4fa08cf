"""Claims about what is measured of a tree of processes."""

from __future__ import annotations

import os
import subprocess
import sys

from stalebench.run.usage import memory_of, processes_below

TREE = """
import os, sys, time
held = b"x" * 50_000_000
for _ in range(3):
    if os.fork() == 0:
        time.sleep(600)
print("ready", flush=True)
sys.stdin.readline()
os.killpg(0, 9)
"""
MIB = 1024 * 1024


def test_children_are_found_and_what_they_share_counts_once() -> None:
    command = [sys.executable, "-S", "-c", TREE]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:  # type: ignore[call-overload]
        process.stdout.readline()
        children = processes_below(process.pid)
        everybody = [process.pid, *children]
        assert len(children) == 3
        assert memory_of(everybody, enough=10**12) > 190 * MIB  # each counted in full
        assert 45 * MIB < memory_of(everybody, enough=0) < 120 * MIB
        process.communicate(b"\n")


def test_a_process_that_is_gone_uses_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert memory_of([process.pid], enough=0) == 0
    assert processes_below(process.pid) == []


def test_grandchildren_are_found() -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert len(processes_below(process.pid)) == 1
        assert len([one for one in processes_below(os.getpid()) if one == process.pid]) == 1
        process.communicate(b"\n")
