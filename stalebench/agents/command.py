"""Any command line as an agent: it is given the prompt, edits the workspace, and ends.

Runs in the sandbox: the workspace can be written to, HOME is private, there is no network but to the hosts
that are allowed by name. All that it prints is its trajectory, kept however it ends.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stalebench.agents import Assignment, Worked
from stalebench.agents import sandbox as box
from stalebench.agents.network import SOCKET, Gate, Host, host_named
from stalebench.agents.options import Options
from stalebench.agents.reported import reported
from stalebench.errors import UsageError
from stalebench.grading.records import Status
from stalebench.run.limits import Ending
from stalebench.run.limits import Status as Ended
from stalebench.run.process import Process
from stalebench.run.scratch import scratch_folder

__all__ = ["FIELDS", "NETWORK", "OUTPUT", "Command"]

OUTPUT: Final = "output.txt"
"""In the log folder: all that the command printed, as bytes."""
NETWORK: Final = "network.jsonl"
"""In the log folder, where hosts are allowed: each try to reach one."""
FIELDS: Final = {
    "prompt": "the prompt itself",
    "prompt_file": "a file that holds the prompt",
    "message_file": "a file that holds the message about the others' changes alone; empty if there is none",
    "workspace": "the folder to work in, which also is the current one",
    "model": "the model that was asked for",
    "usage_file": "a file that the command may write: cost, input_tokens, output_tokens and steps, as JSON",
}
"""What is put in for `{name}` in a command line. Without the first two, the prompt is standard input."""

_FIELD: Final = re.compile(r"\{(\w+)\}")
_START: Final = Path(__file__).parent / "inside" / "start.py"
_SECRET: Final = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SHORTEST_SECRET: Final = 8
_TAIL_LINES: Final = 10


@dataclass(frozen=True)
class Command:
    """An agent that is a command line, split into words as a shell would; no shell is involved."""

    line: str
    options: Options

    def __post_init__(self) -> None:
        self._check()

    @property
    def name(self) -> str:
        """The program's name without its folder."""
        return Path(self.words[0]).name

    @property
    def words(self) -> list[str]:
        """The command line, fields and all."""
        return shlex.split(self.line)

    @property
    def hosts(self) -> list[Host]:
        """Where it may connect to."""
        return [host_named(text) for text in self.options.allowed_hosts]

    @property
    def settings(self) -> dict[str, str | int | float | bool | None]:
        """The command line and what it may use. Values of variables are nobody's business."""
        return {
            "command": shlex.join(self.words),
            "model": self.options.model,
            "allowed_hosts": " ".join(sorted(map(str, self.hosts))),
            "pass_env": " ".join(sorted(self.options.pass_env)),
        }

    @property
    def wants_plan(self) -> bool:
        """It works from the prompt."""
        return False

    def work(self, assignment: Assignment) -> Worked:
        """Run the command to its end, or to the end of its time."""
        assignment.log.mkdir(parents=True, exist_ok=True)
        given = box.passed(self.options.pass_env)
        program = self._program(assignment.python)
        with scratch_folder() as folder:
            handed = _hand_over(folder, assignment)
            try:
                ended = self._run(assignment, handed, program, given)
            finally:
                _redact_file(assignment.log / OUTPUT, given)
            status, detail = _status(ended)
            said = reported(handed / "out" / "usage.json")
        tokens = (said.input_tokens, said.output_tokens)
        detail = _redacted(detail.encode(), given).decode()
        return Worked(status, detail, said.cost, *tokens, said.steps, trajectory=OUTPUT)

    def _run(self, assignment: Assignment, handed: Path, program: Path, given: dict[str, str]) -> Ended:
        uses = set(_FIELD.findall(self.line))
        takes_input = not uses & {"prompt", "prompt_file"}
        orders = {
            "input": takes_input,
            "gate": str(handed / SOCKET) if self.hosts else None,
            "hosts": [(host.name, host.port) for host in self.hosts],
        }
        words = self._filled(assignment, handed)
        readable = [*self.options.readable, *box.seen(assignment.python, program), handed, _START.parent]
        programs = [program.parent, *(folder / "bin" for folder in self.options.readable)]
        with ExitStack() as stack:
            if self.hosts:
                stack.enter_context(Gate(handed, self.hosts, assignment.log / NETWORK))
            running = stack.enter_context(
                Process(
                    [sys.executable, "-I", "-S", _START, json.dumps(orders), str(program), *words[1:]],
                    cwd=assignment.workspace,
                    env=box.variables(assignment.python, programs, given),
                    payload=assignment.prompt.encode(errors="replace") if takes_input else b"",
                    writable=[assignment.workspace, handed / "out"],
                    readable=readable,
                    hidden=box.hidden_folders(),
                    limits=box.limits(assignment.budget),
                    output=assignment.log / OUTPUT,
                )
            )
            ended = running.wait()
        assert ended is not None  # noqa: S101 - only with a timeout
        return ended

    def _filled(self, assignment: Assignment, handed: Path) -> list[str]:
        values = {
            "prompt": assignment.prompt,
            "prompt_file": str(handed / "prompt.md"),
            "message_file": str(handed / "message.md"),
            "workspace": str(assignment.workspace),
            "model": self.options.model or "",
            "usage_file": str(handed / "out" / "usage.json"),
        }
        return [_FIELD.sub(lambda field: values.get(field[1], field[0]), word) for word in self.words]

    def _program(self, python: Path | None) -> Path:
        """The program as it will be found: first beside the project's interpreter, then as in our shell."""
        places = [] if python is None else [str(python.parent)]
        places += [str(folder / "bin") for folder in self.options.readable]
        path = os.pathsep.join([*places, os.environ.get("PATH", os.defpath)])
        found = shutil.which(self.words[0], path=path)
        if found is None:
            raise UsageError(
                f"there is no program {self.words[0]!r}",
                "it is not installed on this machine, or not on PATH",
                "name it with its folder",
            )
        return Path(os.path.abspath(found))  # noqa: PTH100 - links stay: they name what is run

    def _check(self) -> None:
        try:
            words = self.words
        except ValueError as error:
            raise UsageError(
                f"this is no command line: {self.line}", f"{error}", "quote it as a shell wants it"
            ) from error
        if not words:
            raise UsageError("the command line is empty", "", "write it as command:PROGRAM ARGUMENT...")
        for word in words:  # a whole word only: braces stand in JSON and in ${VARIABLES}, too
            unknown = _FIELD.fullmatch(word)
            if unknown and unknown[1] not in FIELDS:
                raise UsageError(
                    f"there is no field {word}", "a slip of the pen", f"fields are {', '.join(FIELDS)}"
                )
        if ("model" in _FIELD.findall(self.line)) != (self.options.model is not None):
            raise UsageError(
                "a model is named, or the command line has the field {model}, but not both",
                "a command is told its model by that field alone",
                "use both, or neither",
            )
        self.hosts  # noqa: B018 - a wrong one is told at once


def _hand_over(folder: Path, assignment: Assignment) -> Path:
    """What the agent is given beside the workspace, to be read only; `out` can be written to."""
    folder.chmod(0o755)
    (folder / "prompt.md").write_bytes(assignment.prompt.encode(errors="replace"))
    (folder / "message.md").write_bytes((assignment.message or "").encode(errors="replace"))
    (folder / "out").mkdir()
    return folder


def _status(ended: Ended) -> tuple[Status, str]:
    """How it ended, and for a failure why: the exit code or the limit, and the last lines."""
    if ended.ending is Ending.WALL_TIMEOUT:
        return Status.TIMED_OUT, "its time was over"
    if ended.ending is Ending.EXITED and ended.code == 0:
        return Status.PATCH, ""
    what = {
        Ending.EXITED: f"exit status {ended.code}",
        Ending.SIGNALLED: f"ended by signal {ended.signal}",
    }.get(ended.ending, str(ended.ending))
    return Status.FAILED, "\n".join([what, *ended.output.strip().splitlines()[-_TAIL_LINES:]])


def _redacted(data: bytes, given: dict[str, str]) -> bytes:
    """Without passed secrets: runs are published."""
    for name, value in given.items():
        if _SECRET.search(name) and len(value) >= _SHORTEST_SECRET:
            data = data.replace(value.encode(), f"[{name}]".encode())
    return data


def _redact_file(output: Path, given: dict[str, str]) -> None:
    if output.exists():
        data = output.read_bytes()
        if (clean := _redacted(data, given)) != data:
            output.write_bytes(clean)
