"""What a tree declares about its packages, in pyproject.toml, setup.cfg, setup.py, lock and other files.

Reads only what is written down; runs nothing of the tree, and raises nothing for a file that is broken.
"""

from __future__ import annotations

import configparser
import posixpath
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from stalebench.compose.objects import Objects
from stalebench.environments import setup_py
from stalebench.environments.metadata import Distribution, distribution

LOCKS: Final = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")
_FILE_OPTION: Final = re.compile(r"(?:-r|--requirement)[ =]*(\S+)")
_COMMENT: Final = re.compile(r"(^|\s)#.*")

Lines = list[str]


class Declared:
    """The files of one tree that tell what its tests need."""

    def __init__(self, objects: Objects, tree: str) -> None:
        self._objects = objects
        self._tree = tree
        self.pyproject = self.toml("pyproject.toml")
        self.setup_cfg = self.ini("setup.cfg")
        self.setup_py = setup_py.arguments(self.text("setup.py") or "")
        self.project: dict[str, Any] = _table(self.pyproject, "project")
        self.poetry: dict[str, Any] = _table(self.pyproject, "tool", "poetry")

    # --- files

    def text(self, path: str) -> str | None:
        """A file's text; None where there is none."""
        entry = self._objects.find(self._tree, path)
        if entry is None or entry.is_folder:
            return None
        return self._objects.blob(entry.id).decode("utf-8", "replace")

    def toml(self, path: str) -> dict[str, Any]:
        """A TOML file; empty where there is none."""
        try:
            return tomllib.loads(self.text(path) or "")
        except tomllib.TOMLDecodeError:
            return {}

    def ini(self, path: str) -> configparser.ConfigParser:
        """An INI file; empty where there is none."""
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        try:
            parser.read_string(self.text(path) or "")
        except configparser.Error:
            return configparser.ConfigParser(interpolation=None)
        return parser

    def files(self, *folders: str) -> Iterator[str]:
        """The files that lie directly in these folders; "" is the root."""
        for folder in folders:
            entry = self._objects.find(self._tree, folder) if folder else None
            if folder and (entry is None or not entry.is_folder):
                continue
            found = self._objects.entries(entry.id if entry else self._tree)
            yield from (posixpath.join(folder, name) for name, each in found.items() if not each.is_folder)

    # --- the project

    @cached_property
    def distribution(self) -> Distribution | None:
        """The project's metadata."""
        return distribution(self.pyproject, self.setup_cfg, self.setup_py)

    @property
    def requires_python(self) -> str:
        """Which Pythons the project says it runs on."""
        told = (
            self.project.get("requires-python")
            or self.setup_cfg.get("options", "python_requires", fallback="").strip()
            or self.setup_py.get("python_requires")
            or _table(self.poetry, "dependencies").get("python")
            or _table(self.pyproject, "tool", "flit", "metadata").get("requires-python", "")
        )
        return re.sub(r"\^", ">=", str(told))

    @cached_property
    def dependencies(self) -> Lines:
        """What the project itself needs; a plain requirements.txt where nothing else tells."""
        dynamic = _table(self.pyproject, "tool", "setuptools", "dynamic", "dependencies").get("file", [])
        found = [
            *_texts(self.project.get("dependencies")),
            *_texts(_table(self.pyproject, "tool", "flit", "metadata").get("requires")),
            *_poetry(_table(self.poetry, "dependencies")),
            *self.setup_cfg.get("options", "install_requires", fallback="").splitlines(),
            *_texts(self.setup_py.get("install_requires")),
            *(f"-r {path}" for path in ([dynamic] if isinstance(dynamic, str) else _texts(dynamic))),
        ]
        return self.requirements(found or ["-r requirements.txt"])

    @cached_property
    def extras(self) -> dict[str, Lines]:
        """Extras by name, as declared."""
        found = {name: _texts(lines) for name, lines in _table(self.setup_py, "extras_require").items()}
        if self.setup_cfg.has_section("options.extras_require"):
            section = self.setup_cfg.items("options.extras_require")
            found |= {name: text.splitlines() for name, text in section}
        for place in (
            _table(self.pyproject, "tool", "flit", "metadata", "requires-extra"),
            _table(self.project, "optional-dependencies"),
        ):
            found |= {name: _texts(lines) for name, lines in place.items()}
        return found

    @cached_property
    def groups(self) -> dict[str, Lines]:
        """Dependency groups by name (PEP 735, and Poetry's), those that they include in their place."""
        told = _table(self.pyproject, "dependency-groups")
        found = {name: list(_group(told, name, ())) for name in told}
        for name, group in _table(self.poetry, "group").items():
            found.setdefault(name, _poetry(_table(group, "dependencies")))
        if self.poetry.get("dev-dependencies"):
            found.setdefault("dev", _poetry(_table(self.poetry, "dev-dependencies")))
        return found

    @cached_property
    def locked(self) -> tuple[str, ...]:
        """The versions that a lock file fixes, as constraints; a package with two versions is left open."""
        for path in LOCKS:
            content = self.toml(path)
            rows = [row for row in (content.get("package") or content.get("packages") or []) if _is_pin(row)]
            versions: dict[str, set[str]] = {}
            for row in rows:
                versions.setdefault(str(row["name"]), set()).add(str(row["version"]))
            if versions:
                own = canonicalize_name(self.distribution.name) if self.distribution else ""
                single = {name: found.pop() for name, found in versions.items() if len(found) == 1}
                return tuple(sorted(f"{name}=={version}" for name, version in single.items() if name != own))
        return ()

    def requirements(self, lines: Iterable[str], folder: str = "", seen: tuple[str, ...] = ()) -> Lines:
        """Requirements alone: files that lines refer to read, own extras replaced by what they hold."""
        found: Lines = []
        for line in (_COMMENT.sub("", line).strip().rstrip("\\").strip() for line in lines):
            if line in seen or not line:
                continue
            extras, file = self._own_extras(line), _FILE_OPTION.match(line)
            if file:
                path = posixpath.normpath(posixpath.join(folder, file[1]))
                text = self.text(path) or ""
                found += self.requirements(text.splitlines(), posixpath.dirname(path), (*seen, line))
            elif extras is not None:
                inside = [one for extra in extras for one in self.extras.get(extra, [])]
                found += self.requirements(inside, "", (*seen, line))
            elif _is_requirement(line):
                found.append(line)
        return list(dict.fromkeys(found))

    def _own_extras(self, line: str) -> list[str] | None:
        """The extras that a line asks of the project itself (`.[test]`, `name[test]`); None of any other."""
        named = re.fullmatch(r"(?:-e\s+)?([\w.-]+?)\s*(?:\[([\w\s,.-]+)\])?", line)
        if not named:
            return None
        own = canonicalize_name(self.distribution.name) if self.distribution else "."
        if named[1] != "." and canonicalize_name(named[1]) != own:
            return None
        return [extra.strip() for extra in (named[2] or "").split(",") if extra.strip()]


def _is_requirement(line: str) -> bool:
    """Whether the line asks for a package of the registry (not for an address, a path or an option)."""
    try:
        return Requirement(line).url is None
    except InvalidRequirement:
        return False


def _is_pin(row: Any) -> bool:
    """Whether a row of a lock file is a package of the registry, and no folder or repository."""
    if not isinstance(row, dict) or not row.get("name") or not row.get("version"):
        return False
    source = row.get("source", {})
    kinds = {"editable", "virtual", "directory", "git", "path", "url"}
    return not (isinstance(source, dict) and (kinds & source.keys() or source.get("type") in kinds))


def _poetry(table: dict[str, Any]) -> Lines:
    """Names alone: Poetry has its own way to write versions, and its lock file tells them."""
    optional = (name for name, told in table.items() if isinstance(told, dict) and told.get("optional"))
    return sorted(set(table) - {"python", *optional})


def _group(groups: dict[str, Any], name: str, above: tuple[str, ...]) -> Iterator[str]:
    """A group's requirements, with those of the groups that it includes."""
    told = groups.get(name)
    for line in told if isinstance(told, list) else ():
        if isinstance(line, str):
            yield line
        elif isinstance(line, dict) and (included := line.get("include-group")) not in {*above, name}:
            yield from _group(groups, str(included), (*above, name))


def _table(root: Any, *path: str) -> dict[str, Any]:
    """The table at a path; empty where there is none, or something else."""
    for key in path:
        root = root.get(key, {}) if isinstance(root, dict) else {}
    return root if isinstance(root, dict) else {}


def _texts(value: Any) -> Lines:
    """The texts of a list, or the lines of a text."""
    if isinstance(value, str):
        return value.splitlines()
    return [line for line in value if isinstance(line, str)] if isinstance(value, list) else []
