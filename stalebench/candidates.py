"""Where two pulls become a candidate pair: they share a source file and landed near each other.

An index from source file to pulls finds them, so that pulls without a common file are never compared.
Looks at no content but that of shared files, for the functions and classes that both touch.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Final

import pygit2

from stalebench.compose.objects import Objects
from stalebench.reasons import Reason, Stage
from stalebench.records import Candidate, Pull, Rejection
from stalebench.source import Clone
from stalebench.source.history import History
from stalebench.spec import Spec
from stalebench.syntax import touched

_DAY: Final = 86_400


def candidates(
    clone: Clone, spec: Spec, pulls: Iterable[Pull], *, within: float | None = None, limit: int | None = None
) -> tuple[list[Candidate], list[Rejection]]:
    """The candidate pairs among the eligible pulls, the newest first, and the pairs without a common base.

    `within` is the most days between the two landings, `limit` the most candidates. A pair without a
    common base does not count towards the limit.
    """
    history = clone.history(spec.branch)
    rejected: list[Rejection] = []
    found = list(islice(_related(history, spec, _pairs(history, pulls, within), rejected), limit))
    with _uncollected():
        return _Symbols(clone, found).added(), rejected


Pair = tuple[Pull, Pull]
"""The one that landed first, and the other."""


def _pairs(history: History, pulls: Iterable[Pull], within: float | None) -> Iterator[Pair]:
    """Each pair that shares a source file, once: by the newer pull, then by the older, newest first."""
    eligible = [pull for pull in pulls if pull.reason is None]
    positions = {pull.id: history.landed(pygit2.Oid(hex=pull.merge_commit)) for pull in eligible}
    eligible.sort(key=lambda pull: positions[pull.id], reverse=True)
    index: dict[str, list[int]] = defaultdict(list)
    for place, pull in enumerate(eligible):
        for file in pull.source_files:
            index[file].append(place)
    for place, newer in enumerate(eligible):
        older = {other for file in newer.source_files for other in index[file] if other > place}
        for other in sorted(older):
            if within is None or days_apart(newer, eligible[other]) <= within:
                yield eligible[other], newer


def days_apart(one: Pull, other: Pull) -> float:
    """The days between two landings."""
    times = (datetime.fromisoformat(pull.merged_at) for pull in (one, other))
    return round(abs((next(times) - next(times)).total_seconds()) / _DAY, 4)


def _related(
    history: History, spec: Spec, pairs: Iterator[Pair], rejected: list[Rejection]
) -> Iterator[tuple[Candidate, Pair]]:
    for older, newer in pairs:
        name = f"{newer.id}+{older.id}"
        base = history.merge_base(*(pygit2.Oid(hex=pull.base_commit) for pull in (older, newer)))
        if base is None:
            rejected.append(Rejection(Stage.CANDIDATES, name, Reason.UNRELATED))
            continue
        shared = sorted(set(older.source_files) & set(newer.source_files))
        yield (
            Candidate(
                id=name,
                repo=spec.repository,
                pulls=(older.id, newer.id),
                base_commit=str(base),
                days_apart=days_apart(older, newer),
                shared_files=tuple(shared),
                shared_symbols=(),
                concurrent=_concurrent(history, (older, newer)),
            ),
            (older, newer),
        )


def _concurrent(history: History, pair: Pair) -> bool | None:
    """Whether neither author had the other's landed change below their own."""
    forks = [pull.fork_commit for pull in pair]
    if None in forks:
        return None
    crossed = zip(reversed(pair), forks, strict=True)
    return not any(
        history.is_ancestor(pygit2.Oid(hex=other.merge_commit), pygit2.Oid(hex=fork))
        for other, fork in crossed
        if fork
    )


class _Symbols:
    """The functions and classes that each pull touches in each file, computed once."""

    def __init__(self, clone: Clone, found: Sequence[tuple[Candidate, Pair]]) -> None:
        self._objects = Objects(clone.git_dir)
        self._found = found
        needed = {
            (file, pull.id): pull for made, pair in found for pull in pair for file in made.shared_files
        }
        # File by file in the order of landing, what one pull leaves is mostly what the next one starts from,
        # and is parsed once.
        ordered = sorted(needed.items(), key=lambda item: (item[0][0], item[1].merged_at, item[0][1]))
        self._touched = {key: self._of(pull, key[0]) for key, pull in ordered}

    def added(self) -> list[Candidate]:
        """The candidates with their shared symbols."""
        return [replace(made, shared_symbols=self._shared(made, pair)) for made, pair in self._found]

    def _shared(self, made: Candidate, pair: Pair) -> tuple[str, ...]:
        sides = ((file, [self._touched[file, pull.id] for pull in pair]) for file in made.shared_files)
        return tuple(
            sorted(f"{file}::{symbol}" for file, names in sides for symbol in set.intersection(*names))
        )

    def _of(self, pull: Pull, file: str) -> set[str]:
        """What one pull touches in one file; nothing where the file is not Python that parses."""
        if not file.endswith(".py"):
            return set()
        return touched(*(self._content(commit, file) for commit in (pull.base_commit, pull.merge_commit)))

    def _content(self, commit: str, file: str) -> bytes | None:
        entry = self._objects.find(self._objects.tree_of(commit), file)
        return self._objects.blob(entry.id) if entry and not entry.is_folder else None


@contextmanager
def _uncollected() -> Iterator[None]:
    """Syntax trees are large and hold no cycles: collecting garbage among them takes most of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
