"""Observers whose notifications come to this program."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic

from .errors import BelfryError
from .handling import Handler, outcome_of
from .inbox import INBOX_LIMIT, Inbox, Item
from .notification import Change, Gap, Notification
from .registration import Registration
from .wire import JSONObject, is_same, merged


class Observation(Registration, Generic[Item]):
    """An observer whose notifications come to this program: to a handler, or to a loop."""

    def __init__(
        self, filter: JSONObject, selector: str, handler: Handler[Item] | None, *common: Any
    ) -> None:
        super().__init__(*common)
        self.selector = selector
        self.acknowledges = self.terms.get("acknowledge", False)
        # What is acknowledged is not dropped: the broker stops when 1,000 answers are due.
        self.inbox: Inbox[Item] = Inbox(None if self.acknowledges else INBOX_LIMIT)
        self.filter = filter
        self.has_own_selector = False
        """Whether the program has chosen the selector."""
        self._handler = handler

    def params(self) -> JSONObject:
        return {**self.filter, "selector": self.selector}

    def hand(self, item: Item, key: Hashable = None) -> None:
        """Gives a notification to the reader."""
        lost = self.inbox.put(item, key)
        if lost is not None:
            self.tell_gap(Gap("overflow", 1, lost.seq, lost.seq))

    def end(self, error: BelfryError | None) -> None:
        super().end(error)
        self.inbox.end(error)

    async def work(self) -> None:
        """Gives the handler one notification after the other."""
        assert self._handler is not None
        while not self.is_removed and (taken := await self._next()) is not None:
            item, key = taken
            message = await outcome_of(self._handler, item, is_wanted=key is not None)
            if message is not None:
                self.answer(key, message)

    async def _next(self) -> tuple[Item, Hashable] | None:
        try:
            return await self.inbox.take()
        except BelfryError:
            # Who has a handler is told by `on_removed` and `on_state`.
            return None


class NotificationObservation(Observation[Notification]):
    """An observer of what is posted."""

    is_replayed = True

    def record(self, position: int) -> JSONObject | None:
        first = self.inbox.first
        done = position if first is None else min(position, first - 1)
        return {
            "id": self.id, "token": self.token, "position": done, "filter": self.filter,
            "selector": self.selector, "hasOwnSelector": self.has_own_selector,
            "terms": self.terms}

    @classmethod
    def restored(cls, record: JSONObject) -> NotificationObservation:
        """That of a record."""
        observation = cls(record["filter"], record["selector"], None, record["terms"], None, None)
        observation.has_own_selector = record["hasOwnSelector"]
        return observation

    def is_same(self, other: Registration) -> bool:
        return (
            isinstance(other, NotificationObservation) and self.filter == other.filter
            and self.terms == other.terms and self.has_own_selector == other.has_own_selector
            and (self.selector == other.selector or not self.has_own_selector))

    def claim(self, other: Registration) -> None:
        assert isinstance(other, NotificationObservation)
        self._handler = other._handler
        super().claim(other)

    def deliver(self, params: JSONObject) -> None:
        seq = params["seq"]
        if self.position is None or seq <= self.position or "change" in params:
            return
        self.position = seq
        self.hand(Notification.of(params))

    def request(self, selector: str, params: JSONObject, key: Hashable) -> None:
        self.position = max(self.position or 0, params["seq"])
        self.hand(Notification.of(params), key)


class ValueObservation(Observation[Change]):
    """An observer of a value, who has the whole of it after each change."""

    # A value comes whole.
    has_gaps = False

    def __init__(
        self, look: Callable[[Callable[[Any, int], None]], None], *common: Any
    ) -> None:
        super().__init__(*common)
        self._value: Any = None
        self._is_known = False
        # Asks the broker for the value as it is.
        self._look = look
        self._tells_own = self.terms.get("own", True)

    def deliver(self, params: JSONObject) -> None:
        change, seq = params.get("change"), params["seq"]
        if change is None or self.position is None or self.is_removed:
            return
        kind, initial = change["kind"], change.get("initial", False)
        # An initial one has a number that the observer may have, any other comes once.
        if not initial and seq <= self.position:
            return
        if kind == "merge" and not self._tells_own:
            # It is told against a value with the writes from here, which were not told.
            return self._look(lambda value, seq: self._look_again(params, value, seq))
        value = None if kind == "removed" else change.get("new")
        if kind == "merge":
            value = merged(self._value, value)
        if initial and self._is_known and is_same(value, self._value):
            return
        self._tell(value, seq, params)

    def _look_again(self, params: JSONObject, value: Any, seq: int) -> None:
        # A later change has come meanwhile, or comes with the next connection.
        if self.position is not None and seq > self.position and not self.is_removed:
            self._tell(value, seq, params)

    def _tell(self, value: Any, seq: int, params: JSONObject) -> None:
        self.position = max(self.position or 0, seq)
        self._value, self._is_known = value, True
        change = params["change"]
        self.hand(Change.of(
            params, key_path=params.get("keyPath", ""), value=value, kind=change["kind"],
            initial=change.get("initial", False), old=change.get("old"),
            etag=change.get("etag", params.get("etag"))))
