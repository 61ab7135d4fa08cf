"""What a supervised process finds around it: variables, and the folders it may see. Starts nothing."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

_COVERED: Final = ("/tmp", "/var/tmp", "/home", "/root", "/run")  # noqa: S108
"""Folders that hold what is private, or what others listen on: covered in the view of the process."""
_SCRATCH: Final = ("/tmp", "/var/tmp")  # noqa: S108
"""Those among them that the process may write to, in a copy of its own."""
_THREADS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def environment(
    python: Path,
    variables: Iterable[tuple[str, str]] = (),
    *,
    hash_seed: int = 0,
    write_bytecode: bool = False,
) -> dict[str, str]:
    """All variables for a process of this interpreter: nothing of our own environment is handed on.

    HOME, TMPDIR and the XDG folders are added when the process starts, since they are private to it.
    """
    path = [str(python.parent), "/usr/local/bin", "/usr/bin", "/bin"]
    scrubbed = {
        "PATH": os.pathsep.join(path),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": str(hash_seed),
        **dict.fromkeys(_THREADS, "1"),
    }
    if not write_bytecode:
        scrubbed["PYTHONDONTWRITEBYTECODE"] = "1"
    return scrubbed | dict(variables)


def home_variables(scratch: str) -> dict[str, str]:
    """The variables that name private folders below `scratch`."""
    home = os.path.join(scratch, "home")  # noqa: PTH118 - as text: it may exist in another view only
    return {
        "HOME": home,
        "TMPDIR": scratch,
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_STATE_HOME": f"{home}/.local/state",
    }


def visible_folders(program: Path, cwd: Path, env: Mapping[str, str], further: Sequence[Path]) -> list[str]:
    """Folders that the process must see even if a covered folder holds them; as named and as resolved."""
    python_path = [Path(part) for part in env.get("PYTHONPATH", "").split(os.pathsep) if part]
    named = [cwd, *python_path, *further, *interpreter_folders(program)]
    both = [folder for path in named for folder in (Path(os.path.abspath(path)), path.resolve())]  # noqa: PTH100
    return sorted({str(folder) for folder in both if folder.exists()})


def interpreter_folders(program: Path) -> list[Path]:
    """Where a virtual environment and the interpreter it stems from live, link by link."""
    folders = [program.parent.parent]
    while program.is_symlink():
        program = program.parent / program.readlink()
        folders.append(program.parent.parent)
    return [folder for folder in folders if len(folder.parts) > 1]


def covers(scratch: Path, visible: Sequence[str], hidden: Sequence[Path] = ()) -> list[tuple[str, str]]:
    """Which folders to cover, and with what: `scratch`, or nothing at all (an empty text)."""
    own_home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    chosen: list[tuple[str, str]] = []
    for folder in dict.fromkeys([*_COVERED, str(own_home), *map(str, hidden)]):
        path = Path(folder)
        inside_another = any(path.is_relative_to(other) for other, _ in chosen)
        is_needed = any(path.is_relative_to(shown) for shown in visible)
        if path.is_dir() and not path.is_symlink() and len(path.parts) > 1 and not inside_another | is_needed:
            chosen.append((folder, str(scratch) if folder in _SCRATCH else ""))
    return chosen
