"""How the commits of a repository hang together, seen from its main line (the first parents of the tip).

Answers ancestry and merge bases from one pass over the commits, since asking git for each of thousands
of pairs is slow. Only where the graph is truly ambiguous is libgit2 asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pygit2

from stalebench.source.missing import missing

NEVER = 1 << 60
"""The position of what has not landed on the main line."""


class History:
    """The main line up to `tip`, oldest first, and where every other commit stands to it."""

    def __init__(self, repo: pygit2.Repository, tip: pygit2.Oid) -> None:
        self._repo = repo
        self._parents: dict[pygit2.Oid, list[pygit2.Oid]] = {}
        self.main_line: list[pygit2.Oid] = self._first_parents(tip)
        self._landed: dict[pygit2.Oid, int] = {}
        self._reach: dict[pygit2.Oid, int] = {}
        for position, commit in enumerate(self.main_line):
            self._land(commit, position)
        self._position = {commit: position for position, commit in enumerate(self.main_line)}
        self._reach.update(self._position)

    def parents(self, commit: pygit2.Oid) -> list[pygit2.Oid]:
        """The parents of a commit."""
        found = self._parents.get(commit)
        if found is None:
            try:
                loaded = self._repo[commit].peel(pygit2.Commit)
            except KeyError:
                raise missing(f"commit {commit}") from None
            found = self._parents[commit] = loaded.parent_ids
        return found

    def landed(self, commit: pygit2.Oid) -> int:
        """The position on the main line at which the commit became part of it, or NEVER."""
        return self._landed.get(commit, NEVER)

    def is_ancestor(self, old: pygit2.Oid, new: pygit2.Oid) -> bool:
        """Whether `new` contains `old`: is it, or descends from it."""
        if old == new:
            return True
        if old in self._position:
            return self._newest_contained(new) >= self._position[old]
        if new in self._position:
            return self.landed(old) <= self._position[new]
        return bool(self._repo.descendant_of(new, old))

    def merge_base(self, one: pygit2.Oid, other: pygit2.Oid) -> pygit2.Oid | None:
        """The best common ancestor, or None where the two share no history."""
        for main, side in ((one, other), (other, one)):
            if main in self._position:
                best = self._maximal(self._shared(self._position[main], side))
                if len(best) == 1:
                    return best[0]
                if not best:
                    return None
        return self._repo.merge_base(one, other)

    def branch(self, base: pygit2.Oid, head: pygit2.Oid) -> list[pygit2.Oid]:
        """The commits of `head` that the main line did not yet hold at `base`; `head` is first."""
        limit = self._position[base]
        return [commit for commit in self._outside(limit, head) if self.landed(commit) > limit]

    def _first_parents(self, tip: pygit2.Oid) -> list[pygit2.Oid]:
        line, commit = [tip], tip
        while parents := self.parents(commit):
            commit = parents[0]
            line.append(commit)
        return line[::-1]

    def _land(self, commit: pygit2.Oid, position: int) -> None:
        """Everything that is first reached from this commit of the main line landed with it."""
        todo = [commit]
        while todo:
            reached = todo.pop()
            if reached not in self._landed:
                self._landed[reached] = position
                todo.extend(self.parents(reached))

    def _outside(self, limit: int, head: pygit2.Oid) -> list[pygit2.Oid]:
        """A walk from `head` that goes no further than the commits that had landed at `limit`."""
        seen = {head: None}
        todo = [head]
        while todo:
            commit = todo.pop()
            if self.landed(commit) <= limit:
                continue
            for parent in self.parents(commit):
                if parent not in seen:
                    seen[parent] = None
                    todo.append(parent)
        return list(seen)

    def _shared(self, limit: int, head: pygit2.Oid) -> list[pygit2.Oid]:
        if self._newest_contained(head) >= limit:
            return [self.main_line[limit]]
        if head in self._position:
            return [head]
        return [commit for commit in self._outside(limit, head) if self.landed(commit) <= limit]

    def _maximal(self, commits: Sequence[pygit2.Oid]) -> list[pygit2.Oid]:
        if len(commits) < 2:  # noqa: PLR2004 - nothing to compare
            return list(commits)
        return [one for one in commits if not self._contained(one, commits)]

    def _contained(self, one: pygit2.Oid, others: Iterable[pygit2.Oid]) -> bool:
        return any(one != other and self.is_ancestor(one, other) for other in others)

    def _newest_contained(self, commit: pygit2.Oid) -> int:
        """The position of the newest commit of the main line that `commit` contains; -1 for none."""
        todo = [commit]
        while todo:
            current = todo[-1]
            unknown = [] if current in self._reach else self._unknown(current)
            todo.extend(unknown)
            if not unknown:
                todo.pop()
                if current not in self._reach:
                    reached = (self._reach[parent] for parent in self.parents(current))
                    self._reach[current] = max(reached, default=-1)
        return self._reach[commit]

    def _unknown(self, commit: pygit2.Oid) -> list[pygit2.Oid]:
        return [parent for parent in self.parents(commit) if parent not in self._reach]
