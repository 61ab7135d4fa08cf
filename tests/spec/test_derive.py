"""Specifications read off a tree and a history."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from stalebench.compose.objects import Objects
from stalebench.errors import SpecError
from stalebench.spec import Kind, Spec, derive, parse, to_toml
from tests.repositories import Builder

TEST = "import pytest\n\ndef test_a():\n    pass\n"
UNIT = "import unittest\n\nclass ATest(unittest.TestCase):\n    pass\n"
FLAT = {"shop/__init__.py": "", "shop/a.py": "", "tests/test_a.py": TEST}


@pytest.fixture
def built(tmp_path: Path) -> Builder:
    return Builder(tmp_path / "origin.git")


def derived(built: Builder, files: Mapping[str, str], name: str = "owner/shop") -> Spec:
    """What is derived, which prints and loads back equal."""
    tip = built.land(files)
    spec = derive(Objects(built.path), tip, name)
    assert parse(to_toml(spec)) == spec
    return spec


def test_a_flat_package_with_a_tests_folder(built: Builder) -> None:
    spec = derived(built, {**FLAT, "docs/conf.py": "", "setup.py": "", "tests/data.json": ""})
    assert (spec.import_name, spec.runner, spec.branch) == ("shop", "pytest", "main")
    assert (spec.name, spec.repository) == ("owner-shop", "owner/shop")
    assert spec.clone_url == "https://github.com/owner/shop.git"
    kinds = {path: spec.kind(path) for path in ("shop/a.py", "tests/data.json", "docs/conf.py", "setup.py")}
    assert list(kinds.values()) == [Kind.SOURCE, Kind.TEST, Kind.OTHER, Kind.OTHER]
    assert spec.is_test_module("tests/deep/test_b.py")


def test_packages_below_src(built: Builder) -> None:
    spec = derived(built, {"src/my_shop/__init__.py": "", "src/my_shop/a.py": "", "tests/test_a.py": TEST})
    assert (spec.import_name, spec.source) == ("my_shop", ("/src/my_shop/**/*.py",))


def test_a_namespace_package_below_src(built: Builder) -> None:
    spec = derived(built, {"src/acme/shop/__init__.py": "", "tests/test_a.py": TEST})
    assert spec.import_name == "acme"


def test_a_single_module_is_a_package_too(built: Builder) -> None:
    spec = derived(built, {"shop.py": "", "setup.py": "", "test_shop.py": TEST})
    assert (spec.source, spec.data) == (("/shop.py",), ())
    assert spec.kind("test_shop.py") is Kind.TEST
    assert spec.is_test_module("test_shop.py")


def test_of_several_packages_the_one_with_the_name_of_the_project_is_imported(built: Builder) -> None:
    many = {f"tools_x/m{n}.py": "" for n in range(9)}
    files = {**FLAT, **many, "tools_x/__init__.py": "", "pyproject.toml": '[project]\nname = "Shop"\n'}
    spec = derived(built, files, "local")
    assert spec.import_name == "shop"
    assert spec.kind("tools_x/m1.py") is Kind.SOURCE


def test_tests_inside_of_packages(built: Builder) -> None:
    files = {
        "shop/__init__.py": "",
        "shop/core/tests/test_a.py": TEST,
        "shop/core/tests/helpers.py": "",
        "shop/testing/__init__.py": "",
        "shop/test/client.py": "",
        "conftest.py": "",
    }
    spec = derived(built, files)
    tests = [path for path in files if spec.kind(path) is Kind.TEST]
    assert tests == ["shop/core/tests/test_a.py", "shop/core/tests/helpers.py", "conftest.py"]


def test_test_modules_beside_source(built: Builder) -> None:
    spec = derived(
        built, {"shop/__init__.py": "", "shop/a.py": "", "shop/a_test.py": TEST, "shop/contest.py": ""}
    )
    assert spec.kind("shop/b_test.py") is Kind.TEST
    assert spec.kind("shop/contest.py") is Kind.SOURCE


def test_a_module_that_is_only_named_like_a_test_is_source(built: Builder) -> None:
    spec = derived(built, {**FLAT, "shop/test_support.py": "def helper(): pass\n"})
    assert spec.kind("shop/test_support.py") is Kind.SOURCE


def test_the_file_patterns_of_pytest_are_kept(built: Builder) -> None:
    options = '[tool.pytest.ini_options]\npython_files = ["check_*.py"]\n'
    spec = derived(built, {**FLAT, "pyproject.toml": options})
    assert spec.is_test_module("tests/check_a.py")
    assert not spec.is_test_module("tests/test_a.py")


def test_unittest_where_nothing_speaks_of_pytest(built: Builder) -> None:
    assert derived(built, {**FLAT, "tests/test_a.py": UNIT}).runner == "unittest"


def test_pytest_where_its_configuration_is(built: Builder) -> None:
    files = {**FLAT, "tests/test_a.py": UNIT, "tox.ini": "[testenv]\ncommands = pytest\n"}
    assert derived(built, files).runner == "pytest"


def test_django_where_its_own_runner_is(built: Builder) -> None:
    files = {"django/__init__.py": "", "django/test/client.py": "", "tests/runtests.py": "import django\n"}
    spec = derived(built, {**files, "tests/a/tests.py": UNIT, "scripts/tests/test_b.py": UNIT})
    assert (spec.runner, spec.test) == ("django", ("/tests/**",))
    assert spec.kind("django/test/client.py") is Kind.SOURCE
    assert spec.is_test_module("tests/a/tests.py")


def test_templates_go_with_the_code_and_documents_do_not(built: Builder) -> None:
    spec = derived(built, FLAT)
    kinds = [spec.kind(f"shop/{name}") for name in ("page.html", "README.md", "a.pyi")]
    assert kinds == [Kind.DATA, Kind.OTHER, Kind.OTHER]


@pytest.mark.parametrize(
    ("subjects", "landing"),
    [
        (["Change (#{})"] * 9, ("squash",)),
        (["Change (#{})"] * 5 + ["Typo"] * 9, ("squash",)),
        (["Change"] * 9, ("plain",)),
        (["Change"] * 40 + ["Change (#{})"], ("plain",)),
    ],
)
def test_the_ways_to_land_are_those_of_the_history(
    built: Builder, subjects: list[str], landing: tuple[str, ...]
) -> None:
    built.land(FLAT)
    for number, subject in enumerate(subjects, 1):
        built.land({"shop/a.py": f"{number}"}, subject.format(number))
    assert derived(built, {}).landing == landing


@pytest.mark.parametrize(
    ("subject", "landing"),
    [
        ("Merge pull request #1 from a/b\n\nTitle", ("merge",)),
        ("Merge branch 'b' into main", ("merge", "plain")),
    ],
)
def test_merge_commits_land_with_or_without_numbers(
    built: Builder, subject: str, landing: tuple[str, ...]
) -> None:
    base = built.land(FLAT)
    built.merge(built.commit({"shop/b.py": ""}, "b", [base]), subject)
    assert derived(built, {}).landing == landing


@pytest.mark.parametrize(
    ("url", "name", "repository", "kept"),
    [
        ("https://u:s3cret@example.org/o/n.git", "x", "o/n", "https://example.org/o/n.git"),
        ("git@example.org:o/n.git", "x", "o/n", "git@example.org:o/n.git"),
        ("https://example.org/o/n.git", "own/name", "own/name", "https://example.org/o/n.git"),
        ("/srv/git/n.git", "x y", "local/x-y", ""),
    ],
)
def test_the_origin_names_the_repository_without_credentials_or_folders(
    built: Builder, url: str, name: str, repository: str, kept: str
) -> None:
    built.repo.remotes.create("origin", url)
    spec = derived(built, FLAT, name)
    assert (spec.repository, spec.clone_url) == (repository, kept)


def test_an_older_commit_names_no_branch(built: Builder) -> None:
    old = built.land(FLAT)
    built.land({"shop/a.py": "1"})
    assert derive(Objects(built.path), old, "shop").branch is None


def test_broken_configuration_of_the_project_tells_nothing(built: Builder) -> None:
    assert derived(built, {**FLAT, "pyproject.toml": "[[[", "setup.cfg": "no section"}).import_name == "shop"


def test_a_tree_without_a_package_is_said(built: Builder) -> None:
    with pytest.raises(SpecError, match="no Python package found"):
        derived(built, {"main.go": "", "docs/conf.py": "", "setup.py": ""})
