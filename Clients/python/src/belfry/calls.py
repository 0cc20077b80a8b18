"""Calls that wait for their answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import BelfryError, refused
from .wire import JSONObject

Outcome = Callable[[Any, BelfryError | None], None]
"""Takes the result of a call, or why it has none.

It is called before the next frame is looked at: what follows an answer may depend on it.
"""


class Calls:
    """What was asked on a connection, and not answered yet."""

    def __init__(self) -> None:
        self._waiting: dict[int, Outcome] = {}
        self._last = 0

    def add(self, outcome: Outcome) -> int:
        """The id of a new call."""
        self._last += 1
        self._waiting[self._last] = outcome
        return self._last

    def give_up(self, id: int) -> None:
        """Nobody waits for the answer any more."""
        self._waiting.pop(id, None)

    def answer(self, frame: JSONObject) -> None:
        """Takes a response; one that nobody waits for is passed over."""
        id = frame.get("id")
        outcome = self._waiting.pop(id, None) if isinstance(id, int) else None
        if outcome is None:
            return
        if isinstance(error := frame.get("error"), dict):
            outcome(None, refused(error))
        else:
            outcome(frame.get("result"), None)

    def fail(self, error: Callable[[], BelfryError]) -> None:
        """The connection is over, and with it all that waits."""
        waiting, self._waiting = self._waiting, {}
        for outcome in waiting.values():
            outcome(None, error())
