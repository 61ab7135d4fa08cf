"""What the tree of a Python repository tells: its packages, its test folders, its test runner.

Names alone decide nothing: a folder called `test` is one only if it holds test modules.
"""

from __future__ import annotations

import configparser
import re
import tomllib
from collections import Counter
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from stalebench.compose.objects import Objects

_ROOTS: Final = ("src/", "lib/", "python/", "")
_NO_PACKAGES: Final = frozenset(
    {
        *(
            "test",
            "tests",
            "testing",
            "conftest",
            "properties",
            "benchmark",
            "benchmarks",
            "bench",
            "asv_bench",
        ),
        *("doc", "docs", "example", "examples", "script", "scripts", "tool", "tools", "ci", "bin", "build"),
        *("dist", "release", "setup", "noxfile", "tasks", "fabfile", "manage", "versioneer"),
    }
)
_TEST_NAMES: Final = frozenset({"test", "tests"})
_TEST_MODULE: Final = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests?)\.py$")
_STRAY: Final = ("test_*.py", "*_test.py", "tests.py")
_TEST_CODE: Final = re.compile(
    rb"^\s*(?:def test|class \w*Test|import (?:pytest|unittest)|from unittest)", re.MULTILINE
)
_PYTEST: Final = re.compile(rb"\bpytest\b|\bpy\.test\b")
_CONFIGURATION: Final = re.compile(
    r"^(?:pyproject\.toml|setup\.(?:cfg|py)|tox\.ini|noxfile\.py|Makefile|pytest\.ini|\.travis\.yml|"
    r"(?:[\w-]*requirements|requirements/)[^/]*\.(?:txt|in)|\.github/workflows/[^/]+\.ya?ml)$"
)
_SAMPLE: Final = 50


class Layout:
    """The layout of one tree."""

    def __init__(self, objects: Objects, tree: str) -> None:
        self._objects = objects
        self._files = {
            path: entry.id for path, entry in objects.files(tree) if entry.mode in (0o100644, 0o100755)
        }

    @cached_property
    def packages(self) -> tuple[str, ...]:
        """The roots of what is imported: folders, or single modules ending in `.py`; the largest first."""
        for root in _ROOTS:
            sizes: Counter[str] = Counter()
            for path in self._files:
                if path.startswith(root) and path.endswith(".py"):
                    sizes[root + path.removeprefix(root).partition("/")[0]] += 1
            found = [top for top, _ in sizes.most_common() if self._is_package(top, root)]
            if found:
                return tuple(found)
        return ()

    def import_name(self, project: str) -> str:
        """The package that bears the project's name, else the largest."""
        names = [root.rpartition("/")[2].removesuffix(".py") for root in self.packages]
        told = self._pyproject.get("project", {}).get("name")
        for wanted in (told, project):
            alike = [name for name in names if _plain(name) == _plain(str(wanted))]
            if alike:
                return alike[0]
        return names[0]

    @cached_property
    def test_folders(self) -> tuple[str, ...]:
        """The outermost folders called test or tests that hold modules with tests."""
        if self.runner == "django":
            return ("tests",)
        found = set()
        for path in self._test_modules:
            parts = path.split("/")[:-1]
            named = [place for place, part in enumerate(parts) if part in _TEST_NAMES]
            if named:
                found.add("/".join(parts[: named[0] + 1]))
        return tuple(sorted(found))

    @cached_property
    def test_globs(self) -> tuple[str, ...]:
        """What belongs to the test patch: the test folders, conftest files, test modules beside source."""
        outside = [f"/{folder}/**" for folder in self.test_folders if not self._package_of(folder)]
        conftests = ["conftest.py"] if any(path.endswith("conftest.py") for path in self._files) else []
        return (*outside, *self._inner_globs, *self._stray_globs, *conftests) or ("/tests/**",)

    @cached_property
    def test_module_globs(self) -> tuple[str, ...]:
        """What a runner collects, wherever the test globs reach."""
        patterns = self._python_files or ("test_*.py", "*_test.py")
        if self.runner != "pytest":
            patterns = ("test*.py",)
        folders = [glob.removesuffix("/**") for glob in self.test_globs if glob.endswith("/**")]
        return (*(f"{folder}/**/{pattern}" for folder in folders for pattern in patterns), *self._stray_globs)

    @cached_property
    def runner(self) -> str:
        """Pytest wherever anything speaks of it; Django's own where its script is; unittest else."""
        if "tests/runtests.py" in self._files and b"django" in self._content("tests/runtests.py"):
            return "django"
        told = (path for path in self._files if _CONFIGURATION.match(path) or path.endswith("conftest.py"))
        if any(_PYTEST.search(self._content(path)) or path.endswith("conftest.py") for path in told):
            return "pytest"
        sample = [self._content(path) for path in self._test_modules[:_SAMPLE]]
        if any(b"import pytest" in content or b"from pytest" in content for content in sample):
            return "pytest"
        return "unittest" if any(b"unittest" in content for content in sample) else "pytest"

    @cached_property
    def _test_modules(self) -> tuple[str, ...]:
        named = sorted(path for path in self._files if _TEST_MODULE.search(path))
        return tuple(path for path in named if _TEST_CODE.search(self._content(path)))

    @cached_property
    def _inner_globs(self) -> tuple[str, ...]:
        """Globs for the test folders inside packages, which come in any number."""
        found = [(self._package_of(folder), folder.rpartition("/")[2]) for folder in self.test_folders]
        return tuple(dict.fromkeys(f"/{package}/**/{name}/**" for package, name in found if package))

    @cached_property
    def _stray_globs(self) -> tuple[str, ...]:
        """Globs for test modules that stand beside source, or at the root."""
        if self.runner == "django":
            return ()
        folders = tuple(f"{folder}/" for folder in self.test_folders)
        found = set()
        for path in self._test_modules:
            top, _, rest = path.partition("/")
            name = path.rpartition("/")[2]
            pattern = next((one for one in _STRAY if fnmatchcase(name, one)), None)
            if pattern and not path.startswith(folders):
                found.add(f"/{top}/**/{pattern}" if rest else f"/{pattern}")
        return tuple(sorted(found))

    @cached_property
    def _python_files(self) -> tuple[str, ...]:
        """The file patterns that pytest's own configuration names."""
        told = (
            self._pyproject.get("tool", {}).get("pytest", {}).get("ini_options", {}).get("python_files", "")
        )
        for file, section in (("pytest.ini", "pytest"), ("setup.cfg", "tool:pytest"), ("tox.ini", "pytest")):
            told = told or self._ini(file).get(section, {}).get("python_files", "")
        patterns = told.split() if isinstance(told, str) else map(str, told)
        return tuple(pattern for pattern in patterns if pattern.endswith(".py"))

    @cached_property
    def _pyproject(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self._content("pyproject.toml").decode())
        except ValueError:  # what the project itself cannot read tells nothing
            return {}

    def _ini(self, file: str) -> dict[str, dict[str, str]]:
        parser = configparser.RawConfigParser()
        try:
            parser.read_string(self._content(file).decode())
        except (configparser.Error, ValueError):  # likewise
            return {}
        return {section: dict(parser[section]) for section in parser.sections()}

    def _content(self, path: str) -> bytes:
        return self._objects.blob(self._files[path]) if path in self._files else b""

    def _is_package(self, top: str, root: str) -> bool:
        name = top.removeprefix(root)
        stem = name.removesuffix(".py")
        if not stem.isidentifier() or stem in _NO_PACKAGES or _TEST_MODULE.search(name):
            return False
        if name.endswith(".py"):
            return not (root and stem == "setup") and not stem.startswith("_")
        if f"{top}/__init__.py" in self._files:
            return True
        inner = f"{top}/"
        # A namespace package: no module of its own, but a package below. Only src/ is that clear.
        return root == "src/" and any(
            path.startswith(inner) and path.endswith("/__init__.py") for path in self._files
        )

    def _package_of(self, folder: str) -> str | None:
        return next((root for root in self.packages if folder.startswith(f"{root}/")), None)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower().removeprefix("python-")
