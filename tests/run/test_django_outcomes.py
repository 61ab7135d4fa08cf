"""Claims about tests that Django's own runner runs, on a small repository of the shape of Django's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stalebench.records import Run, TestResult
from stalebench.spec import Limits

Outcomes = Callable[[Run], dict[str, str]]

RUNTESTS = """
    import argparse
    import os
    import sys

    from django.apps import apps
    from django.conf import settings
    from django.test.utils import get_runner
    import django

    parser = argparse.ArgumentParser()
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--settings")
    parser.add_argument("--parallel", type=int)
    parser.add_argument("--verbosity", type=int)
    parser.add_argument("--noinput", action="store_false", dest="interactive")
    options = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = options.settings
    settings.INSTALLED_APPS = ["django.contrib.contenttypes"]
    settings.INSTALLED_APPS += sorted({label.split(".")[0] for label in options.modules})
    django.setup()
    runner = get_runner(settings)(verbosity=options.verbosity, interactive=False, parallel=options.parallel)
    if runner.run_tests(options.modules):
        sys.exit(1)
"""
SETTINGS = """
    DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3"}}
    SECRET_KEY = "x"
    USE_TZ = False
    DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
"""
FILES = {
    "tests/runtests.py": RUNTESTS,
    "tests/test_sqlite.py": SETTINGS,
    "tests/good/__init__.py": "",
    "tests/good/models.py": """
        from django.db import models
        class Thing(models.Model):
            name = models.CharField(max_length=10)
    """,
    "tests/good/base.py": """
        from django.test import TestCase
        from .models import Thing
        class Base(TestCase):
            @classmethod
            def setUpTestData(cls): cls.thing = Thing.objects.create(name="a")
            def test_shared(self): self.assertEqual(Thing.objects.count(), 1)
    """,
    "tests/good/tests.py": '''
        from django.conf import settings
        from django.test import SimpleTestCase, TestCase, skipUnlessDBFeature
        from .base import Base as Shared
        from .models import Thing

        class Heir(Shared):
            def test_own(self):
                """The same docstring."""
                Thing.objects.create(name="b")
                self.assertEqual(Thing.objects.count(), 2)
            def test_other(self):
                """The same docstring."""
                self.assertEqual(Thing.objects.get().name, "b")
            def test_error(self): raise KeyError
            def test_parts(self):
                for number in range(3):
                    with self.subTest(number=number):
                        self.assertLess(number, 1)
            @skipUnlessDBFeature("supports_tablespaces")
            def test_feature(self): pass

        class Simple(SimpleTestCase):
            def test_no_database(self): Thing.objects.count()
            def test_settings(self):
                self.assertEqual(settings.TEST_RUNNER, "django.test.runner.DiscoverRunner")

        class Early(TestCase):
            fixtures = ["nowhere.json"]
            def test_early(self): pass
        class Pre(TestCase):
            def _pre_setup(self): raise ValueError
            def test_pre(self): pass
    ''',
    "tests/good/test_more.py": """
        from django.test import SimpleTestCase
        class More(SimpleTestCase):
            def test_more(self): pass
    """,
    "tests/good/test_broken.py": "import nowhere",
    "tests/bad/__init__.py": "",
    "tests/bad/models.py": "from django.db import nothing",
    "tests/bad/tests.py": """
        from django.test import SimpleTestCase
        class Bad(SimpleTestCase):
            def test_bad(self): pass
    """,
}
MODULES = [path for path in FILES if path.rpartition("/")[2].startswith("test") and path.count("/") > 1]
EXPECTED = {
    "tests/good/tests.py::Heir::test_own": "passed",
    "tests/good/tests.py::Heir::test_other": "failed",
    "tests/good/tests.py::Heir::test_shared": "passed",
    "tests/good/tests.py::Heir::test_error": "error",
    "tests/good/tests.py::Heir::test_parts": "failed",
    "tests/good/tests.py::Heir::test_feature": "skipped",
    "tests/good/tests.py::Base::test_shared": "passed",
    "tests/good/tests.py::Simple::test_no_database": "failed",
    "tests/good/tests.py::Simple::test_settings": "passed",
    "tests/good/tests.py::Early::test_early": "error",
    "tests/good/tests.py::Pre::test_pre": "error",
    "tests/good/test_more.py::More::test_more": "passed",
}


@pytest.fixture(scope="module")
def django(make_site: Callable[..., Any]) -> Any:
    return make_site(runner="django", limits=Limits(test_seconds=10.0))


@pytest.fixture(scope="module")
def whole(django: Any) -> Run:
    made: Run = django.run(FILES, None, MODULES)
    return made


def test_each_test_has_one_outcome_and_one_name(whole: Run) -> None:
    found = {result.id: str(result.outcome) for result in whole.results}
    assert found == EXPECTED


def test_an_app_or_module_that_does_not_load_stops_no_other(whole: Run) -> None:
    assert [path for path, _ in whole.unloaded] == ["tests/bad/tests.py", "tests/good/test_broken.py"]
    assert "cannot import name 'nothing'" in dict(whole.unloaded)["tests/bad/tests.py"]


def test_functions_select_inherited_tests(django: Any, find: Callable[[Run, str], TestResult]) -> None:
    wanted = [
        "tests/good/base.py::Base.test_shared",
        "tests/good/tests.py::Heir.test_own",
        "tests/good/tests.py::Heir.test_gone",
        "tests/bad/tests.py::Bad.test_bad",
        "tests/good/test_broken.py::Broken.test_it",
    ]
    made = django.run(FILES, wanted, MODULES)
    assert {result.id.rpartition("/")[2]: str(result.outcome) for result in made.results} == {
        "tests.py::Base::test_shared": "passed",
        "tests.py::Heir::test_shared": "passed",
        "tests.py::Heir::test_own": "passed",
        "tests.py::Heir.test_gone": "missing",
        "tests.py::Bad.test_bad": "not_collected",
        "test_broken.py::Broken.test_it": "not_collected",
    }
    assert find(made, "::Heir::test_shared").function == "tests/good/base.py::Base.test_shared"


def test_a_failing_system_check_fails_its_app_only(django: Any, outcomes: Outcomes) -> None:
    files = {
        **{path: content for path, content in FILES.items() if "/bad/" not in path and "broken" not in path},
        "tests/odd/__init__.py": "",
        "tests/odd/models.py": """
            from django.db import models
            class Odd(models.Model):
                name = models.CharField(max_length=-1)
        """,
        "tests/odd/tests.py": """
            from django.test import TestCase
            class OddTests(TestCase):
                def test_odd(self): pass
        """,
    }
    wanted = ["tests/odd/tests.py::OddTests.test_odd", "tests/good/test_more.py::More.test_more"]
    made = django.run(files, wanted, ["tests/odd/tests.py", "tests/good/test_more.py"])
    assert outcomes(made) == {"OddTests.test_odd": "not_collected", "More::test_more": "passed"}


def test_a_broken_framework_fails_every_test(django: Any, outcomes: Outcomes) -> None:
    files = {**FILES, "django/__init__.py": "import nowhere"}
    made = django.run(files, ["tests/good/test_more.py::More.test_more"], ["tests/good/test_more.py"])
    assert outcomes(made) == {"More.test_more": "not_collected"}
