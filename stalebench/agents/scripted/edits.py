"""Text edits of Python source at the places that its syntax tree names. Keeps all other bytes as they are."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable
from typing import NamedTuple

from stalebench.syntax import parse


class Edit(NamedTuple):
    """Bytes of the UTF-8 source, from `start` up to `end`, that become `text`. Equal ends insert."""

    start: int
    end: int
    text: str


class Source:
    """One file: its text, its syntax tree, and where each node stands. Raises SyntaxError."""

    def __init__(self, content: bytes) -> None:
        self.tree = parse(content)
        self.encoding = tokenize.detect_encoding(io.BytesIO(content).readline)[0]
        self.utf8 = content.decode(self.encoding).encode("utf-8")
        self.starts = [0]
        for line in self.utf8.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def start(self, node: ast.expr | ast.stmt | ast.keyword | ast.alias) -> int:
        """The first byte of a node."""
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt | ast.keyword | ast.alias) -> int:
        """The byte after a node."""
        assert node.end_lineno is not None  # noqa: S101 - always there in what was parsed
        assert node.end_col_offset is not None  # noqa: S101
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def indentation(self, node: ast.stmt) -> str:
        """What stands before a statement that begins its line."""
        return self.utf8[self.starts[node.lineno - 1] : self.start(node)].decode("utf-8")

    def stands_alone(self, node: ast.stmt) -> bool:
        """Whether nothing else is in the lines of a statement."""
        before = self.utf8[self.starts[node.lineno - 1] : self.start(node)]
        after = self.utf8[self.end(node) :].partition(b"\n")[0]
        return not before.strip() and (not after.strip() or after.lstrip().startswith(b"#"))

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The source with these edits; of two insertions at one place, the first one given stands first."""
        content, done = [], 0
        for edit in sorted(edits, key=lambda each: each.start):
            content += [self.utf8[done : edit.start], edit.text.encode("utf-8")]
            done = max(done, edit.end)
        whole = b"".join([*content, self.utf8[done:]])
        return whole.decode("utf-8").encode(self.encoding)
