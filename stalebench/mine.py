"""The main job: from a repository's history to validated pairs. A sequence of stages, and its report."""

from __future__ import annotations

import fcntl
import math
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from stalebench import demo, spec, stages, tables
from stalebench.compose.objects import Objects
from stalebench.engines import Engine, engine
from stalebench.errors import UsageError
from stalebench.progress import Progress
from stalebench.records import Candidate, Composition, Pair, Pull, Rejection
from stalebench.source import Clone, name_of, open_clone
from stalebench.spec import Spec
from stalebench.tables.dataset import disk, writing
from stalebench.validate import Site

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class MineRequest:
    """What to mine, and how.

    `repo` is the name of a specification or `owner/name`; `clone` a path or URL; one of the two is needed.
    `since` and `until` bound the landing times (half open, UTC), `within` the days between two landings,
    `newest` the number of eligible pulls and `limit` the number of candidate pairs, newest first. `pairs`
    names candidate pairs, as `3607+3605`; only these are taken.
    """

    out: Path
    repo: str | None = None
    clone: str | None = None
    spec_file: Path | None = None
    since: date | None = None
    until: date | None = None
    within: float | None = None
    newest: int | None = None
    limit: int | None = None
    pairs: tuple[str, ...] = ()
    repeats: int = 2
    engine: str = "local"
    jobs: int = 1
    cache: Path | None = None

    def __post_init__(self) -> None:
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise UsageError(
                f"no day is in [{self.since}, {self.until})",
                "--until is the first day that is left out, and has to come after --since",
                "exchange the two, or leave one out",
            )
        if self.within is not None and not 0 <= self.within < math.inf:
            raise UsageError(
                f"{self.within} is no number of days", fix="leave --within out for pairs however far apart"
            )


@dataclass(frozen=True, slots=True)
class GoldDelta:
    """What the control on the human patches found: numbers of pairs, and of clashes by kind."""

    pairs: int
    interfering: int
    clashing: int
    kinds: dict[str, int]


@dataclass(frozen=True, slots=True)
class MineReport:
    """The funnel and the control, as counts."""

    repo: str
    out: str
    funnel: dict[str, int]
    rejected: dict[str, int]
    rejected_by_stage: dict[str, dict[str, int]]
    gold_delta: GoldDelta
    seconds: float
    left_out: dict[str, int] = field(default_factory=dict)
    """Valid pairs that a count of `gold_delta` leaves out, if any: uncontrolled, unobservable (they interfere
    with nobody), clash_unknown (their test patches conflict)."""
    schema_version: int = field(default=SCHEMA_VERSION)


def mine(request: MineRequest, progress: Progress) -> MineReport:
    """Run every stage, and report. Finished runs of an earlier call on the same folder are not repeated.

    Where nothing is left to validate it is a report of zeros: `stages.nothing_to_do` says what to make of it.
    """
    started = time.monotonic()
    with prepared(request, progress) as context:
        stages.pulls(context, request.since, request.until, request.newest)
        stages.candidates(context, request.within, request.limit, request.pairs)
        stages.compose(context)
        validate(context, request)
        return report(request.out, context.spec.name, time.monotonic() - started)


def validate(context: stages.Context, request: MineRequest) -> None:
    """Run the last stage with the engine that the request names."""
    site = Site(context.clone.git_dir, context.spec, request.out / "work", request.cache, request.repeats)
    with closing(engine(request.engine, site, request.jobs)) as running:
        stages.validate(context, running)


@contextmanager
def prepared(request: MineRequest, progress: Progress) -> Iterator[stages.Context]:
    """Open the clone and the specification, and describe the dataset that is about to be written.

    A folder that is refused is left untouched, and no folder is made for a clone that is.
    """
    known = _known_spec(request)
    tables.refuse_foreign(request.out, known.name if known else None)
    clone, chosen = _clone_and_spec(request, known)
    with claimed(request.out):
        clone = clone or open_clone(str(demo.build(request.out / "work" / "demo")))
        tables.create(request.out, chosen.name, {"spec": chosen.digest(), **_parameters(request, clone)})
        with writing(request.out / "spec.toml") as file:
            file.write_text(spec.to_toml(chosen), encoding="utf-8")
        yield stages.Context(clone, chosen, request.out, progress)


@contextmanager
def claimed(out: Path) -> Iterator[None]:
    """Be the only writer of a dataset folder. Raises UsageError where another process is at it."""
    lock = out / "work" / "lock"
    with disk(lock):
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("w")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"another process is writing {out}",
                "the same command is running already",
                "wait for it to end, or name another folder with --out",
            ) from error
        yield


@contextmanager
def closing(running: Engine) -> Iterator[Engine]:
    """Leave no worker behind, whatever happens."""
    try:
        yield running
    finally:
        running.close()


def _clone_and_spec(request: MineRequest, known: Spec | None) -> tuple[Clone | None, Spec]:
    """The clone and the specification; no clone where it is the demo, which is yet to be built."""
    if request.clone is None and known is not None and known.name == "demo":
        return None, known
    clone = open_clone(_where(request, known), request.cache)
    if known is not None:
        return clone, known
    name = request.repo or name_of(str(request.clone))
    return clone, spec.derive(Objects(clone.git_dir), clone.tip, name.replace("/", "-"))


def _known_spec(request: MineRequest) -> Spec | None:
    """The specification that the request names; None where it has to be derived from the tree."""
    if request.spec_file is not None:
        return spec.load(request.spec_file)
    if request.repo is None:
        return None
    return spec.known(request.repo) if "/" in request.repo else spec.load(request.repo)


def _where(request: MineRequest, known: Spec | None) -> str:
    """Where the clone is: as given, else where the specification says, else the name itself."""
    if request.clone is not None:
        return request.clone
    where = known.clone_url if known is not None else request.repo
    if not where:
        raise UsageError(
            "there is nothing to mine: neither --repo nor --clone is given",
            "the command needs a repository",
            "try `stalebench mine --repo demo`, or name your own with --clone PATH",
        )
    return where


def _parameters(request: MineRequest, clone: Clone) -> dict[str, str | int | float | None]:
    """What decides the dataset's content; nothing of this machine."""
    return {
        "tip": clone.tip,
        "since": request.since.isoformat() if request.since else None,
        "until": request.until.isoformat() if request.until else None,
        "within": request.within,
        "newest": request.newest,
        "limit": request.limit,
        "pairs": ",".join(sorted(request.pairs)) or None,
        "repeats": request.repeats,
    }


def report(out: Path, repo: str, seconds: float) -> MineReport:
    """Count what the tables hold."""
    pulls = list(tables.read(out, "pulls", Pull))
    compositions = list(tables.read(out, "compositions", Composition))
    pairs = list(tables.read(out, "pairs", Pair))
    rejections = list(tables.read(out, "rejections", Rejection))
    return MineReport(
        repo=repo,
        out=str(out),
        funnel={
            "pulls": len(pulls),
            "eligible": sum(pull.reason is None for pull in pulls),
            "candidates": sum(1 for _ in tables.read(out, "candidates", Candidate)),
            "clean": sum(composition.reason is None for composition in compositions),
            "valid": len(pairs),
        },
        rejected=_counted(rejections),
        rejected_by_stage={
            stage: _counted([rejection for rejection in rejections if rejection.stage == stage])
            for stage in sorted({rejection.stage for rejection in rejections})
        },
        gold_delta=_gold_delta(pairs),
        seconds=round(seconds, 1),
        left_out=_left_out(pairs),
    )


def _counted(rejections: list[Rejection]) -> dict[str, int]:
    counts = Counter(str(rejection.reason) for rejection in rejections)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _controlled(pairs: list[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair.control == "complete"]


def _left_out(pairs: list[Pair]) -> dict[str, int]:
    controlled = _controlled(pairs)
    counts = {
        "uncontrolled": len(pairs) - len(controlled),
        "unobservable": sum(pair.unobservable is not None for pair in controlled),
        "clash_unknown": sum(pair.clash is None for pair in controlled),
    }
    return {why: count for why, count in counts.items() if count}


def _gold_delta(pairs: list[Pair]) -> GoldDelta:
    controlled = _controlled(pairs)
    kinds = Counter(clash.kind for pair in controlled for clash in pair.clash or ())
    return GoldDelta(
        pairs=len(controlled),
        interfering=sum(bool(pair.delta_blind) and pair.unobservable is None for pair in controlled),
        clashing=sum(bool(pair.clash) for pair in controlled),
        kinds=dict(sorted(kinds.items())),
    )
