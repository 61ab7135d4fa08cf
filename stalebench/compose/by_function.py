"""Composes test patches that conflict as text only because they add or change different test functions.

A test file is cut into blocks, which are merged three ways by name, so that two tests added at one place
are both kept, and imports are joined by name. Code is never composed so.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from textwrap import dedent
from typing import Final

from stalebench.compose.blocks import Block, BlockKind, Blocks, CannotCompose, Key, cut, is_same
from stalebench.compose.composing import compose
from stalebench.compose.merge import Merger
from stalebench.compose.objects import Entry, Objects
from stalebench.compose.patch import Patch
from stalebench.compose.results import Conflict, Tree
from stalebench.syntax import parse

_WIDTH: Final = 88
_IMPORT: Final = re.compile(rb"^[ \t]*(?:import|from)\b", re.MULTILINE)


def compose_tests(objects: Objects, base: str, patches: Sequence[Patch]) -> Tree | Conflict:
    """The tree of test patches on a base: as text where that composes, else by function.

    As in `compose`, each patch has to compose with the base by itself; what comes of it is then merged as
    branches of that base are. The conflict names the patch that composes neither way.
    """
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
    before, mine, yours = cut(ancestor), cut(ours), cut(theirs)
    _refuse_two_rewritten(before, mine, yours)
    merged = {key: _merged(key, before, mine, yours) for key in {**mine, **yours}}
    kept = {key: text for key, text in merged.items() if text is not None}
    ordered = _ordered(kept, before, mine, yours)
    result = _joined(ordered, mine, yours)
    _hold(result, ordered, mine, yours)
    return result


def _refuse_two_rewritten(before: Blocks, mine: Blocks, yours: Blocks) -> None:
    """Statements without a name: where both rewrite one, nothing tells that the new ones are one too."""
    gone = {key for key in before if key.kind is BlockKind.STATEMENT} - mine.keys() - yours.keys()
    for owner in {key.owner for key in gone}:
        one, other = (_new_statements(side.keys() - before.keys(), owner) for side in (mine, yours))
        if one and other and one != other:
            raise CannotCompose("both rewrite a statement")


def _new_statements(new: AbstractSet[Key], owner: str) -> set[Key]:
    return {key for key in new if key.kind is BlockKind.STATEMENT and key.owner == owner}


def _merged(key: Key, before: Blocks, mine: Blocks, yours: Blocks) -> bytes | None:
    """One block, three ways; None for a block that is removed."""
    old, ours, theirs = before.get(key), mine.get(key), yours.get(key)
    if is_same(ours, theirs) or is_same(theirs, old):
        return ours.text if ours else None
    if is_same(ours, old):
        return theirs.text if theirs else None
    if key.kind is BlockKind.IMPORT:
        return _merged_import(old, ours, theirs)
    if old and ours and theirs and key.kind not in {BlockKind.FUNCTION, BlockKind.CLASS}:
        return _merged_text(old, ours, theirs)
    raise CannotCompose(f"both change the {key.kind} {key.qualified}")


def _merged_text(old: Block, ours: Block, theirs: Block) -> bytes:
    versions = {"old": old.text, "ours": ours.text, "theirs": theirs.text}
    merged = Merger(versions.__getitem__).merge("old", "ours", "theirs")
    if merged is None:
        raise CannotCompose("both change the same lines of a statement")
    return merged.content


def _merged_import(old: Block | None, ours: Block | None, theirs: Block | None) -> bytes | None:
    """An import that both sides change: its names are a set."""
    was, one, other = (_imported(side) for side in (old, ours, theirs))
    names = [name for name in one if name in other or name not in was]
    names += [name for name in other if name not in one and name not in was]
    model = ours or theirs
    if not names or model is None:
        return None
    node = _import_of(model)
    found = _IMPORT.search(model.text)
    lead = model.text[: found.start()] if found else b""
    indent = model.text[len(lead) :][: node.col_offset]
    return lead + _written(node, names, indent, b"\r\n" if b"\r\n" in model.text else b"\n")


def _import_of(block: Block) -> ast.Import | ast.ImportFrom:
    node = parse(dedent(block.text.decode("latin-1")).encode("latin-1")).body[0]
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        raise CannotCompose("an import shares its lines with another statement")
    return node


def _imported(block: Block | None) -> list[tuple[str, str | None]]:
    return [(alias.name, alias.asname) for alias in _import_of(block).names] if block else []


def _written(
    node: ast.Import | ast.ImportFrom, names: Sequence[tuple[str, str | None]], indent: bytes, newline: bytes
) -> bytes:
    words = [f"{name} as {other}" if other else name for name, other in names]
    if isinstance(node, ast.Import):
        return indent + f"import {', '.join(words)}".encode() + newline
    start = f"from {'.' * node.level}{node.module or ''} import "
    line = indent + (start + ", ".join(words)).encode() + newline
    if len(line) <= _WIDTH or words == ["*"]:
        return line
    rows = [indent + f"    {word},".encode() for word in words]
    return newline.join([indent + start.encode() + b"(", *rows, indent + b")", b""])


def _ordered(kept: Mapping[Key, bytes], before: Blocks, mine: Blocks, yours: Blocks) -> dict[Key, bytes]:
    """Our order; what only they have comes after the block before it in theirs, behind our additions."""
    order = [key for key in mine if key in kept]
    previous: Key | None = None
    for key in yours:
        if key in kept and key not in mine:
            at = order.index(previous) + 1 if previous is not None else 0
            while at < len(order) and _goes_behind(key, order[at], before, yours):
                at += 1
            order.insert(at, key)
        if key in kept:
            previous = key
    order.sort(key=lambda key: key.kind is BlockKind.END)
    return {key: kept[key] for key in order}


def _goes_behind(key: Key, other: Key, before: Blocks, yours: Blocks) -> bool:
    """Whether an added block goes behind the block at its place.

    So it does behind the end of a class that it is not part of, and behind what we added in the same scope.
    """
    inside = f"{other.owner}.".startswith(f"{key.owner}.") if key.owner else True
    deeper = inside and other.owner != key.owner
    return deeper or (inside and other not in before and other not in yours)


def _joined(ordered: Mapping[Key, bytes], mine: Blocks, yours: Blocks) -> bytes:
    """The blocks one after the other, each on lines of its own, with blank lines where they are new there."""
    neighbours = {pair for side in (mine, yours) for pair in zip(side, list(side)[1:], strict=False)}
    newline = b"\r\n" if any(b"\r\n" in text for text in ordered.values()) else b"\n"
    pieces: list[bytes] = []
    previous: Key | None = None
    for key, text in ordered.items():
        if pieces and not pieces[-1].endswith((b"\n", b"\r")):
            pieces.append(newline)
        defines = key.kind in {BlockKind.FUNCTION, BlockKind.CLASS}
        if previous and defines and (previous, key) not in neighbours and text[:1] not in b"\r\n":
            pieces.append(newline if key.owner else newline * 2)
        pieces.append(text)
        previous = key
    return b"".join(pieces)


def _hold(result: bytes, ordered: Mapping[Key, bytes], mine: Blocks, yours: Blocks) -> None:
    """Make sure that the result parses into exactly these blocks, and that no name hides another.

    The first says that each function is there once, as the side that changed it has it.
    """
    try:
        held = cut(result)
    except SyntaxError as error:
        raise CannotCompose("the result does not parse") from error
    if list(held) != list(ordered) or any(
        block.text.strip(b"\r\n") != ordered[key].strip(b"\r\n") for key, block in held.items()
    ):
        raise CannotCompose("the result does not hold every block as it was written")
    sides = (_bound(mine), _bound(yours))
    for name, values in _bound(held).items():
        if not any(values <= side.get(name, set()) for side in sides):
            raise CannotCompose(f"{name[1]} would be two things in one module")


def _bound(blocks: Blocks) -> dict[tuple[str, str], set[str]]:
    """For each name of each scope, all that it is given as a value."""
    bound: dict[tuple[str, str], set[str]] = defaultdict(set)
    for key, block in blocks.items():
        for name, value in block.binds:
            bound[key.owner, name].add(value)
    return bound
