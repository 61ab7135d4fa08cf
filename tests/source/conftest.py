"""A repository to grow, and git without the user's own configuration."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.repositories import Builder


@pytest.fixture
def built(tmp_path: Path) -> Builder:
    return Builder(tmp_path / "origin.git")


@pytest.fixture(autouse=True)
def _plain_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
