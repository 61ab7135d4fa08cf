"""Suites as values: made here, so that equal suites have one id whoever builds them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from stalebench.records import Suite


def suite(files: Iterable[str], functions: Iterable[str] | None) -> Suite:
    """The suite of these files and functions (None: all tests of the files), sorted, with its id."""
    sorted_files = tuple(sorted(set(files)))
    sorted_functions = None if functions is None else tuple(sorted(set(functions)))
    content = json.dumps([sorted_files, sorted_functions]).encode()
    return Suite(sorted_files, sorted_functions, hashlib.sha256(content).hexdigest()[:32])


def union(suites: Iterable[Suite]) -> Suite:
    """The combined suite: every file and function of all; all tests of the files where one asks for that."""
    parts = list(suites)
    files = [file for part in parts for file in part.files]
    if any(part.functions is None for part in parts):
        return suite(files, None)
    return suite(files, [function for part in parts for function in part.functions or ()])
