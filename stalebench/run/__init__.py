"""The second primitive: `run` a suite on a tree in an environment, one outcome for each requested test."""

from __future__ import annotations

from stalebench.run.runner import Runner
from stalebench.run.session import RUNNER_VERSION, run
from stalebench.run.store import RunStore

__all__ = ["RUNNER_VERSION", "RunStore", "Runner", "run"]
