"""The way back: one JSON object a line, each with the nonce and a running number. Interprets nothing.

Every message begins with a newline, so that bytes which a test writes to the same descriptor can spoil
its own line only.
"""

from __future__ import annotations

import json
import os
from typing import Any

LOST = 74
"""Exit code of a process whose channel was closed under it."""


class Channel:
    """Sends messages. Only the process that opened it can: what a test forks stays silent."""

    def __init__(self, descriptor: int, nonce: str) -> None:
        os.set_inheritable(descriptor, False)
        owner = os.getpid()
        number = 0

        # The nonce lives in this closure only: not in a module, an attribute, or the environment.
        def send(kind: str, **fields: Any) -> None:
            nonlocal number
            if os.getpid() != owner:
                return
            message = dict(fields, kind=kind, nonce=nonce, number=number)
            number += 1
            _write(descriptor, b"\n" + json.dumps(message).encode("ascii") + b"\n")

        self.send = send
        self.owner = owner

    def leave(self, code: int, **fields: Any) -> None:
        """Send the closing message and end the process at once, without clean-up that no result needs."""
        if os.getpid() != self.owner:
            return
        self.send("closing", exit=code, **fields)
        os._exit(code)


def _write(descriptor: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        os._exit(LOST)
