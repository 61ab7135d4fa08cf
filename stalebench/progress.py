"""How far a long piece of work has come, told on stderr. Knows nothing of what the work is.

Three ways to tell it: `Bars` for a terminal, `Lines` for a log, `Silent` for nobody.
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TextIO

if TYPE_CHECKING:
    from rich.progress import TaskID


class Progress(Protocol):
    """What a stage tells: `stage` once, `advance` for each thing done, `note` now and then."""

    def stage(self, name: str, total: int | None) -> None:
        """Begin the stage of this name, with so many things to do (None: nobody knows)."""
        ...

    def advance(self, n: int = 1) -> None:
        """Say that `n` more things of the current stage are done."""
        ...

    def note(self, text: str) -> None:
        """Say something worth a line of its own."""
        ...

    def status(self, text: str) -> None:
        """Say what the current stage has come to so far; the next status replaces it."""
        ...


class Silent:
    """Tells nothing: for libraries, tests and `--quiet`."""

    def stage(self, name: str, total: int | None) -> None:
        """Tell nothing."""

    def advance(self, n: int = 1) -> None:
        """Tell nothing."""

    def note(self, text: str) -> None:
        """Tell nothing."""

    def status(self, text: str) -> None:
        """Tell nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class Lines:
    """One line for each stage and note: for a log, or a stderr that is no terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.last = ""

    def stage(self, name: str, total: int | None) -> None:
        """Print the stage's name, and how much there is to do."""
        self._end()
        self.note(name if total is None else f"{name}: {total}")

    def advance(self, n: int = 1) -> None:
        """Tell nothing: a log is read afterwards."""

    def note(self, text: str) -> None:
        """Print the note."""
        print(text, file=self.stream, flush=True)

    def status(self, text: str) -> None:
        """Keep it: what a stage came to is printed when it ends."""
        self.last = text

    def _end(self) -> None:
        if self.last:
            self.note(f"  {self.last}")
        self.last = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()


class Bars:
    """A bar for each stage, drawn on a terminal while the context is open."""

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - slow, and only a terminal needs it
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
        )
        from rich.progress import Progress as RichProgress  # noqa: PLC0415

        self.bars = RichProgress(
            TextColumn("{task.description:<16}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            redirect_stdout=False,
        )
        self.current: TaskID | None = None
        self.name = ""

    def stage(self, name: str, total: int | None) -> None:
        """Draw a new bar, and let the one before stand as it is."""
        self._end()
        self.name = name
        self.current = self.bars.add_task(name, total=total)

    def advance(self, n: int = 1) -> None:
        """Move the current bar."""
        if self.current is not None:
            self.bars.advance(self.current, n)

    def note(self, text: str) -> None:
        """Print the note above the bars."""
        self.bars.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def status(self, text: str) -> None:
        """Write it beside the name of the stage."""
        if self.current is not None:
            self.bars.update(self.current, description=f"{self.name} ({text})")

    def _end(self) -> None:
        """Complete the bar of a stage that never knew its total, and stop its clock."""
        if self.current is None:
            return
        task = next(task for task in self.bars.tasks if task.id == self.current)
        if task.total is None:
            self.bars.update(self.current, total=max(task.completed, 1), completed=max(task.completed, 1))
        self.bars.stop_task(self.current)

    def __enter__(self) -> Self:
        self.bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._end()
        self.bars.stop()


def of(*, quiet: bool = False) -> Silent | Lines | Bars:
    """The way that fits stderr: bars on a terminal, else lines; nothing if quiet. Open it with `with`."""
    if quiet:
        return Silent()
    return Bars() if sys.stderr.isatty() else Lines()
