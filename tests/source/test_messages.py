"""What a landed commit's message tells, and what of it is never kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stalebench.source.messages import Message, anonymous, read


def told(message: str, parents: int = 1) -> Message:
    found = read(message, parents)
    assert found is not None
    return found


def test_a_merge_commit_has_its_title_on_the_first_line_of_the_body() -> None:
    found = told("Merge pull request #12 from someone/branch\n\nAdd a cache\n\nIt is faster.\n", 2)
    assert (found.landing, found.number, found.title) == ("merge", 12, "Add a cache")
    assert found.text == "It is faster."


def test_a_merge_commit_without_a_body_is_titled_by_its_branch_and_not_by_its_owner() -> None:
    assert told("Merge pull request #12 from someone/fix-cache", 2).title == "fix-cache"


def test_a_title_that_only_thanks_somebody_falls_back_to_the_subject() -> None:
    found = told("Merge pull request #12 from someone/branch\n\nThank you @another for this!", 2)
    assert found.title == "Merge pull request #12"


def test_a_merge_request_of_gitlab_names_its_number_in_the_body() -> None:
    found = told("Merge branch 'x' into 'main'\n\nAdd a cache\n\nSee merge request group/project!7", 2)
    assert (found.number, found.title, found.text) == (7, "Add a cache", "")


def test_a_merge_without_a_pull_has_no_number() -> None:
    found = told("Merge branch 'feature' into main", 2)
    assert (found.landing, found.number) == ("merge", None)


@pytest.mark.parametrize(
    "subject",
    [
        "Merge branch 'main' of https://example.org/owner/name",
        "Merge remote-tracking branch 'upstream/main'",
        "Merge branch 'main'",
    ],
)
def test_nothing_lands_by_a_merge_of_the_main_line_with_its_own_copy(subject: str) -> None:
    assert read(subject, 2) is None


def test_the_last_number_of_a_squash_commit_is_its_pull_and_the_others_are_issues() -> None:
    found = told("Fix labels (#11452) (#11476)")
    assert (found.landing, found.number, found.issues) == ("squash", 11476, (11452,))
    assert found.title == "Fix labels (#11452)"


def test_a_number_in_the_middle_of_a_subject_makes_no_squash_commit() -> None:
    found = told("Fix #719 by converting templates")
    assert (found.landing, found.number, found.issues) == ("plain", None, (719,))


def test_tickets_of_django_are_issues() -> None:
    found = told("Fixed #37258, Refs #36644 -- Documented error.\n\nRegression in e097e8a12f21.")
    assert found.issues == (36644, 37258)


@pytest.mark.parametrize(
    ("text", "issues"),
    [
        ("Closes #1, #2 and #3", (1, 2, 3)),
        ("fixes gh-14", (14,)),
        ("see https://github.com/o/n/issues/15", (15,)),
        ("like #16 did", ()),
        ("prefixes #17 with", ()),
        ("This resolves: #18.", (18,)),
    ],
)
def test_issues_are_linked_by_words_that_link(text: str, issues: tuple[int, ...]) -> None:
    assert told(f"Subject\n\n{text}").issues == issues


def test_a_revert_does_not_link_the_pull_that_it_reverts() -> None:
    found = told('Merge pull request #9 from a/b\n\nRevert "Merge pull request #8 from c/d"', 2)
    assert (found.title, found.issues) == ('Revert "Merge pull request #8"', ())


def test_a_merge_also_tells_what_the_commits_of_its_branch_say() -> None:
    found = read("Merge pull request #2 from a/b\n\nTitle", 2, ("Title", "Fixes #1", "Fixes #1"))
    assert found
    assert (found.text, found.issues) == ("Fixes #1", (1,))


@pytest.mark.parametrize(
    "personal",
    [
        "Co-authored-by: Ann Other <ann@example.org>",
        "Signed-off-by: Ann Other <ann@example.org>",
        "Reviewed-By: Ann Other",
        "Author: Ann Other",
        "Thanks Ann Other for the report and\nBob for the review.",
        "Thank you to Ann Other.",
        "Many thanks to Ann Other.",
        "ann@example.org",
        "@ann-other",
        "cc: @ann1",
    ],
)
def test_people_are_left_out_of_the_text(personal: str) -> None:
    left = anonymous(f"Makes it faster.\n\n{personal}\n\nAnd smaller.")
    assert "ann" not in left.lower()
    assert left.startswith("Makes it faster.")
    assert left.endswith("And smaller.")


def test_decorators_are_no_accounts() -> None:
    text = "Uses @property, @pytest.mark.slow, `@fixture`, @requires_dask and @cached(1)."
    assert anonymous(text) == text


@given(st.text(), st.integers(1, 3))
def test_any_message_can_be_read(message: str, parents: int) -> None:
    found = read(message, parents)
    assert found is None or "\n" not in found.title
