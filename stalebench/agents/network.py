"""The one way out of the sandbox: a proxy on a Unix socket that admits named hosts and no others.

Runs in our process; inside, `stalebench.agents.inside.start` listens on 127.0.0.1 and relays to the socket.
Speaks HTTP as proxies do (CONNECT, and absolute addresses for plain http); reads nothing of what it relays.
"""

from __future__ import annotations

import json
import os
import re
import socket
import socketserver
import threading
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from ipaddress import IPv6Address
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

from stalebench.errors import UsageError

__all__ = ["SOCKET", "Gate", "Host", "host_named"]

SOCKET: Final = "gate"
"""The name of the socket in its folder."""

_HTTPS, _HTTP = 443, 80
_HIGHEST_PORT: Final = 65535
_NAME: Final = re.compile(r"[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?")
_HEAD_BYTES: Final = 1 << 16
_CHUNK: Final = 1 << 16
_HEAD_SECONDS: Final = 60.0
_CONNECT_SECONDS: Final = 30.0
_CONNECTIONS: Final = 256
"""At a time: more are turned away, since each takes two threads."""
_LOGGED: Final = 10_000
"""Lines in the log at most: a program that tries without end must not fill the disk."""
_OWN_HEADERS: Final = {b"host", b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization"}
"""Headers that concern this connection, not what is asked."""


@dataclass(frozen=True, slots=True)
class Host:
    """Where a connection may lead."""

    name: str
    port: int

    def __str__(self) -> str:
        return f"[{self.name}]:{self.port}" if ":" in self.name else f"{self.name}:{self.port}"


def host_named(text: str) -> Host:
    """A host out of `host` or `host:port`; the port is 443 if none is named."""
    try:
        found = _authority(text, _HTTPS)
    except ValueError:
        found = None
    if found is None:
        raise UsageError(
            f"{text!r} is no host", "an address with a scheme or a path", "name it as host or host:port"
        )
    return found


def _authority(text: str, port: int) -> Host | None:
    """`host:port` with an optional port; names are compared without case and without a final dot."""
    parts = urlsplit(f"//{text}")
    name = (parts.hostname or "").removesuffix(".")
    if not (_NAME.fullmatch(name) or _is_address(name)) or parts.netloc != text or "@" in text:
        return None
    chosen = port if parts.port is None else parts.port
    return Host(name, chosen) if 0 < chosen <= _HIGHEST_PORT else None


def _is_address(name: str) -> bool:
    try:
        IPv6Address(name)
    except ValueError:
        return False
    return "%" not in name


@dataclass(frozen=True, slots=True)
class _Request:
    """Where a client wants to go, and what to say there first; nothing for a tunnel."""

    host: Host
    first: bytes | None


class Gate:
    """Open from `with` to the end of the block. Each try is a line of `log`, as JSON."""

    def __init__(self, folder: Path, allowed: Iterable[Host], log: Path) -> None:
        self._folder = folder
        self._allowed = frozenset(allowed)
        self._log = log
        self._lines = 0
        self._lock = threading.Lock()
        self._open: set[socket.socket] | None = set()

    def __enter__(self) -> Self:
        self._log.write_bytes(b"")
        handle = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:  # through the handle: the path of a socket may have no more than 107 bytes
            self._server = _Server(f"/proc/self/fd/{handle}/{SOCKET}", self)
        finally:
            os.close(handle)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        with self._lock:
            held, self._open = self._open or set(), None
        for one in held:
            _end(one)  # wakes the threads that wait on it
        self._server.server_close()

    def serve(self, client: socket.socket) -> None:
        """One connection, to its end."""
        if not self._hold(client):
            return
        try:
            request = _read(client)
            if request is None:
                _answer(client, "400 Bad Request", "this is a proxy for http and for CONNECT")
            elif request.host not in self._allowed:
                self._note(request.host, "refused")
                _answer(client, "403 Forbidden", f"{request.host} is not among the allowed hosts")
            else:
                self._relay(client, request)
        finally:
            self._release(client)

    def _relay(self, client: socket.socket, request: _Request) -> None:
        try:
            server = socket.create_connection((request.host.name, request.host.port), _CONNECT_SECONDS)
        except OSError as error:
            self._note(request.host, f"unreachable: {error}")
            _answer(client, "502 Bad Gateway", f"{request.host} cannot be reached: {error}")
            return
        self._note(request.host, "admitted")
        with closing(server):
            if self._hold(server):
                _join(client, server, request.first)
            self._release(server)

    def _hold(self, one: socket.socket) -> bool:
        """Whether the gate is open still; if so, it will end this connection when it closes."""
        with self._lock:
            if self._open is None or len(self._open) > _CONNECTIONS:
                return False
            self._open.add(one)
            return True

    def _release(self, one: socket.socket) -> None:
        with self._lock:
            if self._open is not None:
                self._open.discard(one)

    def _note(self, host: Host, what: str) -> None:
        line = json.dumps({"host": host.name, "port": host.port, "result": what})
        with self._lock:
            self._lines += 1
            if self._lines <= _LOGGED:
                with self._log.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """One thread a connection; none outlives `server_close`."""

    request_queue_size = 128

    def __init__(self, address: str, gate: Gate) -> None:
        self._gate = gate
        super().__init__(address, socketserver.BaseRequestHandler)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """In the connection's thread."""
        del client_address
        with suppress(OSError):  # either side may go away at any time
            self._gate.serve(request)


def _read(client: socket.socket) -> _Request | None:
    """What a client asks for; None if it makes no sense."""
    client.settimeout(_HEAD_SECONDS)
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = client.recv(_CHUNK)
        data += chunk
        if not chunk or len(data) > _HEAD_BYTES:
            return None
    head, _, body = data.partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    try:
        method, target, version = first.decode("ascii").split(" ")
        if method == "CONNECT":
            host = _authority(target, _HTTPS)
            return None if host is None else _Request(host, None)
        parts = urlsplit(target)
        host = _authority(parts.netloc, _HTTP)
    except ValueError:
        return None
    if parts.scheme != "http" or host is None:
        return None
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [line for line in headers if line.partition(b":")[0].strip().lower() not in _OWN_HEADERS]
    start = [f"{method} {path} {version}".encode(), f"Host: {parts.netloc}".encode(), b"Connection: close"]
    return _Request(host, b"\r\n".join([*start, *kept]) + b"\r\n\r\n" + body)


def _answer(client: socket.socket, status: str, text: str) -> None:
    body = f"stalebench: {text}\n".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
    client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)


def _join(client: socket.socket, server: socket.socket, first: bytes | None) -> None:
    """Relay both ways until the server has said all."""
    for one in (client, server):
        one.settimeout(None)
    if first is None:
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    else:
        server.sendall(first)
    upward = threading.Thread(target=_pump, args=(client, server), daemon=True)
    upward.start()
    _pump(server, client)
    _end(client)
    upward.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_CHUNK):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
