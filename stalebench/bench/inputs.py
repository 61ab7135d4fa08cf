"""Real pairs of a clone for the measurements, and a copy of the clone that git may write to."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stalebench import source
from stalebench.candidates import candidates
from stalebench.compose import Objects, Patch, split
from stalebench.records import Candidate, Pull
from stalebench.spec import Spec, load


@dataclass(frozen=True, slots=True)
class Inputs:
    """Candidate pairs of one repository and their pulls."""

    git_dir: Path
    spec: Spec
    pulls: dict[str, Pull]
    candidates: Sequence[Candidate]

    def members(self, candidate: Candidate) -> list[Pull]:
        """The pulls of a candidate, the one that landed first first."""
        return [self.pulls[pull] for pull in candidate.pulls]

    def patches(self, objects: Objects) -> dict[str, tuple[Patch, Patch]]:
        """The code patch and the test patch of every pull that a candidate has."""
        used = {pull: None for candidate in self.candidates for pull in candidate.pulls}
        return {pull: split(objects, self.pulls[pull], self.spec) for pull in used}


def parser(description: str) -> argparse.ArgumentParser:
    """The options that every measurement has."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--clone", required=True, help="a bare clone; it is only read")
    options.add_argument("--repo", required=True, help="name of the repository's specification, or its file")
    options.add_argument("--pairs", type=int, default=1000, help="how many candidate pairs, the newest first")
    options.add_argument("--within", type=float, default=90, help="most days between two landings")
    options.add_argument("--newest", type=int, default=600, help="how many eligible pulls to pair up")
    return options


def read(options: argparse.Namespace) -> Inputs:
    """The pairs that the options ask for."""
    clone, spec = source.open_clone(options.clone), load(options.repo)
    pulls = source.newest(source.landed(clone, spec, None, None), options.newest)
    found, _ = candidates(clone, spec, pulls, within=options.within, limit=options.pairs)
    return Inputs(clone.git_dir, spec, {pull.id: pull for pull in pulls}, found)


def copied(git_dir: Path, folder: Path) -> Path:
    """A real copy of a clone: a linked or borrowed one would let git touch the original's files."""
    target = folder / "clone.git"
    shutil.copytree(git_dir, target, ignore=shutil.ignore_patterns("*.promisor"))
    return target
