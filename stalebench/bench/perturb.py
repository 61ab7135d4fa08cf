"""Makes real pairs interfere: one human patch also renames a function that the other newly calls.

Writes predictions for `stalebench run --predictions`: the other patch stays as it is. Whether the pair then
fails together is left to the run. A rename is tried where it can be expected to keep the patch right by
itself: the name is defined once, no test of the pair's tree and no string of the sources mentions it, and the
two code patches still merge as text.
"""

from __future__ import annotations

import argparse
import io
import json
import keyword
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from stalebench import source, spec
from stalebench.compose import Conflict, Objects, Patch, Tree, as_text, compose
from stalebench.compose.by_function import compose_tests
from stalebench.compose.objects import Entry
from stalebench.compose.patch import halves
from stalebench.grading.instances import instances
from stalebench.grading.records import Instance

SUFFIX = "_renamed"
SHORTEST = 5
"""Shorter names mean too many things."""


class Renamed(NamedTuple):
    """One pair with one rename. `task` is the one whose patch renames, counted from 0."""

    instance: Instance
    task: int
    name: str
    patches: tuple[bytes, ...]


def main() -> int:
    """Print predictions, one a line, for each pair of a dataset in which something can be renamed."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("data", type=Path, help="a dataset of `stalebench mine`")
    options.add_argument("--clone", required=True, help="the clone that it was made from; it is only read")
    given = options.parse_args()
    clone, chosen = source.open_clone(given.clone), spec.load(given.data / "spec.toml")
    objects, made = Objects(clone.git_dir), 0
    found = instances(given.data)
    for instance in found:
        renamed = next(_Pair(objects, chosen, instance).renames(), None)
        if renamed is not None:
            made += 1
            pull = instance.tasks[renamed.task].pull
            sys.stderr.write(f"{instance.id}: {pull} renames {renamed.name}\n")
            sys.stdout.writelines(_records(renamed))
    sys.stderr.write(f"{made} of {len(found)} pairs\n")
    return 0 if made else 3


def _records(renamed: Renamed) -> Iterator[str]:
    for task, patch in zip(renamed.instance.tasks, renamed.patches, strict=True):
        record = {
            "instance_id": f"{renamed.instance.id}:{task.pull}",
            "model_name_or_path": "gold-with-a-rename",
            "model_patch": patch.decode("utf-8", "surrogateescape"),
        }
        yield json.dumps(record) + "\n"


class _Pair:
    """One pair: its base, and its two code patches on it."""

    def __init__(self, objects: Objects, chosen: spec.Spec, instance: Instance) -> None:
        self.objects = objects
        self.spec = chosen
        self.instance = instance
        self.base = instance.base_tree
        self.human = [
            halves(objects, objects.tree_of(task.from_commit), objects.tree_of(task.to_commit), chosen)
            for task in instance.tasks
            if task.from_commit and task.to_commit
        ]

    def renames(self) -> Iterator[Renamed]:
        """Every rename that can be expected to be right alone, the name that is used most first."""
        for task, other in ((0, 1), (1, 0)):
            mine, theirs = self._after(task), self._after(other)
            for name in self._newly_used(theirs):
                renamed = Patch.between(self.objects, self.base, self._rename(mine, name))
                left = Patch.between(self.objects, self.base, theirs)
                if isinstance(compose(self.objects, self.base, [renamed, left]), Tree):
                    texts = [as_text(self.objects, patch) for patch in (renamed, left)]
                    yield Renamed(self.instance, task, name, tuple(texts if task == 0 else reversed(texts)))

    def _after(self, task: int) -> str:
        composed = compose(self.objects, self.base, [self.human[task][0]])
        if isinstance(composed, Conflict):
            raise TypeError(f"{self.instance.id} is no valid pair")
        return composed.id

    def _newly_used(self, after: str) -> Iterator[str]:
        """Names that are used more often after the change, and that can be renamed safely elsewhere."""
        more: Counter[str] = Counter()
        for change in self.objects.changes(self.base, after):
            if change.path.endswith(".py") and change.new is not None:
                old = b"" if change.old is None else self.objects.blob(change.old.id)
                more.update(_names(self.objects.blob(change.new.id)) - _names(old))
        for name, _ in sorted(more.items(), key=lambda item: (-item[1], item[0])):
            if len(name) >= SHORTEST and name.isascii() and self._is_safe(name):
                yield name

    def _is_safe(self, name: str) -> bool:
        word, definition = _word(name), re.compile(rb"(?m)^\s*def %b\(" % name.encode())
        if keyword.iskeyword(name) or any(word.search(content) for content in self._tests):
            return False
        holding = [content for content in self._sources if word.search(content)]
        defined = sum(len(definition.findall(content)) for content in holding)
        return defined == 1 and not any(_is_in_a_string(content, name) for content in holding)

    @cached_property
    def _sources(self) -> list[bytes]:
        return [content for _, _, content in self._python(self.base, tests=False)]

    @cached_property
    def _tests(self) -> list[bytes]:
        composed = compose_tests(self.objects, self.base, [tests for _, tests in self.human])
        tree = self.base if isinstance(composed, Conflict) else composed.id
        return [content for _, _, content in self._python(tree, tests=True)]

    def _python(self, tree: str, *, tests: bool) -> Iterator[tuple[str, Entry, bytes]]:
        for path, entry in self.objects.files(tree):
            kind = self.spec.kind(path)
            if path.endswith(".py") and (kind is spec.Kind.TEST if tests else kind.in_code_patch):
                yield path, entry, self.objects.blob(entry.id)

    def _rename(self, tree: str, name: str) -> str:
        word = _word(name)
        edits: dict[str, Entry | None] = {
            path: Entry(entry.mode, self.objects.put_blob(_replaced(content, name)))
            for path, entry, content in self._python(tree, tests=False)
            if word.search(content)
        }
        return self.objects.edit(tree, edits)


def _word(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"\b%b\b" % name.encode())


def _tokens(content: bytes) -> Iterable[tokenize.TokenInfo]:
    try:
        return list(tokenize.tokenize(io.BytesIO(content).readline))
    except (SyntaxError, tokenize.TokenError):
        return ()


def _names(content: bytes) -> Counter[str]:
    return Counter(token.string for token in _tokens(content) if token.type == tokenize.NAME)


def _is_in_a_string(content: bytes, name: str) -> bool:
    """Whether a string that is no docstring is the name: an entry of `__all__`, a dispatch by name."""
    quoted = (f"'{name}'", f'"{name}"')
    return any(token.type == tokenize.STRING and token.string in quoted for token in _tokens(content))


def _replaced(content: bytes, name: str) -> bytes:
    """The source with every use of the name as an identifier renamed."""
    at = [token.start for token in _tokens(content) if token.type == tokenize.NAME and token.string == name]
    lines = content.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    for row, column in reversed(at):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + name + SUFFIX + line[column + len(name) :]
    return "".join(lines).encode("utf-8", "surrogateescape")


if __name__ == "__main__":
    sys.exit(main())
