"""Starts in the Python of the code under test: reads its orders, opens the channel, starts one runner.

Started by its path. It takes its own folder off the search path and loads its neighbours as a package of
its own name, before anything of the checkout can be imported.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from typing import Any, Dict, NoReturn

PACKAGE = "_stalebench_inside"
RUNNERS = {"pytest": "pytest_runner", "django": "django_runner", "unittest": "unittest_runner"}
STOPPED = 70
"""Exit code of a runner that ended without running its tests, and said so."""


def main() -> NoReturn:
    """Run the tests that the orders name; every way out is an explicit exit."""
    orders = _orders()
    _own_package()
    channel_module = importlib.import_module(PACKAGE + ".channel")
    channel = channel_module.Channel(int(os.environ.pop("STALEBENCH_CHANNEL")), orders.pop("nonce"))
    runner = importlib.import_module(PACKAGE + "." + RUNNERS[orders["runner"]])
    tail_of = importlib.import_module(PACKAGE + ".outcomes").tail_of
    hidden = _hidden()
    channel.send("hello", python=sys.version.split()[0])
    _enter(orders)
    try:
        runner.run(channel, orders)
    except BaseException as error:  # noqa: BLE001 - whatever code under test raises ends here
        _stop(channel, tail_of(error))
    _stop(channel, "the runner returned without results; it had %d modules" % len(hidden))


def _hidden() -> Dict[str, Any]:
    """Our modules, which the code under test does not find by their names, to change what they hold."""
    names = [name for name in sys.modules if name.partition(".")[0] == PACKAGE]
    return {name: sys.modules.pop(name) for name in names}


def _stop(channel: Any, tail: str) -> NoReturn:
    channel.send("stopped", tail=tail)
    sys.stdout.flush()
    os._exit(STOPPED)


def _orders() -> Dict[str, Any]:
    with os.fdopen(int(os.environ.pop("STALEBENCH_CONFIG")), "rb") as payload:
        orders: Dict[str, Any] = json.loads(payload.read().decode("ascii"))
    return orders


def _own_package() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    package = types.ModuleType(PACKAGE)
    package.__path__ = [here]
    sys.modules[PACKAGE] = package


def _enter(orders: Dict[str, Any]) -> None:
    """Put the checkout on the search path: here for this process, in the environment for its children."""
    os.chdir(orders["root"])
    inherited = os.environ.get("PYTHONPATH")
    sys.path[:0] = [path for path in orders["paths"] if path not in sys.path]
    os.environ["PYTHONPATH"] = os.pathsep.join(orders["paths"] + ([inherited] if inherited else []))


if __name__ == "__main__":
    main()
