"""Where a commit of the main line becomes a pull, and where a pull is turned away. Compares no contents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Final

import pygit2

from stalebench.errors import SourceError
from stalebench.reasons import Reason
from stalebench.records import Pull
from stalebench.source.clone import Clone
from stalebench.source.history import History
from stalebench.source.messages import Message, read
from stalebench.source.trees import TreeReader
from stalebench.spec import Kind, Spec

MOST_SOURCES: Final = 12
"""A pull that changes more source files is no single change."""


def landed(clone: Clone, spec: Spec, since: date | None = None, until: date | None = None) -> list[Pull]:
    """All pulls that landed on the main line in [since, until), the newest first, each with its reason.

    The days are those of `merged_at`, in UTC. The number of pulls does not depend on the days: where two
    landed commits name one pull, the first to land has its number as id and the others go by their commit.
    """
    reader = _Reader(clone, spec)
    return [reader.pull(*found) for found in reader.landings() if _within(found[1], since, until)][::-1]


def newest(pulls: Sequence[Pull], count: int | None) -> list[Pull]:
    """The newest of a list that is newest first, down to the `count`-th eligible one; None: all.

    The pulls that were turned away in between stay in it, for the funnel.
    """
    eligible = [place for place, pull in enumerate(pulls) if pull.reason is None]
    return list(pulls if count is None or count >= len(eligible) else pulls[: eligible[count - 1] + 1])


def classify(spec: Spec, paths: Sequence[str]) -> dict[Kind, tuple[str, ...]]:
    """The paths by what they are to the repository."""
    kinds = [(path, spec.kind(path)) for path in paths]
    return {kind: tuple(path for path, found in kinds if found is kind) for kind in Kind}


def reason(files: dict[Kind, tuple[str, ...]]) -> Reason | None:
    """Why a pull with these files cannot take part; None if it can."""
    if not files[Kind.SOURCE]:
        return Reason.NO_SOURCE
    if len(files[Kind.SOURCE]) > MOST_SOURCES:
        return Reason.TOO_MANY_SOURCES
    return None if files[Kind.TEST] else Reason.NO_TESTS


def iso(seconds: int) -> str:
    """A time of git as the records have it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _within(commit: pygit2.Commit, since: date | None, until: date | None) -> bool:
    day = datetime.fromtimestamp(commit.commit_time, UTC).date()
    return (since is None or since <= day) and (until is None or day < until)


class _Reader:
    """Reads pulls off one main line."""

    def __init__(self, clone: Clone, spec: Spec) -> None:
        self._clone, self._spec = clone, spec
        self._history: History = clone.history(spec.branch)
        self._trees = TreeReader(clone.repo)
        self._heads = clone.pull_heads()
        self._refuse_strange()

    def landings(self) -> Iterator[tuple[str, pygit2.Commit, Message]]:
        """Each landed change with its id, the oldest first."""
        named: set[int] = set()
        for position, oid in enumerate(self._history.main_line):
            commit = self._commit(oid)
            message = read(text_of(commit), len(commit.parent_ids)) if position else None
            if message is not None:
                message = self._counted(message)
            if message is None:
                continue
            if message.number is None or message.number in named:
                yield str(oid)[:12], commit, message
            else:
                named.add(message.number)
                yield str(message.number), commit, message

    def pull(self, name: str, commit: pygit2.Commit, message: Message) -> Pull:
        base = self._commit(commit.parent_ids[0])
        files = classify(self._spec, self._trees.changed_paths(base.tree_id, commit.tree_id))
        pull = Pull(
            id=name,
            repo=self._spec.repository,
            number=message.number,
            landing=message.landing,
            base_commit=str(base.id),
            merge_commit=str(commit.id),
            head_commit=None,
            fork_commit=None,
            created_at=iso(commit.author.time),
            merged_at=iso(commit.commit_time),
            title=message.title,
            text=message.text,
            issues=message.issues,
            source_files=files[Kind.SOURCE],
            test_files=files[Kind.TEST],
            other_files=tuple(sorted(files[Kind.DATA] + files[Kind.OTHER])),
            reason=reason(files),
        )
        head = self._head(commit, message)
        return pull if head is None else self._with_branch(pull, base.id, commit, head)

    def _refuse_strange(self) -> None:
        """Without a source file at the tip, every pull would be turned away for a reason that is none."""
        tip = self._commit(self._history.main_line[-1])
        if not any(
            self._spec.kind(path) is Kind.SOURCE for path in self._trees.changed_paths(None, tip.tree_id)
        ):
            raise SourceError(
                f"{self._clone.git_dir} holds no source file of {self._spec.name} at {str(tip.id)[:12]}",
                "a clone of another repository than the specification is for",
                f"clone {self._spec.repository}, or let a specification be derived",
            )

    def _counted(self, message: Message) -> Message | None:
        """The message as the repository's ways to land read it; None where such a change is no pull."""
        ways = self._spec.landing
        if message.landing == "squash" and "squash" not in ways:
            message = replace(message, landing="plain", number=None)
        if message.landing == "merge" and message.number is None and "plain" not in ways:
            return None
        return message if message.landing in ways else None

    def _head(self, commit: pygit2.Commit, message: Message) -> pygit2.Oid | None:
        """The tip of the author's branch. A branch that went on after the landing no longer tells it."""
        if len(commit.parent_ids) > 1:
            return commit.parent_ids[1]
        head = self._heads.get(message.number or 0)
        if head is None or self._history.is_ancestor(commit.id, head):
            return None
        return head

    def _with_branch(self, pull: Pull, base: pygit2.Oid, commit: pygit2.Commit, head: pygit2.Oid) -> Pull:
        fork = self._history.merge_base(base, head)
        branch = [self._commit(oid) for oid in self._history.branch(base, head)]
        own = sorted((one for one in branch if len(one.parent_ids) < 2), key=_age)  # noqa: PLR2004
        pull = replace(
            pull,
            head_commit=str(head),
            fork_commit=str(fork) if fork else None,
            created_at=iso(own[0].author.time) if own else pull.created_at,
        )
        if pull.landing != "merge":
            return pull
        told = read(text_of(commit), 2, tuple(map(text_of, own)))
        return replace(pull, text=told.text, issues=told.issues) if told else pull

    def _commit(self, oid: pygit2.Oid) -> pygit2.Commit:
        return self._clone.commit(oid)


def _age(commit: pygit2.Commit) -> tuple[int, str]:
    return commit.author.time, str(commit.id)


def text_of(commit: pygit2.Commit) -> str:
    """The message of a commit, whatever its encoding is and says it is."""
    encoding = commit.message_encoding or "utf-8"
    try:
        return commit.raw_message.decode(encoding, "replace")
    except LookupError:
        return commit.raw_message.decode("utf-8", "replace")
