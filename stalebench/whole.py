"""Files that appear whole or not at all, however many threads and processes write the same one."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Put a file there: a reader sees the old one or all of the new one, also after a loss of power.

    Its folder is made if it is missing. Every writer has a temporary file of its own beside the target, and
    the last of them wins. Raises OSError, and leaves nothing behind, if it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            # Without it, a machine that loses power may keep the name and lose the content.
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
