"""From stored outcomes to grades: set algebra only, for any number of patches. Runs nothing.

Every column comes from `Columns`, which may not have it (`Missing`, `Needed`). The measures are those of
`stalebench.measures`, the rules those of the project's design.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from stalebench.columns import FAILING, GOLD, TOUCHED, Columns, Missing, Needed, own
from stalebench.confirm import unstable
from stalebench.grading.records import Condition, Grading, Instance, Unobservable
from stalebench.measures import (
    Column,
    Evidence,
    Kind,
    Tests,
    broken_alone,
    delta,
    delta_strict,
    failing,
    kind_of,
    passing,
    promise,
    repaired_together,
    vanished,
    without,
)
from stalebench.records import Clash, Suite
from stalebench.suites import suite

PAIR: Final = 2
"""The fewest patches that can fail together."""


def informed(order: str) -> str:
    """The column of the tree after the last agent, in this order."""
    return f"I{order}"


def subset(tasks: Sequence[int]) -> str:
    """The column of some of the patches together."""
    return "S" + ".".join(map(str, tasks))


@dataclass(frozen=True, slots=True)
class Found:
    """What one final tree comes to, before it is written into a grade."""

    delta: Tests
    delta_strict: Tests | None = None
    clash: tuple[Clash, ...] | None = None
    broken_alone: tuple[Tests, ...] | None = None
    unsolved: tuple[Tests, ...] | None = None
    repaired_together: Tests | None = None
    vanished: Tests | None = None
    leave_one_out: tuple[Tests | None, ...] | None = None
    smallest: tuple[int, ...] | None = None


class Judge:
    """The grades of one instance in one trial; tests in `quarantined` count nowhere."""

    def __init__(
        self,
        instance: Instance,
        outcomes: Columns,
        *,
        grading: Grading = Grading.STANDARD,
        quarantined: Tests = frozenset(),
        with_clash: bool = True,
    ) -> None:
        self.instance = instance
        self.outcomes = outcomes
        self.numbers = range(1, len(instance.tasks) + 1)
        self.quarantined = quarantined | set(instance.flaky)
        self.keeps_edits = grading is Grading.KEEP_TEST_EDITS and outcomes.has("KM")
        self.own_tests_only = grading is Grading.OWN_TESTS_ONLY
        self.with_clash = with_clash and not instance.by_function

    # What is observable

    def observability(self) -> tuple[Unobservable | None, tuple[bool, ...]]:
        """Why the instance says nothing, if so; and per task whether its own patch solves it."""
        each = [self._solves(number) for number in self.numbers]
        solved = tuple(as_written and together for as_written, together in each)
        if any(not set(task.f2p) - self.quarantined for task in self.instance.tasks):
            return Unobservable.FLAKY, solved
        if not all(as_written for as_written, _ in each):
            return Unobservable.UNSOLVED, solved
        return (None if all(solved) else Unobservable.TESTS_INTERACT), solved

    def solved(self) -> tuple[bool | None, ...]:
        """Per task, whether its own patch solves it; None where that cannot be had."""
        return tuple(self._solved(number) for number in self.numbers)

    def _solved(self, number: int) -> bool | None:
        try:
            return all(self._solves(number))
        except (Missing, Needed):
            return None

    def _solves(self, number: int) -> tuple[bool, bool]:
        """Whether a task's own patch passes its gold tests: as written, and with the combined suite."""
        written = self._columns([f"W{number}"], own(number))[0]
        graded = self._columns([self._graded_names()[number]], GOLD)[0]
        gold = self._gold_of(number)
        return gold <= passing(written), gold <= passing(graded)

    def unsolved(self) -> tuple[Tests, ...]:
        """Per task, its gold tests that its own patch does not make pass."""
        return tuple(
            self._gold_of(number) - passing(column)
            for number, column in zip(self.numbers, self._graded()[1:], strict=True)
        )

    # What the patches come to together

    def found(self, condition: Condition, order: str = "") -> Found:
        """The measures of one condition's final tree."""
        return self._blind() if condition is Condition.BLIND else self._final(condition, order)

    def _final(self, condition: Condition, order: str) -> Found:
        """Informed and comm: the promise is that of the solo patches."""
        base, *alone = self._graded()
        final = self._columns([self._final_name(condition, order)], GOLD)[0]
        return Found(
            delta=promise(base, alone) - passing(final),
            unsolved=tuple(self._gold_of(number) - passing(final) for number in self.numbers),
        )

    def _blind(self) -> Found:
        base, *alone = self._graded()
        merged = self._columns([self._merged_name()], GOLD)[0]
        interfering = delta(base, alone, merged)
        if self.own_tests_only:
            interfering = self._own_only(alone, merged)
        return Found(
            delta=interfering,
            delta_strict=delta_strict(alone, merged),
            clash=self._clash() if self.with_clash else None,
            broken_alone=tuple(broken_alone(base, column) for column in alone),
            unsolved=self.unsolved(),
            repaired_together=repaired_together(base, alone, merged),
            vanished=vanished(base, alone, merged),
            leave_one_out=self._leave_one_out(base, alone) if len(alone) > PAIR else None,
            smallest=self._smallest(base, alone) if interfering and len(alone) > PAIR else None,
        )

    def _own_only(self, alone: Sequence[Column], merged: Column) -> Tests:
        """The first known mistake: alone, only a task's own tests are looked at; merged, all."""
        green = (
            passing(column) & self._gold_of(number)
            for number, column in zip(self.numbers, alone, strict=True)
        )
        return frozenset().union(*green) - passing(merged)

    def _leave_one_out(self, base: Column, alone: Sequence[Column]) -> tuple[Tests | None, ...]:
        """Per task, the delta of all others; None where these do not merge, or could not be run."""
        others = ([other for other in self.numbers if other != number] for number in self.numbers)
        return tuple(self._delta_of(tasks, base, alone) for tasks in others)

    def _smallest(self, base: Column, alone: Sequence[Column]) -> tuple[int, ...]:
        """A smallest subset of the patches that still fails together; the first of its size."""
        for size in range(PAIR, len(alone)):
            for tasks in combinations(self.numbers, size):
                if self._delta_of(tasks, base, alone):
                    return tasks
        return tuple(self.numbers)

    def _delta_of(self, tasks: Sequence[int], base: Column, alone: Sequence[Column]) -> Tests | None:
        """What some of the patches come to together."""
        try:
            merged = self._columns([subset(tasks)], GOLD)[0]
        except Missing:
            return None
        return delta(base, [alone[task - 1] for task in tasks], merged)

    def _clash(self) -> tuple[Clash, ...]:
        """A clash fails merged, so only what does is looked at in the other columns."""
        failing_suite = self._failing()
        if failing_suite is None:
            return ()
        base, *written, merged = self._columns(self._names("W"), FAILING, failing_suite)
        clashing = delta(base, written, merged)
        if not clashing:
            return ()
        evidence = self._evidence(clashing, written, failing_suite)
        if any(kind_of(test, evidence) is Kind.UNCLEAR for test in clashing):
            overlaid = self._columns([f"H{number}" for number in self.numbers], FAILING, failing_suite)
            evidence = Evidence(evidence.base, evidence.graded, evidence.merged, written, overlaid)
        return tuple(Clash(test, kind_of(test, evidence)) for test in sorted(clashing))

    def _failing(self) -> Suite | None:
        """The part of the touched suite that fails merged: whole files where one does not load.

        Quarantined tests are part of it, so that it is the same whatever else is known.
        """
        tests = failing(self.outcomes.columns(["M"], TOUCHED)[0])
        files = {test.partition("::")[0] for test in tests}
        unloaded = self.outcomes.unloaded("M", TOUCHED)
        if unloaded:
            return suite({*files, *unloaded}, None)
        return suite(files, self.outcomes.functions(tests).values()) if tests else None

    def _evidence(self, clashing: Tests, written: Sequence[Column], failing_suite: Suite) -> Evidence:
        """The G columns, of the gold suite where that holds all of these tests, else of those that fail."""
        gold = {function for task in self.instance.tasks for function in task.gold}
        all_gold = set(self.outcomes.functions(clashing).values()) <= gold
        label, chosen = (GOLD, None) if all_gold else (FAILING, failing_suite)
        base, *graded, merged = self._columns(self._names("G"), label, chosen)
        return Evidence(base, graded, merged, written, ())

    # What may be counted at all

    def unstable(self, wanted: Sequence[tuple[Condition, str]]) -> Tests:
        """The tests that are about to be counted and do not keep their outcome when run again."""
        found: Tests = frozenset()
        for names, suspects in self._suspected(wanted):
            found |= unstable(self.outcomes, names, GOLD, None, suspects)
        if self.with_clash and any(condition is Condition.BLIND for condition, _ in wanted):
            found |= self._unstable_clash()
        return found

    def _suspected(self, wanted: Sequence[tuple[Condition, str]]) -> Iterator[tuple[list[str], Tests]]:
        """Columns that decide, and the tests that would be counted."""
        base, *alone = self._graded()
        for condition, order in wanted:
            if condition is Condition.SOLO:
                continue
            name = self._final_name(condition, order)
            try:
                final = self._columns([name], GOLD)[0]
            except Missing:
                continue
            suspects = promise(base, alone) - passing(final)
            yield self._deciding(self._graded_names(), alone, name, suspects), suspects

    def _unstable_clash(self) -> Tests:
        """Also unstable is what fails in the company of the whole touched suite only."""
        try:
            failing_suite = self._failing()
            if failing_suite is None:
                return frozenset()
            base, *written, merged = self._columns(self._names("W"), FAILING, failing_suite)
        except Missing:
            return frozenset()
        suspects = delta(base, written, merged)
        names = self._deciding(self._names("W")[:-1], written, "M", suspects)
        whole = self._columns(["M"], TOUCHED)[0]
        by_company = promise(base, written) & failing(whole) - failing(merged)
        return by_company | unstable(self.outcomes, names, FAILING, failing_suite, suspects)

    @staticmethod
    def _deciding(names: Sequence[str], alone: Sequence[Column], last: str, suspects: Tests) -> list[str]:
        """The base, the final tree, and each patch under which one of the suspects passes."""
        first, *middle = names
        witnesses = [name for name, seen in zip(middle, alone, strict=True) if suspects & passing(seen)]
        return [first, *witnesses, last]

    # Names and columns

    def _graded(self) -> list[Column]:
        return self._columns(self._graded_names(), GOLD)

    def _graded_names(self) -> list[str]:
        letter = "K" if self.keeps_edits else "G"
        return ["G0", *(f"{letter}{number}" for number in self.numbers)]

    def _merged_name(self) -> str:
        return "KM" if self.keeps_edits else "M"

    def _final_name(self, condition: Condition, order: str) -> str:
        if condition is Condition.BLIND:
            return self._merged_name()
        return informed(order) if condition is Condition.INFORMED else "C"

    def _names(self, letter: str) -> list[str]:
        return [f"{letter}0", *(f"{letter}{number}" for number in self.numbers), "M"]

    def _columns(self, names: Sequence[str], label: str, suite: Suite | None = None) -> list[Column]:
        found = self.outcomes.columns(names, label, suite)
        return [without(column, self.quarantined) for column in found]

    def _gold_of(self, number: int) -> Tests:
        task = self.instance.tasks[number - 1]
        return frozenset({*task.f2p, *task.p2p}) - self.quarantined
