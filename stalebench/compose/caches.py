"""A dictionary that forgets what was not used for longest. Holds values, computes none."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Keeps the `size` most recently used items."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The value, now the most recent one; None where it is not kept."""
        found = self._items.get(key)
        if found is not None:
            self._items.move_to_end(key)
        return found

    def __setitem__(self, key: K, value: V) -> None:
        self._items[key] = value
        if len(self._items) > self._size:
            self._items.popitem(last=False)

    def __len__(self) -> int:
        return len(self._items)
