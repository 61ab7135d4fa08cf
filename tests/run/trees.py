"""Trees of files for checkouts, and what a folder holds in the same form."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from stalebench.compose.objects import EMPTY_TREE, Entry, Objects

FILE, PROGRAM, LINK, SUBMODULE = 0o100644, 0o100755, 0o120000, 0o160000
COMMIT = "1234567890" * 4

Content = bytes | tuple[int, bytes]


def tree_of(objects: Objects, files: Mapping[str, Content]) -> str:
    """The tree of these files; a pair is a mode and a content."""
    edits = {}
    for path, content in files.items():
        mode, data = content if isinstance(content, tuple) else (FILE, content)
        edits[path] = Entry(mode, COMMIT if mode == SUBMODULE else objects.put_blob(data))
    return objects.edit(EMPTY_TREE, edits)


def on_disk(root: Path) -> dict[str, Content]:
    """All that is in a folder but bytecode, in the form of `tree_of`; empty folders are submodules."""
    found: dict[str, Content] = {}
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name != "__pycache__"]
        for name in [*names, *files]:
            path = Path(folder, name)
            mode = path.lstat().st_mode
            key = str(path.relative_to(root))
            if stat.S_ISLNK(mode):
                found[key] = (LINK, os.fsencode(path.readlink()))
            elif stat.S_ISDIR(mode):
                assert stat.S_IMODE(mode) == 0o755
                if not list(path.iterdir()):
                    found[key] = (SUBMODULE, b"")
            else:
                assert stat.S_ISREG(mode)
                data = path.read_bytes()
                found[key] = (PROGRAM, data) if stat.S_IMODE(mode) == 0o755 else data
                assert stat.S_IMODE(mode) in {0o755, 0o644}
    return found


PROJECT: dict[str, Content] = {
    "README": b"read me\n",
    "run.sh": (PROGRAM, b"#!/bin/sh\n"),
    "package/__init__.py": b"",
    "package/module.py": b"value = 1\n",
    "package/deep/er/module.py": b"value = 2\n",
    "package/data/binary": bytes(range(256)),
    "link": (LINK, b"package/module.py"),
    "broken-link": (LINK, b"nowhere"),
    "outward": (LINK, b"/etc"),
    "vendored": (SUBMODULE, b""),
    "folder with space/na\u00efve \u2603.py": b"x = 1\n",
    os.fsdecode(b"latin-\xe9.txt"): b"not UTF-8",
    "Case": b"upper",
    "case": b"lower",
}
