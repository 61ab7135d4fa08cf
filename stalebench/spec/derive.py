"""A specification for a repository that nobody has written one for: read off its tree and its history.

It is a proposal, to be printed, saved and corrected. Runs nothing of the repository.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import pygit2

from stalebench.errors import SpecError
from stalebench.spec.layout import Layout
from stalebench.spec.model import Spec

if TYPE_CHECKING:  # composing reads specifications: this import would go in a circle
    from stalebench.compose.objects import Objects

_COMMITS: Final = 300
_RARE: Final = 0.05
_MINOR: Final = 0.2
_DOCUMENTS: Final = ("!*.md", "!*.rst", "!*.pyi", "!*.ipynb")


def derive(objects: Objects, commit: str, name: str) -> Spec:
    """The specification that the tree and the history of a commit suggest. `name` may be `owner/name`."""
    layout = Layout(objects, objects.tree_of(commit))
    if not layout.packages:
        raise SpecError(
            f"{name}: no Python package found at the root of the tree, in src/, lib/ or python/",
            "an unusual layout, or a repository that is not Python",
            "write a specification: `stalebench spec show seaborn` prints one to start from",
        )
    repo = pygit2.Repository(str(objects.git_dir))
    repository, url = _origin(repo, name)
    source = tuple(f"/{root}" if root.endswith(".py") else f"/{root}/**/*.py" for root in layout.packages)
    folders = tuple(f"/{root}/**" for root in layout.packages if not root.endswith(".py"))
    return Spec(
        name=_short(name),
        repository=repository,
        clone_url=url,
        branch=_branch(repo, commit),
        landing=_landing(repo, commit),
        runner=layout.runner,
        import_name=layout.import_name(PurePosixPath(repository).name),
        source=source,
        source_exclude=(),
        test=layout.test_globs,
        test_modules=layout.test_module_globs,
        data=(*folders, *_DOCUMENTS) if folders else (),
    )


def _origin(repo: pygit2.Repository, name: str) -> tuple[str, str]:
    """The repository's `owner/name` and address, as the clone's own origin has them, without credentials."""
    urls = {remote.name: remote.url for remote in repo.remotes if remote.url}
    url = re.sub(r"(?<=://)[^/@]*@", "", urls.get("origin") or next(iter(urls.values()), ""))
    if re.match(r"^(?:\w+://|[\w.-]+@[\w.-]+:)", url) and not url.startswith("file:"):
        if "/" in name:
            return name, url
        path = re.sub(r"^(?:\w+://[^/]+/|[^:]+:)", "", url).strip("/").removesuffix(".git")
        return (path if "/" in path else f"local/{path}"), url
    if "/" in name:
        return name, f"https://github.com/{name}.git"
    return f"local/{_short(name)}", ""


def _short(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "repository"


def _branch(repo: pygit2.Repository, commit: str) -> str | None:
    """The branch that HEAD names, if the commit is its tip."""
    at_head = not repo.head_is_detached and str(repo.head.peel(pygit2.Commit).id) == commit
    return repo.head.shorthand if at_head else None


def _landing(repo: pygit2.Repository, commit: str) -> tuple[str, ...]:
    """The ways in which recent changes often landed. Plain commits count where few name a pull."""
    ways = Counter(_ways(repo, commit))
    total = max(1, sum(ways.values()))
    frequent = [way for way in ("squash", "merge") if ways[way] > _RARE * total]
    if ways["squash"] + ways["merge"] >= _MINOR * total and frequent:
        return tuple(frequent)
    merges = ["merge"] if ways["unnumbered merge"] and "merge" not in frequent else []
    return (*frequent, *merges, "plain")


def _ways(repo: pygit2.Repository, commit: str) -> Iterable[str]:
    # The source area reads specifications: at the top of the module this import would go in a circle.
    from stalebench.source.messages import read  # noqa: PLC0415
    from stalebench.source.pulls import text_of  # noqa: PLC0415

    current = repo[commit].peel(pygit2.Commit)
    for _ in range(_COMMITS):
        message = read(text_of(current), len(current.parent_ids))
        if message is not None:
            numbered = message.number is not None or message.landing == "plain"
            yield message.landing if numbered else "unnumbered merge"
        if not current.parent_ids or current.parent_ids[0] not in repo:
            return
        current = repo[current.parent_ids[0]].peel(pygit2.Commit)
