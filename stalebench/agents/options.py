"""What a user may say about an agent. Values only; knows no agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Options:
    """How an agent is set up. Every agent is made from these, also those of plug-ins.

    `model` is named as the agent names it; `model_options` go to it as they are. `allowed_hosts` are the
    `host:port` (443 where no port is named) that the agent may reach from inside the sandbox. `pass_env`
    names variables of our environment that it is given. `readable` are folders that it may see although the
    sandbox covers them: where its program is installed, as a rule. `config` is a file of the agent's own
    format.
    """

    model: str | None = None
    model_options: Mapping[str, Any] = field(default_factory=dict)
    allowed_hosts: tuple[str, ...] = ()
    pass_env: tuple[str, ...] = ()
    readable: tuple[Path, ...] = ()
    config: Path | None = None
