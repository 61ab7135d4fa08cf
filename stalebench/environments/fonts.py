"""Gives matplotlib its font cache in every run, which begins with an empty home.

Without it, each run would look at all fonts of the machine. A prepared MPLCONFIGDIR does not help: matplotlib
refuses one that it may not write to, as all of an environment is in a run. So the environment hands a copy
to the run's own cache folder when its interpreter starts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from stalebench.environments.sandboxed import refusal
from stalebench.errors import EnvironmentBroken

NAME: Final = "_stalebench_fonts"

_HAND_OUT: Final = '''
"""Copies matplotlib's font cache to the cache folder of whoever starts this Python, if none is there."""
import os


def hand_out(kept, cache):
    try:
        names = [name for name in os.listdir(kept) if name.endswith(".json")]
        folder = os.path.join(cache, "matplotlib")
        os.makedirs(folder, exist_ok=True)
        for name in names:
            with open(os.path.join(kept, name), "rb") as source:
                content = source.read()
            with open(os.path.join(folder, name), "xb") as target:
                target.write(content)
    except OSError:
        pass


if os.environ.get("XDG_CACHE_HOME") and not os.environ.get("MPLCONFIGDIR"):
    hand_out(os.path.dirname(os.path.abspath(__file__)), os.environ["XDG_CACHE_HOME"])
'''


def prepare(python: Path, venv: Path) -> None:
    """Fill the cache once, and put it into the environment. Raises EnvironmentBroken."""
    for packages in venv.glob("lib/python*/site-packages"):
        folder = packages / NAME
        folder.mkdir()
        _run(["-c", "import matplotlib.font_manager"], python, folder)
        (folder / "__init__.py").write_text(_HAND_OUT.lstrip(), encoding="ascii")
        _run(["-m", "compileall", "-q", "."], python, folder)
        (packages / f"{NAME}.pth").write_text(f"import {NAME}\n", encoding="ascii")


def _run(arguments: list[str], python: Path, folder: Path) -> None:
    told = refusal(
        [python, *arguments], python, [("MPLCONFIGDIR", str(folder)), ("MPLBACKEND", "Agg")], folder
    )
    if told is not None:
        raise EnvironmentBroken(
            f"matplotlib does not import:\n{told}",
            "versions that do not fit each other, as numpy 2 with an older matplotlib",
            "mend the recipe's pins",
        )
