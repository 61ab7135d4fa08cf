"""From the main line of a repository to pulls, each eligible or with its reason."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pygit2
import pytest

from stalebench.errors import SourceError
from stalebench.reasons import Reason
from stalebench.records import Pull
from stalebench.source import landed, newest, open_clone
from stalebench.spec import Spec
from tests.repositories import Builder

SPEC = Spec(
    name="shop",
    repository="owner/shop",
    clone_url="",
    branch=None,
    landing=("squash", "merge"),
    runner="pytest",
    import_name="shop",
    source=("/shop/**/*.py",),
    source_exclude=(),
    test=("/tests/**",),
    test_modules=("/tests/**/test_*.py",),
    data=("/shop/**",),
)
START = {"shop/a.py": "a = 1\n", "tests/test_a.py": "", "README.md": ""}
BOTH = {"shop/a.py": "a = 2\n", "tests/test_a.py": "def test(): pass\n"}


def pulls(
    built: Builder, spec: Spec = SPEC, since: date | None = None, until: date | None = None
) -> list[Pull]:
    return landed(open_clone(str(built.path)), spec, since, until)


def only(found: list[Pull]) -> Pull:
    assert len(found) == 1
    return found[0]


def test_a_squash_commit_is_a_pull_with_all_that_its_clone_tells(built: Builder) -> None:
    base = built.land(START, "start")
    own = built.commit({"shop/a.py": "a = 2\n"}, "wip", [base], day=3, authored=2)
    head = built.commit(BOTH, "more", [own], day=4)
    built.ref("refs/pull/7/head", head)
    merged = built.land({**BOTH, "README.md": "new"}, "Change a (#7)\n\nCloses #3.", day=5)
    assert only(pulls(built)) == Pull(
        id="7",
        repo="owner/shop",
        number=7,
        landing="squash",
        base_commit=base,
        merge_commit=merged,
        head_commit=head,
        fork_commit=base,
        created_at="2024-01-03T12:00:00Z",
        merged_at="2024-01-06T12:00:00Z",
        title="Change a",
        text="Closes #3.",
        issues=(3,),
        source_files=("shop/a.py",),
        test_files=("tests/test_a.py",),
        other_files=("README.md",),
        reason=None,
    )


def test_without_the_heads_of_pulls_a_squash_commit_has_no_fork(built: Builder) -> None:
    built.land(START)
    built.land(BOTH, "Change a (#7)", day=5)
    found = only(pulls(built))
    assert (found.head_commit, found.fork_commit) == (None, None)
    assert found.created_at == "2024-01-06T12:00:00Z"


def test_a_merge_commit_tells_its_head_and_its_fork_by_itself(built: Builder) -> None:
    base = built.land(START)
    head = built.commit(BOTH, "Change a\n\nFixes #1", [base], authored=1)
    between = built.land({"README.md": "x"}, "docs")
    merged = built.merge(head, "Merge pull request #9 from a/b\n\nChange a")
    found = only(pulls(built))
    assert (found.landing, found.merge_commit, found.base_commit) == ("merge", merged, between)
    assert (found.head_commit, found.fork_commit) == (head, base)
    assert (found.issues, found.created_at) == ((1,), "2024-01-02T12:00:00Z")
    assert found.other_files == ()


def test_only_the_ways_to_land_that_the_specification_names_make_pulls(built: Builder) -> None:
    base = built.land(START)
    built.land({"shop/a.py": "1"}, "Squashed (#1)")
    built.land({"shop/a.py": "2"}, "Plain")
    built.merge(built.commit({"shop/b.py": ""}, "b", [base]), "Merge pull request #3 from a/b\n\nMerged")
    built.merge(built.commit({"shop/c.py": ""}, "c", [base]), "Merge branch 'c' into main")
    titles = {
        ways: [pull.title for pull in pulls(built, replace(SPEC, landing=ways))]
        for ways in [("squash",), ("merge",), ("plain",), ("merge", "plain")]
    }
    assert titles == {
        ("squash",): ["Squashed"],
        ("merge",): ["Merged"],
        ("plain",): ["Plain", "Squashed"],
        ("merge", "plain"): ["Merge branch 'c' into main", "Merged", "Plain", "Squashed"],
    }


def test_a_plain_commit_is_named_by_its_id(built: Builder) -> None:
    built.land(START)
    merged = built.land(BOTH, "Fixed #12 -- Changed a.")
    found = only(pulls(built, replace(SPEC, landing=("plain",))))
    assert (found.id, found.number, found.issues) == (merged[:12], None, (12,))


def test_a_number_that_lands_twice_names_the_first_pull_only(built: Builder) -> None:
    built.land(START)
    built.land(BOTH, "Change a (#7)")
    again = built.land({"shop/a.py": "a = 3\n"}, "Change a again (#7)", day=40)
    assert [(pull.id, pull.number) for pull in pulls(built)] == [(again[:12], 7), ("7", 7)]
    assert only(pulls(built, since=date(2024, 2, 1))).id == again[:12]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (BOTH, None),
        ({"tests/test_a.py": "1"}, Reason.NO_SOURCE),
        ({"README.md": "1"}, Reason.NO_SOURCE),
        ({"shop/page.html": "1", "tests/test_a.py": "1"}, Reason.NO_SOURCE),
        ({"shop/a.py": "1"}, Reason.NO_TESTS),
        ({"tests/x": "1", **{f"shop/m{n}.py": "" for n in range(12)}}, None),
        ({"tests/x": "1", **{f"shop/m{n}.py": "" for n in range(13)}}, Reason.TOO_MANY_SOURCES),
    ],
)
def test_a_pull_changes_1_to_12_source_files_and_a_test(
    built: Builder, files: dict[str, str], reason: Reason | None
) -> None:
    built.land(START)
    built.land(files, "Change (#7)")
    assert only(pulls(built)).reason == reason


def test_a_rename_counts_on_either_side(built: Builder) -> None:
    built.land(START)
    built.land({"shop/a.py": None, "shop/b.py": "a = 1\n"}, "Move (#7)")
    assert only(pulls(built)).source_files == ("shop/a.py", "shop/b.py")


def test_the_days_are_half_open_and_the_newest_pull_is_first(built: Builder) -> None:
    built.land(START, day=0)
    for day in (1, 2, 3):
        built.land({"shop/a.py": f"{day}"}, f"Day (#{day})", day=day)
    found = pulls(built, since=date(2024, 1, 2), until=date(2024, 1, 4))
    assert [pull.id for pull in found] == ["2", "1"]


def test_the_newest_pulls_keep_those_turned_away_in_between(built: Builder) -> None:
    built.land(START)
    for number, files in enumerate([BOTH, {"README.md": "1"}, {"shop/a.py": "4", "tests/x": "4"}], 1):
        built.land(files, f"Change (#{number})")
    found = pulls(built)
    assert [pull.id for pull in newest(found, 1)] == ["3"]
    assert [pull.id for pull in newest(found, 2)] == ["3", "2", "1"]
    assert newest(found, None) == newest(found, 99) == found


def test_a_head_that_went_on_after_the_landing_tells_no_fork(built: Builder) -> None:
    built.land(START)
    merged = built.land(BOTH, "Change a (#7)")
    built.ref("refs/pull/7/head", built.commit({"shop/a.py": "9"}, "later", [merged]))
    assert only(pulls(built)).head_commit is None


def test_a_head_of_another_history_has_no_fork(built: Builder) -> None:
    built.land(START)
    stranger = built.commit(START, "elsewhere")
    built.ref("refs/pull/7/head", stranger)
    built.land(BOTH, "Change a (#7)")
    found = only(pulls(built))
    assert (found.head_commit, found.fork_commit) == (stranger, None)


def test_the_branch_is_the_one_that_the_specification_names(built: Builder) -> None:
    base = built.land(START)
    built.ref("refs/remotes/origin/stable", built.commit(BOTH, "Backport (#5)", [base]))
    assert [pull.id for pull in pulls(built, replace(SPEC, branch="stable"))] == ["5"]
    with pytest.raises(SourceError, match="no branch trunk: tried refs/heads/trunk"):
        pulls(built, replace(SPEC, branch="trunk"))


def test_a_clone_of_another_repository_is_refused(built: Builder) -> None:
    built.land({"other/a.py": ""})
    with pytest.raises(SourceError, match=r"no source file of shop[\s\S]*another repository"):
        pulls(built)


def test_a_message_in_another_encoding_is_read(built: Builder) -> None:
    base = built.land(START)
    raw = (
        f"tree {built.repo[base].peel(pygit2.Commit).tree_id}\nparent {base}\n"
        "author A <a@b> 1704110400 +0000\ncommitter A <a@b> 1704110400 +0000\n"
        "encoding ISO-8859-1\n\nCaf\u00e9 (#4)\n"
    ).encode("latin-1")
    built.ref("refs/heads/main", str(built.repo.write(1, raw)))
    assert only(pulls(built)).title == "Café"
