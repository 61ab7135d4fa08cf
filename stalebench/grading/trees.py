"""The trees of an instance's columns, composed by the worker that runs them. Runs nothing, judges nothing.

Patches come from where they are kept, by content. What does not compose is a reason (`Missing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path

from stalebench.columns import Missing
from stalebench.compose import Conflict, Patch, compose
from stalebench.compose.patch import halves
from stalebench.compose.reading import Unreadable, read_patch
from stalebench.grading.records import Assigned, Attempt, Condition, Instance, Status
from stalebench.judge import informed
from stalebench.tables.dataset import patch_path
from stalebench.validate.workspace import Workspace

ENDED_WITHOUT = frozenset({Status.EMPTY, Status.TIMED_OUT, Status.OVER_COST})
"""An agent that ended so and left nothing has an empty patch, which is graded."""


class Human:
    """The human patches of an instance: code and tests, per task."""

    def __init__(self, workspace: Workspace, instance: Instance, kept: Path) -> None:
        self.workspace = workspace
        self.instance = instance
        self.kept = kept

    @cached_property
    def codes(self) -> list[Patch]:
        """Each task's code patch."""
        return [self._half(task, 0) for task in self.instance.tasks]

    @cached_property
    def tests(self) -> list[Patch]:
        """Each task's test patch."""
        return [self._half(task, 1) for task in self.instance.tasks]

    def _half(self, task: Assigned, which: int) -> Patch:
        objects = self.workspace.objects
        if task.from_commit and task.to_commit:
            before, after = objects.tree_of(task.from_commit), objects.tree_of(task.to_commit)
            return halves(objects, before, after, self.workspace.spec)[which]
        digest = (task.code_patch, task.test_patch)[which]
        return read(self.workspace, self.kept, self.instance.base_tree, digest)


def read(workspace: Workspace, kept: Path, tree: str, digest: str) -> Patch:
    """A kept patch on the tree that it was made for. Raises Missing where it is gone or damaged."""
    try:
        content = patch_path(kept, digest).read_bytes()
        return read_patch(workspace.objects, tree, content)
    except OSError as error:
        raise Missing(
            digest[:12], "broken_dataset", f"a kept patch cannot be read: {error.strerror}"
        ) from error
    except Unreadable as error:
        raise Missing(
            digest[:12], "broken_dataset", f"a kept patch does not apply: {error.message}"
        ) from error


class Trees:
    """Column names to trees, for the attempts of one trial."""

    def __init__(
        self, workspace: Workspace, instance: Instance, attempts: Sequence[Attempt], kept: Path
    ) -> None:
        self.workspace = workspace
        self.instance = instance
        self.kept = kept
        self.human = Human(workspace, instance, kept)
        self.attempts = {(made.condition, made.order, made.task): made for made in attempts}
        self.numbers = range(1, len(instance.tasks) + 1)

    def tree(self, column: str) -> str:
        """The tree of a column. Raises Missing where a patch is, or where patches conflict."""
        letter, rest = column[0], column[1:]
        return self._makers()[letter](column, rest)

    def _makers(self) -> dict[str, Callable[[str, str], str]]:
        return {
            "W": self._written,
            "G": lambda column, rest: self._with(column, self.graded_base, self._solo_of(column, rest)),
            "M": lambda column, _: self._with(column, self.graded_base, self._solo(column, self.numbers)),
            "S": lambda column, rest: self._with(
                column, self.graded_base, self._solo(column, map(int, rest.split(".")))
            ),
            "H": lambda column, rest: self._with(
                column, self._own_tests(int(rest)), self._solo(column, self.numbers)
            ),
            "I": self._informed,
            "C": lambda column, _: self._with(
                column, self.graded_base, [self._code(column, Condition.COMM, "", n) for n in self.numbers]
            ),
            "K": self._kept_edits,
        }

    @cached_property
    def graded_base(self) -> str:
        """The base with all test patches."""
        return self.workspace.with_tests(self.instance.base_tree, *self.human.tests)

    def tests_conflict_as_text(self) -> bool:
        """Whether the test patches compose only function by function."""
        return isinstance(
            compose(self.workspace.objects, self.instance.base_tree, self.human.tests), Conflict
        )

    def solo_codes(self, numbers: Iterable[int]) -> list[Patch]:
        """The solo code patches of these tasks. Raises Missing."""
        return self._solo("C", numbers)

    def has_test_edits(self) -> bool:
        """Whether a solo patch edits tests, so that the columns with these edits differ."""
        return any(made.discarded for made in self.attempts.values() if made.condition is Condition.SOLO)

    def _own_tests(self, number: int) -> str:
        return self.workspace.with_tests(self.instance.base_tree, self.human.tests[number - 1])

    def _written(self, column: str, rest: str) -> str:
        if rest == "0":
            return self.instance.base_tree
        return self._with(column, self._own_tests(int(rest)), self._solo_of(column, rest))

    def _solo_of(self, column: str, rest: str) -> list[Patch]:
        return [] if rest == "0" else self._solo(column, [int(rest)])

    def _solo(self, column: str, numbers: Iterable[int]) -> list[Patch]:
        return [self._code(column, Condition.SOLO, "", number) for number in numbers]

    def _informed(self, column: str, order: str) -> str:
        """The code of all agents, one after the other: each later patch was made on those before it."""
        first, *later = (int(number) for number in order.split("."))
        tree = self._with(column, self.graded_base, self._solo(column, [first]))
        for number in later:
            tree = self._with(column, tree, [self._code(column, Condition.INFORMED, order, number)])
        return tree

    def _kept_edits(self, column: str, rest: str) -> str:
        """The patches with their edits to tests; of the files of T, the gold version is laid over."""
        numbers = self.numbers if rest == "M" else [int(rest)]
        whole = [self._whole(column, number) for number in numbers]
        tree = self._with(column, self.instance.base_tree, whole)
        objects = self.workspace.objects
        changed = objects.changes(self.instance.base_tree, self.graded_base)
        return objects.edit(tree, {change.path: change.new for change in changed})

    def _with(self, column: str, tree: str, patches: Sequence[Patch]) -> str:
        composed = compose(self.workspace.objects, tree, patches)
        if isinstance(composed, Conflict):
            raise Missing(column, Status.CONFLICT, composed.detail)
        return composed.id

    def _code(self, column: str, condition: Condition, order: str, number: int) -> Patch:
        made = self._attempt(column, condition, order, number)
        return self._patch(made, made.code_patch)

    def _whole(self, column: str, number: int) -> Patch:
        made = self._attempt(column, Condition.SOLO, "", number)
        return self._patch(made, made.patch)

    def _patch(self, made: Attempt, digest: str | None) -> Patch:
        if digest is None:
            return Patch(made.workspace_tree, made.workspace_tree, ())
        tree = self._workspace_tree(made)
        return read(self.workspace, self.kept, tree, digest)

    def _workspace_tree(self, made: Attempt) -> str:
        """The tree that the attempt was made on, composed again: it may live in another process's memory."""
        if made.condition is not Condition.INFORMED:
            return self.instance.base_tree
        before = [int(number) for number in made.order.split(".")]
        return self.after(made.order, before[: before.index(made.task)])

    def after(self, order: str, numbers: Sequence[int]) -> str:
        """The base with the finished edits of these tasks, in this order: what the next agent is given."""
        tree = self.instance.base_tree
        for position, number in enumerate(numbers):
            condition = Condition.INFORMED if position else Condition.SOLO
            patch = self._code(informed(order), condition, order if position else "", number)
            tree = self._with(informed(order), tree, [patch])
        return tree

    def _attempt(self, column: str, condition: Condition, order: str, number: int) -> Attempt:
        made = self.attempts.get((condition, order, number))
        if made is None:
            raise Missing(column, "missing_patch", f"no attempt at task {number}")
        if made.code_patch is None and made.patch is None and made.status not in ENDED_WITHOUT:
            raise Missing(column, made.status, made.detail)
        return made
