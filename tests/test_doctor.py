from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stalebench.doctor import Finding, check
from stalebench.environments import pythons


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


@pytest.fixture
def without_pythons(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("PATH", "PYENV_ROOT", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "nothing"))
    pythons.installed.cache_clear()
    yield
    pythons.installed.cache_clear()


def test_all_that_the_commands_need_is_looked_at(tmp_path: Path) -> None:
    found = by_name(check(tmp_path / "cache"))
    assert {"git", "pygit2", "duckdb", "uv", "Python", "cores", "memory", "cache", "registry"} <= found.keys()
    assert {"disk of the cache", "disk of the temporary folder", "isolation: network"} <= found.keys()
    assert "libgit2" in found["pygit2"].detail
    assert ".".join(map(str, sys.version_info[:3])) in found["Python"].detail
    assert all(finding.detail for finding in found.values())
    assert all(finding.fix for finding in found.values() if not finding.ok)


def test_a_registry_out_of_reach_limits_and_is_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://someone:secret@127.0.0.1:9/simple")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    registry = by_name(check(tmp_path / "cache"))["registry"]
    assert registry.verdict == "limited"
    assert "cannot be reached" in registry.detail
    assert "127.0.0.1" not in registry.detail + registry.fix


@pytest.mark.usefixtures("without_pythons")
def test_without_git_and_older_pythons_it_says_what_to_install(tmp_path: Path) -> None:
    found = by_name(check(tmp_path / "cache"))
    assert found["git"].verdict == "MISSING"
    assert "install git" in found["git"].fix
    lacking = [finding for name, finding in found.items() if name.startswith("Python 3.")]
    assert lacking
    assert all(finding.verdict == "limited" and "uv python install" in finding.fix for finding in lacking)


def test_what_a_killed_build_left_is_said(tmp_path: Path) -> None:
    torn = tmp_path / "environments" / ("0" * 32)
    whole = tmp_path / "environments" / ("1" * 32)
    for folder in (torn, whole):
        folder.mkdir(parents=True)
    (whole / "complete.json").touch()
    found = by_name(check(tmp_path))
    assert "1 environments" in found["cache"].detail
    assert "1, left by" in found["half-built environments"].detail
    assert str(torn) in found["half-built environments"].fix


def test_looking_makes_no_folder(tmp_path: Path) -> None:
    found = by_name(check(tmp_path / "cache" / "deeper"))
    assert found["cache"].ok
    assert "0 environments" in found["cache"].detail
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_is_no_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    found = by_name(check(tmp_path / "cache"))["cache"]
    assert found.verdict == "MISSING"
    assert "STALEBENCH_CACHE" in found.fix
