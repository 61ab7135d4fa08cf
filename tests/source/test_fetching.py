"""Clones of remote repositories, against real servers on this machine."""

from __future__ import annotations

import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from stalebench.errors import SourceError
from stalebench.source import open_clone
from stalebench.source.fetching import address_of, fetched, folder_of, user_cache
from tests.repositories import Builder


class GitOverHttp(http.server.BaseHTTPRequestHandler):
    """Hands requests to `git http-backend`, as a web server would."""

    root: Path

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if "private" in path:
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Basic")
            self.end_headers()
            return
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        done = subprocess.run(
            ["git", "http-backend"], env=environment, input=body, stdout=subprocess.PIPE, check=True
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815 - likewise


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    handler = type("Handler", (GitOverHttp,), {"root": tmp_path})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_clone_by_url_has_the_heads_of_its_pulls(built: Builder, address: str, tmp_path: Path) -> None:
    base = built.land({"a.py": ""})
    head = built.commit({"a.py": "1"}, parents=[base])
    built.ref("refs/pull/7/head", head)
    clone = open_clone(f"{address}/origin.git", tmp_path / "cache")
    assert clone.tip == base
    assert {number: str(oid) for number, oid in clone.pull_heads().items()} == {7: head}
    assert clone.git_dir.is_relative_to(tmp_path / "cache")


def test_opening_again_fetches_what_is_new(built: Builder, tmp_path: Path) -> None:
    where = f"file://{built.path}"
    built.land({"a.py": ""})
    open_clone(where, tmp_path / "cache")
    newer = built.land({"a.py": "1"})
    built.ref("refs/pull/1/head", newer)
    clone = open_clone(where, tmp_path / "cache")
    assert (clone.tip, list(clone.pull_heads())) == (newer, [1])


def test_the_main_branch_is_the_one_of_the_server(built: Builder, tmp_path: Path) -> None:
    commit = built.land({"a.py": ""})
    built.ref("refs/heads/trunk", built.commit({"a.py": "1"}, parents=[commit]))
    built.repo.set_head("refs/heads/trunk")
    assert open_clone(f"file://{built.path}", tmp_path).branch_tip("trunk") != commit
    assert open_clone(f"file://{built.path}", tmp_path).tip != commit


def test_a_clone_that_was_interrupted_goes_on(built: Builder, tmp_path: Path) -> None:
    where = f"file://{built.path}"
    tip = built.land({"a.py": ""})
    folder = folder_of(where, tmp_path)
    subprocess.run(["git", "init", "--quiet", "--bare", str(folder)], check=True)
    (folder / "objects" / "pack" / "tmp_pack_stray").write_bytes(b"half")
    assert open_clone(where, tmp_path).tip == tip


def test_two_processes_that_clone_at_once_get_one_whole_clone(built: Builder, tmp_path: Path) -> None:
    where = f"file://{built.path}"
    for number in range(5):
        built.land({"a.py": f"{number}"})
    code = (
        "import sys, pathlib; from stalebench.source import open_clone;"
        "print(open_clone(sys.argv[1], pathlib.Path(sys.argv[2])).tip)"
    )
    command = [sys.executable, "-c", code, where, str(tmp_path / "cache")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0].strip() for process in running] == [built.tip] * 3


@pytest.mark.parametrize("name", ["nowhere.git", "private.git"])
def test_a_repository_that_cannot_be_had_is_said_without_a_prompt(
    address: str, tmp_path: Path, name: str
) -> None:
    with pytest.raises(SourceError, match=r"could not fetch[\s\S]*misspelt or private"):
        open_clone(f"{address}/{name}", tmp_path / "cache")


def test_an_empty_repository_has_no_main_branch(built: Builder, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="which branch is its main one"):
        open_clone(f"file://{built.path}", tmp_path)


def test_without_git_it_is_said_that_git_is_missing(
    built: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError, match="git is not on PATH"):
        fetched(f"file://{built.path}", tmp_path)


def test_credentials_of_an_address_are_not_kept(built: Builder, address: str, tmp_path: Path) -> None:
    built.land({"a.py": ""})
    secret = address.replace("http://", "http://user:s3cret@") + "/origin.git"
    folder = fetched(secret, tmp_path / "cache")
    kept = [file.read_bytes() for file in (tmp_path / "cache").rglob("*") if file.is_file()]
    assert not any(b"s3cret" in content for content in kept)
    assert "s3cret" not in str(folder)


def test_credentials_of_an_address_are_not_shown(address: str, tmp_path: Path) -> None:
    secret = address.replace("://", "://someone:hunter2@")
    with pytest.raises(SourceError, match="could not fetch") as caught:
        open_clone(f"{secret}/nowhere.git", tmp_path / "cache")
    assert "hunter2" not in str(caught.value)


def test_a_clone_that_was_killed_before_it_knew_its_origin_learns_it(built: Builder, tmp_path: Path) -> None:
    built.land({"a.py": ""})
    origin = f"file://{built.path}"
    folder = folder_of(origin, tmp_path / "cache")
    subprocess.run(["git", "init", "--quiet", "--bare", str(folder)], check=True)
    opened = open_clone(origin, tmp_path / "cache")
    assert opened.repo.remotes["origin"].url == origin


@pytest.mark.parametrize(
    ("where", "address"),
    [
        ("mwaskom/seaborn", "https://github.com/mwaskom/seaborn.git"),
        ("https://example.org/a.git", "https://example.org/a.git"),
        ("git@example.org:o/n.git", "git@example.org:o/n.git"),
        ("./a/b", None),
        ("a/b/c", None),
        ("seaborn", None),
        ("--upload-pack=x/y", None),
        ("ext::sh -c id", None),
    ],
)
def test_addresses_are_urls_and_names_of_github(where: str, address: str | None) -> None:
    assert address_of(where) == address


def test_each_address_has_a_folder_of_its_own() -> None:
    cache = Path("cache")
    names = [folder_of(f"https://{host}/o/n.git", cache).name for host in ("a.org", "b.org")]
    assert all(name.startswith("o+n-") for name in names)
    assert names[0] != names[1]


def test_the_cache_follows_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert user_cache() == tmp_path / "x" / "stalebench"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert user_cache().is_relative_to(Path.home())
