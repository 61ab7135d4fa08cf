"""Claims about mini-swe-agent, with its own deterministic models and with a model server on loopback."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from stalebench.agents import Assignment, Budget, Worked
from stalebench.agents.registry import Options, agent_named
from stalebench.errors import UsageError
from stalebench.grading.records import Status
from tests.agents.conftest import MakeAssignment, Serve, needs

pytest.importorskip(
    "minisweagent", reason="needs the extra: pip install 'stalebench[mini-swe-agent]'", exc_type=ImportError
)

DONE = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


def output(*commands: str, cost: float = 0.5) -> dict[str, Any]:
    """What the deterministic model says: these commands."""
    actions = [{"command": command} for command in commands]
    return {"role": "assistant", "content": "so be it", "extra": {"actions": actions, "cost": cost}}


def work(given: Assignment, options: Options) -> Worked:
    agent = agent_named("mini-swe-agent", options)
    worked: Worked = agent.work(given)  # type: ignore[union-attr]
    return worked


def play(given: Assignment, *outputs: dict[str, Any], **further: Any) -> Worked:
    options = {"outputs": list(outputs), "cost_per_call": 0.0, **further}
    return work(given, Options(model="deterministic", model_options=options))


def trajectory(given: Assignment) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((given.log / "trajectory.traj.json").read_text())
    return found


def observed(given: Assignment) -> list[str]:
    messages = trajectory(given)["messages"]
    return [one["extra"]["raw_output"] for one in messages if "raw_output" in one.get("extra", {})]


# --- with the model that it ships for tests


def test_the_shipped_model_edits_the_workspace(assignment: MakeAssignment) -> None:
    given = assignment()
    worked = play(given, output("echo changed > README"), output(DONE))
    assert (given.workspace / "README").read_text() == "changed\n"
    assert worked == Worked(Status.PATCH, cost=1.0, steps=2, trajectory="trajectory.traj.json")


def test_the_trajectory_is_in_its_own_format_with_the_prompt(assignment: MakeAssignment) -> None:
    given = assignment("Rename the function.")
    play(given, output(DONE))
    saved = trajectory(given)
    assert saved["trajectory_format"] == "mini-swe-agent-1.1"
    assert saved["instance_id"] == "i/solo/0//1"
    assert saved["info"]["exit_status"] == "Submitted"
    assert "Rename the function." in saved["messages"][1]["content"]


@pytest.mark.parametrize("kind", ["minisweagent.models.test_models.DeterministicModel", "deterministic"])
def test_a_model_can_be_named_by_its_class(assignment: MakeAssignment, kind: str) -> None:
    given = assignment()
    assert work(given, Options(model=kind, model_options={"outputs": [output(DONE)]})).status is Status.PATCH


def test_a_configuration_file_names_model_limits_and_prompts(
    assignment: MakeAssignment, tmp_path: Path
) -> None:
    config = {
        "agent": {"system_template": "Be brief.", "step_limit": 1},
        "environment": {"env": {"GREETING": "hello"}},
        "model": {"model_class": "deterministic", "outputs": [output("echo $GREETING"), output(DONE)]},
    }
    (tmp_path / "mine.yaml").write_text(json.dumps(config))  # all JSON is YAML
    given = assignment()
    worked = work(given, Options(config=tmp_path / "mine.yaml"))
    assert (worked.status, worked.steps) == (Status.OVER_COST, 1)
    assert trajectory(given)["messages"][0]["content"] == "Be brief."
    assert observed(given) == ["hello\n"]


def test_home_and_temporary_files_stay_between_commands_and_not_between_attempts(
    assignment: MakeAssignment,
) -> None:
    given = assignment()
    show = "cat ~/notes /tmp/notes; echo $HOME"
    play(given, output("echo a > ~/notes; echo b > /tmp/notes"), output(show), output(DONE))
    assert observed(given)[1].startswith("a\nb\n")
    play(given, output("cat ~/notes"), output(DONE))
    assert observed(given)[0].startswith("cat: ")


@needs("files")
@needs("network")
def test_its_commands_reach_nothing_but_the_workspace(
    assignment: MakeAssignment, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_API_KEY", "sk-0123456789")
    given = assignment()
    commands = [
        f"exec 3<>/dev/tcp/127.0.0.1/{serve()}",
        f"ls {given.log}",
        "touch /etc/x",
        "env",
        "python -c 'import sys; print(sys.executable)'",
    ]
    play(given, *map(output, commands), output(DONE))
    network, logs, system, variables, python = observed(given)
    assert "refused" in network
    assert "No such file" in logs
    assert "Read-only" in system
    assert "sk-0123456789" not in variables
    assert Path(python.strip()).parent == Path(sys.executable).parent


def test_a_command_that_takes_too_long_is_told_to_the_model(
    assignment: MakeAssignment, tmp_path: Path
) -> None:
    (tmp_path / "short.yaml").write_text("environment: {timeout: 1}")
    given = assignment()
    options = {"outputs": [output("echo begun; sleep 600"), output(DONE)]}
    model = Options(model="deterministic", model_options=options, config=tmp_path / "short.yaml")
    assert work(given, model).status is Status.PATCH
    (message,) = [one for one in trajectory(given)["messages"] if one.get("extra", {}).get("exception_info")]
    assert message["extra"]["raw_output"] == "begun\n"
    assert "longer than 1 seconds" in message["content"]


def test_a_long_output_keeps_both_its_ends(assignment: MakeAssignment) -> None:
    given = assignment()
    play(given, output("echo first; yes | head -c 3000000; echo last"), output(DONE))
    (shown,) = observed(given)
    assert shown.startswith("first\n")
    assert shown.endswith("last\n")
    assert len(shown) < 200_000


# --- limits and failures


def test_its_time_ends_a_command_and_the_attempt(assignment: MakeAssignment) -> None:
    given = assignment(budget=Budget(seconds=3))
    worked = play(given, output("echo x > kept; sleep 600"), output(DONE))
    assert worked.status is Status.TIMED_OUT
    assert (given.workspace / "kept").exists()
    assert trajectory(given)["info"]["exit_status"] == "TimeExceeded"


@pytest.mark.parametrize("budget", [Budget(steps=2), Budget(cost=1.0)])
def test_a_limit_of_steps_or_dollars_ends_it(assignment: MakeAssignment, budget: Budget) -> None:
    given = assignment(budget=budget)
    worked = play(given, *[output("true")] * 5)
    assert (worked.status, worked.steps, worked.cost) == (Status.OVER_COST, 2, 1.0)
    assert trajectory(given)["info"]["exit_status"] == "LimitsExceeded"


def test_no_limit_of_its_own_holds_where_none_was_asked_for(assignment: MakeAssignment) -> None:
    worked = play(assignment(), *[output("true", cost=10.0)] * 3, output(DONE))
    assert (worked.status, worked.steps) == (Status.PATCH, 4)


def test_a_model_that_breaks_is_a_failure_with_its_trajectory(assignment: MakeAssignment) -> None:
    given = assignment()
    worked = play(given, output("true"))  # and then nothing more
    assert worked.status is Status.FAILED
    assert worked.detail.startswith("IndexError")
    assert worked.trajectory == "trajectory.traj.json"
    assert trajectory(given)["info"]["exit_status"] == "IndexError"


def test_a_command_that_submits_and_fails_does_not_end_it(assignment: MakeAssignment) -> None:
    worked = play(assignment(), output(f"{DONE}; false"), output(DONE))
    assert (worked.status, worked.steps) == (Status.PATCH, 2)


# --- an OpenAI-compatible server on loopback


class Model(BaseHTTPRequestHandler):
    """Answers /chat/completions with the next of its answers: a message, or an error's status."""

    protocol_version = "HTTP/1.1"
    answers: list[dict[str, Any] | int]
    asked: list[dict[str, Any]]
    keys: list[str | None]

    def do_POST(self) -> None:
        self.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.keys.append(self.headers["Authorization"])
        answer = self.answers.pop(0)
        if self.path != "/v1/chat/completions":
            answer = 404
        if isinstance(answer, int):
            self.send(answer, {"error": {"message": "no such luck", "type": "x", "code": None}})
        else:
            use = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
            finish = "tool_calls" if "tool_calls" in answer else "stop"
            choice = {"index": 0, "message": answer, "finish_reason": finish}
            head = {"id": "c", "object": "chat.completion", "created": 0, "model": self.asked[-1]["model"]}
            self.send(200, {**head, "choices": [choice], "usage": use})

    def send(self, status: int, document: dict[str, Any]) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


MakeModel = Callable[..., tuple[Options, type[Model]]]


@pytest.fixture
def model(serve: Serve, tmp_path: Path) -> MakeModel:
    """Serves answers, and gives the options by which mini-swe-agent finds them, with prices."""

    def make(*answers: dict[str, Any] | int, **further: Any) -> tuple[Options, type[Model]]:
        handler = type("Handler", (Model,), {"answers": list(answers), "asked": [], "keys": []})
        prices = {"input_cost_per_token": 0.001, "output_cost_per_token": 0.01}
        registry = tmp_path / "prices.json"
        entry = {**prices, "litellm_provider": "openai", "mode": "chat", "max_tokens": 1000}
        registry.write_text(json.dumps({"openai/test-model": entry}))
        access = {"api_base": f"http://127.0.0.1:{serve(handler)}/v1", "api_key": "sk-of-the-test"}
        options = {"model_kwargs": access, "litellm_model_registry": str(registry), **further}
        return Options(model="openai/test-model", model_options=options), handler

    return make


def call(*commands: str) -> dict[str, Any]:
    """An answer that calls the tool once for each command."""
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": "bash", "arguments": json.dumps({"command": command})},
        }
        for number, command in enumerate(commands)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def test_a_model_server_is_asked_and_its_tool_calls_are_run(
    assignment: MakeAssignment, model: MakeModel
) -> None:
    given = assignment("Say goodbye.")
    options, server = model(call("echo goodbye > README", "cat README"), call(DONE))
    worked = work(given, options)
    assert (worked.status, worked.detail) == (Status.PATCH, "")
    assert (given.workspace / "README").read_text() == "goodbye\n"
    assert (worked.input_tokens, worked.output_tokens, worked.steps) == (200, 20, 2)
    assert worked.cost == pytest.approx(2 * (100 * 0.001 + 10 * 0.01))
    first, second = server.asked
    assert "Say goodbye." in first["messages"][1]["content"]
    assert [one["tool_call_id"] for one in second["messages"][-2:]] == ["call_0", "call_1"]
    assert "goodbye" in second["messages"][-1]["content"]
    assert server.keys == ["Bearer sk-of-the-test"] * 2


def test_a_model_without_tools_answers_in_text(assignment: MakeAssignment, model: MakeModel) -> None:
    given = assignment()
    said = [
        {"role": "assistant", "content": f"I do it.\n```mswea_bash_command\n{command}\n```"}
        for command in ("echo by text > README", DONE)
    ]
    options, _ = model(*said, model_class="litellm_textbased")
    assert work(given, options).status is Status.PATCH
    assert (given.workspace / "README").read_text() == "by text\n"


def test_answers_that_call_no_tool_are_paid_and_end_it_at_last(
    assignment: MakeAssignment, model: MakeModel
) -> None:
    given = assignment()
    options, _ = model(*[{"role": "assistant", "content": "I would rather not."}] * 3)
    worked = work(given, options)
    assert (worked.status, worked.detail) == (Status.FAILED, "RepeatedFormatError")
    assert (worked.input_tokens, worked.output_tokens) == (300, 30)
    assert worked.cost == pytest.approx(0.6)


def test_without_a_price_there_is_no_cost(assignment: MakeAssignment, model: MakeModel) -> None:
    given = assignment()
    options, _ = model(call(DONE), litellm_model_registry=None, cost_tracking="ignore_errors")
    options = Options(model="openai/unheard-of", model_options=options.model_options)
    worked = work(given, options)
    assert (worked.status, worked.cost, worked.input_tokens) == (Status.PATCH, None, 100)


@pytest.mark.parametrize("status", [401, 404])
def test_a_refusal_by_the_service_is_no_verdict_on_the_agent(
    assignment: MakeAssignment, model: MakeModel, status: int
) -> None:
    given = assignment()
    options, _ = model(call("echo x > kept"), status)
    worked = work(given, options)
    assert worked.status is Status.INFRA
    assert worked.steps == 2
    assert len(observed(given)) == 1


class Hanging(Model):
    """Takes a question and keeps silent until the other side has had enough."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.connection.recv(1)
        self.close_connection = True


def test_a_service_that_never_answers_ends_with_the_time(
    assignment: MakeAssignment, model: MakeModel, serve: Serve
) -> None:
    given = assignment(budget=Budget(seconds=3))
    options, _ = model()
    options.model_options["model_kwargs"]["api_base"] = f"http://127.0.0.1:{serve(Hanging)}/v1"
    worked = work(given, options)
    assert worked.status is Status.TIMED_OUT
    assert trajectory(given)["info"]["exit_status"] == "TimeExceeded"


# --- how it is set up


def test_it_can_be_sent_to_a_worker_and_names_what_its_results_depend_on() -> None:
    options = Options(model="openai/m", model_options={"model_kwargs": {"api_key": "sk-0123456789"}})
    agent = pickle.loads(pickle.dumps(agent_named("mini-swe-agent", options)))  # noqa: S301
    other = agent_named("mini-swe-agent", Options(model="openai/m"))
    assert agent.name == "mini-swe-agent"
    assert agent.settings["model"] == "openai/m"
    assert "sk-0123456789" not in repr(agent.settings)
    assert agent.settings != other.settings


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(), "needs a model"),
        (Options(model="m", allowed_hosts=("a.example",)), "neither allowed hosts"),
        (Options(model="m", pass_env=("HOME",)), "neither allowed hosts"),
        (Options(model="m", config=Path("/no/such.yaml")), "cannot be read"),
    ],
)
def test_a_wrong_set_up_is_refused_at_once(options: Options, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        agent_named("mini-swe-agent", options)


def test_options_that_a_model_does_not_take_are_refused(assignment: MakeAssignment) -> None:
    with pytest.raises(UsageError, match="cannot make the model"):
        work(assignment(), Options(model="deterministic", model_options={"outputs": "none"}))


def test_nothing_is_printed_and_no_folder_of_settings_made(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from stalebench.agents import Assignment, Budget
from stalebench.agents.registry import Options, agent_named
outputs = [{"role": "assistant", "content": "", "extra": {"actions": [{"command": "nonsense"}], "cost": 1.0}}]
options = Options(model="deterministic", model_options={"outputs": outputs})
folder = Path(sys.argv[1])
(folder / "workspace").mkdir()
given = Assignment("i", "p", None, folder / "workspace", Path(sys.executable), Budget(), folder / "log")
assert agent_named("mini-swe-agent", options).work(given).status == "agent_failed"
"""
    home = tmp_path / "home"
    home.mkdir()
    shown = subprocess.run(
        [sys.executable, "-c", code, tmp_path],
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (shown.stdout, shown.stderr) == ("", "")
    assert list(home.rglob("*mini*")) == []
