"""Which clones are taken, and what is said of those that are not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pygit2
import pytest

from stalebench.errors import SourceError
from stalebench.source import name_of, open_clone
from tests.repositories import Builder


def git(*arguments: str | Path) -> None:
    subprocess.run(
        ["git", "-c", "uploadpack.allowFilter=true", *map(str, arguments)], check=True, capture_output=True
    )


def grown(built: Builder, commits: int = 30) -> Path:
    for number in range(commits):
        built.land({"a.py": f"version {number}\n", f"m{number}.py": f"{number}\n"})
    built.repo.config["uploadpack.allowFilter"] = True
    return built.path


def test_a_bare_clone_without_any_configuration_opens(built: Builder) -> None:
    grown(built, 2)
    (built.path / "config").unlink()
    assert open_clone(str(built.path)).tip == built.tip


def test_a_working_copy_and_a_linked_worktree_open(built: Builder, tmp_path: Path) -> None:
    git("clone", grown(built, 2), tmp_path / "work")
    git("-C", tmp_path / "work", "worktree", "add", tmp_path / "linked")
    assert open_clone(str(tmp_path / "work")).tip == open_clone(str(tmp_path / "linked")).tip == built.tip


def test_a_shallow_clone_is_refused_with_the_way_out(built: Builder, tmp_path: Path) -> None:
    git("clone", "--bare", "--depth=3", f"file://{grown(built)}", tmp_path / "shallow")
    with pytest.raises(SourceError, match=r"shallow clone[\s\S]*--unshallow"):
        open_clone(str(tmp_path / "shallow"))


@pytest.mark.parametrize(
    ("kept", "options"), [("tree:0", ["--bare"]), ("blob:none", ["--bare"]), ("blob:none", [])]
)
def test_a_partial_clone_is_refused_with_the_way_out(
    built: Builder, tmp_path: Path, kept: str, options: list[str]
) -> None:
    git("clone", *options, f"--filter={kept}", f"file://{grown(built)}", tmp_path / "partial")
    with pytest.raises(SourceError, match=r"lacks[\s\S]*partial clone[\s\S]*--refetch"):
        open_clone(str(tmp_path / "partial"))


def test_a_partial_clone_that_holds_all_it_promised_opens(built: Builder, tmp_path: Path) -> None:
    git("clone", "--bare", "--filter=blob:limit=1g", f"file://{grown(built)}", tmp_path / "partial")
    assert list((tmp_path / "partial/objects/pack").glob("*.promisor"))
    assert open_clone(str(tmp_path / "partial")).tip == built.tip


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is not a git repository"):
        open_clone(str(tmp_path))


def test_a_folder_inside_a_clone_is_not_taken_for_the_clone(built: Builder, tmp_path: Path) -> None:
    built.land({"sub/a.py": ""})
    git("clone", built.path, tmp_path / "work")
    with pytest.raises(SourceError, match="is not a git repository"):
        open_clone(str(tmp_path / "work" / "sub"))


def test_a_path_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is not there"):
        open_clone(str(tmp_path / "nowhere"))


def test_an_empty_repository_is_said_to_have_no_commit(built: Builder) -> None:
    with pytest.raises(SourceError, match="names no commit"):
        open_clone(str(built.path))


def test_a_head_that_names_a_lost_branch_lists_the_branches(built: Builder) -> None:
    grown(built, 1)
    (built.path / "HEAD").write_text("ref: refs/heads/gone\n")
    with pytest.raises(SourceError, match=r"names no commit[\s\S]*there are: main"):
        open_clone(str(built.path))


def test_a_lost_commit_is_said(built: Builder) -> None:
    lost = built.land({"a.py": ""})
    built.land({"a.py": "1"})
    (built.path / "objects" / lost[:2] / lost[2:]).unlink()
    with pytest.raises(SourceError, match=f"lacks commit {lost}"):
        open_clone(str(built.path)).history()


def test_the_heads_of_pulls_are_found_where_forges_and_people_put_them(built: Builder) -> None:
    commit = built.land({"a.py": ""})
    names = ["pull/1/head", "remotes/origin/pr/2", "merge-requests/3/head", "pull/4/merge", "heads/pull/5"]
    for name in names:
        built.ref(f"refs/{name}", commit)
    assert open_clone(str(built.path)).pull_heads() == dict.fromkeys((1, 2, 3), pygit2.Oid(hex=commit))


def test_opening_writes_nothing_into_the_clone(built: Builder) -> None:
    grown(built, 3)
    before = {file: file.stat().st_mtime_ns for file in built.path.rglob("*")}
    open_clone(str(built.path)).history()
    assert {file: file.stat().st_mtime_ns for file in built.path.rglob("*")} == before


@pytest.mark.parametrize(
    ("where", "name"),
    [
        (".", "shop.py"),
        ("./", "shop.py"),
        ("..", "people"),
        (".git", "shop.py"),
        ("../shop.py/.git", "shop.py"),
        ("/", "repository"),
        ("../other.git", "other"),
        ("https://example.org/owner/name.git", "name"),
        ("https://example.org/owner/name/", "name"),
        ("git@example.org:name.git", "name"),
        ("owner/name", "name"),
    ],
)
def test_a_clone_is_called_by_its_folder_or_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, name: str
) -> None:
    (tmp_path / "people" / "shop.py" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "people" / "shop.py")
    assert name_of(where) == name


def test_a_sha_256_repository_is_refused_for_what_it_is(tmp_path: Path) -> None:
    git("init", "--object-format=sha256", tmp_path / "new")
    with pytest.raises(SourceError, match=r"cannot be read[\s\S]*SHA-256[\s\S]*fast-export"):
        open_clone(str(tmp_path / "new"))


def test_heads_of_pulls_that_lead_to_no_commit_tell_nothing(built: Builder) -> None:
    first = built.land({"a.py": "1\n"})
    second = built.land({"a.py": "2\n"})
    refs = built.path / "refs/pull"
    contents = {
        1: first,
        2: str(built.repo[second].peel(pygit2.Tree).id),
        3: str(built.repo.create_blob(b"no commit")),
        4: "garbage",
        5: "",
        6: "ref: refs/heads/nowhere",
        7: "1" * 40,
        8: second,
    }
    for number, content in contents.items():
        (refs / str(number)).mkdir(parents=True)
        (refs / str(number) / "head").write_text(content + "\n")
    heads = open_clone(str(built.path)).pull_heads()
    assert {number: str(head) for number, head in heads.items()} == {1: first, 8: second}
