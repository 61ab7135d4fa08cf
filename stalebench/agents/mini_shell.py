"""The environment that mini-swe-agent runs its commands in: our sandbox, one process after the other.

Each command is a `bash` of its own in the workspace, without any network. HOME and the temporary folder stay
for the next one; processes do not. Knows of mini-swe-agent only how an environment ends an agent.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NoReturn

from stalebench.agents import Assignment
from stalebench.agents import sandbox as box
from stalebench.run.limits import Ending, ProcessLimits
from stalebench.run.limits import Status as Ended
from stalebench.run.process import Process

__all__ = ["Shell", "ShellConfig", "time_is_over"]

_DONE: Final = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""The first line of output that ends an agent: mini-swe-agent's own prompts ask for it."""
_BASH: Final = Path("/bin/bash")
_KEPT: Final = 1 << 16
"""Of each end of a long output; far more than any prompt shows."""


@dataclass(frozen=True, slots=True)
class ShellConfig:
    """What can be set by a configuration of mini-swe-agent: variables, and seconds for each command."""

    cwd: str
    env: dict[str, str] = field(default_factory=dict)
    timeout: float = 60.0


class Shell:
    """An environment in the sense of mini-swe-agent. `scratch` is an empty folder that outlives it."""

    def __init__(
        self, assignment: Assignment, config: ShellConfig, scratch: Path, deadline: float | None
    ) -> None:
        self.config = config
        self._python = assignment.python
        self._limits = box.limits(assignment.budget)
        self._deadline = deadline
        self._output = scratch / "output"
        self._home = scratch / "tmp"
        self._home.mkdir()

    def execute(self, action: Mapping[str, Any], cwd: str = "") -> dict[str, Any]:
        """Run one command and tell what became of it; raises mini-swe-agent's own signals to end."""
        limits = self._limits_now()
        ended = self._run(str(action.get("command", "")), Path(cwd or self.config.cwd), limits)
        output = _shortened(self._output.read_bytes())
        if ended.ending is Ending.WALL_TIMEOUT and limits.wall_seconds < self.config.timeout:
            time_is_over()  # it was the agent's time, not only the command's
        if ended.ending is Ending.EXITED and ended.code == 0:
            _end_if_done(output)
        return {"output": output, "returncode": _code(ended), "exception_info": _exception(ended, limits)}

    def get_template_vars(self, **kwargs: Any) -> dict[str, Any]:
        """What prompts may name: the machine, and this configuration."""
        return {**asdict(self.config), **platform.uname()._asdict(), **kwargs}

    def serialize(self) -> dict[str, Any]:
        """Its part of a trajectory."""
        kind = f"{type(self).__module__}.{type(self).__name__}"
        return {"info": {"config": {"environment": asdict(self.config), "environment_type": kind}}}

    def _run(self, command: str, cwd: Path, limits: ProcessLimits) -> Ended:
        with Process(
            [_BASH, "-c", command],
            cwd=cwd,
            env=box.variables(self._python, [], self.config.env),
            writable=[Path(self.config.cwd)],
            readable=box.seen(self._python, _BASH),
            hidden=box.hidden_folders(),
            limits=limits,
            scratch=self._home,
            output=self._output,
        ) as running:
            ended = running.wait()
        assert ended is not None  # noqa: S101 - only with a timeout
        return ended

    def _limits_now(self) -> ProcessLimits:
        left = self.config.timeout if self._deadline is None else self._deadline - time.monotonic()
        if left <= 0:
            time_is_over()
        return replace(self._limits, wall_seconds=min(self.config.timeout, left))


def time_is_over() -> NoReturn:
    """End an agent as mini-swe-agent does when its time is over."""
    from minisweagent.exceptions import TimeExceeded  # noqa: PLC0415 - an extra

    raise TimeExceeded(_exit("TimeExceeded", "TimeExceeded", ""))


def _end_if_done(output: str) -> None:
    from minisweagent.exceptions import Submitted  # noqa: PLC0415 - an extra

    first, _, rest = output.lstrip().partition("\n")
    if first.strip() == _DONE:
        raise Submitted(_exit(rest, "Submitted", rest))


def _exit(content: str, status: str, submission: str) -> dict[str, Any]:
    extra = {"exit_status": status, "submission": submission}
    return {"role": "exit", "content": content, "extra": extra}


def _code(ended: Ended) -> int:
    if ended.ending is Ending.EXITED and ended.code is not None:
        return ended.code
    return -ended.signal if ended.ending is Ending.SIGNALLED and ended.signal is not None else -1


def _exception(ended: Ended, limits: ProcessLimits) -> str:
    if ended.ending in {Ending.EXITED, Ending.SIGNALLED}:
        return ""
    if ended.ending is Ending.WALL_TIMEOUT:
        return f"The command was ended: it took longer than {limits.wall_seconds:g} seconds."
    return f"The command was ended: {str(ended.ending).replace('_', ' ')}."


def _shortened(data: bytes) -> str:
    if len(data) > 2 * _KEPT:
        gap = f"\n[... {len(data) - 2 * _KEPT} bytes ...]\n".encode()
        data = data[:_KEPT] + gap + data[-_KEPT:]
    return data.decode(errors="replace")
