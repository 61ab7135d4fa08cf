"""Which configuration and which options pytest is started with. Runs nothing.

The repository's own configuration is honoured, since its tests rest on it: markers, warning filters, fixtures
and plugins of its environment. Its `addopts` are not, but for the few that change how a test runs. What they
otherwise do is to select, stop, spread, repeat or report, which is for the suite and the runner to say; or
they belong to a plugin that may not be there, and then keep pytest from starting at all.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import tempfile
from pathlib import Path
from typing import Any, List, Optional, Tuple

from _pytest.config.findpaths import load_config_dict_from_file

BLOCKED = (
    # They change the order of tests,
    "randomly",
    "random_order",
    "random-order",
    "reverse",
    # run them more than once, or hide that they fail,
    "rerunfailures",
    "flaky",
    "pytest_retry",
    "repeat",
    "flakefinder",
    # choose among them,
    "testmon",
    "picked",
    "split",
    "shard",
    # stop them, which is the supervisor's part,
    "timeout",
    "pytest_timeout",
    # or only report.
    "sugar",
    "instafail",
    "html",
    "pytest_jsonreport",
)
"""Plugins that are kept out by name. All others of the environment load: tests need their fixtures and
markers, and without an option (`-n`, `--cov`) they lie idle."""

_FILES = (
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
)
_NEEDS = {"--asyncio-mode": "pytest_asyncio", "--ds": "pytest_django", "--dc": "pytest_django"}
_NEEDED = ("no:terminal", "no:terminalreporter", "no:python", "no:runner", "no:main")
"""Without these pytest does not know the options that it is started with here, or runs nothing."""
_KEPT = ("--import-mode", "-p", "-W", "--pythonwarnings", "--capture", "--log-level", *_NEEDS)


def arguments(root: str, files: List[str], *, whole: bool) -> List[str]:
    """The command line for these files, given relative to the root.

    `whole` says that all their tests are wanted: then those that the repository leaves out by a marker (`-m`)
    stay out, since nobody runs them unasked, and some take hours. A test that is asked for by name runs.
    """
    config = _config_file(root, files)
    kept = _kept(_addopts(config), (*_KEPT, "-m") if whole else _KEPT) if config else []
    return [
        "-c",
        config or _empty(),
        "--rootdir=" + root,
        "--confcutdir=" + root,
        *("-pno:" + name for name in BLOCKED),
        # A warning about an option or a marker of a plugin that is kept out must not become an error.
        "-Wignore::pytest.PytestConfigWarning",
        "-Wignore::pytest.PytestUnknownMarkWarning",
        "-oaddopts=",
        "-orequired_plugins=",
        "-olog_cli=false",
        "-ocache_dir=" + os.path.join(tempfile.gettempdir(), "pytest_cache"),
        "--continue-on-collection-errors",
        "--tb=native",
        "--color=no",
        "-q",
        *kept,
        "--",
        *files,
    ]


def _empty() -> str:
    """A configuration that says nothing, so that pytest does not go and look above the root."""
    path = os.path.join(tempfile.gettempdir(), "pytest.ini")
    with open(path, "w", encoding="ascii") as file:
        file.write("[pytest]\n")
    return path


def _config_file(root: str, files: List[str]) -> Optional[str]:
    """The file that a run of the whole repository would use: the nearest to the root, towards the tests."""
    common = os.path.commonpath([os.path.dirname(file) for file in files] or [""])
    steps = [step for step in common.split("/") if step]
    for depth in range(len(steps) + 1):
        for name in _FILES:
            path = os.path.join(root, *steps[:depth], name)
            if os.path.isfile(path) and load_config_dict_from_file(Path(path)) is not None:
                return path
    return None


def _addopts(config: str) -> List[str]:
    value: Any = (load_config_dict_from_file(Path(config)) or {}).get("addopts", "")
    value = getattr(value, "value", value)
    return [str(part) for part in value] if isinstance(value, list) else shlex.split(str(value))


def _kept(addopts: List[str], wanted: Tuple[str, ...]) -> List[str]:
    kept = []
    rest = list(addopts)
    while rest:
        option, value = _split(rest.pop(0))
        if option == "-s":
            kept.append("-s")
        if option not in wanted:
            continue
        if value is None:
            value = rest.pop(0) if rest else ""
        if _works(option, value):
            kept += [option, value] if option.startswith("-") and option[1] != "-" else [option + "=" + value]
    return kept


def _split(word: str) -> Tuple[str, Optional[str]]:
    if word.startswith("--"):
        option, equals, value = word.partition("=")
        return option, value if equals else None
    if word[:2] in ("-p", "-W", "-m"):
        return word[:2], word[2:] or None
    return word, None


def _works(option: str, value: str) -> bool:
    if option == "-p" and value in _NEEDED:
        return False
    if option == "-p" and not value.startswith("no:"):
        return value not in BLOCKED and (_exists(value) or _exists("_pytest." + value))
    needed = _NEEDS.get(option)
    return needed is None or _exists(needed)


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
