"""mini-swe-agent through its Python API: its loop, prompts and models, with commands run in our sandbox.

The model is asked from this process; only what it wants to run goes into the sandbox, where there is no
network at all. Needs the extra `mini-swe-agent`; importing this module does not import it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from stalebench.agents import Assignment, Budget, Worked
from stalebench.agents.mini_shell import Shell, ShellConfig, time_is_over
from stalebench.agents.options import Options
from stalebench.errors import InfraError, UsageError
from stalebench.grading.records import Status
from stalebench.run.scratch import scratch_folder

__all__ = ["TRAJECTORY", "MiniSweAgent"]

TRAJECTORY: Final = "trajectory.traj.json"
"""In the log folder, in mini-swe-agent's own format, saved after each step."""

_BASE: Final = "mini.yaml"
"""Of the configurations that mini-swe-agent brings: here the edited work tree is the patch, as with us."""
_SMALLEST: Final = 1e-9
"""Instead of a limit of 0, which mini-swe-agent takes for none."""
_LOGGERS: Final = ("minisweagent", "agent", "litellm_model", "LiteLLM")
_ENDED: Final = {
    "Submitted": Status.PATCH,
    "LimitsExceeded": Status.OVER_COST,
    "TimeExceeded": Status.TIMED_OUT,
}
_SERVICE: Final = {
    "APIConnectionError",
    "APIError",
    "AuthenticationError",
    "BadGatewayError",
    "BudgetExceededError",
    "InternalServerError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "ServiceUnavailableError",
    "Timeout",
}
"""Errors of litellm that tell of the model's service or of our access to it, not of what the agent did."""


@dataclass(frozen=True)
class MiniSweAgent:
    """One agent for one model. `model` may also name a model class of mini-swe-agent, `deterministic` say."""

    options: Options

    def __post_init__(self) -> None:
        if self.options.allowed_hosts or self.options.pass_env:
            raise UsageError(
                "mini-swe-agent takes neither allowed hosts nor variables",
                "its model is asked from outside the sandbox; its commands need neither",
                "leave them away: its model finds its key in the environment of stalebench",
            )
        self._config()

    @property
    def name(self) -> str:
        """As its authors write it."""
        return "mini-swe-agent"

    @property
    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Its version, the model, and a hash of the whole configuration, which may hold a key."""
        config = json.dumps(self._config(), sort_keys=True, default=str).encode()
        return {
            "version": version("mini-swe-agent"),
            "model": self.options.model,
            "config": hashlib.sha256(config).hexdigest(),
        }

    @property
    def wants_plan(self) -> bool:
        """It works from the prompt."""
        return False

    def work(self, assignment: Assignment) -> Worked:
        """Run its loop until it submits, fails, or reaches a limit."""
        assignment.log.mkdir(parents=True, exist_ok=True)
        seconds = assignment.budget.seconds
        deadline = None if seconds is None else time.monotonic() + seconds
        config = self._config()
        with scratch_folder() as scratch, _quiet():
            shell = Shell(assignment, _shell_config(config, assignment), scratch, deadline)
            model = _model(config["model"], deadline)
            return _run(_agent(model, shell, config["agent"], assignment), assignment, config)

    def _config(self) -> dict[str, Any]:
        """What mini-swe-agent brings, with the user's file laid over it, and the options over both."""
        with _quiet():
            from minisweagent.config import builtin_config_dir  # noqa: PLC0415 - an extra
            from minisweagent.utils.serialize import recursive_merge  # noqa: PLC0415

        base = _read(builtin_config_dir / _BASE)
        base["agent"] = {name: text for name, text in base["agent"].items() if name.endswith("_template")}
        own = {} if self.options.config is None else _read(self.options.config)
        merged: dict[str, Any] = recursive_merge(base, own, {"model": dict(self.options.model_options)})
        return {**merged, "model": _named(merged["model"], self.options.model)}


def _read(path: Path) -> dict[str, Any]:
    """A configuration file of mini-swe-agent."""
    import yaml  # noqa: PLC0415 - comes with the extra

    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(
            f"{path} cannot be read: {error}", "it is no configuration of mini-swe-agent", "mend the file"
        ) from error
    sections = ("agent", "environment", "model")
    if not isinstance(found, dict) or not all(isinstance(found.get(name, {}), dict) for name in sections):
        raise UsageError(
            f"{path} is no configuration of mini-swe-agent",
            "it has no sections",
            f"write it in YAML, with the sections {', '.join(sections)}",
        )
    return found


def _named(config: Mapping[str, Any], model: str | None) -> dict[str, Any]:
    """The model's configuration with its name, and with its class where the name is one."""
    named = dict(config)
    if model == "deterministic" or (model or "").startswith("minisweagent.models."):
        named.setdefault("model_class", model)
    named["model_name"] = model or config.get("model_name") or config.get("model_class")
    if named["model_name"] is None:
        raise UsageError(
            "mini-swe-agent needs a model", "none was named", "name one as litellm does: PROVIDER/MODEL"
        )
    return named


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing is printed, and no folder of settings made, by importing or running it."""
    os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it asks the network when imported
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with _settings_folder():
            import minisweagent  # noqa: F401, PLC0415
        for name in _LOGGERS:
            logger = logging.getLogger(name)
            logger.handlers[:] = [logging.NullHandler()]
            logger.propagate = False
        yield


@contextmanager
def _settings_folder() -> Iterator[None]:
    """Its own folder of settings where the user has one, for the keys in it; else one that goes again."""
    from platformdirs import user_config_path  # noqa: PLC0415 - comes with the extra

    variable = "MSWEA_GLOBAL_CONFIG_DIR"
    if variable in os.environ or user_config_path("mini-swe-agent").exists():
        yield
        return
    with scratch_folder() as folder:
        os.environ[variable] = str(folder)
        try:
            yield
        finally:
            os.environ.pop(variable, None)


def _shell_config(config: Mapping[str, Any], assignment: Assignment) -> ShellConfig:
    section = config.get("environment", {})
    variables = {str(name): str(value) for name, value in section.get("env", {}).items()}
    return ShellConfig(str(assignment.workspace), variables, float(section.get("timeout", 60.0)))


def _model(config: dict[str, Any], deadline: float | None) -> Any:
    """The model, made to end with the agent's time."""
    from minisweagent.models import get_model  # noqa: PLC0415 - an extra

    try:
        model = get_model(config=config)
    except (ValueError, TypeError) as error:  # pydantic's errors are ValueErrors
        raise UsageError(
            f"mini-swe-agent cannot make the model {config['model_name']}: {error}",
            "its options do not fit its class",
            "see mini-swe-agent's documentation of models",
        ) from error
    with suppress(ImportError):
        import litellm  # noqa: PLC0415

        litellm.suppress_debug_info = True
    if deadline is not None and hasattr(model, "_query"):
        _bind(model, deadline)
    return model


def _bind(model: Any, deadline: float) -> None:
    """Let no question, and no repetition of one, last longer than the agent may take."""
    from minisweagent.exceptions import TimeExceeded  # noqa: PLC0415 - an extra

    ask = model._query  # noqa: SLF001 - the one place that every repetition passes
    takes_timeout = ".litellm" in type(model).__module__

    def bound(messages: list[dict[str, Any]], **kwargs: Any) -> Any:
        left = deadline - time.monotonic()
        if left <= 0:
            time_is_over()
        if takes_timeout:
            own = model.config.model_kwargs.get("timeout")
            kwargs["timeout"] = left if own is None else min(left, own)
            kwargs["max_retries"] = 0  # mini-swe-agent asks again itself, and looks at the time then
        return ask(messages, **kwargs)

    model._query = bound  # noqa: SLF001
    model.abort_exceptions = [*getattr(model, "abort_exceptions", []), TimeExceeded]


def _agent(model: Any, shell: Shell, section: Mapping[str, Any], assignment: Assignment) -> Any:
    from minisweagent.agents.default import DefaultAgent  # noqa: PLC0415 - an extra

    arguments = {**section, **_limits(section, assignment.budget), "output_path": assignment.log / TRAJECTORY}
    try:
        return DefaultAgent(model, shell, **arguments)
    except (ValueError, TypeError) as error:
        raise UsageError(
            f"mini-swe-agent does not take this configuration: {error}",
            "a setting of the section agent is wrong",
            "see mini-swe-agent's documentation",
        ) from error


def _limits(section: Mapping[str, Any], budget: Budget) -> dict[str, float | int]:
    """The tighter of the configuration's limits and the budget's; 0 stands for none."""

    def tighter(name: str, limit: float | None) -> float:
        set_by_user = float(section.get(name) or 0)
        return min(set_by_user or none, none if limit is None else max(limit, _SMALLEST))

    none = float("inf")
    cost, steps = tighter("cost_limit", budget.cost), tighter("step_limit", budget.steps)
    return {
        "cost_limit": 0.0 if cost == none else cost,
        "step_limit": 0 if steps == none else max(1, int(steps)),
    }


def _run(agent: Any, assignment: Assignment, config: Mapping[str, Any]) -> Worked:
    further: dict[str, Any] = {"instance_id": assignment.id}
    try:
        result = agent.run(assignment.prompt)
        status, detail = _status(result.get("exit_status", ""))
    except InfraError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in an agent is its result
        status, detail = _failure(error)
    finally:
        agent.save(assignment.log / TRAJECTORY, further)
    tokens_in, tokens_out = _tokens(agent.messages)
    return Worked(status, detail, _cost(agent, config), tokens_in, tokens_out, agent.n_calls, TRAJECTORY)


def _status(ended: str) -> tuple[Status, str]:
    found = _ENDED.get(ended, Status.FAILED)
    return found, "" if found is Status.PATCH else ended


def _failure(error: Exception) -> tuple[Status, str]:
    names = {kind.__name__ for kind in type(error).__mro__}
    is_service = type(error).__module__.startswith("litellm") and names & _SERVICE
    is_our_access = is_service and "ContextWindowExceededError" not in names
    return Status.INFRA if is_our_access else Status.FAILED, f"{type(error).__name__}: {error}"


def _cost(agent: Any, config: Mapping[str, Any]) -> float | None:
    """Dollars; None where prices are unknown and mini-swe-agent was told not to mind."""
    unknown = config["model"].get("cost_tracking") == "ignore_errors" and agent.cost == 0
    return None if unknown else float(agent.cost)


def _tokens(messages: Sequence[Mapping[str, Any]]) -> tuple[int | None, int | None]:
    """Sums over all answers of the model that tell their use, in either of the two forms of its service."""
    uses = [use for message in messages if (use := _use(message))]
    if not uses:
        return None, None
    sent = sum(int(use.get("prompt_tokens") or use.get("input_tokens") or 0) for use in uses)
    return sent, sum(int(use.get("completion_tokens") or use.get("output_tokens") or 0) for use in uses)


def _use(message: Mapping[str, Any]) -> Mapping[str, Any]:
    response = message.get("extra", {}).get("response")
    use = response.get("usage") if isinstance(response, Mapping) else None
    return use if isinstance(use, Mapping) else {}
