"""Which lines changed from one text to another: git's histogram diff, as git's own merge uses it.

Follows git's xdiff/xhistogram.c decision by decision, since the merge of two texts depends on it: a change
that lies one line lower may touch another. Where git gives up on
the histogram (every common line occurs more than 64 times) both take Myers' diff.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import pygit2
from pygit2.enums import DiffOption

from stalebench.compose.hunks import Hunk, hunks
from stalebench.compose.lines import Text

MOST_OCCURRENCES: Final = 64

_SHORT: Final = 8
_FIRST_STEP: Final = 16


class _Region(NamedTuple):
    """`size` equal lines, at `old` in one text and at `new` in the other."""

    old: int
    new: int
    size: int


class _Range(NamedTuple):
    """Lines of both texts that are still to be compared."""

    old: int
    old_end: int
    new: int
    new_end: int


def script(old: Text, new: Text, near: Sequence[Hunk] | None = None) -> tuple[Hunk, ...]:
    """The hunks that lead from one text to the other, in order, with an unchanged line between any two.

    With `near`, hunks from the same old text, only what can touch one of those is worked out: what a line
    that both texts hold once divides from all of them may be one large hunk.
    """
    gone, come, at = [], [], _Range(0, len(old.numbers), 0, len(new.numbers))
    for region in [*_equal_regions(old, new, near), _Region(at.old_end, at.new_end, 0)]:
        gone.append((at.old, region.old))
        come.append((at.new, region.new))
        at = at._replace(old=region.old + region.size, new=region.new + region.size)
    return hunks(old.numbers, new.numbers, gone, come)


class _Task(NamedTuple):
    """A range to be compared, the anchors in it, and the equal regions right above and below it."""

    within: _Range
    anchors: list[_Region]
    above: _Region | None
    below: _Region | None


def _equal_regions(old: Text, new: Text, near: Sequence[Hunk] | None) -> list[_Region]:
    regions: list[_Region] = []
    whole = _Range(0, len(old.numbers), 0, len(new.numbers))
    todo = [_Task(whole, _anchored(old, new), None, None)]
    while todo:
        task = todo.pop()
        within = task.within
        if within.old == within.old_end or within.new == within.new_end:
            continue
        if near is not None and _is_apart(old, new, task, near):
            continue
        best = _longest(old, within, task.anchors)
        if best is None:
            search = _Search(old, new, within)
            best = search.best
            if search.gives_up:
                regions += _myers(old, new, within)
                continue
        if best:
            regions.append(best)
            todo += _around_best(old, task, best)
    return sorted(regions)


def _is_apart(old: Text, new: Text, task: _Task, near: Sequence[Hunk]) -> bool:
    """Whether nothing in the range can touch any of the hunks, however its changes slide.

    No change slides past a line that both texts hold once: that would need the line twice.
    """
    within = task.within
    following = bisect_left(near, within.old, key=_old_end)
    if following < len(near):
        start = near[following].old
        if start <= within.old_end or not task.below:
            return False
        if not _divides(old, new, within.old_end, min(start, within.old_end + task.below.size)):
            return False
    if following:
        end = near[following - 1].old_end
        if not task.above or not _divides(old, new, max(end, within.old - task.above.size), within.old):
            return False
    return True


def _old_end(hunk: Hunk) -> int:
    return hunk.old_end


def _divides(old: Text, new: Text, start: int, end: int) -> bool:
    """Whether some line of this equal region stands once in both texts."""
    return any(new.holds_once(old.numbers[place]) for place in old.lone_places(start, end))


def _anchored(old: Text, new: Text) -> list[_Region]:
    """The longest equal regions around each line that the old text holds once."""
    lone, numbers = old.lone, new.numbers
    whole = _Range(0, len(old.numbers), 0, len(numbers))
    anchors: list[_Region] = []
    place, end = 0, len(numbers)
    while place < end:
        found = lone.get(numbers[place])
        if found is None:
            place += 1
        else:
            region = _around(old.numbers, found, numbers, place, whole)
            anchors.append(region)
            place = region.new + region.size
    return anchors


def _longest(old: Text, within: _Range, anchors: Sequence[_Region]) -> _Region | None:
    """The region that a search of the range must find, where the anchors alone can tell.

    They cannot where two are equally long (the order of the search decides), or where a region of lines that
    are lone within the range only might be as long: that one lies in a run of lines that are not lone.
    """
    if not anchors:
        return None
    best = max(anchors, key=_size)
    if best.size <= old.longest_common_run(within.old, within.old_end):
        return None
    tied = sum(region.size == best.size for region in anchors)
    return best if tied == 1 else None


def _size(region: _Region) -> int:
    return region.size


def _around_best(old: Text, task: _Task, best: _Region) -> Iterator[_Task]:
    """What is left above and below a region, and the anchors cut to it."""
    within = task.within
    old_end, new_end = best.old + best.size, best.new + best.size
    above, below = [], []
    for anchor in task.anchors:
        old_at, new_at, size = anchor
        if old_at + size <= best.old and new_at + size <= best.new:
            above.append(anchor)
        elif old_at >= old_end and new_at >= new_end:
            below.append(anchor)
        elif anchor != best:
            above += _cut(old, anchor, 0, min(size, best.old - old_at, best.new - new_at))
            below += _cut(old, anchor, max(0, old_end - old_at, new_end - new_at), size)
    yield _Task(_Range(within.old, best.old, within.new, best.new), above, task.above, best)
    yield _Task(_Range(old_end, within.old_end, new_end, within.new_end), below, best, task.below)


def _cut(old: Text, anchor: _Region, start: int, end: int) -> list[_Region]:
    """A part of an anchor, if it is one still."""
    if start >= end or not old.has_lone(anchor.old + start, anchor.old + end):
        return []
    return [_Region(anchor.old + start, anchor.new + start, end - start)]


def _around(old: list[int], i: int, new: list[int], j: int, within: _Range) -> _Region:
    """The longest equal region of the range that holds two equal lines."""
    top, start = max(within.old, within.new + i - j), i
    while start > top and old[start - 1] == new[start - 1 + j - i]:
        start -= 1
        if i - start == _SHORT:
            start -= _common_before(old, start, new, start + j - i, start - top)
            break
    bottom, end = min(within.old_end, within.new_end + i - j), i + 1
    while end < bottom and old[end] == new[end + j - i]:
        end += 1
        if end - i == _SHORT:
            end += _common_after(old, end, new, end + j - i, bottom - end)
            break
    return _Region(start, start + j - i, end - start)


class _Search:
    """Looks for the region with the rarest line of the old text, and the longest such."""

    def __init__(self, old: Text, new: Text, within: _Range) -> None:
        self.old, self.new = old.numbers, new.numbers
        self.places: dict[int, list[int]] = {}
        for place in range(within.old, within.old_end):
            self.places.setdefault(self.old[place], []).append(place)
        self.within = within
        self.best: _Region | None = None
        self.longest = 1
        self.rarest = MOST_OCCURRENCES + 1
        self.any_common = False
        place = within.new
        while place < within.new_end:
            place = self._try(place)

    @property
    def gives_up(self) -> bool:
        """Whether there are common lines, but all of them too frequent."""
        return self.any_common and self.rarest > MOST_OCCURRENCES

    def _try(self, place: int) -> int:
        """Try all regions that hold a line of the new text; the next line to try."""
        places = self.places.get(self.new[place])
        following = place + 1
        if places is None:
            return following
        self.any_common = True
        if len(places) > self.rarest:
            return following
        covered = -1
        for old_place in places:
            if old_place > covered:
                region = _around(self.old, old_place, self.new, place, self.within)
                covered = region.old + region.size - 1
                following = max(following, region.new + region.size)
                self._weigh(region, len(places))
        return following

    def _weigh(self, region: _Region, rarity: int) -> None:
        """Keep the region if it is longer than the best so far, or holds a rarer line."""
        for place in range(region.old, region.old + region.size):
            if rarity == 1:
                break
            rarity = min(rarity, len(self.places[self.old[place]]))
        if region.size > self.longest or rarity < self.rarest:
            self.best, self.longest, self.rarest = region, region.size, rarity


def _common_after(old: list[int], i: int, new: list[int], j: int, limit: int) -> int:
    """How many lines from `i` and `j` on are equal, `limit` at most; slices compare faster than loops."""
    done, step = 0, 1
    while done < limit:
        size = min(step, limit - done)
        if old[i + done : i + done + size] == new[j + done : j + done + size]:
            done += size
            step = max(step * 2, _FIRST_STEP)
        elif size == 1:
            return done
        else:
            limit = done + size
            step = size // 2
    return done


def _common_before(old: list[int], i: int, new: list[int], j: int, limit: int) -> int:
    """How many lines before `i` and `j` are equal, `limit` at most."""
    done, step = 0, 1
    while done < limit:
        size = min(step, limit - done)
        if old[i - done - size : i - done] == new[j - done - size : j - done]:
            done += size
            step = max(step * 2, _FIRST_STEP)
        elif size == 1:
            return done
        else:
            limit = done + size
            step = size // 2
    return done


def _myers(old: Text, new: Text, within: _Range) -> list[_Region]:
    """The equal regions of a range by Myers' diff."""
    before = old.slice(within.old, within.old_end)
    after = new.slice(within.new, within.new_end)
    patch = pygit2.Patch.create_from(before, after, flag=DiffOption.FORCE_TEXT, context_lines=0)
    regions, at = [], within
    for hunk in patch.hunks:
        # git counts from 1, and names the line before where a side is empty
        start = within.old + hunk.old_start - (1 if hunk.old_lines else 0)
        regions.append(_Region(at.old, at.new, start - at.old))
        at = at._replace(old=start + hunk.old_lines, new=at.new + start - at.old + hunk.new_lines)
    regions.append(_Region(at.old, at.new, within.old_end - at.old))
    return [region for region in regions if region.size]
