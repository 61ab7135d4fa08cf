"""Times composing against the obvious way, a worktree and git commands for each pair, in one run.

Three rows: the primitive alone (code and test patches of both pulls down to one merged tree, or the
conflict), the whole stage (each tree of a composition, strict apply and composing tests by function), and
the obvious way. Writes into a temporary copy of the clone only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from stalebench.bench.inputs import Inputs, copied, parser, read
from stalebench.compose import Objects, Tree, as_text, compose
from stalebench.compose.pair import compose_candidate
from stalebench.records import Candidate

Verdict = Callable[[Candidate], str]


def primitive(inputs: Inputs) -> Verdict:
    """Compose all patches of a pair into one tree."""
    objects = Objects(inputs.git_dir)
    patches = inputs.patches(objects)

    def composed(candidate: Candidate) -> str:
        base = objects.tree_of(candidate.base_commit or "")
        halves = [patches[pull] for pull in candidate.pulls]
        with objects.scratch():
            code = compose(objects, base, [half[0] for half in halves])
            if not isinstance(code, Tree):
                return "conflict"
            merged = compose(objects, base, [half[index] for index in (0, 1) for half in halves])
        return "composed" if isinstance(merged, Tree) else "conflict"

    return composed


def stage(inputs: Inputs) -> Verdict:
    """All that the compose stage does for a pair."""
    objects = Objects(inputs.git_dir)
    patches = inputs.patches(objects)

    def composed(candidate: Candidate) -> str:
        members = inputs.members(candidate)
        found = compose_candidate(objects, candidate, members, [patches[pull] for pull in candidate.pulls])
        return str(found.reason or "composed")

    return composed


def obvious(inputs: Inputs, folder: Path) -> Verdict:
    """Apply each patch with git in a worktree of the base, one after the other."""
    objects = Objects(inputs.git_dir)
    patches = inputs.patches(objects)
    git_dir, worktree = copied(inputs.git_dir, folder), folder / "worktree"
    texts = {pull: tuple(as_text(objects, half) for half in halves) for pull, halves in patches.items()}

    def composed(candidate: Candidate) -> str:
        _git(git_dir, "worktree", "add", "--detach", "--quiet", str(worktree), candidate.base_commit or "")
        try:
            rows = [texts[pull][half] for half in (0, 1) for pull in candidate.pulls if texts[pull][half]]
            applied = all(_git(worktree, "apply", "--3way", "--index", "-", data=row) for row in rows)
            return "composed" if applied and _git(worktree, "write-tree") else "conflict"
        finally:
            _git(git_dir, "worktree", "remove", "--force", str(worktree))

    return composed


def _git(folder: Path, *arguments: str, data: bytes = b"") -> bool:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    command = ["git", "-C", str(folder), *arguments]
    return (
        subprocess.run(command, input=data, capture_output=True, check=False, env=environment).returncode == 0
    )


def timed(verdict: Verdict, candidates: Sequence[Candidate]) -> tuple[float, float, Counter[str]]:
    """Pairs a second by the clock, pairs a second of processor time of this process, and the verdicts."""
    wall, processor = time.perf_counter(), time.process_time()
    found = Counter(verdict(candidate) for candidate in candidates)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return len(candidates) / wall, len(candidates) / max(processor, 1e-9), found


def main() -> int:
    """Print pairs a second of each way, and the ratios."""
    options = parser(__doc__ or "")
    options.add_argument("--obvious", type=int, default=10, help="how many pairs to do the obvious way")
    chosen = options.parse_args()
    inputs = read(chosen)
    rows = {"primitive": timed(primitive(inputs), inputs.candidates)}
    rows["stage"] = timed(stage(inputs), inputs.candidates)
    with tempfile.TemporaryDirectory() as folder:
        few = inputs.candidates[:: max(1, len(inputs.candidates) // chosen.obvious)][: chosen.obvious]
        rows["obvious"] = timed(obvious(inputs, Path(folder)), few)
    for name, (wall, processor, found) in rows.items():
        _say(f"{name}: {wall:.1f} pairs/s, {processor:.1f} per processor second, {dict(found)}")
    for name in ("primitive", "stage"):
        _say(f"{name} is {rows[name][0] / rows['obvious'][0]:.0f} times as fast as the obvious way")
    return 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
