"""Virtual environments for the code under test: found by recipe, built once, shared by many commits."""

from stalebench.environments.built import Built
from stalebench.environments.store import EnvironmentStore

__all__ = ["Built", "EnvironmentStore"]
