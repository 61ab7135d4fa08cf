"""From changed lines to hunks: each group of changed lines slides to where git would put it.

Follows the compaction of git's xdiff/xdiffi.c decision by decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Group = tuple[int, int]
"""The lines of one text from the first number up to the second, all of them changed."""


class Hunk(NamedTuple):
    """`old_size` lines from `old` on became the `new_size` lines from `new` on."""

    old: int
    old_size: int
    new: int
    new_size: int

    @property
    def old_end(self) -> int:
        """The line after the last one that is replaced."""
        return self.old + self.old_size

    @property
    def new_end(self) -> int:
        """The line after the last one that replaces them."""
        return self.new + self.new_size


def hunks(old: list[int], new: list[int], gone: Sequence[Group], come: Sequence[Group]) -> tuple[Hunk, ...]:
    """The hunks of two texts, given as line numbers, from the spans of lines that went and that came."""
    removed, added = _groups(gone), _groups(come)
    removed = _compacted(old, removed, _gaps(added))
    added = _compacted(new, added, _gaps(removed))
    return _hunks(_gaps(removed), _gaps(added))


def _groups(spans: Sequence[Group]) -> list[Group]:
    return [(start, end) for start, end in spans if start < end]


def _gaps(groups: Sequence[Group]) -> dict[int, Group]:
    """The groups, each by the number of unchanged lines before it: a gap that both texts have."""
    gaps, changed = {}, 0
    for start, end in groups:
        gaps[start - changed] = (start, end)
        changed += end - start
    return gaps


def _compacted(numbers: list[int], groups: Sequence[Group], others: dict[int, Group]) -> list[Group]:
    """Slide each group as far down as equal lines let it, or to the last gap where the other text changed."""
    done: list[Group] = []
    todo = list(reversed(groups))
    changed = 0
    while todo:
        sliding = _Sliding(numbers, todo.pop(), done, todo, changed)
        group = sliding.settle(others)
        changed = sliding.changed + group[1] - group[0]
        done.append(group)
    return done


class _Sliding:
    """One group of changed lines on its way up and down; it swallows the groups that it meets."""

    def __init__(
        self, numbers: list[int], group: Group, above: list[Group], below: list[Group], changed: int
    ) -> None:
        self.numbers = numbers
        self.start, self.end = group
        self.above, self.below = above, below
        self.changed = changed

    def settle(self, others: dict[int, Group]) -> Group:
        while True:
            size = self.end - self.start
            self._up()
            highest = self.end
            aligned = self._down(others)
            if size == self.end - self.start:
                break
        if self.end != highest and aligned is not None:
            return (self.start - (self.end - aligned), aligned)
        return (self.start, self.end)

    def _up(self) -> None:
        numbers = self.numbers
        while self.start > 0 and numbers[self.start - 1] == numbers[self.end - 1]:
            self.start -= 1
            self.end -= 1
            if self.above and self.above[-1][1] == self.start:
                start, end = self.above.pop()
                self.changed -= end - start
                self.start = start

    def _down(self, others: dict[int, Group]) -> int | None:
        """Slide down; the last end at which the other text has a change in the same gap."""
        numbers = self.numbers
        gap = self.start - self.changed
        aligned = self.end if gap in others else None
        while self.end < len(numbers) and numbers[self.start] == numbers[self.end]:
            self.start += 1
            self.end += 1
            gap += 1
            if self.below and self.below[-1][0] == self.end:
                self.end = self.below.pop()[1]
            if gap in others:
                aligned = self.end
        return aligned


def _hunks(removed: dict[int, Group], added: dict[int, Group]) -> tuple[Hunk, ...]:
    hunks, gone, come = [], 0, 0
    for gap in sorted(removed.keys() | added.keys()):
        old_size = removed[gap][1] - removed[gap][0] if gap in removed else 0
        new_size = added[gap][1] - added[gap][0] if gap in added else 0
        hunks.append(Hunk(gap + gone, old_size, gap + come, new_size))
        gone += old_size
        come += new_size
    return tuple(hunks)
