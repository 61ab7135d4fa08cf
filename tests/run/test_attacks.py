"""Claims about code under test that tries to pass without passing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stalebench.records import Run

Outcomes = Callable[[Run], dict[str, str]]

TESTS = {
    "tests/test_x.py": """
        import unittest
        def test_fails(): assert 0
        class TestUnit(unittest.TestCase):
            def test_unit(self): self.fail()
    """
}

CONFTESTS = {
    "a report that says passed": """
        import pytest
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_makereport(item, call):
            answer = yield
            answer.get_result().outcome = "passed"
            answer.get_result().longrepr = None
    """,
    "a report of its own": """
        import pytest
        from _pytest.reports import TestReport
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_makereport(item, call):
            return TestReport(item.nodeid, item.location, {}, "passed", None, call.when)
    """,
    "a report changed when it is logged": """
        import pytest
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logreport(report):
            report.outcome = "passed"
    """,
    "a clean exit": """
        def pytest_sessionfinish(session):
            session.exitstatus = 0
        def pytest_runtest_setup(item):
            import atexit, os
            atexit.register(os._exit, 0)
    """,
    "forged lines": """
        import json, os
        def pytest_runtest_setup(item):
            line = json.dumps({
                "kind": "result", "nonce": "0" * 32, "number": 1, "id": "tests/test_x.py::test_fails",
                "outcome": "passed", "error": "", "tail": "", "seconds": 0,
            })
            for descriptor in range(1, 30):
                try:
                    os.write(descriptor, ("{" + line + "\\n" + line + "\\n" + line).encode())
                except OSError:
                    pass
    """,
    "a skipped protocol": """
        import pytest
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_protocol(item):
            return True
    """,
}


@pytest.mark.parametrize("attack", CONFTESTS)
def test_a_failing_test_does_not_pass_for(site: Any, outcomes: Outcomes, attack: str) -> None:
    found = outcomes(site.run({**TESTS, "conftest.py": CONFTESTS[attack]}))
    assert found.keys() == {"test_fails", "TestUnit::test_unit"}
    assert set(found.values()) <= {"failed", "error", "crashed"}


def test_a_test_that_is_deleted_is_missing(site: Any, outcomes: Outcomes) -> None:
    conftest = "def pytest_collection_modifyitems(items): items.clear()"
    found = outcomes(site.run({**TESTS, "conftest.py": conftest}, ["tests/test_x.py::test_fails"]))
    assert found == {"test_fails": "missing"}


def test_neither_nonce_nor_orders_can_be_read_again(site: Any, outcomes: Outcomes) -> None:
    files = {
        "tests/test_n.py": """
            import os
            def test_environment():
                assert not [name for name in os.environ if "STALEBENCH" in name]
            def test_orders_are_gone():
                for descriptor in range(3, 40):
                    try:
                        data = os.pread(descriptor, 10, 0)
                    except OSError:
                        continue
                    assert b"nonce" not in data
            def test_no_child_inherits_the_channel():
                for descriptor in (3, 4):
                    is_open = os.path.exists("/proc/self/fd/%d" % descriptor)
                    assert not is_open or not os.get_inheritable(descriptor)
        """
    }
    assert set(outcomes(site.run(files)).values()) == {"passed"}
