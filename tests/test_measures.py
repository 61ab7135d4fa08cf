"""Each pattern of outcomes is a row: base, each patch alone, in the letters p(ass), f(ail), a(bsent)."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stalebench import measures
from stalebench.measures import Evidence, Kind
from stalebench.outcomes import CLASS_OF, Class, Outcome
from stalebench.records import Run, TestResult

LETTERS = {"p": Class.PASS, "f": Class.FAIL, "a": Class.ABSENT}


def rows(text: str) -> list[str]:
    return text.split()


PROMISED_BY_TWO = rows("""
    ppp fpp fpf fpa ffp fap app apf apa afp aap
""")
NOT_PROMISED_BY_TWO = rows("""
    ppf ppa pfp pff pfa pap paf paa fff ffa faf faa aff afa aaf aaa
""")
PROMISED_BY_THREE = rows("""
    pppp fppp fppf fppa fpfp fpff fpfa fpap fpaf fpaa ffpp ffpf ffpa fffp ffap fapp fapf fapa
    fafp faap appp appf appa apfp apff apfa apap apaf apaa afpp afpf afpa affp afap aapp aapf
    aapa aafp aaap
""")
NOT_PROMISED_BY_THREE = rows("""
    pppf pppa ppfp ppff ppfa ppap ppaf ppaa pfpp pfpf pfpa pffp pfff pffa pfap pfaf pfaa papp
    papf papa pafp paff pafa paap paaf paaa ffff fffa ffaf ffaa faff fafa faaf faaa afff affa
    afaf afaa aaff aafa aaaf aaaa
""")


def columns(pattern: str) -> list[dict[str, Class]]:
    return [{"t": LETTERS[letter]} for letter in pattern]


def promised(pattern: str) -> bool:
    base, *alone = columns(pattern)
    return measures.promise(base, alone) == {"t"}


@pytest.mark.parametrize("pattern", PROMISED_BY_TWO + PROMISED_BY_THREE)
def test_what_everybody_keeps_or_somebody_makes_pass_is_promised(pattern: str) -> None:
    assert promised(pattern)


@pytest.mark.parametrize("pattern", NOT_PROMISED_BY_TWO + NOT_PROMISED_BY_THREE)
def test_what_somebody_breaks_or_nobody_makes_pass_is_not_promised(pattern: str) -> None:
    assert not promised(pattern)


def test_the_tables_hold_every_pattern_of_two_and_of_three_patches_once() -> None:
    for patches, rows in (
        (2, PROMISED_BY_TWO + NOT_PROMISED_BY_TWO),
        (3, PROMISED_BY_THREE + NOT_PROMISED_BY_THREE),
    ):
        every = {"".join(letters) for letters in itertools.product("pfa", repeat=patches + 1)}
        assert sorted(rows) == sorted(every)


@pytest.mark.parametrize("merged", "pfa")
@pytest.mark.parametrize(
    "pattern", PROMISED_BY_TWO + NOT_PROMISED_BY_TWO + PROMISED_BY_THREE + NOT_PROMISED_BY_THREE
)
def test_each_pattern_lands_in_the_measures_that_its_letters_say(pattern: str, merged: str) -> None:
    base, *alone = columns(pattern)
    together = columns(merged)[0]
    kept = promised(pattern)
    assert bool(measures.delta(base, alone, together)) == (kept and merged == "f")
    assert bool(measures.vanished(base, alone, together)) == (kept and merged == "a")
    assert bool(measures.repaired_together(base, alone, together)) == (not kept and merged == "p")
    assert bool(measures.delta_strict(alone, together)) == (set(pattern[1:]) == {"p"} and merged == "f")
    assert measures.delta_strict(alone, together) <= measures.delta(base, alone, together)
    broken = [bool(measures.broken_alone(base, column)) for column in alone]
    assert broken == [pattern[0] == "p" and letter != "p" for letter in pattern[1:]]


def test_a_feature_test_of_one_patch_fails_under_the_other_alone_and_so_is_never_strict() -> None:
    base, *alone = columns("fpf")
    merged = columns("f")[0]
    assert measures.delta(base, alone, merged) == {"t"}
    assert measures.delta_strict(alone, merged) == frozenset()


def test_unsolved_are_the_gold_tests_that_do_not_pass_with_the_patch() -> None:
    graded = {"a": Class.PASS, "b": Class.FAIL}
    assert measures.unsolved(["a", "b", "c"], graded) == {"b", "c"}


def test_every_outcome_has_one_class() -> None:
    assert set(CLASS_OF) == set(Outcome)


@pytest.mark.parametrize(
    ("graded", "written", "overlaid", "kind"),
    [
        ("fpf", "pp", "ff", Kind.JOINT),
        ("ppp", "pp", "ff", Kind.JOINT),
        ("pfp", "pp", "pf", Kind.ONE_SIDED),
        ("ppf", "pp", "pp", Kind.ONE_SIDED),
        ("fff", "pp", "pf", Kind.TESTS),
        ("fff", "fp", "pf", Kind.UNCLEAR),
        ("fff", "pp", "ff", Kind.UNCLEAR),
        ("aff", "fp", "ap", Kind.TESTS),
    ],
)
def test_a_clash_has_the_first_kind_that_applies(
    graded: str, written: str, overlaid: str, kind: Kind
) -> None:
    base, *alone = columns(graded)
    evidence = Evidence(base, alone, columns("f")[0], columns(written), columns(overlaid))
    assert measures.kind_of("t", evidence) is kind


TABLES = st.lists(
    st.dictionaries(st.sampled_from("uvwxyz"), st.sampled_from(list(Class))), min_size=3, max_size=5
)


@given(TABLES)
def test_the_order_of_patches_never_matters(table: list[dict[str, Class]]) -> None:
    base, *alone, merged = table
    turned = list(reversed(alone))
    assert measures.promise(base, alone) == measures.promise(base, turned)
    assert measures.delta(base, alone, merged) == measures.delta(base, turned, merged)


@given(TABLES)
def test_a_patch_that_changes_nothing_promises_nothing_new(table: list[dict[str, Class]]) -> None:
    base, *alone, _ = table
    assert measures.promise(base, [base]) == measures.passing(base)
    assert measures.promise(base, [*alone, base]) == measures.promise(base, alone)


@given(TABLES)
def test_delta_repaired_and_vanished_never_share_a_test(table: list[dict[str, Class]]) -> None:
    base, *alone, merged = table
    sets = [f(base, alone, merged) for f in (measures.delta, measures.repaired_together, measures.vanished)]
    assert sum(map(len, sets)) == len(frozenset().union(*sets))


def function_of(test: str) -> str:
    """`a.py::T::t[1]` belongs to the function `a.py::T.t`."""
    path, _, rest = test.partition("::")
    return f"{path}::{rest.partition('[')[0].replace('::', '.')}"


def make_run(results: dict[str, Outcome], unloaded: tuple[str, ...] = ()) -> Run:
    lines = tuple(TestResult(test, function_of(test), outcome) for test, outcome in results.items())
    return Run("tree", "suite", "env", 1, 0, lines, tuple((path, "") for path in unloaded))


def test_a_file_that_does_not_load_fails_every_test_that_another_run_finds_in_it() -> None:
    loads = make_run({"a.py::t[1]": Outcome.PASSED, "a.py::t[2]": Outcome.SKIPPED, "b.py::u": Outcome.PASSED})
    broken = make_run({"a.py::t": Outcome.NOT_COLLECTED, "b.py::u": Outcome.PASSED}, unloaded=("a.py",))
    first, second = measures.columns_of([loads, broken])
    assert first == {"a.py::t[1]": Class.PASS, "a.py::t[2]": Class.ABSENT, "b.py::u": Class.PASS}
    assert second == {"a.py::t[1]": Class.FAIL, "a.py::t[2]": Class.FAIL, "b.py::u": Class.PASS}


def test_a_test_that_a_loaded_file_does_not_have_is_absent() -> None:
    new = make_run({"a.py::T::t": Outcome.PASSED})
    old = make_run({"a.py::T.t": Outcome.MISSING})
    columns = measures.columns_of([new, old])
    assert columns == [{"a.py::T::t": Class.PASS}, {"a.py::T::t": Class.ABSENT}]


def test_a_function_that_no_run_ever_loads_stands_for_its_tests() -> None:
    broken = make_run({"a.py::T.t": Outcome.NOT_COLLECTED}, unloaded=("a.py",))
    assert measures.columns_of([broken, broken]) == [{"a.py::T.t": Class.FAIL}] * 2


def test_tests_that_change_class_between_repeats_are_flaky_and_those_that_only_change_wording_are_not() -> (
    None
):
    first = {"a": Class.PASS, "b": Class.FAIL, "c": Class.PASS}
    second = {"a": Class.FAIL, "b": Class.FAIL}
    assert measures.differing([first, second], {"a", "b", "c"}) == {"a", "c"}
    assert measures.differing([first, second], {"b"}) == frozenset()
