"""Texts as rows of line numbers, so that lines compare as fast as integers. Bytes in, bytes out.

A line ends at a line feed and nowhere else. Equal lines have equal numbers within one `Texts`; a last line
without a line feed differs from the same line with one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from functools import cached_property
from itertools import accumulate, count
from typing import Final

from stalebench.compose.caches import Recent

SNIFFED: Final = 8000
"""Git calls a file binary if there is a NUL byte in so many of its first bytes."""

_KEPT_LINES: Final = 3_000_000
"""Distinct lines after which all is forgotten, so that a long walk does not fill the memory."""
_KEPT_TEXTS: Final = 1500


def is_binary(content: bytes) -> bool:
    """Whether git takes the content for binary."""
    return b"\0" in content[:SNIFFED]


class Text:
    """One content, its lines by number, and where each line starts."""

    def __init__(self, content: bytes, numbers: list[int]) -> None:
        self.content = content
        self.numbers = numbers

    @cached_property
    def places(self) -> dict[int, list[int]]:
        """Where each line occurs, in ascending order."""
        places: dict[int, list[int]] = {}
        for place, number in enumerate(self.numbers):
            if number in places:
                places[number].append(place)
            else:
                places[number] = [place]
        return places

    @cached_property
    def lone(self) -> dict[int, int]:
        """Where each line stands that occurs once."""
        return {number: places[0] for number, places in self.places.items() if len(places) == 1}

    def has_lone(self, start: int, end: int) -> bool:
        """Whether a line that occurs once stands from `start` up to `end`."""
        found = bisect_left(self._lone_places, start)
        return found < len(self._lone_places) and self._lone_places[found] < end

    def longest_common_run(self, start: int, end: int) -> int:
        """At least the length of the longest row of lines from `start` to `end` that all occur twice."""
        first = bisect_left(self._lone_places, start)
        last = bisect_left(self._lone_places, end, first)
        return max(self._runs[first : last + 1])

    @cached_property
    def _lone_places(self) -> list[int]:
        return sorted(self.lone.values())

    @cached_property
    def _runs(self) -> list[int]:
        """How many lines lie between two lone ones, before the first and after the last."""
        places = self._lone_places
        return [
            after - before - 1
            for before, after in zip([-1, *places], [*places, len(self.numbers)], strict=True)
        ]

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line, and the length of the whole."""
        sizes = map((1).__add__, map(len, self.content.split(b"\n")))
        starts = list(accumulate(sizes, initial=0))
        del starts[len(self.numbers) :]
        return [*starts, len(self.content)]

    def slice(self, start: int, end: int) -> bytes:
        """The bytes of the lines from `start` up to `end`."""
        return self.content[self.starts[start] : self.starts[end]]


class Texts:
    """The texts of one source of blobs; the most recent ones are kept."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._kept: Recent[str, Text] = Recent(_KEPT_TEXTS)
        self._numbers: defaultdict[bytes | tuple[bytes], int] = defaultdict(count().__next__)

    def of(self, *blobs: str) -> list[Text]:
        """The texts of these blobs: comparable with each other, not with those of an earlier call."""
        if len(self._numbers) > _KEPT_LINES:
            self._numbers.clear()
            self._kept = Recent(_KEPT_TEXTS)
        return [self._text(blob) for blob in blobs]

    def numbered(self, content: bytes) -> list[int]:
        """The numbers of the lines of a content, comparable like those of `of`."""
        lines: list[bytes] = content.split(b"\n")
        last = lines.pop()
        numbers = list(map(self._numbers.__getitem__, lines))
        if last:
            numbers.append(self._numbers[last,])
        return numbers

    def _text(self, blob: str) -> Text:
        found = self._kept.get(blob)
        if found is None:
            content = self._read(blob)
            found = self._kept[blob] = Text(content, self.numbered(content))
        return found
