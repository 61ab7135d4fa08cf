"""A worker's place: objects, a checkout, environments and the stored runs. Decides nothing."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from stalebench.compose import Conflict, Patch, Tree, compose, split
from stalebench.compose.by_function import compose_tests
from stalebench.compose.objects import Objects
from stalebench.environments import Built, EnvironmentStore
from stalebench.errors import StalebenchError
from stalebench.records import Pull, Run, Suite
from stalebench.run import Runner, RunStore
from stalebench.run.checkout import Checkout
from stalebench.spec import Spec


@dataclass(frozen=True, slots=True)
class Site:
    """All that a worker needs to set up its place; plain, so that it can be sent anywhere."""

    git_dir: Path
    spec: Spec
    work: Path
    """Holds stored runs and checkouts; not part of the dataset."""
    cache: Path | None = None
    repeats: int = 2
    """How often each column that decides a verdict is run in all."""
    runs: Path | None = None
    """Where stored runs are, if not in `work`."""


class NotComposing(StalebenchError):
    """A column's tree has a conflict, although the pair's merged tree has none."""


class Workspace:
    """One worker's own objects and checkout; stored runs and environments are shared with the others."""

    def __init__(self, site: Site, slot: int = 0) -> None:
        self.site = site
        self.spec = site.spec
        self.slot = slot

    @cached_property
    def objects(self) -> Objects:
        """The clone's objects, with what this worker composes on top."""
        return Objects(self.site.git_dir)

    @cached_property
    def environments(self) -> EnvironmentStore:
        """The environments of this machine."""
        return EnvironmentStore(self.site.cache)

    @cached_property
    def runner(self) -> Runner:
        """Runs suites in this worker's checkout, and remembers every result."""
        checkout = Checkout(self.site.work / "checkouts" / str(self.slot))
        stored = self.site.runs or self.site.work / "runs"
        return Runner(self.objects, checkout, RunStore(stored / _ran_by(self.spec)), self.spec)

    def built(self, commit: str) -> Built:
        """The environment of a commit. Raises EnvironmentBroken."""
        return self.environments.built(self.spec, self.objects, commit, self.objects.date_of(commit))

    def patches(self, pull: Pull) -> tuple[Patch, Patch]:
        """A pull's code patch and its test patch."""
        return split(self.objects, pull, self.spec)

    def with_code(self, tree: str, *patches: Patch) -> str:
        """The tree of code patches that are known to compose on it."""
        return _known(compose(self.objects, tree, patches))

    def with_tests(self, tree: str, *patches: Patch) -> str:
        """The tree of test patches that are known to compose on it, as text or by function."""
        return _known(compose_tests(self.objects, tree, patches))

    def close(self) -> None:
        """Give the checkout back."""
        if "runner" in vars(self):
            self.runner.close()

    def run(self, tree: str, suite: Suite, built: Built, repeat: int = 0) -> Run:
        """The results of a suite on a tree. Raises RunBroken."""
        return self.runner.run(tree, suite, built, repeat)


def _ran_by(spec: Spec) -> str:
    """A hash of what the specification says of running: other limits can come to other outcomes."""
    said = [spec.runner, spec.import_name, asdict(spec.limits)]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:12]


def _known(composed: Tree | Conflict) -> str:
    if isinstance(composed, Conflict):
        raise NotComposing(
            f"a column does not compose: {composed.detail}",
            "a rename between code and tests, or a clone that changed between two stages",
            "run the stages again from the first",
        )
    return composed.id
