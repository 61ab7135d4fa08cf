"""Specifications from TOML and back, and what is said of a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stalebench.errors import SpecError
from stalebench.spec import Limits, Recipe, Spec, known, load, names, parse, to_toml

MINIMAL = """
name = "shop"
repository = "owner/shop"
landing = ["squash"]
runner = "pytest"
import_name = "shop"
[files]
source = ["/shop/**/*.py"]
test = ["/tests/**"]
test_modules = ["/tests/**/test_*.py"]
"""

TEXTS = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\n"), min_size=1, max_size=20
)
GLOBS = st.lists(st.sampled_from(["/a/**", "*.py", "!b", "[ab]*", "\\#c"]), min_size=1, max_size=3).map(tuple)
NUMBERS = st.floats(0.001, 1e9) | st.integers(1, 10**6).map(float)
RECIPES = st.builds(
    Recipe,
    python=st.sampled_from(["3.8", "3.11"]),
    since=st.none() | st.dates(),
    packages=st.lists(TEXTS, max_size=3).map(tuple),
    install=st.lists(TEXTS, max_size=2).map(tuple),
    metadata=st.booleans(),
    env=st.dictionaries(TEXTS, st.text(st.characters(blacklist_categories=["Cs"])), max_size=2).map(
        lambda found: tuple(sorted(found.items()))
    ),
)
SPECS = st.builds(
    Spec,
    name=st.just("shop"),
    repository=st.sampled_from(["owner/shop", "group/sub/shop"]),
    clone_url=TEXTS | st.just(""),
    branch=st.none() | TEXTS,
    landing=st.sampled_from([("merge",), ("squash", "plain")]),
    runner=st.sampled_from(["pytest", "django", "unittest"]),
    import_name=st.sampled_from(["shop", "shop.core"]),
    source=GLOBS,
    source_exclude=GLOBS | st.just(()),
    test=GLOBS,
    test_modules=GLOBS,
    data=GLOBS | st.just(()),
    recipes=st.lists(RECIPES, max_size=2).map(tuple),
    limits=st.builds(Limits, NUMBERS, NUMBERS, st.integers(1, 10**6), st.integers(1, 10**6)),
)


@given(SPECS)
def test_what_is_printed_loads_back_equal(spec: Spec) -> None:
    assert parse(to_toml(spec)) == spec


@pytest.mark.parametrize("name", names())
def test_each_shipped_specification_loads_and_prints_back_equal(name: str) -> None:
    spec = load(name)
    assert spec.name == name
    assert parse(to_toml(spec)) == spec


def test_the_study_repositories_are_shipped() -> None:
    assert {"django", "seaborn", "sympy", "xarray"} <= set(names())


def test_a_specification_is_found_by_its_repository_too() -> None:
    assert load("mwaskom/seaborn") == known("mwaskom/seaborn") == load("seaborn")
    assert known("owner/nothing") is None


def test_a_file_is_loaded_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "shop.toml"
    file.write_text(MINIMAL)
    spec = load(file)
    assert (spec.name, spec.branch, spec.recipes) == ("shop", None, ())
    assert spec.clone_url == "https://github.com/owner/shop.git"
    assert spec.limits == Limits()


@pytest.mark.parametrize("name", ["nothing", "owner/nothing", "nothing.toml"])
def test_a_missing_specification_lists_where_it_was_looked_for(name: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(name)
    assert f"{name.removesuffix('.toml')}.toml" in caught.value.message
    assert "seaborn" in caught.value.fix


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "shop"', 'name = "a b"', "file.toml: name: expected a short name"),
        (
            'name = "shop"',
            "",
            "name: expected a short name of letters, digits, dots and dashes; it is missing",
        ),
        ('"owner/shop"', '"shop"', "repository: expected owner/name"),
        ('["squash"]', '["rebase"]', "landing: expected one or more of merge, squash, plain"),
        ('["squash"]', "[]", "landing: expected one or more"),
        ('["squash"]', '["squash", "squash"]', "each once"),
        ('["squash"]', '"squash"', "landing: expected a list of texts"),
        ('"pytest"', '"nose"', "runner: expected one of pytest, django, unittest; found 'nose'"),
        (
            'import_name = "shop"',
            'import_name = "my-shop"',
            "import_name: expected the name that Python imports",
        ),
        ('["/shop/**/*.py"]', "[]", "files.source: expected at least one glob"),
        ('["/shop/**/*.py"]', "[1]", "files.source: expected a list of texts; found [1]"),
        ('["/shop/**/*.py"]', '["# no"]', "files.source: expected globs as in a .gitignore file, but '# no'"),
        ('["/shop/**/*.py"]', '["a[b"]', "a bracket that is never closed"),
        ('["/shop/**/*.py"]', '["!"]', "files.source: expected globs"),
        ('["/shop/**/*.py"]', '[" a"]', "has blanks around it"),
        (
            "[files]",
            "[limits]\ntest_seconds = 0\n[files]",
            "limits.test_seconds: expected a number above 0; found 0",
        ),
        ("[files]", "[limits]\ntest_seconds = true\n[files]", "limits.test_seconds: expected a number"),
        ("[files]", "[limits]\nmemory_mib = 1.5\n[files]", "limits.memory_mib: expected a whole number"),
        ("[files]", "[limits]\nmemory = 5\n[files]", "limits.memory: unknown key"),
        ("[files]", "recipes = 1\n[files]", "recipes: expected tables, each headed [[recipes]]"),
        ("[files]", "limits = 1\n[files]", "limits: expected a table"),
        ("[files]", '[[recipes]]\npython = "3"\n[files]', "recipes[1].python: expected a Python version"),
        ("[files]", "[[recipes]]\npython = 3.11\n[files]", "recipes[1].python: expected a Python version"),
        (
            "[files]",
            '[[recipes]]\npython = "3.11"\nsince = "2024"\n[files]',
            "recipes[1].since: expected a date",
        ),
        (
            "[files]",
            '[[recipes]]\npython = "3.11"\nsince = 2024-01-01T00:00:00\n[files]',
            "recipes[1].since: expected a date",
        ),
        (
            "[files]",
            '[[recipes]]\npython = "3.11"\nsince = 2024-01-02\nuntil = 2024-01-01\n[files]',
            "recipes[1].until: expected a day after since",
        ),
        (
            "[files]",
            '[[recipes]]\npython = "3.11"\nmetadata = 1\n[files]',
            "metadata: expected true or false",
        ),
        (
            "[files]",
            '[[recipes]]\npython = "3.11"\nenv = {A = 1}\n[files]',
            "env: expected a table from names",
        ),
        ("[files]", "[files", "file.toml: not TOML"),
    ],
)
def test_a_wrong_specification_is_refused_with_the_place(old: str, new: str, said: str) -> None:
    assert old in MINIMAL
    with pytest.raises(SpecError) as caught:
        parse(MINIMAL.replace(old, new, 1), "file.toml")
    assert said in str(caught.value)


def test_a_misspelt_key_is_told_from_the_one_that_was_meant() -> None:
    with pytest.raises(SpecError, match=r"files\.test_module: unknown key[\s\S]*did you mean test_modules"):
        parse(f'{MINIMAL}test_module = ["a"]\n')


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "shop.toml"
    file.write_bytes(b'name = "\xff"')
    with pytest.raises(SpecError, match="cannot be read"):
        load(file)
