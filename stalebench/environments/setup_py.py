"""What a setup.py passes to `setup`, read from its syntax tree as far as it is written. Never runs it."""

from __future__ import annotations

import ast
from typing import Any, Final

_WANTED: Final = (
    "name",
    "version",
    "python_requires",
    "install_requires",
    "extras_require",
    "tests_require",
    "entry_points",
)


def arguments(source: str) -> dict[str, Any]:
    """The arguments of interest with their values; what only running it would tell is left out."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return {}
    names = _constants(module)
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call) and _is_setup(node.func)]
    found: dict[str, Any] = {}
    for keyword in (keyword for call in calls for keyword in call.keywords):
        if keyword.arg in _WANTED and (value := _value(keyword.value, names)) is not None:
            found[keyword.arg] = value
    return found


def _is_setup(function: ast.expr) -> bool:
    return (isinstance(function, ast.Name) and function.id == "setup") or (
        isinstance(function, ast.Attribute) and function.attr == "setup"
    )


def _constants(module: ast.Module) -> dict[str, Any]:
    """Names that the module, or the block under `if __name__`, sets to something that is written down."""
    blocks = [module.body, *(node.body for node in module.body if isinstance(node, ast.If))]
    found: dict[str, Any] = {}
    for node in (node for block in blocks for node in block if isinstance(node, ast.Assign)):
        for target in node.targets:
            if isinstance(target, ast.Name) and (value := _value(node.value, found)) is not None:
                found[target.id] = value
    return found


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    """An expression's value; None where it is more than literals, known names, sums and `%`."""
    found: Any = None
    match node:
        case ast.Constant(value=str() as value):
            found = value
        case ast.Name(id=name):
            found = names.get(name)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            found = [value for part in parts if (value := _value(part, names)) is not None]
        case ast.Dict(keys=keys, values=parts):
            pairs = [(_value(key, names), _value(part, names)) for key, part in zip(keys, parts) if key]  # noqa: B905
            found = {key: value for key, value in pairs if isinstance(key, str) and value is not None}
        case ast.BinOp(left=left, op=operator, right=right):
            found = _joined(_value(left, names), operator, _value(right, names))
        case ast.JoinedStr(values=parts):
            found = _text(parts, names)
    return found


def _joined(left: Any, operator: ast.operator, right: Any) -> Any:
    if isinstance(operator, ast.Add) and type(left) is type(right) and isinstance(left, str | list):
        return left + right
    if isinstance(operator, ast.Mod) and isinstance(left, str) and right is not None:
        try:
            return left % (tuple(right) if isinstance(right, list) else right)
        except (TypeError, ValueError):
            return None
    return None


def _text(parts: list[ast.expr], names: dict[str, Any]) -> str | None:
    """An f-string of known parts."""
    values = [_value(part.value if isinstance(part, ast.FormattedValue) else part, names) for part in parts]
    return "".join(values) if all(isinstance(value, str) for value in values) else None
