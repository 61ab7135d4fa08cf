"""What tox, nox and CI workflows of a tree install, as far as it is written down. Runs none of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import islice
from typing import Final

from stalebench.environments.declared import Declared, Lines

WORKFLOWS: Final = ".github/workflows"
MOST: Final = 4
_INSTALL: Final = re.compile(r"pip3? install\s+([^\n;&|#]+)")
_SESSION: Final = re.compile(r"session\.install\(([^)]*)\)")
_EXPRESSION: Final = re.compile(r"\$\{\{.*?\}\}")
_QUOTED: Final = re.compile(r"[\"']([^\"']+)[\"']")
_OPTIONS_WITH_VALUE: Final = {
    "-c",
    "--constraint",
    "-i",
    "--index-url",
    "--extra-index-url",
    "-f",
    "--find-links",
}


def ci_requirements(declared: Declared) -> Iterator[Lines]:
    """The lists to try, the most deliberate first."""
    lists = (
        declared.requirements(lines) for lines in (_tox(declared), _nox(declared), *_workflows(declared))
    )
    yield from islice((found for found in lists if found), MOST)


def _tox(declared: Declared) -> Lines:
    """The `deps` and extras of the default environment."""
    tool = declared.pyproject.get("tool", {}).get("tox", {})
    legacy = tool.get("legacy_tox_ini", "")
    native = tool.get("env_run_base", tool.get("env", {}).get("test", {}))
    ini = declared.ini("tox.ini")
    deps = ini.get("testenv", "deps", fallback="").splitlines()
    extras = ini.get("testenv", "extras", fallback="").replace(",", "\n").split()
    # `factor: requirement` is meant for some environments only.
    plain = [re.sub(r"^[\w{},!-]+:\s+", "", line.strip()) for line in (*deps, *_legacy(legacy))]
    texts = [line for line in native.get("deps", []) if isinstance(line, str)]
    return [*plain, *texts, *(f".[{extra}]" for extra in (*extras, *native.get("extras", [])))]


def _legacy(text: str) -> Lines:
    """The `deps` of an ini text that stands in pyproject.toml."""
    found = re.search(r"^\s*deps\s*=((?:[^\n]*\n)(?:[ \t]+[^\n]*\n)*)", text, re.MULTILINE)
    return found[1].splitlines() if found else []


def _nox(declared: Declared) -> Lines:
    calls = _SESSION.findall(declared.text("noxfile.py") or "")
    return _arguments(word for call in calls for word in _QUOTED.findall(call))


def _workflows(declared: Declared) -> Iterator[Lines]:
    """What single pip calls of workflows named like tests or CI install, if that is what tests need.

    Calls are kept apart: all together would be every optional package that any job ever tries.
    """
    for path in sorted(declared.files(WORKFLOWS)):
        name = path.removeprefix(WORKFLOWS)
        if re.search(r"test|ci|build|main", name) and name.endswith((".yml", ".yaml")):
            calls = [_split(call) for call in _INSTALL.findall(declared.text(path) or "")]
            yield from (_arguments(iter(call)) for call in calls if any(map(_is_for_tests, call)))


def _is_for_tests(word: str) -> bool:
    return bool(re.match(r"(-r|--requirement|pytest|hypothesis|nose|tox|\.\[|-e)", word))


def _split(call: str) -> list[str]:
    """The words of a call, without what the workflow would fill in."""
    try:
        return shlex.split(_EXPRESSION.sub("", call))
    except ValueError:
        return []


def _arguments(words: Iterator[str]) -> Lines:
    """The requirements among pip's arguments, each as a line of a requirements file."""
    found: Lines = []
    for word in words:
        if word in {"-r", "--requirement"}:
            found.append(f"-r {next(words, '')}")
        elif word in _OPTIONS_WITH_VALUE:
            next(words, None)
        elif not word.startswith("-") and "$" not in word and word not in {"pip", "setuptools", "wheel"}:
            found.append(word)
    return found
