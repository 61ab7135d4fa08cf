"""Texts as rows of line numbers, so that lines compare as fast as integers. Bytes in, bytes out.

A line ends at a line feed and nowhere else. Equal lines have equal numbers within one `Texts`; a last line
without a line feed differs from the same line with one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final

from stalebench.compose.caches import Recent

SNIFFED: Final = 8000
"""Git calls a file binary if there is a NUL byte in so many of its first bytes."""

_KEPT_LINES: Final = 2_000_000
"""Distinct lines after which all is forgotten, so that a long walk does not fill the memory."""
_KEPT_TEXTS: Final = 1000


def is_binary(content: bytes) -> bool:
    """Whether git takes the content for binary."""
    return b"\0" in content[:SNIFFED]


class Text:
    """One content, its lines by number, and where each line stands."""

    def __init__(self, content: bytes, numbers: list[int]) -> None:
        self.content = content
        self.numbers = numbers

    @cached_property
    def is_binary(self) -> bool:
        """Whether git takes it for binary."""
        return is_binary(self.content)

    @cached_property
    def lone(self) -> dict[int, int]:
        """Where each line stands that occurs once."""
        first = dict(zip(reversed(self.numbers), range(len(self.numbers) - 1, -1, -1), strict=True))
        return {number: first[number] for number, times in self._times.items() if times == 1}

    def has_lone(self, start: int, end: int) -> bool:
        """Whether a line that occurs once stands from `start` up to `end`."""
        found = bisect_left(self._lone_places, start)
        return found < len(self._lone_places) and self._lone_places[found] < end

    def lone_places(self, start: int, end: int) -> list[int]:
        """Where, from `start` up to `end`, lines stand that occur once."""
        first = bisect_left(self._lone_places, start)
        return self._lone_places[first : bisect_left(self._lone_places, end, first)]

    def holds_once(self, number: int) -> bool:
        """Whether a line occurs once."""
        return self._times[number] == 1

    def longest_common_run(self, start: int, end: int) -> int:
        """At least the length of the longest row of lines from `start` to `end` that all occur twice."""
        if start == 0 and end == len(self.numbers):
            return self._longest_run
        first = bisect_left(self._lone_places, start)
        last = bisect_left(self._lone_places, end, first)
        return max(self._runs[first : last + 1])

    def slice(self, start: int, end: int) -> bytes:
        """The bytes of the lines from `start` up to `end`."""
        return self.content[self._starts[start] : self._starts[end]]

    @cached_property
    def _times(self) -> Counter[int]:
        return Counter(self.numbers)

    @cached_property
    def _lone_places(self) -> list[int]:
        return sorted(self.lone.values())

    @cached_property
    def _longest_run(self) -> int:
        return max(self._runs)

    @cached_property
    def _runs(self) -> list[int]:
        """How many lines lie between two lone ones, before the first and after the last."""
        places = self._lone_places
        return [
            after - before - 1
            for before, after in zip([-1, *places], [*places, len(self.numbers)], strict=True)
        ]

    @cached_property
    def _starts(self) -> list[int]:
        """The offset of each line, and the length of the whole."""
        sizes = map((1).__add__, map(len, self.content.split(b"\n")))
        starts = list(accumulate(sizes, initial=0))
        del starts[len(self.numbers) :]
        return [*starts, len(self.content)]


class _Numbers(dict[bytes | tuple[bytes], int]):
    """Line -> number, given on first sight; a last line without line feed is in a tuple of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[bytes] = []

    def __missing__(self, key: bytes | tuple[bytes]) -> int:
        number = self[key] = len(self.lines)
        self.lines.append(key[0] if isinstance(key, tuple) else key + b"\n")
        return number


class Texts:
    """The texts of one source of blobs; the most recent ones are kept."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._kept: Recent[str, Text] = Recent(_KEPT_TEXTS)
        self._numbers = _Numbers()

    def of(self, *blobs: str) -> list[Text]:
        """The texts of these blobs: comparable with each other, not with those of an earlier call."""
        if len(self._numbers) > _KEPT_LINES:
            self._numbers = _Numbers()
            self._kept = Recent(_KEPT_TEXTS)
        return [self._text(blob) for blob in blobs]

    def lines(self, numbers: Sequence[int]) -> bytes:
        """The bytes of lines by number."""
        return b"".join(map(self._numbers.lines.__getitem__, numbers))

    def keep(self, blob: str, text: Text) -> None:
        """Keep a text that was made of others, for when its blob is asked for."""
        self._kept[blob] = text

    def _text(self, blob: str) -> Text:
        found = self._kept.get(blob)
        if found is None:
            content = self._read(blob)
            found = self._kept[blob] = Text(content, self._numbered(content))
        return found

    def _numbered(self, content: bytes) -> list[int]:
        lines: list[bytes] = content.split(b"\n")
        last = lines.pop()
        numbers = list(map(self._numbers.__getitem__, lines))
        if last:
            numbers.append(self._numbers[last,])
        return numbers
