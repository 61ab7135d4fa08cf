"""Merges two texts that come from one, line by line, as `git merge` does. Knows nothing of files.

Follows git's xdiff/xmerge.c: changes that overlap or touch conflict, unless both sides did the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from stalebench.compose.caches import Recent
from stalebench.compose.histogram import script
from stalebench.compose.hunks import Hunk
from stalebench.compose.lines import Text, Texts

_KEPT: Final = 20_000


class _Span(NamedTuple):
    """Lines from the first number up to the second."""

    start: int
    end: int


class _Part(NamedTuple):
    """A stretch of the merge: the lines of ours that it stands for, those of theirs, and who changed it."""

    ours: _Span
    theirs: _Span
    by_ours: bool
    by_theirs: bool


class Merger:
    """Merges blobs, and remembers the differences between them."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self.texts = Texts(read)
        self._scripts: Recent[tuple[str, str], tuple[Hunk, ...]] = Recent(_KEPT)
        self._nearby: Recent[tuple[str, str, str], tuple[Hunk, ...]] = Recent(_KEPT)

    def merge(self, ancestor: str, ours: str, theirs: str) -> Text | None:
        """The merge of two blobs that come from a third; None where their changes conflict."""
        before, mine, yours = self.texts.of(ancestor, ours, theirs)
        other = self._script(ancestor, theirs, before, yours)
        one = self._scripts.get((ancestor, ours)) or self._near(
            ancestor, ours, theirs, texts=(before, mine), near=other
        )
        if not one or not other:
            return mine if one else yours
        walk = _Walk(one, other, mine, yours, len(before.numbers))
        return self._merged(mine, yours, _parts(walk))

    def script(self, old: str, new: str) -> tuple[Hunk, ...]:
        """The hunks that lead from one blob to another."""
        before, after = self.texts.of(old, new)
        return self._script(old, new, before, after)

    def is_binary(self, *blobs: str) -> bool:
        """Whether git takes any of the blobs for binary."""
        return any(text.is_binary for text in self.texts.of(*blobs))

    def _near(
        self, ancestor: str, ours: str, theirs: str, *, texts: tuple[Text, Text], near: Sequence[Hunk]
    ) -> tuple[Hunk, ...]:
        """Our hunks, worked out near theirs only."""
        key = (ancestor, ours, theirs)
        found = self._nearby.get(key)
        if found is None:
            found = self._nearby[key] = script(*texts, near)
        return found

    def _script(self, old: str, new: str, before: Text, after: Text) -> tuple[Hunk, ...]:
        found = self._scripts.get((old, new))
        if found is None:
            found = self._scripts[old, new] = script(before, after)
        return found

    def _merged(self, ours: Text, theirs: Text, parts: Sequence[_Part]) -> Text | None:
        content: list[bytes] = []
        numbers: list[int] = []
        line = 0
        for part in parts:
            if part.by_ours and part.by_theirs:
                if part.ours.start == part.ours.end or _of(ours, part.ours) != _of(theirs, part.theirs):
                    return None
            elif part.by_theirs:
                added = _of(theirs, part.theirs)
                content += [ours.slice(line, part.ours.start), self.texts.lines(added)]
                numbers += ours.numbers[line : part.ours.start]
                numbers += added
                line = part.ours.end
        content.append(ours.slice(line, len(ours.numbers)))
        return Text(b"".join(content), numbers + ours.numbers[line:])


def _of(text: Text, span: _Span) -> list[int]:
    return text.numbers[span.start : span.end]


def _parts(stretches: Iterable[_Part]) -> list[_Part]:
    """The stretches in order, with those that touch made one."""
    parts: list[_Part] = []
    for part in stretches:
        last = parts[-1] if parts else None
        if last and (part.ours.start <= last.ours.end or part.theirs.start <= last.theirs.end):
            parts[-1] = _joined(last, part)
        else:
            parts.append(part)
    return parts


def _joined(last: _Part, part: _Part) -> _Part:
    same = (last.by_ours, last.by_theirs) == (part.by_ours, part.by_theirs)
    return _Part(
        _Span(last.ours.start, part.ours.end),
        _Span(last.theirs.start, part.theirs.end),
        by_ours=part.by_ours or not same,
        by_theirs=part.by_theirs or not same,
    )


class _Walk:
    """Walks two scripts of one ancestor together. What both did alike is passed over: ours holds it."""

    def __init__(
        self, one: Sequence[Hunk], other: Sequence[Hunk], ours: Text, theirs: Text, ancestor_size: int
    ) -> None:
        self.one, self.other = one, other
        self.ours, self.theirs = ours, theirs
        self.ancestor_size = ancestor_size

    def __iter__(self) -> Iterator[_Part]:
        i = j = 0
        while i < len(self.one) and j < len(self.other):
            mine, yours = self.one[i], self.other[j]
            if mine.old_end < yours.old:
                yield _by_ours(mine, yours.new - yours.old)
                i += 1
            elif yours.old_end < mine.old:
                yield _by_theirs(yours, mine.new - mine.old)
                j += 1
            else:
                if not self._alike(mine, yours):
                    yield _by_both(mine, yours)
                i, j = i + (mine.old_end <= yours.old_end), j + (yours.old_end <= mine.old_end)
        yield from (_by_ours(hunk, len(self.theirs.numbers) - self.ancestor_size) for hunk in self.one[i:])
        yield from (_by_theirs(hunk, len(self.ours.numbers) - self.ancestor_size) for hunk in self.other[j:])

    def _alike(self, mine: Hunk, yours: Hunk) -> bool:
        sizes = (mine.old, mine.old_size, mine.new_size) == (yours.old, yours.old_size, yours.new_size)
        return sizes and (
            self.ours.numbers[mine.new : mine.new_end] == self.theirs.numbers[yours.new : yours.new_end]
        )


def _by_ours(hunk: Hunk, shift: int) -> _Part:
    """A change of ours; `shift` is by how much theirs has moved the lines here."""
    theirs = _Span(hunk.old + shift, hunk.old_end + shift)
    return _Part(_Span(hunk.new, hunk.new_end), theirs, by_ours=True, by_theirs=False)


def _by_theirs(hunk: Hunk, shift: int) -> _Part:
    ours = _Span(hunk.old + shift, hunk.old_end + shift)
    return _Part(ours, _Span(hunk.new, hunk.new_end), by_ours=False, by_theirs=True)


def _by_both(mine: Hunk, yours: Hunk) -> _Part:
    """Both changes widened to the lines of the ancestor that either of them replaces."""
    start, end = min(mine.old, yours.old), max(mine.old_end, yours.old_end)
    spans = [
        _Span(hunk.new - (hunk.old - start), hunk.new_end + (end - hunk.old_end)) for hunk in (mine, yours)
    ]
    return _Part(spans[0], spans[1], by_ours=True, by_theirs=True)
