"""From the options of a command to the request that the library takes."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stalebench.errors import UsageError

if TYPE_CHECKING:
    from stalebench.cli.options import Common
    from stalebench.mine import MineRequest


def request(common: Common, **choices: Any) -> MineRequest:
    """A request from scratch."""
    from stalebench.mine import MineRequest  # noqa: PLC0415 - slow

    return MineRequest(
        out=_out(common),
        repo=common.repo,
        clone=common.clone,
        spec_file=common.spec,
        cache=common.cache,
        **choices,
    )


def continued(common: Common, **choices: Any) -> MineRequest:
    """A request for a later stage: what the earlier stages were told stays, and so does the specification."""
    from stalebench.tables import describe  # noqa: PLC0415 - slow

    folder = _out(common)
    told = describe(folder).parameters
    kept = folder / "spec.toml"
    spec = common.spec or (kept if kept.is_file() else None)
    start = request(
        common._replace(out=folder, spec=spec),
        since=_day(told.get("since")),
        until=_day(told.get("until")),
        newest=told.get("newest"),
        within=told.get("within"),
        limit=told.get("limit"),
        pairs=tuple(filter(None, (told.get("pairs") or "").split(","))),
        repeats=told.get("repeats", 2),
    )
    return replace(start, **choices)


def _out(common: Common) -> Path:
    return common.out or default_out(common.repo, common.clone, common.spec)


def default_out(repo: str | None, clone: str | None, spec_file: Path | None) -> Path:
    """`data/` and the repository's name. Raises UsageError where no repository is named."""
    if not (repo or clone or spec_file):
        raise UsageError(
            "no repository is named",
            "the command needs --repo, --clone or --spec, and a later stage at least --out",
            "try `stalebench mine --repo demo`, or name your own with --clone PATH",
        )
    if repo:
        name = repo.replace("/", "-")
    elif spec_file:
        name = spec_file.stem
    else:
        from stalebench.source import name_of  # noqa: PLC0415 - slow

        name = name_of(clone or "")
    return Path("data") / name


def day(moment: datetime | None) -> date | None:
    """The day of an option that was parsed as a time."""
    return moment.date() if moment else None


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))
