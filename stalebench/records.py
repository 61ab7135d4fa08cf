"""The records that flow from stage to stage. Plain, frozen, and free of behaviour.

Paths are text as git has them, relative to the root of the tree, decoded with `os.fsdecode` (a byte
that is not UTF-8 becomes a surrogate). Commits and trees are full hexadecimal ids. Times are ISO 8601
in UTC, to the second. A *function* is named `path::Qualified.name`, with the qualified name of the
Python function itself; a *test id* is named as pytest names it, `path::Class::name[parameters]`, by
the file and class that collect it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from stalebench.outcomes import Outcome
from stalebench.reasons import Reason, Stage


@dataclass(frozen=True, slots=True)
class Pull:
    """A merged change.

    `id` is unique within the repository: the pull's number where it has one, else the first 12 digits of
    the landed commit. `base_commit` is the first parent of `merge_commit`, and the pull's diff is the
    diff between the two. `head_commit` is the tip of the author's branch and `fork_commit` its merge base
    with `base_commit`; both are None where the history does not tell. `landing` is merge, squash or plain.
    """

    id: str
    repo: str
    number: int | None
    landing: str
    base_commit: str
    merge_commit: str
    head_commit: str | None
    fork_commit: str | None
    created_at: str | None
    merged_at: str
    title: str
    text: str
    issues: tuple[int, ...]
    source_files: tuple[str, ...]
    test_files: tuple[str, ...]
    other_files: tuple[str, ...]
    reason: Reason | None
    """Why it is not eligible; None where it is."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Two eligible pulls (in general N) that share a source file, and the base they can be compared on.

    `id` is the pulls' ids, newest first, joined by `+`; `pulls` are the same ids, the one that landed first
    first. `shared_symbols` are the functions and classes of source files that each of the diffs touches, as
    `path::Qualified.name`. `concurrent` is None where a pull head is not known.
    """

    id: str
    repo: str
    pulls: tuple[str, ...]
    base_commit: str
    days_apart: float
    shared_files: tuple[str, ...]
    shared_symbols: tuple[str, ...]
    concurrent: bool | None


@dataclass(frozen=True, slots=True)
class Composition:
    """How the patches of a candidate compose on its base, and the trees if they do.

    `strict_apply` tells, per pull, whether `git apply` without any three-way help would accept its code
    patch on the base. `by_function` says that the test patches conflict as text and were composed function by
    function. `tests_tree` is b + T, `merged_tree` is b + all P + T; `code_trees` are b + Pi.
    """

    candidate: str
    base_tree: str
    reason: Reason | None
    detail: str
    paths: tuple[str, ...]
    strict_apply: tuple[bool, ...]
    by_function: bool
    code_trees: tuple[str, ...] = ()
    tests_tree: str | None = None
    merged_tree: str | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """Which tests to run: `files` are collected, and of their tests those run whose function is listed.

    `functions` is None for all tests of the files. Both are sorted. Equal suites have equal `id`.
    """

    files: tuple[str, ...]
    functions: tuple[str, ...] | None
    id: str = field(default="")


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test on one tree.

    `seconds` and `tail` (the last lines of a failure) differ from run to run: they never reach a table.
    """

    __test__ = False

    id: str
    function: str
    outcome: Outcome
    error: str = ""
    """The exception's class name, for a failure."""
    seconds: float = 0.0
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """All results of one suite on one tree in one environment.

    (tree, suite, environment, version of the runner, repeat) name it.
    """

    tree: str
    suite: str
    environment: str
    version: int
    repeat: int
    results: tuple[TestResult, ...]
    unloaded: tuple[tuple[str, str], ...]
    """Files that did not load, each with the last lines of why."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment that serves many commits.

    `key` hashes the Python version, the frozen packages and the install commands. `rung` says which
    recipe of the ladder won.
    """

    key: str
    repo: str
    python: str
    rung: str
    packages: tuple[str, ...]
    install: tuple[str, ...]
    exclude_newer: str | None


@dataclass(frozen=True, slots=True)
class Check:
    """Base validity of one pull on one base: its gold tests before and after its code patch."""

    id: str
    """`pull@base`, the base by its first 12 digits."""
    pull: str
    base_commit: str
    environment: str | None
    suite: str
    before_tree: str
    after_tree: str
    gold: tuple[str, ...]
    """Gold functions."""
    gold_files: tuple[str, ...]
    """The test modules that collect them."""
    f2p: tuple[str, ...]
    p2p: tuple[str, ...]
    flaky: tuple[str, ...]
    reason: Reason | None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Something that did not get past a stage, for one reason."""

    stage: Stage
    subject: str
    reason: Reason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One pull of a valid pair: what an agent is asked to do, and the tests that tell.

    `f2p` and `p2p` are test ids on the pair's base; `code_patch` and `test_patch` are the SHA-256 of the
    patches kept beside the tables. The task's text is the pull's title and text.
    """

    repo: str
    pull: str
    check: str
    f2p: tuple[str, ...]
    p2p: tuple[str, ...]
    code_patch: str
    test_patch: str


@dataclass(frozen=True, slots=True)
class Clash:
    """A test that is green on every branch as written and red together, and what kind of clash it is."""

    test: str
    kind: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A valid pair and the control on its human patches: the measures as `stalebench.measures` defines them.

    Sets of tests are sorted test ids. `unobservable` is None for an observable pair, else `tests_interact` or
    `flaky`. `clash` is None where it cannot be known: the test patches conflict as text (`by_function`).
    `broken_alone` has one entry a task. `control` is `complete`, or says why a column is missing.
    """

    id: str
    repo: str
    base_commit: str
    base_tree: str
    environment: str
    tasks: tuple[Task, ...]
    days_apart: float
    shared_files: tuple[str, ...]
    shared_symbols: tuple[str, ...]
    concurrent: bool | None
    by_function: bool
    tests_tree: str
    merged_tree: str
    control: str
    unobservable: str | None
    delta_blind: tuple[str, ...] | None
    delta_strict: tuple[str, ...] | None
    clash: tuple[Clash, ...] | None
    broken_alone: tuple[tuple[str, ...], ...] | None
    repaired_together: tuple[str, ...] | None
    vanished: tuple[str, ...] | None
    flaky: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the outcome matrix: a test in a column of a check or of a pair.

    `subject` is the check's or the pair's id. Columns of a check are `before` and `after`; those of a pair
    are the design's W0, W1.., G0, G1.., M, H1... `suite` tells which selection ran: `gold`, `touched`, or
    `alone` with the beginning of its suite's id. `repeat` counts from 0.
    """

    subject: str
    column: str
    suite: str
    repeat: int
    test: str
    function: str
    outcome: Outcome
    error: str
    tree: str
