"""What an agent is told: the task's text, and under comm a message about the others. Names no gold test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stalebench.compose import Entry, Objects, Patch
from stalebench.compose.objects import SUBMODULE
from stalebench.grading.records import Assigned
from stalebench.messages import describe, render
from stalebench.spec import Spec

_ASKED: Final = """\
You work in a checkout of the repository {repo}; it is your current folder. Make the change that is described
below. Edit the source files in place; what you leave there is your answer. You need not write tests: edits to
test files are set aside. Keep to what is asked, and commit nothing."""
_INFORMED: Final = """\
Others have just finished their own changes in this checkout. You work on top of them: read what is there."""
_COMM: Final = """\
Others are working on the same repository at this time, on checkouts of their own. Their changes are not in
your checkout, and will be merged with yours. They say about them:"""


def prompt_of(assigned: Assigned, spec: Spec, message: str | None, *, informed: bool) -> str:
    """The whole prompt of one attempt; `message` stands in it where there is one."""
    parts = [_ASKED.format(repo=spec.name)]
    if informed:
        parts.append(_INFORMED)
    parts.append(f"# {assigned.title}\n\n{assigned.text}".strip())
    if message is not None:
        parts.append(f"{_COMM}\n\n{message}")
    return "\n\n".join(parts) + "\n"


def message_about(objects: Objects, patches: Sequence[Patch]) -> str:
    """An oracle message about the others' finished changes: made from their patches, so it cannot err."""
    return "\n".join(filter(None, (_about(objects, patch) for patch in patches)))


def _about(objects: Objects, patch: Patch) -> str:
    changes = objects.changes(patch.before, patch.after)
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    for change in changes:
        before[change.path] = _content(objects, change.old)
        after[change.path] = _content(objects, change.new)
    return render(describe(before, after))


def _content(objects: Objects, entry: Entry | None) -> bytes | None:
    if entry is None:
        return None
    return entry.id.encode() if entry.mode == SUBMODULE else objects.blob(entry.id)
