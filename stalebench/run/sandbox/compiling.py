"""Run by the Python of the code under test (3.8 or newer): compiles the files that the payload names."""

from __future__ import annotations

import os
import py_compile
import sys


def main() -> None:
    """Say which tag the bytecode of this Python carries; then compile each file whose syntax is valid."""
    with open(int(os.environ["STALEBENCH_CONFIG"]), "rb") as config:
        names = config.read().split(b"\0")
    with open(int(os.environ["STALEBENCH_CHANNEL"]), "w", encoding="ascii") as channel:
        channel.write((sys.implementation.cache_tag or "") + "\n")
    mode = py_compile.PycInvalidationMode.TIMESTAMP
    for name in filter(None, names):
        try:
            py_compile.compile(
                os.path.abspath(os.fsdecode(name)), doraise=True, quiet=2, invalidation_mode=mode
            )
        except (py_compile.PyCompileError, OSError, ValueError, RecursionError, MemoryError):
            continue  # a run that needs it will say so


main()
