"""A project's distribution metadata without building the project: its name, a version, its entry points."""

from __future__ import annotations

import configparser
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

UNKNOWN_VERSION = "9999"
"""For a version that only a build would tell; newer than any requirement asks for."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """What other packages can see of a project: groups of (name, object reference) beside its name."""

    name: str
    version: str
    entry_points: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


def distribution(pyproject: dict[str, Any], setup: configparser.ConfigParser) -> Distribution | None:
    """The metadata that a tree declares; None where it declares no name."""
    project = pyproject.get("project", {})
    name = project.get("name") or setup.get("metadata", "name", fallback="").strip()
    if not name:
        return None
    version = str(project.get("version") or setup.get("metadata", "version", fallback="")).strip()
    if not re.fullmatch(r"\d[\w.!+-]*", version):
        version = UNKNOWN_VERSION
    groups = dict(project.get("entry-points", {})) | _of_setup(setup)
    if project.get("scripts"):
        groups["console_scripts"] = project["scripts"]
    ordered = tuple((group, tuple(sorted(groups[group].items()))) for group in sorted(groups))
    return Distribution(str(name), version, ordered)


def write(found: Distribution | None, venv: Path) -> None:
    """Put the metadata where `importlib.metadata` looks, in a virtual environment."""
    if found is None:
        return
    normal = re.sub(r"[-_.]+", "_", found.name).lower()
    for packages in venv.glob("lib/python*/site-packages"):
        folder = packages / f"{normal}-{found.version}.dist-info"
        folder.mkdir(parents=True, exist_ok=True)
        head = f"Metadata-Version: 2.1\nName: {found.name}\nVersion: {found.version}\n"
        (folder / "METADATA").write_text(head, encoding="utf-8")
        (folder / "RECORD").write_text("", encoding="utf-8")
        (folder / "entry_points.txt").write_text(_as_ini(found), encoding="utf-8")


def _of_setup(setup: configparser.ConfigParser) -> dict[str, dict[str, str]]:
    if not setup.has_section("options.entry_points"):
        return {}
    groups = setup.items("options.entry_points")
    return {group: dict(_pair(line) for line in text.splitlines() if "=" in line) for group, text in groups}


def _pair(line: str) -> tuple[str, str]:
    name, _, reference = line.partition("=")
    return name.strip(), reference.strip()


def _as_ini(found: Distribution) -> str:
    lines: list[str] = []
    for group, points in found.entry_points:
        lines += [f"[{group}]", *(f"{name} = {reference}" for name, reference in points), ""]
    return "\n".join(lines)
