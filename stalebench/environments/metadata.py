"""A project's distribution metadata without building the project: its name, a version, its entry points."""

from __future__ import annotations

import configparser
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

UNKNOWN_VERSION: Final = "9999"
"""For a version that only a build would tell; newer than any requirement asks for."""

EntryPoints = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


@dataclass(frozen=True, slots=True)
class Distribution:
    """What other packages can see of a project: groups of (name, object reference) beside its name."""

    name: str
    version: str
    entry_points: EntryPoints


def distribution(
    pyproject: Mapping[str, Any], setup_cfg: configparser.ConfigParser, setup_py: Mapping[str, Any]
) -> Distribution | None:
    """The metadata that a tree declares; None where it declares no name."""
    tools = pyproject.get("tool", {})
    poetry = tools.get("poetry", {}) if isinstance(tools, dict) else {}
    declared = (_dict(pyproject.get("project")), _dict(poetry), _section(setup_cfg, "metadata"), setup_py)
    name = next((str(place["name"]).strip() for place in declared if place.get("name")), "")
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name):
        return None
    version = next((str(place["version"]).strip() for place in declared if place.get("version")), "")
    if not re.fullmatch(r"\d[\w.!+-]*", version):
        version = UNKNOWN_VERSION
    return Distribution(name, version, _entry_points(pyproject, setup_cfg, setup_py, _dict(poetry)))


def write(found: Distribution, venv: Path) -> None:
    """Put the metadata where `importlib.metadata` looks, in a virtual environment."""
    normal = re.sub(r"[-_.]+", "_", found.name).lower()
    for packages in venv.glob("lib/python*/site-packages"):
        folder = packages / f"{normal}-{found.version}.dist-info"
        folder.mkdir(parents=True, exist_ok=True)
        head = f"Metadata-Version: 2.1\nName: {found.name}\nVersion: {found.version}\n"
        (folder / "METADATA").write_text(head, encoding="utf-8")
        (folder / "RECORD").write_text("", encoding="utf-8")
        (folder / "entry_points.txt").write_text(_as_ini(found.entry_points), encoding="utf-8")


def _entry_points(
    pyproject: Mapping[str, Any],
    setup_cfg: configparser.ConfigParser,
    setup_py: Mapping[str, Any],
    poetry: Mapping[str, Any],
) -> EntryPoints:
    project = _dict(pyproject.get("project"))
    groups: dict[str, dict[str, str]] = {}
    for group, told in {
        **_dict(setup_py.get("entry_points")),
        **_section(setup_cfg, "options.entry_points"),
        **_dict(poetry.get("plugins")),
        **_dict(project.get("entry-points")),
        "console_scripts": project.get("scripts") or poetry.get("scripts") or {},
        "gui_scripts": project.get("gui-scripts") or {},
    }.items():
        points = _points(told)
        if points:
            groups.setdefault(group, {}).update(points)
    return tuple((group, tuple(sorted(groups[group].items()))) for group in sorted(groups))


def _points(told: Any) -> dict[str, str]:
    """Name → object reference, from a table, or from lines of `name = reference`."""
    if isinstance(told, dict):
        return {name: reference for name, reference in told.items() if isinstance(reference, str)}
    lines = told.splitlines() if isinstance(told, str) else told if isinstance(told, list) else []
    pairs = (line.partition("=") for line in lines if "=" in line and not line.lstrip().startswith("#"))
    return {name.strip(): reference.strip() for name, _, reference in pairs}


def _section(parser: configparser.ConfigParser, name: str) -> dict[str, str]:
    return dict(parser.items(name)) if parser.has_section(name) else {}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _as_ini(entry_points: EntryPoints) -> str:
    lines: list[str] = []
    for group, points in entry_points:
        lines += [f"[{group}]", *(f"{name} = {reference}" for name, reference in points), ""]
    return "\n".join(lines)
