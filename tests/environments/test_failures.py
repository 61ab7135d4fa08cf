from __future__ import annotations

import pickle

import pytest

from stalebench.environments.failures import OutOfReach, explained, without_addresses


@pytest.mark.parametrize(
    ("said", "may_pass", "cause"),
    [
        ("error: failed to write: No space left on device (os error 28)", True, "full"),
        ("error sending request for url (https://u:p@example.org/simple/six/): dns error", True, "registry"),
        ("No solution found when resolving dependencies: a==1 depends on b", False, "contradict"),
        ("Failed to build `a==1`: the build backend returned an error", False, "wheel"),
        ("Permission denied (os error 13)", True, "another user"),
        ("`a` is missing an upload date, but user provided: 2024", False, "uploaded"),
        ("something new", False, "platform"),
    ],
)
def test_a_failure_is_told_by_its_cause(said: str, *, may_pass: bool, cause: str) -> None:
    error = explained("uv pip install", said)
    assert isinstance(error, OutOfReach) is may_pass
    assert cause in error.cause
    assert error.fix
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 - our own


def test_no_address_is_told() -> None:
    said = "error: url (https://user:secret@registry.example.org/simple) and host registry.example.org died"
    told = without_addresses(said)
    assert "example" not in told
    assert "secret" not in told


def test_only_the_last_lines_are_told() -> None:
    error = explained("uv", "\n".join(f"line {number}" for number in range(100)))
    assert "line 99" in error.message
    assert "line 50\n" not in error.message
