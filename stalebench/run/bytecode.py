"""Bytecode beside the sources of a checkout, written by stalebench alone: else a run does little but compile.

What a run writes there itself is never trusted: `Checkout` removes every file that is not as it was written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from stalebench.run.process import Line, Process, ProcessLimits, environment

_COMPILER: Final = Path(__file__).parent / "sandbox" / "compiling.py"
_WORTH_BYTES: Final = 100_000
"""Sources below this are compiled faster by the run itself than by a process of their own."""
_LIMITS: Final = ProcessLimits(wall_seconds=300, memory_mib=2048, output_mib=1, channel_mib=1, processes=8)


class Bytecode:
    """Which sources runs have read, and which bytecode exists for them."""

    def __init__(self, root: Path) -> None:
        self._root: Final = root
        self._read: set[str] = set()
        self._tags: dict[str, str] = {}
        self._given_up: set[str] = set()
        self.files: dict[str, str] = {}
        """From bytecode file to the source it was made of."""

    def note_read(self, path: str) -> None:
        """A run has read this file: the next ones will probably import it."""
        if path.endswith(".py"):
            self._read.add(path)

    def forget(self, paths: Iterable[str]) -> list[str]:
        """Sources that change or go: the bytecode files that are to be removed with them."""
        gone = {*paths}
        outdated = [file for file, source in self.files.items() if source in gone]
        for file in outdated:
            del self.files[file]
        self._given_up -= gone
        return outdated

    def lose(self, file: str) -> None:
        """A bytecode file that is no longer there, or no longer ours."""
        self.files.pop(file, None)

    def compile(self, python: Path, sizes: dict[str, int]) -> list[str]:
        """Make what is missing for this interpreter, if that pays; what was made. `sizes`: of sources."""
        tag = self._tags.get(str(python), "")
        made = {source for file, source in self.files.items() if file.endswith(f".{tag}.pyc")}
        missing = sorted((self._read & sizes.keys()) - made - self._given_up)
        if sum(sizes[path] for path in missing) < _WORTH_BYTES:
            return []
        tag = self._run_compiler(python, missing)
        self._tags[str(python)] = tag
        found = []
        for source in missing:
            folder, _, name = source.rpartition("/")
            file = f"{folder}/__pycache__/{name[:-3]}.{tag}.pyc".lstrip("/")
            if tag and os.path.lexists(self._root / file):
                self.files[file] = source
                found.append(file)
            else:
                self._given_up.add(source)
        return found

    def _run_compiler(self, python: Path, sources: list[str]) -> str:
        """The tag that the interpreter gives to its bytecode; nothing if it did not come to work."""
        payload = b"\0".join(os.fsencode(source) for source in sources)
        command = [str(python), "-I", "-S", "-B", str(_COMPILER)]
        tag = ""
        with Process(
            command,
            cwd=self._root,
            env=environment(python),
            payload=payload,
            writable=[self._root],
            readable=[_COMPILER.parent],
            limits=_LIMITS,
        ) as process:
            while isinstance(event := process.next(), Line):
                tag = event.data.decode("ascii", errors="replace")
        return tag

    def state(self) -> dict[str, Any]:
        """What is worth knowing at the next start."""
        return {"read": sorted(self._read), "tags": self._tags, "files": self.files}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state` told."""
        self._read = set(state["read"])
        self._tags = dict(state["tags"])
        self.files = dict(state["files"])
