"""How to get a function's former return value from its present one. Evaluates nothing."""

from __future__ import annotations

import ast
from typing import Final

_UNDO: Final = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}


def former(old: str, new: str, value: str = "value") -> str | None:
    """An expression for what `old` was, in terms of a name that holds what `new` is, if there is one."""
    try:
        before, after = (ast.parse(text, mode="eval").body for text in (old, new))
    except SyntaxError:
        return None
    return _from(before, after, value)


def _from(old: ast.expr, new: ast.expr, value: str) -> str | None:
    whole = _found(ast.dump(old), new, value)
    if whole is not None:
        return whole
    if isinstance(old, ast.Constant):
        return ast.unparse(old)
    if isinstance(old, ast.Tuple | ast.List):
        parts = [_from(each, new, value) for each in old.elts]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        inside = ", ".join(known)
        return (
            f"[{inside}]"
            if isinstance(old, ast.List)
            else f"({inside},)"
            if len(known) == 1
            else f"({inside})"
        )
    if isinstance(old, ast.Dict):
        return _from_dict(old, new, value)
    return None


def _from_dict(old: ast.Dict, new: ast.expr, value: str) -> str | None:
    pairs = []
    for key, each in zip(old.keys, old.values, strict=True):
        part = None if key is None else _from(each, new, value)
        if key is None or part is None:
            return None
        pairs.append(f"{ast.unparse(key)}: {part}")
    return "{" + ", ".join(pairs) + "}"


def _found(wanted: str, new: ast.expr, value: str) -> str | None:
    """The way from the new value to a part of it that is the wanted expression."""
    if ast.dump(new) == wanted:
        return value
    if isinstance(new, ast.Tuple | ast.List):
        places = [(f"{value}[{number}]", each) for number, each in enumerate(new.elts)]
    elif isinstance(new, ast.Dict):
        places = [
            (f"{value}[{ast.unparse(key)}]", each)
            for key, each in zip(new.keys, new.values, strict=True)
            if isinstance(key, ast.Constant)
        ]
    elif isinstance(new, ast.Call):
        places = [(f"{value}.{each.arg}", each.value) for each in new.keywords if each.arg]
    elif isinstance(new, ast.BinOp) and type(new.op) in _UNDO and isinstance(new.right, ast.Constant):
        places = [(f"({value} {_UNDO[type(new.op)]} {ast.unparse(new.right)})", new.left)]
    else:
        places = []
    ways = (_found(wanted, each, way) for way, each in places)
    return next((way for way in ways if way is not None), None)
