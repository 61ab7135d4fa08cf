"""Claims about how an agent is found by its name. Plug-ins are distributions as pip leaves them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stalebench.agents.fixed import FixedPatch
from stalebench.agents.registry import Options, agent_named, names
from stalebench.errors import UsageError

PLUGIN = '''
from dataclasses import dataclass

from stalebench.agents import Assignment, Worked
from stalebench.agents.registry import Options
from stalebench.grading.records import Status


@dataclass(frozen=True)
class Appender:
    """Writes one line into one file."""

    options: Options

    name = "appender"
    wants_plan = False

    @property
    def settings(self):
        return {"model": self.options.model}

    def work(self, assignment: Assignment) -> Worked:
        with (assignment.workspace / "notes.txt").open("a") as notes:
            notes.write(f"{self.options.model} was here\\n")
        return Worked(Status.PATCH, steps=1)
'''


def install(folder: Path, name: str, points: str, code: str) -> None:
    """What pip leaves of a package that has entry points."""
    (folder / f"{name}.py").write_text(code, encoding="utf-8")
    information = folder / f"{name}-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[stalebench.agents]\n{points}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "fixed"), [("gold", "gold"), ("noop", "empty")])
def test_gold_and_noop_name_a_patch_and_nothing_else(name: str, fixed: str) -> None:
    agent = agent_named(name)
    assert isinstance(agent, FixedPatch)
    assert (agent.name, agent.fixed, agent.wants_plan) == (name, fixed, False)
    assert agent.settings == {"fixed": fixed}


def test_an_unknown_name_is_refused_with_all_that_there_is(site: Path) -> None:
    install(site, "appenders", "appender = appenders:Appender", PLUGIN)
    with pytest.raises(UsageError) as refused:
        agent_named("golden")
    assert "'golden'" in refused.value.message
    for name in ("gold", "noop", "scripted", "command:", "mini-swe-agent", "appender"):
        assert name in refused.value.fix


def test_a_plug_in_is_made_from_the_options(site: Path) -> None:
    install(site, "appenders", "appender = appenders:Appender", PLUGIN)
    agent = agent_named("appender", Options(model="m"))
    assert agent.name == "appender"
    assert agent.settings == {"model": "m"}


def test_a_plug_in_cannot_take_the_place_of_a_shipped_agent(site: Path) -> None:
    install(site, "impostors", "gold = impostors:Appender", PLUGIN)
    assert isinstance(agent_named("gold"), FixedPatch)
    assert names().count("gold") == 1


def test_a_plug_in_that_does_not_load_is_named_with_its_package(site: Path) -> None:
    install(site, "brokens", "broken = brokens:Absent", "import no_such_module\n")
    with pytest.raises(UsageError, match="no_such_module") as refused:
        agent_named("broken")
    assert "brokens" in refused.value.cause


def test_a_missing_extra_is_told_with_the_line_that_installs_it(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is what Python itself keeps for a package that is not to be imported."""
    monkeypatch.setitem(sys.modules, "minisweagent", None)
    with pytest.raises(UsageError) as refused:
        agent_named("mini-swe-agent")
    assert refused.value.fix == "pip install 'stalebench[mini-swe-agent]'"


def test_naming_an_agent_imports_no_other() -> None:
    code = """
import sys
from stalebench.agents.registry import agent_named
agent_named("gold"), agent_named("noop")
print([name for name in sys.modules if name.startswith(("minisweagent", "litellm", "stalebench.run"))])
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"
