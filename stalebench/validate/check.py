"""Base validity: does a pull's gold suite fail on the base without its code patch, and pass with it?

Each test that decides the verdict is run `repeats` times in both columns; a test that differs between two
runs of one column is flaky, and is quarantined by name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stalebench.errors import EnvironmentBroken, RunBroken, StalebenchError
from stalebench.gold import gold_suite, unparsed
from stalebench.measures import Tests, aligned, column, differing, failing, passing
from stalebench.outcomes import Class
from stalebench.reasons import Reason
from stalebench.records import Cell, Check, Environment, Pull, Run, Suite, TestResult
from stalebench.suites import suite
from stalebench.validate.workspace import NotComposing, Workspace


@dataclass(frozen=True, slots=True)
class CheckJob:
    """One pull to be checked on one base."""

    pull: Pull
    base_commit: str

    @property
    def id(self) -> str:
        """`pull@base`, the base by its first 12 digits."""
        return f"{self.pull.id}@{self.base_commit[:12]}"


@dataclass(frozen=True, slots=True)
class Checked:
    """A check and the outcomes that it rests on."""

    check: Check
    cells: tuple[Cell, ...] = ()
    environments: tuple[Environment, ...] = ()
    """The environment that was used, if it came to a run."""


def check(workspace: Workspace, job: CheckJob) -> Checked:
    """Check one pull on one base; what the machine could not do becomes an infra reason, never a verdict."""
    try:
        subject = _subject(workspace, job)
    except NotComposing as error:
        return Checked(_uncomposed(job, error))
    if not subject.gold:
        return Checked(replace(subject, reason=Reason.NO_GOLD_TESTS, detail=_without_gold(workspace, job)))
    try:
        return _Checking(workspace, subject).verdict()
    except EnvironmentBroken as error:
        return Checked(replace(subject, reason=Reason.INFRA_ENVIRONMENT, detail=headline(error)))
    except RunBroken as error:
        return Checked(replace(subject, reason=Reason.INFRA_RUN, detail=headline(error)))


def headline(error: StalebenchError) -> str:
    """The first line of what happened: the rest may differ between machines, and stays out of tables."""
    return error.message.partition("\n")[0]


def _without_gold(workspace: Workspace, job: CheckJob) -> str:
    _, tests = workspace.patches(job.pull)
    strange = unparsed(workspace.objects, tests)
    parsing = f"; of {', '.join(strange)} nothing is known, since it does not parse" if strange else ""
    return f"no test function is added or changed{parsing}"


def _uncomposed(job: CheckJob, error: NotComposing) -> Check:
    nothing: tuple[str, ...] = ()
    return Check(
        id=job.id,
        pull=job.pull.id,
        base_commit=job.base_commit,
        environment=None,
        suite="",
        before_tree="",
        after_tree="",
        gold=nothing,
        gold_files=nothing,
        f2p=nothing,
        p2p=nothing,
        flaky=nothing,
        reason=Reason.TESTS_CONFLICT_WITH_BASE,
        detail=headline(error),
    )


def gold_of(check: Check) -> Suite:
    """The gold suite of a checked pull, flaky tests included."""
    return suite(check.gold_files, check.gold)


def _subject(workspace: Workspace, job: CheckJob) -> Check:
    base = workspace.objects.tree_of(job.base_commit)
    code, tests = workspace.patches(job.pull)
    before = workspace.with_tests(base, tests)
    gold = gold_suite(workspace.objects, workspace.spec, tests, before)
    return Check(
        id=job.id,
        pull=job.pull.id,
        base_commit=job.base_commit,
        environment=None,
        suite=gold.id,
        before_tree=before,
        after_tree=workspace.with_code(before, code),
        gold=gold.functions or (),
        gold_files=gold.files,
        f2p=(),
        p2p=(),
        flaky=(),
        reason=None,
    )


class _Checking:
    """The runs of one check, in the order that finds a rejection soonest."""

    def __init__(self, workspace: Workspace, subject: Check) -> None:
        self.workspace = workspace
        self.built = workspace.built(subject.base_commit)
        self.subject = replace(subject, environment=self.built.record.key)
        self.suite = gold_of(subject)
        self.runs: dict[tuple[str, int], Run] = {}

    def verdict(self) -> Checked:
        self._run("before", 0)
        self._run("after", 0)
        before, after = self._classes("before", 0), self._classes("after", 0)
        fixed = failing(before) & passing(after)
        if not fixed and not failing(after):
            return self._rejected_without_fixed()
        if failing(after):
            return self._rejected_or_flaky(fixed)
        return self._confirmed(fixed)

    def _rejected_without_fixed(self) -> Checked:
        """Nothing fails before and passes after; a test that is absent on one side did neither there."""
        before, after = self._classes("before", 0), self._classes("after", 0)
        if passing(before):
            return self._rejected(Reason.PASSES_ON_BASE, _named(passing(before)))
        if passing(after):
            why = f"skipped or missing without the code patch: {_named(passing(after))}"
        elif failing(before):
            why = f"skipped or missing with the code patch: {_named(failing(before))}"
        else:
            why = "none of the gold tests ran: skipped, or never collected"
        return self._rejected(Reason.NO_GOLD_TESTS, why)

    def _rejected_or_flaky(self, fixed: Tests) -> Checked:
        """A gold test fails with the patch; it is only a rejection if it fails each time."""
        flaky = self._repeat("after")
        broken = failing(self._classes("after", 0)) - flaky
        if broken:
            return self._rejected(Reason.FAILS_WITH_PATCH, _named(broken), flaky)
        return (
            self._confirmed(fixed, flaky)
            if fixed - flaky
            else self._rejected(Reason.FLAKY, _named(flaky), flaky)
        )

    def _confirmed(self, fixed: Tests, flaky: Tests = frozenset()) -> Checked:
        """Valid so far: the columns that decide are run again."""
        flaky = flaky | self._repeat("after") | self._repeat("before")
        broken = failing(self._classes("after", 0)) - flaky
        if broken:
            return self._rejected(Reason.FAILS_WITH_PATCH, _named(broken), flaky)
        if not fixed - flaky:
            return self._rejected(Reason.FLAKY, _named(fixed), flaky)
        kept = passing(self._classes("before", 0)) & passing(self._classes("after", 0))
        return self._checked(f2p=fixed - flaky, p2p=kept - flaky, flaky=flaky)

    def _repeat(self, name: str) -> Tests:
        """Run a column again; the gold tests that differ between any two of its runs."""
        for repeat in range(1, self.workspace.site.repeats):
            self._run(name, repeat)
        columns = [self._classes(name, repeat) for repeat in range(self.workspace.site.repeats)]
        return differing(columns, {test for seen in columns for test in seen})

    def _run(self, name: str, repeat: int) -> None:
        if (name, repeat) not in self.runs:
            self.runs[name, repeat] = self.workspace.run(self._tree(name), self.suite, self.built, repeat)

    def _tree(self, name: str) -> str:
        return self.subject.before_tree if name == "before" else self.subject.after_tree

    def _tables(self) -> dict[tuple[str, int], dict[str, TestResult]]:
        return dict(zip(self.runs, aligned(list(self.runs.values())), strict=True))

    def _classes(self, name: str, repeat: int) -> dict[str, Class]:
        return column(self._tables()[name, repeat])

    def _rejected(self, reason: Reason, detail: str, flaky: Tests = frozenset()) -> Checked:
        return self._checked(reason=reason, detail=detail, flaky=flaky)

    def _checked(
        self,
        f2p: Tests = frozenset(),
        p2p: Tests = frozenset(),
        flaky: Tests = frozenset(),
        reason: Reason | None = None,
        detail: str = "",
    ) -> Checked:
        decided = replace(
            self.subject,
            f2p=tuple(sorted(f2p)),
            p2p=tuple(sorted(p2p)),
            flaky=tuple(sorted(flaky)),
            reason=reason,
            detail=detail,
        )
        return Checked(decided, tuple(self._cells()), (self.built.record,))

    def _cells(self) -> list[Cell]:
        return [
            cell(self.subject.id, name, "gold", repeat=repeat, tree=self._tree(name), result=result)
            for (name, repeat), table in self._tables().items()
            for result in table.values()
        ]


def cell(subject: str, name: str, selection: str, *, repeat: int, tree: str, result: TestResult) -> Cell:
    """One result as a cell of the outcome matrix."""
    return Cell(
        subject, name, selection, repeat, result.id, result.function, result.outcome, result.error, tree
    )


def _named(tests: Tests, most: int = 3) -> str:
    """The first few tests by name, and how many more there are."""
    names = sorted(tests)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
