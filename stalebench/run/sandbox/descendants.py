"""Which processes stem from a process, read from /proc. Kills nothing."""

from __future__ import annotations

import os


def descendants(root: int) -> list[int]:
    """Ids of everything below `root`, parents before children; `root` is not among them."""
    found: list[int] = []
    seen = {root}
    waiting = [root]
    while waiting:
        for child in _children(waiting.pop()):
            if child not in seen:
                seen.add(child)
                found.append(child)
                waiting.append(child)
    return found


def _children(parent: int) -> list[int]:
    """Children of all threads of a process."""
    try:
        threads = os.listdir(f"/proc/{parent}/task")
    except OSError:
        return []
    children: list[int] = []
    for thread in threads:
        try:
            with open(f"/proc/{parent}/task/{thread}/children", "rb") as file:
                children.extend(int(word) for word in file.read().split())
        except FileNotFoundError:
            if not os.path.exists("/proc/thread-self/children"):
                children.extend(_by_parent(parent))
                break
        except OSError:  # it ended meanwhile
            continue
    return children


def _by_parent(parent: int) -> list[int]:
    """The slow way, for kernels without the list of children."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    text = file.read()
            except OSError:  # it ended meanwhile
                continue
            if int(text[text.rindex(b")") + 1 :].split()[1]) == parent:
                found.append(int(name))
    return found
