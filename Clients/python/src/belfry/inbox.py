"""What came for an observer, until its reader takes it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

from .errors import BelfryError
from .notification import Notification

Item = TypeVar("Item", bound=Notification)

INBOX_LIMIT = 1_000
"""Notifications that an observer keeps for its reader; above it the oldest one is lost."""

OWN_INBOX_LIMIT = 1_000_000
"""The same where an observer has a connection of its own: a past comes all at once."""


class Inbox(Generic[Item]):
    """Notifications in their order, each with the key of the answer that it wants, or None."""

    def __init__(self, limit: int | None) -> None:
        self._items: deque[tuple[Item, Hashable]] = deque()
        self.limit = limit
        self._changed = asyncio.Event()
        self._has_ended = False
        self._error: BelfryError | None = None
        self._taken: int | None = None

    @property
    def first(self) -> int | None:
        """The number of the oldest that its reader is not done with, who is when it takes on."""
        if self._taken is not None:
            return self._taken
        return self._items[0][0].seq if self._items else None

    def put(self, item: Item, key: Hashable) -> Item | None:
        """Adds one, and answers the one that is lost for it."""
        self._items.append((item, key))
        self._changed.set()
        if self.limit is not None and len(self._items) > self.limit:
            return self._items.popleft()[0]
        return None

    async def take(self) -> tuple[Item, Hashable] | None:
        """The next one; None after the end, or the error that ended it."""
        self._taken = None
        while not self._items:
            if self._error is not None:
                raise self._error
            if self._has_ended:
                return None
            self._changed.clear()
            await self._changed.wait()
        item, key = self._items.popleft()
        self._taken = item.seq
        return item, key

    def end(self, error: BelfryError | None) -> None:
        """Nothing comes any more. Without an error what is there is not told either."""
        if error is None:
            self._items.clear()
        self._error = error
        self._has_ended = True
        self._changed.set()
