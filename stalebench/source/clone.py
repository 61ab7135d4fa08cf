"""A clone as a source of pulls: opened, and refused with a reason where it cannot tell the history."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pygit2
from pygit2.enums import RepositoryOpenFlag

from stalebench.errors import SourceError
from stalebench.source.fetching import address_of, fetched
from stalebench.source.history import History
from stalebench.source.missing import missing

_PULL_REF: Final = re.compile(
    r"^refs/(?:remotes/[^/]+/)?(?:pull|pr|pull-requests|merge-requests)/(\d+)(?:/head|/from)?$"
)
_BRANCH_PLACES: Final = ("refs/heads/{}", "refs/remotes/origin/{}", "refs/remotes/upstream/{}")
_SAMPLE_AGES: Final = (0, 10, 100, 1000)
_MISSING_SHARE: Final = 0.01


@dataclass(frozen=True)
class Clone:
    """An opened clone. `tip` is the commit of its HEAD. Not to be shared by threads or processes."""

    git_dir: Path
    repo: pygit2.Repository
    tip: str
    _histories: dict[str, History] = field(default_factory=dict, repr=False, compare=False)

    def history(self, branch: str | None = None) -> History:
        """The history seen from a branch, or from HEAD."""
        tip = self.branch_tip(branch)
        if tip not in self._histories:
            self._histories[tip] = History(self.repo, pygit2.Oid(hex=tip))
        return self._histories[tip]

    def branch_tip(self, branch: str | None = None) -> str:
        """The newest commit of a branch, its own or a remote's; of HEAD where no branch is named."""
        if branch is None:
            return self.tip
        tried = [place.format(branch) for place in _BRANCH_PLACES]
        for name in tried:
            if name in self.repo.references:
                return str(self.repo.references[name].peel(pygit2.Commit).id)
        raise SourceError(
            f"{self.git_dir} has no branch {branch}: tried {', '.join(tried)}",
            "the specification names another main branch than the clone has, or it was never fetched",
            f"fetch it, or set `branch` in the specification; there are: {_branches(self.repo)}",
        )

    def pull_heads(self) -> dict[int, pygit2.Oid]:
        """The heads of pulls that were fetched along, by number; empty where none were.

        A ref that is damaged, or that leads to no commit of this clone, tells nothing of its pull.
        """
        matches = [(name, match) for name in self.repo.references if (match := _PULL_REF.match(name))]
        heads = {int(match[1]): self._commit_of(name) for name, match in matches}
        return {number: head for number, head in heads.items() if head is not None}

    def _commit_of(self, ref: str) -> pygit2.Oid | None:
        try:
            return self.repo.references[ref].peel(pygit2.Commit).id
        except (pygit2.GitError, KeyError):
            return None

    def commit(self, oid: pygit2.Oid | str) -> pygit2.Commit:
        """A commit that the clone must hold."""
        try:
            return self.repo[oid].peel(pygit2.Commit)
        except KeyError:
            raise missing(f"commit {oid}") from None


def open_clone(where: str, cache: Path | None = None, *, verbose: bool = False) -> Clone:
    """The clone at a path, or of an URL or a GitHub `owner/name`, which is fetched into the cache first.

    A fetched clone has the heads of its pulls too. `verbose` lets git show its progress.
    """
    path = Path(where).expanduser()
    if not path.exists():
        address = address_of(where)
        if address is None:
            raise SourceError(
                f"{where} is not there, and is no URL or owner/name either",
                "a misspelt path",
                "pass the path of a clone, its URL, or owner/name for GitHub",
            )
        path = fetched(address, cache, verbose=verbose)
    return _opened(path)


def name_of(where: str) -> str:
    """What a clone is called, by its path or its address: `.` by the folder that it is."""
    path = Path(where).expanduser()
    name = (path.resolve() if path.exists() else path).name
    if name == ".git":
        name = path.resolve().parent.name
    return re.split(r"[/:]", name)[-1].removesuffix(".git") or "repository"


def _opened(path: Path) -> Clone:
    try:
        repo = pygit2.Repository(str(path), RepositoryOpenFlag.NO_SEARCH)
    except pygit2.GitError as error:
        raise _refused(path, str(error)) from error
    if repo.is_shallow:
        raise SourceError(
            f"{path} is a shallow clone: its history ends early",
            "git clone --depth, as CI systems do",
            "run `git fetch --unshallow` in it, or clone again without --depth",
        )
    clone = Clone(Path(repo.path), repo, _head(path, repo))
    _refuse_partial(clone)
    return clone


def _refused(path: Path, said: str) -> SourceError:
    if "not owned" in said:
        return SourceError(
            f"git refuses {path}: {said}",
            "the clone belongs to another user, as in a container",
            f"run `git config --global --add safe.directory {path}`",
        )
    if "object format" in said:
        return SourceError(
            f"{path} cannot be read: {said}",
            "a repository that names its objects by SHA-256, which libgit2 does not read",
            "convert it to SHA-1 with git fast-export and git fast-import, and pass the new clone",
        )
    return SourceError(
        f"{path} is not a git repository: {said}",
        "a path to a folder inside a clone, or to an unpacked archive",
        "pass the top folder of a clone, or a bare clone",
    )


def _head(path: Path, repo: pygit2.Repository) -> str:
    try:
        return str(repo.head.peel(pygit2.Commit).id)
    except (pygit2.GitError, KeyError) as error:
        raise SourceError(
            f"HEAD of {path} names no commit: {error}",
            "an empty repository, or a bare clone whose HEAD names a branch it does not have",
            f"git symbolic-ref HEAD refs/heads/BRANCH; there are: {_branches(repo)}",
        ) from error


def _branches(repo: pygit2.Repository) -> str:
    return ", ".join(sorted(repo.branches)[:10]) or "no branches"


def _refuse_partial(clone: Clone) -> None:
    """A partial clone may hold all it promised: only what is really missing, now and a while ago, counts."""
    if not any((clone.git_dir / "objects" / "pack").glob("*.promisor")):
        return
    objects = clone.repo.odb
    held = [blob in objects for commit in _sampled(clone) for blob in _blobs(clone, commit.tree_id)]
    if held.count(False) > _MISSING_SHARE * len(held):
        raise missing(f"{held.count(False)} of {len(held)} files of sampled commits")


def _sampled(clone: Clone) -> Iterator[pygit2.Commit]:
    line = clone.history().main_line[::-1]
    return (clone.commit(line[age]) for age in _SAMPLE_AGES if age < len(line))


def _blobs(clone: Clone, tree: pygit2.Oid) -> Iterator[pygit2.Oid]:
    todo = [tree]
    while todo:
        oid = todo.pop()
        if oid not in clone.repo:
            raise missing(f"folder {oid}")
        for entry in clone.repo[oid].peel(pygit2.Tree):
            if entry.type_str == "tree":
                todo.append(entry.id)
            elif entry.type_str == "blob":
                yield entry.id
