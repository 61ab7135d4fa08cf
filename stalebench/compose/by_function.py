"""Composes test patches that conflict as text only because they add or change different test functions.

A test file is cut into blocks: each function, each class's head, and the statements between. Blocks are
merged three ways by name, so that two tests added at one place are both kept. Code is never composed so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from stalebench.compose.objects import Entry, Objects
from stalebench.compose.patch import Patch
from stalebench.syntax import Definition, Kind, definitions, parse

if TYPE_CHECKING:
    from stalebench.compose.results import Conflict, Tree

Blocks = dict[str, bytes]


class CannotCompose(Exception):
    """Two patches do different things to one block, or the result would not hold both."""


def compose_tests(objects: Objects, base: str, patches: Sequence[Patch]) -> Tree | Conflict:
    """The tree of test patches on a base: as text where that composes, else by function.

    As in `compose`, each patch has to compose with the base by itself; what comes of it is then merged as
    branches of that base are. The conflict names the patch that composes neither way.
    """
    from stalebench.compose.results import Conflict, Tree  # noqa: PLC0415 - text comes first, and calls this

    heads: list[str] = []
    for index, patch in enumerate(patches):
        head = _one_patch(objects, base, patch)
        if isinstance(head, Conflict):
            return replace(head, index=index, with_base=True)
        heads.append(head)
    tree = base
    for index, head in enumerate(heads):
        merged = _one_patch(objects, tree, Patch.between(objects, base, head))
        if isinstance(merged, Conflict):
            return replace(merged, index=index, with_base=False)
        tree = merged
    return Tree(tree)


def _one_patch(objects: Objects, tree: str, patch: Patch) -> str | Conflict:
    """The tree with one patch: the files that conflict as text by function, the others as text."""
    from stalebench.compose.composing import compose  # noqa: PLC0415
    from stalebench.compose.results import Tree  # noqa: PLC0415

    composed = compose(objects, tree, [patch])
    if isinstance(composed, Tree):
        return composed.id
    kept: dict[str, Entry | None] = {path: objects.find(patch.before, path) for path in composed.paths}
    rest = compose(objects, tree, [Patch.between(objects, patch.before, objects.edit(patch.after, kept))])
    found = compose_by_function(objects, rest.id, patch, composed.paths) if isinstance(rest, Tree) else None
    return composed if found is None else found


def compose_by_function(objects: Objects, tree: str, patch: Patch, paths: Sequence[str]) -> str | None:
    """The tree with a test patch's changes of these files composed by function; None where that cannot be."""
    edits: dict[str, Entry | None] = {}
    for path in paths:
        ours, theirs = objects.find(tree, path), objects.find(patch.after, path)
        ancestor = objects.find(patch.before, path)
        if not path.endswith(".py") or ours is None or theirs is None:
            return None
        versions = [objects.blob(entry.id) if entry else b"" for entry in (ancestor, ours, theirs)]
        try:
            merged = merge_functions(*versions)
        except (CannotCompose, SyntaxError):
            return None
        edits[path] = Entry(ours.mode, objects.put_blob(merged))
    return objects.edit(tree, edits)


def merge_functions(ancestor: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Three versions of a test module merged by function. Raises CannotCompose, or SyntaxError."""
    before, mine, yours = blocks(ancestor), blocks(ours), blocks(theirs)
    merged = {key: _merged(key, before, mine, yours) for key in _ordered(before, mine, yours)}
    kept = {key: text for key, text in merged.items() if text is not None}
    result = _joined(kept)
    _hold(result, before, mine, yours)
    return result


def blocks(source: bytes) -> Blocks:
    """A module as named blocks of whole lines, in order, that together are the module. Raises SyntaxError.

    A function's block begins with the comments and blank lines before it. What stands between two
    definitions is named by the one before it.
    """
    lines = source.splitlines(keepends=True)
    found: Blocks = {}
    at = 0
    for mark in _marks(source):
        gap = _trailing(lines, at, mark.start - 1)
        if gap > at:
            _add(found, f"after:{mark.before}", b"".join(lines[at:gap]))
        _add(found, mark.key, b"".join(lines[gap : mark.end]))
        at = mark.end
        last = mark
    if at < len(lines):
        _add(found, f"after:{last.key}" if found else "after:", b"".join(lines[at:]))
    return found


@dataclass(frozen=True, slots=True)
class _Mark:
    key: str
    start: int
    end: int
    before: str
    """The key of the block before it."""


def _marks(source: bytes) -> Iterator[_Mark]:
    """Functions at the top level and in classes, and the heads of classes, in order of their lines."""
    before = ""
    end = 0
    for item in definitions(source):
        if item.start <= end:  # inside of an `if`, or on a line with another
            raise CannotCompose(f"{item.name} shares a line with another definition")
        if item.kind is Kind.CLASS:
            mark = _Mark(f"class {item.name}", item.start, _head_end(item), before)
        else:
            mark = _Mark(f"def {item.name}", item.start, item.end, before)
        yield mark
        before, end = mark.key, mark.end


def _head_end(item: Definition) -> int:
    """The last line of a class before its first definition: attributes and docstring belong to its head."""
    inner = [
        node
        for node in item.node.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]
    if not inner:
        return item.end
    first = inner[0]
    starts = [first.lineno, *(decorator.lineno for decorator in first.decorator_list)]
    before = [node for node in item.node.body if (node.end_lineno or 0) < min(starts)]
    return before[-1].end_lineno or item.start if before else _header_end(item, min(starts))


def _header_end(item: Definition, first: int) -> int:
    """The line of the colon of a class that begins with a definition."""
    bases = getattr(item.node, "bases", []) + [word.value for word in getattr(item.node, "keywords", [])]
    return min(first - 1, max([item.node.lineno, *(base.end_lineno or 0 for base in bases)]))


def _trailing(lines: Sequence[bytes], start: int, end: int) -> int:
    """Where the comments and blank lines begin that lead up to the definition at `end` (0-based)."""
    at = end
    while at > start and (not lines[at - 1].strip() or lines[at - 1].lstrip().startswith((b"#", b"@"))):
        at -= 1
    return at


def _add(found: Blocks, key: str, text: bytes) -> None:
    """Add a block; a second one of a name, as of an overridden test, is numbered."""
    name, number = key, 2
    while name in found:
        name, number = f"{key} #{number}", number + 1
    found[name] = text


def _ordered(before: Blocks, mine: Blocks, yours: Blocks) -> list[str]:
    """Our order; what only they have comes after the block before it in theirs, behind our additions."""
    order = list(mine)
    previous = ""
    for key in yours:
        if key not in mine:
            at = order.index(previous) + 1 if previous in order else 0
            while at < len(order) and order[at] not in before and order[at] not in yours:
                at += 1
            order.insert(at, key)
        previous = key
    return order


def _merged(key: str, before: Blocks, mine: Blocks, yours: Blocks) -> bytes | None:
    """One block, three ways; None for a block that is removed."""
    old, ours, theirs = before.get(key), mine.get(key), yours.get(key)
    if _same(ours, theirs) or _same(theirs, old):
        return ours
    if _same(ours, old):
        return theirs
    if key.startswith("after:") and ours is not None and theirs is not None:
        return _merged_statements(old or b"", ours, theirs)
    raise CannotCompose(f"both change {key}")


def _same(one: bytes | None, other: bytes | None) -> bool:
    """Equal but for the blank lines around them."""
    if one is None or other is None:
        return one is other
    return one.strip(b"\r\n") == other.strip(b"\r\n")


def _merged_statements(old: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Statements between definitions that both sides change: imports are sets of names."""
    parts = [_split_imports(text) for text in (old, ours, theirs)]
    (was, rest), (one, one_rest), (other, other_rest) = parts
    if len({rest, one_rest, other_rest}) > 2:  # noqa: PLR2004 - three versions
        raise CannotCompose("both change the statements between definitions")
    kept = {name: form for name, form in one.items() if name in other or name not in was}
    kept |= {name: form for name, form in other.items() if name not in one and name not in was}
    names = b"".join(form + b"\n" for name, form in kept.items())
    chosen = one_rest if other_rest == rest else other_rest
    docstring, future, remaining = _leading(chosen)
    return docstring + future + names + remaining


def _split_imports(text: bytes) -> tuple[dict[str, bytes], bytes]:
    """The imports at the top level, one form a name, and the text without them."""
    lines = text.splitlines(keepends=True)
    found: dict[str, bytes] = {}
    dropped: set[int] = set()
    for node in parse(text).body:
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            continue
        dropped |= set(range(node.lineno - 1, node.end_lineno or node.lineno))
        for alias in node.names:
            form = ast.unparse(_one(node, alias))
            found[form] = form.encode()
    rest = [line for number, line in enumerate(lines) if number not in dropped]
    return found, b"".join(line for line in rest if line.strip())


def _one(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    if isinstance(node, ast.Import):
        return ast.Import([alias])
    return ast.ImportFrom(node.module, [alias], node.level)


def _leading(text: bytes) -> tuple[bytes, bytes, bytes]:
    """A docstring, `__future__` imports, and what follows: imports go between the last two."""
    lines = text.splitlines(keepends=True)
    body = parse(text).body
    end = 0
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        end = body[0].end_lineno or 0
    future = end
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            future = node.end_lineno or future
    return b"".join(lines[:end]), b"".join(lines[end:future]), b"".join(lines[future:])


def _joined(merged: Mapping[str, bytes]) -> bytes:
    """The blocks one after the other, each on lines of its own."""
    pieces: list[bytes] = []
    for text in merged.values():
        if pieces and not pieces[-1].endswith((b"\n", b"\r")):
            pieces.append(b"\n")
        if pieces and text.lstrip(b" \t").startswith((b"def ", b"async ", b"class ", b"@")):
            pieces.append(b"\n")
        pieces.append(text)
    return b"".join(pieces)


def _hold(result: bytes, before: Blocks, mine: Blocks, yours: Blocks) -> None:
    """Make sure that the result parses, and holds each function as the side that changed it has it."""
    held = blocks(result)
    expected = {
        key: text
        for key in {*mine, *yours}
        if key.startswith("def ")
        for text in [_merged(key, before, mine, yours)]
        if text is not None
    }
    functions = {key for key in held if key.startswith("def ")}
    if functions != set(expected) or any(not _same(held[key], text) for key, text in expected.items()):
        raise CannotCompose("the result does not hold every function as it was written")
