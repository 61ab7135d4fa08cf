"""The options that several commands share, each declared once, and the set that every stage takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, get_type_hints

import typer

Repo = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="A specification's name (see `stalebench spec list`), or owner/name."),
]
Clone = Annotated[
    str | None,
    typer.Option(metavar="PATH|URL", help="A full clone, or where to clone from. Never written to."),
]
SpecFile = Annotated[
    Path | None,
    typer.Option("--spec", metavar="FILE", help="A specification of your own, see `stalebench spec`."),
]
Since = Annotated[
    datetime | None,
    typer.Option(
        formats=["%Y-%m-%d"], metavar="DATE", help="Only pulls that landed on this day or later (UTC)."
    ),
]
Until = Annotated[
    datetime | None,
    typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="Only pulls that landed before this day (UTC)."),
]
Newest = Annotated[
    int | None, typer.Option("--pulls", min=1, metavar="N", help="Only the newest N eligible pulls.")
]
Within = Annotated[
    float | None, typer.Option(min=0, metavar="DAYS", help="At most so many days between the two landings.")
]
Limit = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="At most N candidate pairs, the newest first.")
]
Pairs = Annotated[
    list[str] | None,
    typer.Option("--pair", metavar="A+B", help="Only this pair of pulls, as 3607+3605; may be given again."),
]
Repeats = Annotated[
    int, typer.Option(min=1, metavar="N", help="How often tests that decide a verdict are run.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "-j", "--jobs", min=1, metavar="N", help="Worker processes; as many as there are cores by default."
    ),
]
EngineName = Annotated[
    str, typer.Option("--engine", metavar="NAME", help="local (worker processes) or serial (this process).")
]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="The dataset's folder; data/NAME by default.")]
Cache = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Where clones and environments are kept; the user's cache by default."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress on stderr.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Show the traceback of an error.")]


class Common(NamedTuple):
    """What every stage is told: which repository, where its dataset is, and how to tell of it."""

    repo: Repo = None
    clone: Clone = None
    spec: SpecFile = None
    out: Out = None
    cache: Cache = None
    json: Json = False
    quiet: Quiet = False
    verbose: Verbose = False


_FIRST: Final = ("repo", "clone", "spec")
"""Those of them that help lists before a command's own options."""


def stage(command: Callable[..., None]) -> Callable[..., None]:
    """Add the common options to those of a command, which gets them together as its first argument."""
    common, own = _parameters(Common), _parameters(command)[1:]

    @wraps(command)
    def told(**given: Any) -> None:
        command(Common(**{name: given.pop(name) for name in Common._fields}), **given)

    first = [each for each in common if each.name in _FIRST]
    rest = [each for each in common if each.name not in _FIRST]
    told.__signature__ = inspect.Signature([*first, *own, *rest])  # type: ignore[attr-defined]
    told.__annotations__ = {each.name: each.annotation for each in (*common, *own)}
    return told


def _parameters(source: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a function or a record, by keyword, with their types evaluated."""
    hints = get_type_hints(source, include_extras=True)
    return [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[each.name])
        for each in inspect.signature(source).parameters.values()
    ]
