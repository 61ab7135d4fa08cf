"""Real environments, of next to nothing: `unittest` as the runner needs no package."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from stalebench.compose.objects import Objects
from stalebench.environments import Built, EnvironmentStore
from stalebench.environments.building import MARK
from stalebench.environments.failures import OutOfReach
from stalebench.errors import EnvironmentBroken
from stalebench.spec import Recipe, Spec
from tests.environments.projects import DAY, FILES, commit, spec_for

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
PLAIN = Recipe(python=HERE)
NEEDS_SIX = {**FILES, "thing/__init__.py": "import six\n" + FILES["thing/__init__.py"]}


@dataclass(frozen=True)
class Project:
    folder: Path
    commit: str
    objects: Objects


@pytest.fixture
def store(tmp_path: Path) -> EnvironmentStore:
    return EnvironmentStore(tmp_path / "cache")


def project(folder: Path, files: Mapping[str, str] = FILES, when: datetime = DAY) -> Project:
    made = commit(folder, files, when)
    return Project(folder, made, Objects(folder))


def build(store: EnvironmentStore, spec: Spec, of: Project) -> Built:
    return store.built(spec, of.objects, of.commit, of.objects.date_of(of.commit))


def code(built: Built, text: str) -> str:
    """What code prints in an environment."""
    done = subprocess.run([built.python, "-I", "-c", text], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_an_environment_says_what_it_holds(store: EnvironmentStore, tmp_path: Path) -> None:
    recipe = Recipe(python=HERE, packages=("six==1.16.0",), env=(("SOME", "value"),))
    built = build(store, spec_for(recipe), project(tmp_path / "clone", NEEDS_SIX))
    assert built.record.rung == "spec"
    assert built.record.packages == ("six==1.16.0",)
    assert built.record.python.startswith(HERE)
    assert built.variables == (("SOME", "value"),)
    assert built.earlier == ()
    assert code(built, "import six; print(six.__version__)") == "1.16.0"
    assert pickle.loads(pickle.dumps(built)) == built  # noqa: S301 - our own


def test_the_environment_never_holds_the_project_itself(store: EnvironmentStore, tmp_path: Path) -> None:
    built = build(store, spec_for(PLAIN), project(tmp_path / "clone"))
    found = code(built, "import importlib.util; print(importlib.util.find_spec('thing'))")
    assert found == "None"


def test_one_environment_serves_many_commits_and_later_starts(
    store: EnvironmentStore, tmp_path: Path
) -> None:
    first = project(tmp_path / "clone")
    second = project(tmp_path / "clone", {**FILES, "more.py": ""}, datetime(2025, 2, 3, tzinfo=UTC))
    built = build(store, spec_for(PLAIN), first)
    made_at = (built.python.parents[2] / MARK).stat().st_mtime_ns
    assert build(store, spec_for(PLAIN), second) == built
    assert build(EnvironmentStore(store.folder.parent), spec_for(PLAIN), first) == built
    assert (built.python.parents[2] / MARK).stat().st_mtime_ns == made_at


def test_other_packages_are_another_environment(store: EnvironmentStore, tmp_path: Path) -> None:
    of = project(tmp_path / "clone")
    keys = {
        build(store, spec_for(recipe), of).record.key
        for recipe in (
            PLAIN,
            Recipe(python=HERE, packages=("six==1.16.0",)),
            Recipe(python=HERE, packages=("six==1.15.0",)),
            replace(PLAIN, env=(("A", "b"),)),
            replace(PLAIN, install=("true",)),
        )
    }
    assert len(keys) == 5


def test_a_half_built_environment_is_built_again(store: EnvironmentStore, tmp_path: Path) -> None:
    of = project(tmp_path / "clone")
    built = build(store, spec_for(PLAIN), of)
    folder = built.python.parents[2]
    (folder / MARK).unlink()
    built.python.unlink()
    (folder / "left-over").touch()
    assert build(EnvironmentStore(store.folder.parent), spec_for(PLAIN), of) == built
    assert code(built, "print(1)") == "1"
    assert not (folder / "left-over").exists()


def test_an_environment_whose_python_is_gone_is_built_again(store: EnvironmentStore, tmp_path: Path) -> None:
    of = project(tmp_path / "clone")
    built = build(store, spec_for(PLAIN), of)
    built.python.unlink()
    build(EnvironmentStore(store.folder.parent), spec_for(PLAIN), of)
    assert code(built, "print(1)") == "1"


def test_a_damaged_resolution_is_made_again(store: EnvironmentStore, tmp_path: Path) -> None:
    of = project(tmp_path / "clone")
    built = build(store, spec_for(PLAIN), of)
    for path in (store.folder / "plans").iterdir():
        path.write_text("{", encoding="ascii")
    assert build(EnvironmentStore(store.folder.parent), spec_for(PLAIN), of) == built


def test_threads_build_an_environment_once(tmp_path: Path) -> None:
    of = project(tmp_path / "clone")

    def of_its_own(_: int) -> Built:
        return build(
            EnvironmentStore(tmp_path / "cache"), spec_for(PLAIN), replace(of, objects=Objects(of.folder))
        )

    with ThreadPoolExecutor(3) as pool:
        built = set(pool.map(of_its_own, range(3)))
    assert len(built) == 1
    folder = built.pop().python.parents[2]
    assert (folder / MARK).is_file()
    assert not (folder / "gate").exists()


def test_a_gate_that_fails_leads_to_the_next_rung(store: EnvironmentStore, tmp_path: Path) -> None:
    files = {**NEEDS_SIX, "requirements-test.txt": "six==1.16.0\n"}
    built = build(store, spec_for(PLAIN), project(tmp_path / "clone", files))
    assert built.record.rung == "requirements"
    ((rung, said),) = built.earlier
    assert rung == "spec"
    assert "No module named 'six'" in said
    (kept,) = (store.folder / "ladders").iterdir()
    told = json.loads(kept.read_text(encoding="utf-8"))
    assert told["rung"] == "requirements"
    assert told["earlier"] == [[rung, said]]


def test_where_no_rung_works_each_says_why(store: EnvironmentStore, tmp_path: Path) -> None:
    of = project(tmp_path / "clone", {**NEEDS_SIX, "tox.ini": "[testenv]\ndeps = iniconfig\n"})
    with pytest.raises(EnvironmentBroken) as caught:
        build(store, spec_for(Recipe(python="3.99")), of)
    said = caught.value.message
    assert "spec: Python 3.99 is not on this machine" in said.partition("\n")[0]  # the line that tables keep
    assert "\nspec: Python 3.99 is not on this machine" in said
    assert "ci: `import thing` fails" in caught.value.message
    assert "bare: `import thing` fails" in caught.value.message
    assert not isinstance(caught.value, OutOfReach)


def test_an_environment_without_any_test_does_not_do(store: EnvironmentStore, tmp_path: Path) -> None:
    of = project(tmp_path / "clone", {"thing/__init__.py": ""})
    with pytest.raises(EnvironmentBroken, match="no test is collected"):
        build(store, spec_for(PLAIN), of)


def test_parts_that_must_be_compiled_are_said(store: EnvironmentStore, tmp_path: Path) -> None:
    files = {**FILES, "thing/__init__.py": "from thing import fast\n", "thing/fast.pyx": "x = 1\n"}
    with pytest.raises(EnvironmentBroken, match=r"must be built \(thing/fast.pyx\)"):
        build(store, spec_for(PLAIN), project(tmp_path / "clone", files))


def test_a_bad_commit_does_not_break_the_month(store: EnvironmentStore, tmp_path: Path) -> None:
    broken = {**FILES, "thing/__init__.py": "import nowhere\n"}
    first = project(tmp_path / "clone", broken, datetime(2024, 5, 1, tzinfo=UTC))
    second = project(tmp_path / "clone", FILES, datetime(2024, 5, 14, tzinfo=UTC))
    assert build(store, spec_for(PLAIN), second).record.rung == "spec"
    with pytest.raises(EnvironmentBroken):
        build(store, spec_for(PLAIN), first)


def test_a_broken_environment_is_not_tried_at_each_commit(store: EnvironmentStore, tmp_path: Path) -> None:
    broken = {**FILES, "thing/__init__.py": "import nowhere\n"}
    first = project(tmp_path / "clone", broken, datetime(2024, 5, 14, tzinfo=UTC))
    second = project(tmp_path / "clone", FILES, datetime(2024, 5, 14, tzinfo=UTC))
    said = []
    for each in (second, first):
        with pytest.raises(EnvironmentBroken) as caught:
            build(store, spec_for(PLAIN), each)
        said.append(caught.value.message.partition("\n")[2])
    assert said[0] == said[1]


def test_the_order_of_commits_changes_no_environment(tmp_path: Path) -> None:
    broken = {**FILES, "thing/__init__.py": "import nowhere\n"}
    first = project(tmp_path / "clone", FILES, datetime(2024, 5, 1, tzinfo=UTC))
    second = project(tmp_path / "clone", broken, datetime(2024, 5, 2, tzinfo=UTC))
    forth, back = EnvironmentStore(tmp_path / "1"), EnvironmentStore(tmp_path / "2")
    one = [build(forth, spec_for(PLAIN), each).record for each in (first, second)]
    other = [build(back, spec_for(PLAIN), each).record for each in (second, first)]
    assert one == other[::-1]


def test_entry_points_of_the_project_are_visible(store: EnvironmentStore, tmp_path: Path) -> None:
    text = '[project]\nname = "thing"\nversion = "1.2"\n[project.entry-points.plugins]\na = "thing:double"\n'
    of = project(tmp_path / "clone", {**FILES, "pyproject.toml": text})
    built = build(store, spec_for(replace(PLAIN, metadata=True)), of)
    question = "from importlib.metadata import entry_points, version; print(version('thing'), entry_points())"
    assert "1.2" in code(built, question)
    assert "thing:double" in code(built, question)


def test_install_commands_run_in_a_checkout_and_reach_the_environment(
    store: EnvironmentStore, tmp_path: Path
) -> None:
    command = (
        "cp thing/__init__.py \"$(python -c 'import site; print(site.getsitepackages()[0])')/helper.py\""
    )
    of = project(tmp_path / "clone")
    built = build(store, spec_for(replace(PLAIN, install=(command,))), of)
    assert built.record.install == (command,)
    assert code(built, "import helper; print(helper.double(4))") == "8"


def test_an_install_command_that_fails_is_said(store: EnvironmentStore, tmp_path: Path) -> None:
    recipe = Recipe(python=HERE, install=("echo no compiler >&2; exit 3",))
    of = project(tmp_path / "clone", NEEDS_SIX)
    with pytest.raises(EnvironmentBroken, match=r"(?s)exit 3` failed:\nno compiler\nexit status 3"):
        build(store, spec_for(recipe), of)


class TestOutOfReach:
    """A registry that is not there is no reason to take another environment."""

    @pytest.fixture(autouse=True)
    def closed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
        monkeypatch.setenv("UV_INDEX_URL", "http://127.0.0.1:9/simple")
        monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
        monkeypatch.setenv("UV_HTTP_RETRIES", "0")

    SPEC = spec_for(Recipe(python=HERE, packages=("six==1.16.0",)))

    def test_it_is_said_with_the_usual_cause_and_the_fix(
        self, store: EnvironmentStore, tmp_path: Path
    ) -> None:
        with pytest.raises(OutOfReach) as caught:
            build(store, self.SPEC, project(tmp_path / "clone"))
        assert "cannot be reached" in caught.value.cause
        assert "run the command again" in caught.value.fix

    def test_it_is_remembered_for_this_start_and_tried_again_in_the_next(
        self, store: EnvironmentStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        of = project(tmp_path / "clone", NEEDS_SIX)
        later = project(tmp_path / "clone", {**NEEDS_SIX, "more.py": ""})
        with pytest.raises(OutOfReach):
            build(store, self.SPEC, of)
        for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
            monkeypatch.delenv(name)
        with pytest.raises(OutOfReach):
            build(store, self.SPEC, later)
        assert build(EnvironmentStore(store.folder.parent), self.SPEC, of).record.rung == "spec"


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("", encoding="ascii")
    with pytest.raises(EnvironmentBroken) as caught:
        build(EnvironmentStore(tmp_path / "cache"), spec_for(PLAIN), project(tmp_path / "clone"))
    assert str(tmp_path / "cache") in caught.value.message


def test_a_killed_build_is_made_good(tmp_path: Path) -> None:
    of = project(tmp_path / "clone")
    program = textwrap.dedent(f"""
        import os, signal
        from pathlib import Path
        from stalebench.compose.objects import Objects
        from stalebench.environments import EnvironmentStore, uv
        from tests.environments.projects import DAY, spec_for
        from stalebench.spec import Recipe
        uv.freeze = lambda python: os.kill(os.getpid(), signal.SIGKILL)
        store = EnvironmentStore(Path({str(tmp_path / "cache")!r}))
        store.built(spec_for(Recipe(python={HERE!r})), Objects({str(of.folder)!r}), {of.commit!r}, DAY)
    """)
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, check=False)
    assert killed.returncode == -9
    built = build(EnvironmentStore(tmp_path / "cache"), spec_for(PLAIN), of)
    assert code(built, "print(1)") == "1"
