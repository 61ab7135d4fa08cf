"""A workspace to assign, and servers on the loopback of this machine."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from stalebench.agents import Assignment, Budget
from stalebench.run.process import capabilities

GRANTED = {capability.name for capability in capabilities() if capability.granted}


def needs(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(name not in GRANTED, reason=f"this machine grants no {name} isolation")


MakeAssignment = Callable[..., Assignment]


@pytest.fixture
def assignment(tmp_path: Path) -> MakeAssignment:
    """Makes the assignment of this test, in a real repository of one commit."""

    def make(prompt: str = "Do it.", message: str | None = None, budget: Budget | None = None) -> Assignment:
        workspace = tmp_path / "workspace"
        workspace.mkdir()
        (workspace / "README").write_text("hello\n")
        for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "root"]):
            subprocess.run(
                ["git", "-c", "user.name=n", "-c", "user.email=e@x", *command], cwd=workspace, check=True
            )
        log = tmp_path / "log"
        return Assignment(
            "i/solo/0//1",
            prompt,
            message,
            workspace,
            Path(sys.executable),
            budget or Budget(seconds=120),
            log,
        )

    return make


class Echo(BaseHTTPRequestHandler):
    """Says what it was asked for, and with which headers."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.answer(b"")

    def do_POST(self) -> None:
        self.answer(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, body: bytes) -> None:
        data = f"{self.command} {self.path} {self.headers['Host']} ".encode() + body + b"\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


Serve = Callable[..., int]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts servers on the loopback of this machine; each call gives the port of one."""
    running: list[ThreadingHTTPServer] = []

    def start(handler: type[BaseHTTPRequestHandler] = Echo) -> int:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        running.append(server)
        return server.server_port

    yield start
    for server in running:
        server.shutdown()
        server.server_close()
