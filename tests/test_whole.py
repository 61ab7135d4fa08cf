"""Files that appear whole or not at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stalebench.whole import write_whole

EACH = 64 * 1024


def test_threads_that_write_one_file_leave_one_of_theirs_whole(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    contents = [bytes([letter]) * EACH for letter in b"abcdefgh"]
    with ThreadPoolExecutor(len(contents)) as pool:
        for _ in range(20):
            list(pool.map(lambda data: write_whole(path, data), contents))
            assert path.read_bytes() in contents
    assert list(path.parent.iterdir()) == [path]


def test_what_cannot_be_put_in_place_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "full").touch()
    with pytest.raises(OSError, match="taken"):
        write_whole(tmp_path / "taken", b"data")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
