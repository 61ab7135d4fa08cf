"""The folder of a graded run: patches and texts by content, and attempts as they were made.

One process writes it. An attempt is stored after all that it names, so that a stored one is whole.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from stalebench.grading.attempting import Made, encoded, stored_path
from stalebench.tables import keep_patch
from stalebench.tables.dataset import disk, writing


def keep(folder: Path, made: Made) -> None:
    """Keep what an attempt names, then the attempt itself where it is worth storing."""
    for patch in made.patches:
        keep_patch(folder, patch)
    for text in made.texts:
        _keep_text(folder, text)
    if made.key:
        _write(stored_path(folder, made.key), encoded(made.attempt).encode())


def text_path(folder: Path, digest: str) -> Path:
    """Where the text with this SHA-256 is kept."""
    return folder / "texts" / digest[:2] / f"{digest}.txt"


def _keep_text(folder: Path, text: str) -> None:
    content = text.encode()
    path = text_path(folder, hashlib.sha256(content).hexdigest())
    if not path.is_file():
        _write(path, content)


def _write(path: Path, content: bytes) -> None:
    with writing(path) as temporary, disk(path):
        temporary.write_bytes(content)
