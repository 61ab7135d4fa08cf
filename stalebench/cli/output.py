"""How results look: on a terminal, and as one JSON document. Computes nothing."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from stalebench.errors import StalebenchError
    from stalebench.mine import MineReport

JSON_VERSION: Final = 1
"""`schema_version` of the documents that are printed here."""

IN_MEMORY: Final = 16 << 20
"""A document that is longer than this waits in a temporary file until it is complete."""

NEXT: Final = "select pair, measure, kind, test from pair_failures order by all"
"""The query that `mine` proposes."""


_answered: Final[list[object]] = []
"""The stream that has got its document."""


def document(content: Mapping[str, Any]) -> None:
    """Print one JSON document."""
    with whole() as stream:
        json.dump({"schema_version": JSON_VERSION, **content}, stream, indent=2, ensure_ascii=True)
        stream.write("\n")


@contextmanager
def whole() -> Iterator[IO[str]]:
    """A stream whose content is printed as the document once the block ends well, else not at all."""
    with SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8", newline="") as stream:
        yield stream
        stream.seek(0)
        _answered[:] = [sys.stdout]
        shutil.copyfileobj(stream, sys.stdout)
    sys.stdout.flush()


def has_answered() -> bool:
    """Whether stdout has got its document: it may have no other."""
    return sys.stdout in _answered


def lines(texts: Iterable[str]) -> None:
    """Print lines of text."""
    sys.stdout.writelines(f"{text}\n" for text in texts)
    sys.stdout.flush()


def remark(text: str) -> None:
    """Say something on stderr that is no error."""
    sys.stderr.write(f"stalebench: {text}\n")


def ended(problem: StalebenchError | None) -> None:
    """Say on stderr what was found lacking once all was printed, and exit with its code; nothing for None."""
    if problem is not None:
        sys.stderr.write(f"stalebench: {problem}\n")
        raise SystemExit(problem.exit_code)


def columns(rows: Sequence[Sequence[object]], *, right: Sequence[int] = ()) -> Iterator[str]:
    """Rows of text in columns that line up; those numbered in `right` are flush right."""
    widths = [max(len(str(cell)) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            str(cell).rjust(width) if index in right else str(cell).ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def report(found: MineReport, *, as_json: bool) -> None:
    """The funnel of a whole run, the control, the dataset's path and what to try next."""
    if as_json:
        content = asdict(found)
        del content["rejected_by_stage"], content["left_out"]
        document({key: value for key, value in content.items() if key != "schema_version"})
        return
    lines([*columns([*_funnel(found)], right=(1, 2, 3)), "", *_control(found), ""])
    out = shlex.quote(found.out)
    lines([f"dataset  {found.out}", f'next     stalebench query {out} "{NEXT}"'])


def _funnel(found: MineReport) -> Iterator[tuple[object, ...]]:
    """A row for each stage, and below it one for each reason."""
    count = found.funnel
    entered_and_left = {
        "pulls": (count["pulls"], count["eligible"]),
        "candidates": (count["candidates"] + _rejected(found, "candidates"), count["candidates"]),
        "compose": (count["candidates"], count["clean"]),
        "validate": (count["clean"], count["valid"]),
    }
    yield "stage", "in", "out", "rejected", "reason"
    for stage, (entered, left) in entered_and_left.items():
        yield stage, entered, left, "", ""
        for reason, number in found.rejected_by_stage.get(stage, {}).items():
            yield "", "", "", number, reason


def _rejected(found: MineReport, stage: str) -> int:
    return sum(found.rejected_by_stage.get(stage, {}).values())


_LEFT_OUT: Final = {
    "uncontrolled": "more without a complete control: counted nowhere",
    "unobservable": "unobservable: not counted in `interfere`",
    "clash_unknown": "with test patches that conflict: not counted in `clash`",
}


def _control(found: MineReport) -> Iterator[str]:
    """What the human patches of the valid pairs do to each other."""
    gold = found.gold_delta
    yield f"{found.funnel['valid']} valid pairs of {found.repo}, in {found.seconds} s"
    yield f"human patches of {gold.pairs} pairs: {gold.interfering} interfere, {gold.clashing} clash"
    for kind, number in gold.kinds.items():
        yield f"  {number} {kind}"
    for why, number in found.left_out.items():
        yield f"  {number} {_LEFT_OUT[why]}"


def stage(out: Path, name: str, *, as_json: bool) -> None:
    """What went into one stage and out of it, with the reasons."""
    from stalebench.tables import connect  # noqa: PLC0415 - slow

    with connect(out) as connection:
        row = connection.execute("SELECT entered, passed FROM funnel WHERE stage = ?", [name]).fetchone()
        reasons = connection.execute(
            "SELECT reason, rejected FROM reasons WHERE stage = ? ORDER BY rejected DESC, reason", [name]
        ).fetchall()
    entered, passed = row or (0, 0)
    if as_json:
        counts = {"entered": entered, "passed": passed, "rejected": dict(reasons)}
        document({"stage": name, "out": str(out), **counts})
        return
    table = [("stage", "in", "out", "rejected", "reason"), (name, entered, passed, "", "")]
    lines(
        [*columns([*table, *(("", "", "", number, reason) for reason, number in reasons)], right=(1, 2, 3))]
    )
    lines(["", f"dataset  {out}"])
