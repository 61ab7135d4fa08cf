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
        # Bound now: a test may leave a double in their place.
        process, write, end, encode = os.getpid, os.write, os._exit, json.dumps
        owner = process()
        number = 0

        # The nonce lives in this closure only: not in a module, an attribute, or the environment.
        def send(kind: str, **fields: Any) -> None:
            nonlocal number
            if process() != owner:
                return
            message = encode(dict(fields, kind=kind, nonce=nonce, number=number))
            number += 1
            data = b"\n" + message.encode("ascii") + b"\n"
            try:
                while data:
                    data = data[write(descriptor, data) :]
            except OSError:
                end(LOST)

        def leave(code: int, **fields: Any) -> None:
            if process() == owner:
                send("closing", exit=code, **fields)
                end(code)

        self.send = send
        self.leave = leave
        """Send the closing message and end the process at once, without clean-up that no result needs."""
