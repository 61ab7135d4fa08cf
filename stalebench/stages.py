"""The stages of mining, each a function from the tables before it to its own.

A stage reads and writes one dataset folder and keeps nothing in memory between calls, so that each can be
run alone, again, and by any engine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final

from stalebench import source, tables
from stalebench.candidates import candidates as pair_up
from stalebench.compose import Patch, split
from stalebench.compose.objects import Objects
from stalebench.compose.pair import compose_candidate
from stalebench.compose.patch import as_text
from stalebench.engines import Engine
from stalebench.errors import NothingToDo, UsageError
from stalebench.progress import Progress
from stalebench.reasons import Stage
from stalebench.records import (
    Candidate,
    Cell,
    Check,
    Composition,
    Environment,
    Pair,
    Pull,
    Rejection,
)
from stalebench.source import Clone
from stalebench.spec import Spec
from stalebench.validate import CheckJob, ControlJob, check, control

VALIDATED: Final = ("checks", "pairs", "test_results", "environments")
"""The tables of the last stage."""

REJECTING: Final = {
    "pulls": "pulls",
    "candidates": "candidates",
    "compositions": "compose",
    "pairs": "validate",
}
"""The part of the rejections that is written beside a table."""


@dataclass(frozen=True, slots=True)
class Context:
    """What every stage works on."""

    clone: Clone
    spec: Spec
    out: Path
    progress: Progress


def pulls(context: Context, since: date | None, until: date | None, newest: int | None) -> None:
    """Write the landed pulls of a time span; only the newest so many eligible ones, if a number is given."""
    _drop(context, "pulls", "candidates", "compositions", *VALIDATED)
    context.progress.stage("pulls", None)
    landed = source.landed(context.clone, context.spec, since, until)
    kept = source.newest(landed, newest)
    rejected = [Rejection(Stage.PULLS, pull.id, pull.reason) for pull in kept if pull.reason]
    tables.write(context.out, "rejections", rejected, part="pulls")
    tables.write(context.out, "pulls", kept)


def candidates(context: Context, within: float | None, limit: int | None, only: Collection[str] = ()) -> None:
    """Write the pairs of eligible pulls that share a source file; `only` names the pairs to keep."""
    _drop(context, "candidates", "compositions", *VALIDATED)
    context.progress.stage("candidates", None)
    eligible = [pull for pull in tables.read(context.out, "pulls", Pull) if pull.reason is None]
    wanted = [_named(pair, eligible) for pair in only]
    members = {pull for pair in wanted for pull in pair}
    if members:
        eligible = [pull for pull in eligible if pull.id in members]
    # The limit is on what is kept: pairs that nobody named must not use it up.
    most = None if wanted else limit
    found, rejected = pair_up(context.clone, context.spec, eligible, within=within, limit=most)
    if wanted:
        all_found = found
        found = [pair for pair in found if frozenset(pair.pulls) in wanted][:limit]
        rejected = [pair for pair in rejected if _members(pair) in wanted]
        _refuse_lost(
            wanted, [frozenset(pair.pulls) for pair in all_found] + [_members(pair) for pair in rejected]
        )
    tables.write(context.out, "rejections", rejected, part="candidates")
    tables.write(context.out, "candidates", found)


def _named(pair: str, eligible: Sequence[Pull]) -> frozenset[str]:
    """The two pulls that `newer+older` names, by their ids or the beginnings of them. Raises UsageError."""
    matches = [[pull.id for pull in eligible if _is(part, pull)] for part in pair.split("+")]
    found = {pull for named in matches for pull in named}
    if any(len(named) != 1 for named in matches) or len(found) < 2:  # noqa: PLR2004 - a pair
        raise UsageError(
            f"{pair!r} does not name two eligible pulls; found: {', '.join(sorted(found)) or 'none'}",
            "a slip in the name, or the time span leaves one of them out",
            "name pulls by number or landed commit, as in 3607+3605, and widen --since and --until",
        )
    return frozenset(found)


def _refuse_lost(wanted: Sequence[frozenset[str]], known: Sequence[frozenset[str]]) -> None:
    """Say which named pairs are no candidates, instead of leaving them out. Raises UsageError."""
    lost = ["+".join(sorted(pair)) for pair in wanted if pair not in known]
    if lost:
        raise UsageError(
            f"no candidate pair: {', '.join(lost)}",
            "the two pulls share no source file, or landed further apart than --within allows",
            "leave the pair out, or widen --within",
        )


def _members(rejection: Rejection) -> frozenset[str]:
    return frozenset(rejection.subject.split("+"))


def _is(name: str, pull: Pull) -> bool:
    shortest = 7
    return pull.id == name or (len(name) >= shortest and pull.merge_commit.startswith(name))


def compose(context: Context) -> None:
    """Write how the patches of each candidate compose on its base."""
    _drop(context, "compositions", *VALIDATED)
    found = list(tables.read(context.out, "candidates", Candidate))
    composing = _Composing(context)
    context.progress.stage("compose", len(found))
    compositions = list(map(composing.composed, found))
    tables.write(context.out, "rejections", composing.rejected, part="compose")
    tables.write(context.out, "compositions", compositions)


def _drop(context: Context, *names: str) -> None:
    """Remove the tables that a stage is about to make again, and those that rest on them."""
    for name in names:
        tables.drop(context.out, name)
        if name in REJECTING:
            tables.drop(context.out, "rejections", REJECTING[name])


class _Composing:
    """Composes candidates one after the other, with the patches of a pull split once."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.objects = Objects(context.clone.git_dir)
        self.pulls = {pull.id: pull for pull in tables.read(context.out, "pulls", Pull)}
        self.patches: dict[str, tuple[Patch, Patch]] = {}
        self.rejected: list[Rejection] = []

    def composed(self, candidate: Candidate) -> Composition:
        members = [self.pulls[pull] for pull in candidate.pulls]
        patches = [self._patches(pull) for pull in members]
        composition = compose_candidate(self.objects, candidate, members, patches)
        if composition.reason:
            self.rejected.append(
                Rejection(Stage.COMPOSE, candidate.id, composition.reason, composition.detail)
            )
        self.context.progress.advance()
        return composition

    def _patches(self, pull: Pull) -> tuple[Patch, Patch]:
        if pull.id not in self.patches:
            self.patches[pull.id] = split(self.objects, pull, self.context.spec)
        return self.patches[pull.id]


def validate(context: Context, engine: Engine) -> None:
    """Write the checks, the valid pairs with their control, and every outcome that these rest on.

    Without a clean pair the tables are written empty: see `nothing_to_do`.
    """
    _drop(context, *VALIDATED)
    validation = _Validation(context, engine)
    tables.write(context.out, "test_results", validation.check_cells(), part="checks")
    tables.write(context.out, "test_results", validation.control_cells(), part="pairs")
    validation.write()


def nothing_to_do(out: Path) -> NothingToDo | None:
    """What is to be said, beside the funnel, of a dataset in which no pair composes cleanly."""
    if any(made.reason is None for made in tables.read(out, "compositions", Composition)):
        return None
    return NothingToDo(
        "no candidate pair composes cleanly",
        "the time span or --limit leaves few pairs",
        "widen --since, --until or --within, and look at the rejections table",
    )


@dataclass
class _Progressed:
    """What validation has found so far: small records only, the outcomes stream past."""

    checks: dict[str, Check] = field(default_factory=dict)
    environments: dict[str, Environment] = field(default_factory=dict)
    pairs: list[Pair] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)


class _Validation:
    """The older pull of each pair first (pairs share its check), then the newer, then the control."""

    def __init__(self, context: Context, engine: Engine) -> None:
        self.context = context
        self.engine = engine
        out = context.out
        self.objects = Objects(context.clone.git_dir)
        self.pulls = {pull.id: pull for pull in tables.read(out, "pulls", Pull)}
        self.candidates = {found.id: found for found in tables.read(out, "candidates", Candidate)}
        self.clean = [c for c in tables.read(out, "compositions", Composition) if c.reason is None]
        self.found = _Progressed()

    def check_cells(self) -> Iterator[Cell]:
        """Check every pull on every base that a clean pair needs, and yield the outcomes."""
        standing = [self.candidates[composition.candidate] for composition in self.clean]
        for position in range(max((len(candidate.pulls) for candidate in standing), default=0)):
            jobs = self._check_jobs(standing, position)
            self.context.progress.stage(f"check {_ordinal(position)}", len(jobs))
            for _, checked in self.engine.map(check, jobs):
                self.found.checks[checked.check.id] = checked.check
                self.found.environments.update({used.key: used for used in checked.environments})
                self.context.progress.advance()
                yield from checked.cells
            standing = [candidate for candidate in standing if self._stands(candidate, position)]

    def control_cells(self) -> Iterator[Cell]:
        """Run the control on every valid pair, and yield the outcomes."""
        jobs = [self._control_job(composition) for composition in self.clean if self._valid(composition)]
        self.context.progress.stage("control", len(jobs))
        for _, controlled in self.engine.map(control, jobs):
            self.found.pairs.append(controlled.pair)
            self.context.progress.advance()
            yield from controlled.cells

    def write(self) -> None:
        """Write the small tables."""
        out = self.context.out
        tables.write(out, "checks", self.found.checks.values())
        tables.write(out, "pairs", self.found.pairs)
        tables.write(out, "rejections", self.found.rejected, part="validate")
        tables.prune_patches(
            out,
            {
                patch
                for pair in self.found.pairs
                for task in pair.tasks
                for patch in (task.code_patch, task.test_patch)
            },
        )
        tables.write(out, "environments", self.found.environments.values())

    def _check_jobs(self, standing: list[Candidate], position: int) -> list[CheckJob]:
        """The checks still to do at this place in the pairs, near bases together."""
        jobs = {
            job.id: job
            for candidate in standing
            if position < len(candidate.pulls)
            for job in [self._job(candidate, position)]
            if job.id not in self.found.checks
        }
        return sorted(jobs.values(), key=lambda job: (self.objects.date_of(job.base_commit), job.id))

    def _job(self, candidate: Candidate, position: int) -> CheckJob:
        return CheckJob(self.pulls[candidate.pulls[position]], candidate.base_commit)

    def _stands(self, candidate: Candidate, position: int) -> bool:
        """Whether the pair survives the check of its pull at this place; if not, its rejection is noted."""
        if position >= len(candidate.pulls):
            return True
        check = self.found.checks[self._job(candidate, position).id]
        if check.reason is None:
            return True
        detail = f"pull {check.pull}: {check.detail}" if check.detail else f"pull {check.pull}"
        self.found.rejected.append(Rejection(Stage.VALIDATE, candidate.id, check.reason, detail))
        return False

    def _valid(self, composition: Composition) -> bool:
        return all(check is not None and check.reason is None for check in self._checks(composition))

    def _checks(self, composition: Composition) -> list[Check | None]:
        candidate = self.candidates[composition.candidate]
        ids = [self._job(candidate, position).id for position in range(len(candidate.pulls))]
        return [self.found.checks.get(check) for check in ids]

    def _control_job(self, composition: Composition) -> ControlJob:
        candidate = self.candidates[composition.candidate]
        members = tuple(self.pulls[pull] for pull in candidate.pulls)
        checks = tuple(check for check in self._checks(composition) if check is not None)
        patches = tuple(self._kept(pull) for pull in members)
        return ControlJob(candidate, composition, members, checks, patches)

    def _kept(self, pull: Pull) -> tuple[str, str]:
        """Keep a pull's patches beside the tables; their SHA-256."""
        code, tests = split(self.objects, pull, self.context.spec)
        keep = [tables.keep_patch(self.context.out, as_text(self.objects, half)) for half in (code, tests)]
        return keep[0], keep[1]


def _ordinal(position: int) -> str:
    return {0: "older pulls", 1: "newer pulls"}.get(position, f"pulls {position + 1}")
