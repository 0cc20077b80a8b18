"""Addresses that this client holds, and what comes to them."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import BelfryError
from .handling import PASSED, Handler, Passed, outcome_of
from .inbox import INBOX_LIMIT
from .notification import Gap, Notification
from .registration import Registration
from .wire import JSONObject


@dataclass(frozen=True, slots=True)
class Ask(Notification):
    """An ask, an action or a post that came to a responder."""

    selector: str
    """What is asked for."""
    target: str | None
    """The address whose turn it is; None for a post."""
    answer_by: str | None
    """Until when somebody waits for the answer; None for an action and for a post."""

    def pass_on(self) -> Passed:
        """What a handler returns to hand the ask on: `return ask.pass_on()`."""
        return PASSED


AskHandler = Handler[Ask]


class Responding(Registration):
    """An address that this client holds. Its handlers work side by side."""

    def __init__(self, object: str, handlers: Mapping[str, AskHandler], *common: Any) -> None:
        super().__init__(*common)
        self.object = object
        self.handlers = dict(handlers)
        self._tasks: set[asyncio.Task[None]] = set()
        # What has come before the program has added again what an earlier run had.
        self._early: list[tuple[str, JSONObject, Hashable]] = []

    def record(self, position: int) -> JSONObject | None:
        return {
            "id": self.id, "token": self.token, "position": position, "object": self.object,
            "selectors": list(self.handlers), "terms": self.terms}

    @classmethod
    def restored(cls, record: JSONObject) -> Responding:
        """That of a record."""
        handlers = {selector: _unclaimed for selector in record["selectors"]}
        return cls(record["object"], handlers, record["terms"], None, None)

    def is_same(self, other: Registration) -> bool:
        return (
            isinstance(other, Responding) and self.params() == other.params()
            and self.terms == other.terms)

    def claim(self, other: Registration) -> None:
        assert isinstance(other, Responding)
        self.handlers = other.handlers
        super().claim(other)
        early, self._early = self._early, []
        for selector, params, key in early:
            if key is None:
                self._start(selector, params, None)
            elif key in self.owed:
                self.request(selector, params, key)

    def params(self) -> JSONObject:
        return {"object": self.object, "implements": list(self.handlers)}

    def post(self, selector: str, params: JSONObject) -> None:
        """Takes a post; of several responders of one address each has it once."""
        if self.position is not None and params["seq"] > self.position:
            self.position = params["seq"]
            self._start(selector, params, None)

    def act(self, selector: str, params: JSONObject) -> None:
        """Takes an action that wants no answer; several may have one number."""
        self._start(selector, params, None)

    def request(self, selector: str, params: JSONObject, key: Hashable) -> None:
        self.owed[key].task = self._start(selector, params, key)

    def begin_numbers_anew(self) -> None:
        # Asks go by their own ids, and come again.
        self.position = 0
        self.owed = {key: owed for key, owed in self.owed.items() if key != owed.id}

    def settle(self, key: Hashable) -> None:
        """Nobody waits for an answer any more."""
        owed = self.owed.pop(key, None)
        if owed is not None and owed.task is not None:
            owed.task.cancel()

    def end(self, error: BelfryError | None) -> None:
        super().end(error)
        for key in list(self.owed):
            if self.owed[key].task is not asyncio.current_task():
                self.settle(key)

    def _start(
        self, selector: str, params: JSONObject, key: Hashable
    ) -> asyncio.Task[None] | None:
        if not self.is_claimed:
            if len(self._early) < INBOX_LIMIT:
                self._early.append((selector, params, key))
            else:
                self.tell_gap(Gap("overflow", 1, params["seq"], params["seq"]))
            return None
        ask = Ask.of(
            params, selector=selector, target=params.get("target"),
            answer_by=params.get("answerBy"))
        task = asyncio.create_task(self._handle(ask, key))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _handle(self, ask: Ask, key: Hashable) -> None:
        handler = self.handlers[ask.selector]
        message = await outcome_of(handler, ask, is_wanted=key is not None)
        if message is not None:
            self.answer(key, message)


def _unclaimed(ask: Ask) -> None:
    raise RuntimeError("the responder is not added again yet")
