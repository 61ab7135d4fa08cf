"""Claims about what an agent can reach, each shown with real servers on the loopback of this machine."""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from hypothesis import given as generated
from hypothesis import strategies as st

from stalebench.agents import Assignment
from stalebench.agents.command import Command
from stalebench.agents.network import SOCKET, Gate, Host, host_named
from stalebench.agents.registry import Options
from stalebench.errors import UsageError
from stalebench.grading.records import Status
from tests.agents.conftest import MakeAssignment, Serve, needs

FETCH = """
import sys, urllib.error, urllib.request
for url in sys.argv[1:]:
    handlers = []
    if url.startswith("by proxy "):  # also for 127.0.0.1
        url = url.removeprefix("by proxy ")
        handlers = [urllib.request.ProxyHandler({"http": __import__("os").environ["HTTP_PROXY"]})]
        __import__("os").environ["no_proxy"] = ""
    opener = urllib.request.build_opener(*handlers)
    try:
        with opener.open(url, timeout=20) as answer:
            print(answer.status, answer.read().decode().strip())
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode().strip())
    except OSError as error:
        print("no way:", error)
"""
TUNNEL = """
import os, socket, sys
from urllib.parse import urlsplit
proxy = urlsplit(os.environ["HTTPS_PROXY"])
with socket.create_connection((proxy.hostname, proxy.port), 20) as out:
    out.sendall(f"CONNECT {sys.argv[1]} HTTP/1.1\\r\\nHost: {sys.argv[1]}\\r\\n\\r\\n".encode())
    answer = out.makefile("rb")
    print(answer.readline().decode().strip())
    while answer.readline().strip():
        pass
    out.sendall(b"x" * 1_000_000)
    out.shutdown(socket.SHUT_WR)
    print(len(answer.read()))
"""


def fetch(given: Assignment, *urls: str, allowed: tuple[str, ...] = ()) -> list[str]:
    return run(given, FETCH, *urls, allowed=allowed)


def run(given: Assignment, code: str, *arguments: str, allowed: tuple[str, ...] = ()) -> list[str]:
    line = shlex.join(["python", "-c", code, *arguments])
    worked = Command(line, Options(allowed_hosts=allowed)).work(given)
    assert worked.status is Status.PATCH, worked.detail
    return (given.log / "output.txt").read_text().splitlines()


def log(given: Assignment) -> list[dict[str, object]]:
    return [json.loads(line) for line in (given.log / "network.jsonl").read_text().splitlines()]


@needs("network")
def test_without_an_allowed_host_nothing_is_reached(assignment: MakeAssignment, serve: Serve) -> None:
    given = assignment()
    (line,) = fetch(given, f"http://127.0.0.1:{serve()}/")
    assert line.startswith("no way:")
    assert not (given.log / "network.jsonl").exists()


@needs("network")
def test_an_allowed_host_is_reached_and_another_port_is_not(assignment: MakeAssignment, serve: Serve) -> None:
    given, mine, other = assignment(), serve(), serve()
    lines = fetch(
        given,
        f"http://127.0.0.1:{other}/",
        f"by proxy http://127.0.0.1:{mine}/a/b?c=d",
        f"by proxy http://127.0.0.1:{other}/",
        allowed=(f"127.0.0.1:{mine}",),
    )
    assert lines[0].startswith("no way:")
    assert lines[1] == f"200 GET /a/b?c=d 127.0.0.1:{mine}"
    assert lines[2] == f"403 stalebench: 127.0.0.1:{other} is not among the allowed hosts"
    assert log(given) == [
        {"host": "127.0.0.1", "port": mine, "result": "admitted"},
        {"host": "127.0.0.1", "port": other, "result": "refused"},
    ]


def test_a_loopback_server_is_found_at_its_own_address_too(assignment: MakeAssignment, serve: Serve) -> None:
    """As with a model server of this machine that is named by OPENAI_BASE_URL: clients use no proxy there."""
    port = serve()
    lines = fetch(
        assignment(), *[f"http://127.0.0.1:{port}/{n}" for n in range(3)], allowed=(f"127.0.0.1:{port}",)
    )
    assert lines == [f"200 GET /{n} 127.0.0.1:{port}" for n in range(3)]


def test_a_tunnel_carries_bytes_both_ways_and_tells_the_end(assignment: MakeAssignment) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=echo_doubled, args=(server,), daemon=True).start()
        target = f"127.0.0.1:{server.getsockname()[1]}"
        lines = run(assignment(), TUNNEL, target, allowed=(target,))
    assert lines == ["HTTP/1.1 200 Connection established", "2000000"]


def echo_doubled(server: socket.socket) -> None:
    client, _ = server.accept()
    with client:
        while data := client.recv(65536):
            client.sendall(data * 2)


def test_an_allowed_host_that_is_down_is_told_and_logged(assignment: MakeAssignment) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    given = assignment()
    (line,) = fetch(given, f"by proxy http://127.0.0.1:{port}/", allowed=(f"127.0.0.1:{port}",))
    assert line.startswith("502 stalebench:")
    assert str(log(given)[0]["result"]).startswith("unreachable: ")


def test_the_exit_code_passes_through_the_relay(assignment: MakeAssignment) -> None:
    options = Options(allowed_hosts=("example.org",))
    worked = Command("bash -c 'exit 7'", options).work(assignment())
    assert worked.detail == "exit status 7"


def test_a_deadly_signal_passes_through_the_relay(assignment: MakeAssignment) -> None:
    options = Options(allowed_hosts=("example.org",))
    worked = Command("bash -c 'kill -SEGV $$'", options).work(assignment())
    assert worked.detail == "ended by signal 11"


def test_the_relay_ends_with_the_command_and_not_before(assignment: MakeAssignment, serve: Serve) -> None:
    given, port = assignment(), serve()
    code = "import time; time.sleep(0.5); import os; os.write(1, b'late\\n')"
    assert run(given, code, allowed=(f"127.0.0.1:{port}",)) == ["late"]


def test_the_prompt_comes_by_standard_input_also_through_the_relay(assignment: MakeAssignment) -> None:
    given = assignment("x" * 300_000)
    Command("bash -c 'cat > copied'", Options(allowed_hosts=("example.org",))).work(given)
    assert (given.workspace / "copied").read_text() == given.prompt


@pytest.mark.skipif(not Path("/usr/bin/node").exists(), reason="there is no node on this machine")
def test_a_client_of_node_is_served(assignment: MakeAssignment, serve: Serve) -> None:
    given, port = assignment(), serve()
    request = f"fetch('http://127.0.0.1:{port}/v1', {{method: 'POST', body: 'hello'}})"
    code = f"{request}.then(answer => answer.text()).then(text => console.log(text.trim()))"
    worked = Command(shlex.join(["node", "-e", code]), Options(allowed_hosts=(f"127.0.0.1:{port}",))).work(
        given
    )
    assert worked.status is Status.PATCH
    assert (given.log / "output.txt").read_text() == f"POST /v1 127.0.0.1:{port} hello\n"


# --- the gate itself


def speak(folder: Path, *words: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as out:
        out.settimeout(20)
        out.connect(str(folder / SOCKET))
        for word in words:
            out.sendall(word)
        out.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: out.recv(65536), b""))


@pytest.mark.parametrize(
    "words",
    [
        b"",
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET https://a.example/ HTTP/1.1\r\n\r\n",
        b"CONNECT a.example/path:1 HTTP/1.1\r\n\r\n",
        b"CONNECT user@a.example:1 HTTP/1.1\r\n\r\n",
        b"CONNECT a.example:99999 HTTP/1.1\r\n\r\n",
        b"\xff\xfe \x00 \x00\r\n\r\n",
        b"x" * 100_000,
    ],
)
def test_what_is_no_request_of_a_proxy_is_refused(tmp_path: Path, words: bytes) -> None:
    with Gate(tmp_path, [Host("a.example", 443)], tmp_path / "log"):
        assert speak(tmp_path, words).startswith(b"HTTP/1.1 400 ")
    assert (tmp_path / "log").read_bytes() == b""


@pytest.mark.parametrize(
    "target", ["b.example:443", "a.example:80", "a.example.b.example:443", "xa.example:443", "127.0.0.1:443"]
)
def test_near_misses_are_refused(tmp_path: Path, target: str) -> None:
    with Gate(tmp_path, [Host("a.example", 443)], tmp_path / "log"):
        answer = speak(tmp_path, f"CONNECT {target} HTTP/1.1\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert target.encode() in answer


def test_a_request_names_the_host_that_was_admitted_whatever_its_header_says(
    tmp_path: Path, serve: Serve
) -> None:
    port = serve()
    with Gate(tmp_path, [Host("127.0.0.1", port)], tmp_path / "log"):
        head = f"POST http://127.0.0.1:{port}/x HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 2\r\n\r\n"
        answer = speak(tmp_path, head.encode(), b"hi")
    assert answer.endswith(f"POST /x 127.0.0.1:{port} hi\n".encode())


def test_a_second_request_on_one_connection_reaches_nobody(tmp_path: Path, serve: Serve) -> None:
    mine, other = serve(), serve()
    with Gate(tmp_path, [Host("127.0.0.1", mine)], tmp_path / "log"):
        one = "GET http://127.0.0.1:{}/{} HTTP/1.1\r\nHost: x\r\n\r\n"
        answer = speak(tmp_path, one.format(mine, "first").encode(), one.format(other, "second").encode())
    assert b"/first" in answer
    assert b"/second" not in answer


class Silent(BaseHTTPRequestHandler):
    """Takes a request and never answers, until its connection is gone."""

    def do_GET(self) -> None:
        self.connection.recv(1)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def test_the_gate_closes_although_a_server_is_silent(tmp_path: Path, serve: Serve) -> None:
    port = serve(Silent)
    with socket.socket(socket.AF_UNIX) as out:
        with Gate(tmp_path, [Host("127.0.0.1", port)], tmp_path / "log"):
            out.connect(str(tmp_path / SOCKET))
            out.sendall(f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n".encode())
            while not (tmp_path / "log").read_text():
                pass
        out.settimeout(20)
        assert out.recv(1) == b""


def test_a_socket_deep_in_folders_is_reached_all_the_same(tmp_path: Path, serve: Serve) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    start = Path(__file__).parents[2] / "stalebench" / "agents" / "inside" / "start.py"
    port = serve()
    orders = {"input": False, "gate": str(deep / SOCKET), "hosts": []}
    with Gate(deep, [Host("127.0.0.1", port)], tmp_path / "log"):
        shown = subprocess.run(
            [
                sys.executable,
                "-S",
                start,
                json.dumps(orders),
                sys.executable,
                "-c",
                FETCH,
                f"by proxy http://127.0.0.1:{port}/",
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    assert shown.stdout == f"200 GET / 127.0.0.1:{port}\n"


# --- names of hosts


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("api.example.org", Host("api.example.org", 443)),
        ("API.Example.org.:8080", Host("api.example.org", 8080)),
        ("127.0.0.1:11434", Host("127.0.0.1", 11434)),
        ("[::1]:80", Host("::1", 80)),
    ],
)
def test_a_host_is_named_with_or_without_a_port(text: str, host: Host) -> None:
    assert host_named(text) == host
    assert host_named(str(host)) == host


@pytest.mark.parametrize(
    "text", ["", "https://a.example", "a.example/v1", "a.example:x", "a.example:0", "*:", "u@a"]
)
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no host"):
        host_named(text)


@generated(st.text(max_size=40))
def test_any_text_is_a_host_or_refused(text: str) -> None:
    try:
        host = host_named(text)
    except UsageError:
        return
    assert host_named(str(host)) == host
