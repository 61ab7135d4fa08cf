"""Starts an agent's command in the sandbox: with the prompt on standard input, and a way to the gate.

Run as a program of its own: the first argument says what to do, the others are the command. Without a gate
it becomes the command; with one it relays from 127.0.0.1 to the gate's socket until the command ends, and
ends as the command did. A loopback server of the host is shown at its own address, too: many clients go
around a proxy for 127.0.0.1.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading

TYPE_CHECKING = False  # importing typing would double the start-up time
if TYPE_CHECKING:
    from typing import NoReturn

_CHANNEL, _PAYLOAD = 3, 4
"""Handles that stalebench gives to each process; the payload is the prompt."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_CHUNK = 1 << 16
_HEAD_BYTES = 1 << 16
_NOT_STARTED = 127


def main() -> NoReturn:
    """Do what the first argument says."""
    orders, command = json.loads(sys.argv[1]), sys.argv[2:]
    for name in ("STALEBENCH_CHANNEL", "STALEBENCH_CONFIG"):
        os.environ.pop(name, None)
    if orders["input"]:
        os.dup2(_PAYLOAD, 0)
    os.closerange(_CHANNEL, _PAYLOAD + 1)
    if orders["gate"] is None:
        _become(command)
    servers = _listen(orders["hosts"])
    child = os.fork()
    if child == 0:
        _become(command)
    for server, greeting in servers:
        threading.Thread(target=_accept, args=(server, orders["gate"], greeting), daemon=True).start()
    _leave(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _become(command: list[str]) -> NoReturn:
    try:
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        text = f"stalebench: {command[0]} cannot be started in the sandbox: {error.strerror}\n"
        os.write(2, os.fsencode(text))
        os._exit(_NOT_STARTED)


def _leave(code: int) -> NoReturn:
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code)


def _listen(hosts: list[tuple[str, int]]) -> list[tuple[socket.socket, bytes]]:
    """The proxy itself, for which the variables are set, and one server for each host of the loopback."""
    proxy = socket.create_server(("127.0.0.1", 0), backlog=128)
    address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        os.environ[name] = os.environ[name.lower()] = address
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = ",".join(_LOOPBACK)
    os.environ["NODE_USE_ENV_PROXY"] = "1"
    servers = [(proxy, b"")]
    for name, port in hosts:
        if name not in _LOOPBACK:
            continue
        family = socket.AF_INET6 if ":" in name else socket.AF_INET
        target = f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
        try:
            server = socket.create_server((name, port), family=family, backlog=128)
        except OSError:  # no network of our own: the real one is in reach, or there is no such family
            continue
        servers.append((server, f"CONNECT {target} HTTP/1.1\r\n\r\n".encode()))
    return servers


def _accept(server: socket.socket, gate: str, greeting: bytes) -> None:
    while True:
        client, _ = server.accept()
        threading.Thread(target=_serve, args=(client, gate, greeting), daemon=True).start()


def _serve(client: socket.socket, gate: str, greeting: bytes) -> None:
    with client, socket.socket(socket.AF_UNIX) as out:
        try:
            _connect(out, gate)
            if greeting and not _greet(out, greeting):
                return
        except OSError:
            return
        upward = threading.Thread(target=_pump, args=(client, out), daemon=True)
        upward.start()
        _pump(out, client)
        upward.join()


def _connect(out: socket.socket, gate: str) -> None:
    """Through a handle of its folder: the path of a socket may have no more than 107 bytes."""
    folder, name = os.path.split(gate)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        out.connect(f"/proc/self/fd/{handle}/{name}")
    finally:
        os.close(handle)


def _greet(out: socket.socket, greeting: bytes) -> bool:
    """Whether the gate lets us through; not a byte more than its answer is read."""
    out.sendall(greeting)
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        byte = out.recv(1)
        answer += byte
        if not byte or len(answer) > _HEAD_BYTES:
            return False
    return answer.split(b" ", 2)[1] == b"200"


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(_CHUNK):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:  # one of them is gone: the other learns it
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


if __name__ == "__main__":
    main()
