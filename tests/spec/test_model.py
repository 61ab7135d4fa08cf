"""What a file is to its repository, and what else a specification answers by itself."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from datetime import date
from typing import Any

import pytest

from stalebench.spec import Kind, Limits, Recipe, Spec, load

SPEC = Spec(
    name="shop",
    repository="owner/shop",
    clone_url="https://example.org/shop.git",
    branch="main",
    landing=("squash",),
    runner="pytest",
    import_name="shop",
    source=("/shop/**/*.py",),
    source_exclude=("/shop/vendored/**",),
    test=("/shop/tests/**", "/conftest.py"),
    test_modules=("/shop/tests/**/test_*.py",),
    data=("/shop/**", "!*.md"),
    recipes=(Recipe("3.11"),),
)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("shop/a.py", Kind.SOURCE),
        ("shop/deep/er/a.py", Kind.SOURCE),
        ("shop/contest.py", Kind.SOURCE),
        ("shop/test/client.py", Kind.SOURCE),
        ("shop/testing/tools.py", Kind.SOURCE),
        ("shop/tests/test_a.py", Kind.TEST),
        ("shop/tests/data.json", Kind.TEST),
        ("conftest.py", Kind.TEST),
        ("shop/conftest.py", Kind.SOURCE),
        ("shop/page.html", Kind.DATA),
        ("shop/vendored/a.py", Kind.DATA),
        ("shop/README.md", Kind.OTHER),
        ("other/shop/a.py", Kind.OTHER),
        ("setup.py", Kind.OTHER),
        ("shop/caf\udce9.py", Kind.SOURCE),
        ("shop/with blank.py", Kind.SOURCE),
    ],
)
def test_the_globs_decide_what_a_file_is(path: str, kind: Kind) -> None:
    assert SPEC.kind(path) is kind


@pytest.mark.parametrize(
    ("name", "path", "kind"),
    [
        ("django", "django/test/client.py", Kind.SOURCE),
        ("django", "django/contrib/admin/tests.py", Kind.SOURCE),
        ("django", "django/contrib/admin/templates/admin/base.html", Kind.DATA),
        ("django", "tests/runtests.py", Kind.TEST),
        ("django", "docs/ref/settings.txt", Kind.OTHER),
        ("django", "scripts/manage_translations.py", Kind.OTHER),
        ("xarray", "xarray/testing/assertions.py", Kind.SOURCE),
        ("xarray", "xarray/tests/test_dataset.py", Kind.TEST),
        ("xarray", "xarray/static/css/style.css", Kind.DATA),
        ("xarray", "doc/whats-new.rst", Kind.OTHER),
        ("xarray", "asv_bench/benchmarks/indexing.py", Kind.OTHER),
        ("sympy", "sympy/testing/runtests.py", Kind.SOURCE),
        ("sympy", "sympy/core/tests/test_args.py", Kind.TEST),
        ("sympy", "sympy/parsing/latex/lark/grammar/latex.lark", Kind.DATA),
        ("sympy", "bin/test", Kind.OTHER),
        ("seaborn", "seaborn/_core/plot.py", Kind.SOURCE),
        ("seaborn", "seaborn/tests/test_utils.py", Kind.TEST),
        ("seaborn", "tests/conftest.py", Kind.TEST),
        ("seaborn", "doc/conf.py", Kind.OTHER),
    ],
)
def test_the_shipped_specifications_know_source_from_tests(name: str, path: str, kind: Kind) -> None:
    assert load(name).kind(path) is kind


def test_only_modules_of_tests_are_collected() -> None:
    assert SPEC.is_test_module("shop/tests/test_a.py")
    assert not SPEC.is_test_module("shop/tests/helpers.py")
    assert not SPEC.is_test_module("conftest.py")


def test_source_and_its_data_make_the_code_patch() -> None:
    assert [kind for kind in Kind if kind.in_code_patch] == [Kind.SOURCE, Kind.DATA]


def test_a_recipe_covers_its_days_without_the_last() -> None:
    recipe = Recipe("3.11", since=date(2024, 1, 1), until=date(2024, 2, 1))
    days = [date(2023, 12, 31), date(2024, 1, 1), date(2024, 1, 31), date(2024, 2, 1)]
    assert [recipe.covers(day) for day in days] == [False, True, True, False]
    assert all(Recipe("3.11").covers(day) for day in days)


def test_variables_of_a_recipe_are_a_mapping() -> None:
    assert Recipe("3.11", env=(("A", "1"),)).variables == {"A": "1"}


def test_each_field_changes_the_digest() -> None:
    others: dict[str, Any] = {"branch": None, "recipes": (), "limits": Limits(test_seconds=1)}
    for field in fields(Spec):
        value = getattr(SPEC, field.name)
        changed = others.get(field.name, ("x",) if isinstance(value, tuple) else "x")
        assert replace(SPEC, **{field.name: changed}).digest() != SPEC.digest(), field.name


def test_a_specification_survives_pickling_and_stays_equal() -> None:
    assert pickle.loads(pickle.dumps(SPEC)) == SPEC  # noqa: S301 - our own
    assert hash(SPEC) == hash(replace(SPEC))
