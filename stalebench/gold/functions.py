"""The gold test functions of one file, from its syntax tree and the change. Reads no other file.

A test is gold if it is added or changed, or if something of the same file that it uses is: a fixture, a
helper, a constant, a set-up method, or the bases, decorators and attributes of its class. Changed imports
make nothing gold, nor do marks of the whole module. What only moves is not changed.
"""

from __future__ import annotations

from stalebench.gold.module import OF_CLASS, TestModule, parts
from stalebench.syntax import Kind, changed_lines, definitions, owners


def gold_functions(old: bytes | None, new: bytes, runner: str) -> set[str]:
    """Qualified names of the gold test functions of the new version. Raises SyntaxError."""
    changed = _changed(old or b"", new)
    if not changed:
        return set()
    module = TestModule(new, runner)
    direct = module.tests & changed
    wanted = module.in_effect(changed - module.tests - _gone(old or b"", module))
    if not wanted:
        return direct
    return direct | {name for name in module.tests - direct if module.uses(name) & wanted}


def changed_and_users(old: bytes | None, new: bytes) -> set[str]:
    """The top-level names of a helper module that are changed, or use what is. Raises SyntaxError."""
    changed = _changed(old or b"", new)
    module = TestModule(new, "pytest")
    wanted = module.in_effect(changed)
    top = {name for name in module.names if "." not in name}
    users = {name for name in top if ({name} | module.uses(name)) & wanted}
    return users | {name for name in changed if "." not in name and ":" not in name}


def _gone(old: bytes, module: TestModule) -> set[str]:
    """The functions that are no longer there, set-up methods aside: nothing uses them."""
    try:
        functions = {item.name for item in definitions(old) if item.kind is Kind.FUNCTION}
    except SyntaxError:
        return set()
    return {name for name in functions - module.names if name.rpartition(".")[2] not in OF_CLASS}


def _changed(old: bytes, new: bytes) -> set[str]:
    """The parts of a module that are not the same in both versions. Raises SyntaxError for the new one."""
    after = parts(new)
    try:
        before = parts(old)
    except SyntaxError:  # Python 2, say: what is left is to go by lines
        innermost = owners(new)
        return {innermost[line] for line in changed_lines(old, new)[1]} - {""}
    appeared = {
        name.replace(":head", ":new") for name in after.keys() - before.keys() if name.endswith(":head")
    }
    return appeared | {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
