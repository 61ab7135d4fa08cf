"""What the message of a landed commit says of its pull: number, title, text, linked issues.

Keeps no name, mail address or account of a person: not those of trailers, thanks, or fork owners.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_MERGED_PULL: Final = re.compile(r"^Merge pull request #(\d+) from (?:[^/\s]+/)?(\S+)")
_MERGED_REQUEST: Final = re.compile(r"^See merge request \S*!(\d+)\s*$", re.MULTILINE)
_SQUASHED: Final = re.compile(r"\s*\((?:pull request )?#(\d+)\)\s*$")
_OWN_LINE: Final = re.compile(r"^Merge (?:remote-tracking )?branch '[^']*'(?: of \S+)?$")
"""A merge by which a main line takes in its own copy elsewhere: nothing lands by it."""

_TRAILER: Final = re.compile(
    r"^\s*(?:[\w-]+-by|co-?authors?|authors?|reporters?|reviewers?|thanks[- ]to|cc)\s*:.*$",
    re.IGNORECASE | re.MULTILINE,
)
_THANKS: Final = re.compile(
    r"(?:^|(?<=[.!?]\s))(?:many |special |big )?thank(?:s|\s+you)\b.*?(?=\n\s*\n|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_MAIL: Final = re.compile(r"<?[\w.+-]+@[\w-]+(?:\.[\w-]+)+>?")
_ACCOUNT: Final = re.compile(r"(?<![\w`@/.])@([A-Za-z\d][A-Za-z\d-]{0,38})(?![\w(-]|\.\w)")
_DECORATORS: Final = frozenset(
    {
        *("abstractmethod", "cache", "classmethod", "contextmanager", "dataclass", "deprecated", "dispatch"),
        *("final", "overload", "override", "property", "skip", "slow", "staticmethod", "wraps", "xfail"),
    }
)
"""Written as accounts are, and known not to be any. A lost decorator costs less than a kept account."""
_FORK: Final = re.compile(r"(Merge pull request #\d+) from [^\s\"']+")
_RULE: Final = re.compile(r"^-{3,}\s*$", re.MULTILINE)

_NUMBER: Final = r"(?:#|\bgh-)\d+"
_LINK_WORDS: Final = (
    r"clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|refs?|references?|issues?|tickets?|see"
)
_LINKS: Final = re.compile(
    rf"\b(?:{_LINK_WORDS})\b[:\s]*((?:{_NUMBER})(?:\s*(?:,|and|&|/)\s*(?:{_NUMBER}))*)"
    rf"|\bgh-(\d+)|/issues/(\d+)\b",
    re.IGNORECASE,
)
_TITLE_LINKS: Final = re.compile(r"(?<!pull request )#(\d+)")


@dataclass(frozen=True, slots=True)
class Message:
    """What a landed commit says. `landing` is merge, squash or plain; `number` is the pull's."""

    landing: str
    number: int | None
    title: str
    text: str
    issues: tuple[int, ...]


def read(message: str, parents: int, branch_messages: tuple[str, ...] = ()) -> Message | None:
    """The message of a commit with that many parents; None if nothing lands by it.

    `branch_messages` are those of the commits that a merge brings in: authors explain their change and name
    its issues there, since the merge commit itself repeats no more than the title.
    """
    subject, _, body = message.strip().partition("\n")
    subject, body = subject.strip(), body.strip()
    landing, number, title = _landing(subject, body, parents)
    if landing == "merge":
        if number is None and _OWN_LINE.match(subject):
            return None
        title, body = _merge_title(title, body)
    title = " ".join((anonymous(title) or anonymous(subject)).split())
    parts = map(anonymous, (body, *branch_messages))
    text = "\n\n".join(part for part in dict.fromkeys(parts) if part not in ("", title))
    return Message(landing, number, title, text, _issues(title, text, number))


def anonymous(text: str) -> str:
    """The text without trailers, thanks, mail addresses and accounts of people."""
    text = _TRAILER.sub("", text.replace("\r\n", "\n"))
    text = _MAIL.sub("", _THANKS.sub("", text))
    text = _RULE.sub("", _ACCOUNT.sub(_nobody, _FORK.sub(r"\1", text)))
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _nobody(mention: re.Match[str]) -> str:
    return mention[0] if mention[1].lower() in _DECORATORS else "@someone"


def _landing(subject: str, body: str, parents: int) -> tuple[str, int | None, str]:
    if parents > 1:
        if found := _MERGED_PULL.match(subject):
            return "merge", int(found[1]), found[2]
        asked = _MERGED_REQUEST.search(body)
        return "merge", int(asked[1]) if asked else None, subject
    if found := _SQUASHED.search(subject):
        return "squash", int(found[1]), subject[: found.start()]
    return "plain", None, subject


def _merge_title(fallback: str, body: str) -> tuple[str, str]:
    """A forge puts the pull's title on the first line of the body."""
    body = _MERGED_REQUEST.sub("", body).strip()
    title, _, rest = body.partition("\n")
    return (title, rest.strip()) if title else (fallback, "")


def _issues(title: str, text: str, own: int | None) -> tuple[int, ...]:
    found = {int(number) for number in _TITLE_LINKS.findall(title)}
    for links, bare, address in _LINKS.findall(f"{title}\n{text}"):
        found.update(int(number) for number in re.findall(r"\d+", f"{links} {bare} {address}"))
    return tuple(sorted(found - {own}))
