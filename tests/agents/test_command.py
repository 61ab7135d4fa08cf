"""Claims about command lines as agents, each shown with a real command in the real sandbox."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from stalebench.agents import Assignment, Budget, Worked
from stalebench.agents.command import Command
from stalebench.agents.registry import Options, agent_named
from stalebench.errors import UsageError
from stalebench.grading.records import Status
from tests.agents.conftest import MakeAssignment, needs


def work(line: str, given: Assignment, **options: Any) -> Worked:
    agent = agent_named(f"command:{line}", Options(**options))
    assert isinstance(agent, Command)
    return agent.work(given)


def python(code: str, *arguments: str) -> str:
    return shlex.join(["python", "-c", code, *arguments])


# --- what it is given


def test_without_a_field_the_prompt_comes_by_standard_input(assignment: MakeAssignment) -> None:
    given = assignment("Add ümlauts.\n" * 20_000)
    worked = work("bash -c 'cat > copied'", given)
    assert worked.status is Status.PATCH
    assert (given.workspace / "copied").read_text(encoding="utf-8") == given.prompt


def test_with_a_prompt_file_standard_input_is_empty(assignment: MakeAssignment) -> None:
    given = assignment("The task.")
    work("bash -c 'cat \"$0\" > copied; cat > input' {prompt_file}", given)
    assert (given.workspace / "copied").read_text() == "The task."
    assert (given.workspace / "input").read_bytes() == b""


def test_every_field_is_filled_in_also_within_a_word(assignment: MakeAssignment) -> None:
    given = assignment("The task.", message="The others.")
    code = "import sys, json; json.dump(sys.argv[1:], open('seen', 'w'))"
    line = python(code, "--model={model}", "{prompt}", "@{message_file}", "{workspace}", '{"a": {}} ${HOME}')
    work(line, given, model="m-1")
    model, prompt, message, workspace, literal = json.loads((given.workspace / "seen").read_text())
    assert (model, prompt, workspace) == ("--model=m-1", "The task.", str(given.workspace))
    assert message.startswith("@/")
    assert literal == '{"a": {}} ${HOME}'


@pytest.mark.parametrize(("message", "content"), [("Hear!", "Hear!"), (None, "")])
def test_the_message_is_a_file_of_its_own(
    assignment: MakeAssignment, message: str | None, content: str
) -> None:
    given = assignment(message=message)
    work("cp {message_file} copied", given)
    assert (given.workspace / "copied").read_text() == content


def test_it_stands_in_the_workspace_with_the_projects_python_first(assignment: MakeAssignment) -> None:
    given = assignment()
    work(python("import os, sys; print(os.getcwd(), sys.executable)"), given)
    where, python_first = (given.log / "output.txt").read_text().split()
    assert where == str(given.workspace)
    assert Path(python_first).parent == Path(sys.executable).parent


def test_only_named_variables_are_handed_on(
    assignment: MakeAssignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANTED", "this one")
    monkeypatch.setenv("GITHUB_TOKEN", "never-this-one")
    given = assignment()
    work("env", given, pass_env=("WANTED",))
    shown = (given.log / "output.txt").read_text()
    assert "WANTED=this one\n" in shown
    assert "never-this-one" not in shown
    assert "STALEBENCH_C" not in shown


def test_a_variable_that_is_not_set_is_told_before_anything_runs(assignment: MakeAssignment) -> None:
    given = assignment()
    with pytest.raises(UsageError, match="NO_SUCH_KEY"):
        work("touch touched", given, pass_env=("NO_SUCH_KEY",))
    assert not (given.workspace / "touched").exists()


def test_a_passed_secret_is_taken_out_of_what_is_kept(
    assignment: MakeAssignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_API_KEY", "sk-0123456789")
    given = assignment()
    worked = work("bash -c 'echo $MODEL_API_KEY | tee used; exit 1'", given, pass_env=("MODEL_API_KEY",))
    assert (given.workspace / "used").read_text() == "sk-0123456789\n"  # it has been given
    assert (given.log / "output.txt").read_text() == "[MODEL_API_KEY]\n"
    assert worked.detail == "exit status 1\n[MODEL_API_KEY]"


@needs("files")
def test_it_writes_to_its_workspace_and_to_no_other_place(assignment: MakeAssignment) -> None:
    given = assignment()
    places = [Path("/etc/x"), given.log / "x", Path(__file__).with_name("x"), Path.home() / "x"]
    work(
        'bash -c \'for one in "$@"; do echo x > "$one"; done; echo y > mine\' -- '
        + " ".join(map(str, places)),
        given,
    )
    assert not any(place.exists() for place in places)
    assert (given.workspace / "mine").exists()


@needs("files")
def test_it_sees_neither_logs_nor_other_folders_of_this_machine(assignment: MakeAssignment) -> None:
    given = assignment()
    beside = given.workspace.parent / "dataset"
    beside.mkdir()
    work(
        python(f"import os; print([os.path.exists(p) for p in ({str(beside)!r}, {str(given.log)!r})])"), given
    )
    assert (given.log / "output.txt").read_text() == "[False, False]\n"


@needs("files")
def test_of_folders_outside_of_the_system_it_sees_what_it_needs_only(assignment: MakeAssignment) -> None:
    """The sources of stalebench, wherever this checkout is, but for the script that starts agents."""
    given = assignment()
    root = Path(__file__).parents[2]
    if root.parts[1] in {"usr", "opt", "var"}:
        pytest.skip("the checkout lies in a folder of the system")
    shown = [path for path in root.iterdir() if path.name not in {".venv", "stalebench"}]
    work(python(f"import os; print([p for p in {list(map(str, shown))!r} if os.path.exists(p)])"), given)
    assert (given.log / "output.txt").read_text() == "[]\n"


def test_a_program_in_a_covered_folder_is_found_through_its_links(
    assignment: MakeAssignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "versions" / "1.0" / "agent"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho it runs\n")
    program.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "agent").symlink_to("../versions/1.0/agent")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    given = assignment()
    assert work("agent", given).status is Status.PATCH
    assert (given.log / "output.txt").read_text() == "it runs\n"


def test_a_program_that_needs_its_folder_is_given_it_by_name(
    assignment: MakeAssignment, tmp_path: Path
) -> None:
    home = tmp_path / "tool"
    for name in ("bin", "lib"):
        (home / name).mkdir(parents=True)
    (home / "lib" / "words").write_text("from its library\n")
    (home / "bin" / "tool").write_text(f"#!/bin/sh\ncat {home}/lib/words\n")
    (home / "bin" / "tool").chmod(0o755)
    given = assignment()
    assert work("tool", given, readable=(home,)).status is Status.PATCH
    assert (given.log / "output.txt").read_text() == "from its library\n"


def test_it_may_commit(assignment: MakeAssignment) -> None:
    given = assignment()
    worked = work(
        "bash -c 'echo x > new && git add new && git commit -q -m mine && git log --oneline'", given
    )
    assert (worked.status, worked.detail) == (Status.PATCH, "")
    assert len((given.log / "output.txt").read_text().splitlines()) == 2


# --- how it ends


def test_a_failure_is_told_with_its_code_and_last_lines(assignment: MakeAssignment) -> None:
    worked = work("bash -c 'seq 100; echo no model >&2; exit 3'", assignment())
    assert worked.status is Status.FAILED
    assert worked.detail.startswith("exit status 3\n")
    assert worked.detail.endswith("\n100\nno model")
    assert "\n50\n" not in worked.detail


def test_a_deadly_signal_is_a_failure(assignment: MakeAssignment) -> None:
    assert work("bash -c 'kill -SEGV $$'", assignment()).detail.startswith("ended by signal 11")


def test_a_program_that_does_not_start_is_a_failure(assignment: MakeAssignment) -> None:
    given = assignment()
    (given.workspace / "agent").write_text("#!/no/such/interpreter\n")
    (given.workspace / "agent").chmod(0o755)
    worked = work(str(given.workspace / "agent"), given)
    assert worked.status is Status.FAILED
    assert "cannot be started in the sandbox" in worked.detail


def test_time_over_ends_it_with_all_that_it_started_and_keeps_what_it_said(
    assignment: MakeAssignment,
) -> None:
    given = assignment(budget=Budget(seconds=2))
    worked = work("bash -c 'printf \"\\xff started\"; (sleep 600; touch late) & sleep 600'", given)
    assert worked.status is Status.TIMED_OUT
    assert worked.trajectory == "output.txt"
    assert (given.log / "output.txt").read_bytes() == b"\xff started"


def test_a_flood_of_output_is_a_failure_and_bounded(assignment: MakeAssignment) -> None:
    given = assignment()
    worked = work("yes", given)
    assert (worked.status, worked.detail.partition("\n")[0]) == (Status.FAILED, "output_flood")
    assert 0 < (given.log / "output.txt").stat().st_size < 80 * 1024 * 1024


def test_a_missing_program_is_told_and_no_verdict_on_the_agent(assignment: MakeAssignment) -> None:
    with pytest.raises(UsageError, match="no-such-program"):
        work("no-such-program", assignment())


# --- what it reports


def test_a_usage_report_is_taken_over(assignment: MakeAssignment) -> None:
    said = {"cost": 0.25, "input_tokens": 1000, "output_tokens": 20, "steps": 3}
    worked = work(
        python("import sys; open(sys.argv[1], 'w').write(sys.argv[2])", "{usage_file}", json.dumps(said)),
        assignment(),
    )
    assert (worked.cost, worked.input_tokens, worked.output_tokens, worked.steps) == (0.25, 1000, 20, 3)


@pytest.mark.parametrize(
    "said", ["", "[]", "nonsense", '{"cost": "much", "steps": true, "input_tokens": -1}', '{"cost": NaN}']
)
def test_a_report_that_makes_no_sense_counts_as_none(assignment: MakeAssignment, said: str) -> None:
    worked = work(
        python("import sys; open(sys.argv[1], 'w').write(sys.argv[2])", "{usage_file}", said), assignment()
    )
    assert worked.status is Status.PATCH
    assert (worked.cost, worked.input_tokens, worked.output_tokens, worked.steps) == (None,) * 4


def test_a_report_that_is_a_link_or_a_pipe_is_not_followed(
    assignment: MakeAssignment, tmp_path: Path
) -> None:
    (tmp_path / "mine.json").write_text('{"cost": 7}')
    given = assignment()
    assert work(f"ln -s {tmp_path / 'mine.json'} {{usage_file}}", given).cost is None
    assert work("mkfifo {usage_file}", given).cost is None


# --- how it is written


@pytest.mark.parametrize(
    ("line", "options", "words"),
    [
        ("", {}, "empty"),
        ("echo 'open", {}, "no command line"),
        ("cat {prompt_fil}", {}, "prompt_fil"),
        ("cat {model}", {}, "model"),
        ("cat", {"model": "m"}, "model"),
        ("cat", {"allowed_hosts": ("https://example.org/v1",)}, "no host"),
    ],
)
def test_a_wrong_command_line_is_refused_at_once(line: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        agent_named(f"command:{line}", Options(**options))


def test_its_name_is_the_program_and_its_settings_hold_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_API_KEY", "sk-0123456789")
    options = Options(model="m", pass_env=("MODEL_API_KEY",), allowed_hosts=("b.example", "a.example:80"))
    agent = agent_named("command:/opt/x/bin/claude   -p --model {model}", options)
    assert agent.name == "claude"
    assert agent.settings == {
        "command": "/opt/x/bin/claude -p --model '{model}'",
        "model": "m",
        "allowed_hosts": "a.example:80 b.example:443",
        "pass_env": "MODEL_API_KEY",
    }


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node on this machine")
def test_a_program_of_node_runs(assignment: MakeAssignment) -> None:
    """Its engine reserves far more address space than it uses."""
    given = assignment()
    code = "require('fs').writeFileSync('new.js', require('fs').readFileSync(0))"
    assert work(shlex.join(["node", "-e", code]), given).status is Status.PATCH
    assert (given.workspace / "new.js").read_text() == given.prompt
