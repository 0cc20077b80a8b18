"""What the client has registered at the broker, and where each of it stands."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from .errors import BelfryError
from .handling import call_guarded
from .limit import settle
from .notification import Gap
from .wire import JSONObject

GapHandler = Callable[[Gap], None]
RemovedHandler = Callable[[str], None]
Answering = Callable[[Hashable, JSONObject], None]


@dataclass(slots=True)
class Owed:
    """What the broker waits for."""

    id: Any
    """The id of the request; it is that of the last time that it came."""
    seq: int
    is_asked: bool = True
    """Whether the broker has asked on this connection: it knows no answer to an earlier one."""
    answer: JSONObject | None = None
    """What is to be answered when the broker asks again."""
    task: asyncio.Task[None] | None = None
    """Who works on an ask."""


class Registration(ABC):
    """A row of the broker that belongs to this client."""

    is_replayed = False
    """Whether a new registration goes on where the earlier one was."""
    has_gaps = True
    """Whether something may be missing when the broker has begun anew."""

    def __init__(
        self, terms: JSONObject, on_gap: GapHandler | None, on_removed: RemovedHandler | None
    ) -> None:
        self.terms = terms
        self.id: str | None = None
        self.token: str | None = None
        self.position: int | None = None
        """Everything up to this number has come; None until the broker has confirmed it."""
        self.beginning: JSONObject = {}
        """Where it begins as long as nothing has come, if that was not said by a number."""
        self.joined = 0
        """The last number before it was registered, in this epoch."""
        self.is_registered = False
        """Whether this connection has it."""
        self.is_removed = False
        self.owed: dict[Hashable, Owed] = {}
        self.is_claimed = True
        """Whether the program has it; one of an earlier run waits until it is added again."""
        self._untold: list[Gap] = []
        self.confirmed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.answer: Answering = lambda key, message: None
        """Passes an answer on; the registry sets it."""
        self._on_gap = on_gap
        self._on_removed = on_removed

    def record(self, position: int) -> JSONObject | None:
        """What is stored of it for a later run of the program; None where nothing is.

        Everything up to this number has come.
        """
        return None

    def restore(self, id: str, token: str, position: int) -> None:
        """It is one of an earlier run, which has done everything up to this number."""
        self.id, self.token, self.position = id, token, position
        self.unclaim()

    def unclaim(self) -> None:
        """It waits until the program adds it."""
        self.is_claimed = False
        self.confirmed = asyncio.get_running_loop().create_future()

    def is_same(self, other: Registration) -> bool:
        """Whether an earlier run had the same."""
        return False

    def claim(self, other: Registration) -> None:
        """The program has added it again: what came meanwhile is told."""
        self.is_claimed = True
        self._on_gap, self._on_removed = other._on_gap, other._on_removed
        untold, self._untold = self._untold, []
        for gap in untold:
            self.tell_gap(gap)

    @abstractmethod
    def params(self) -> JSONObject:
        """The members of `addObserver` that say what it is."""

    def owe(self, key: Hashable, id: Any, seq: int) -> None:
        """An answer is due."""
        self.owed[key] = Owed(id, seq)

    def deliver(self, params: JSONObject) -> None:
        """Takes a frame that wants no answer."""

    def request(self, selector: str, params: JSONObject, key: Hashable) -> None:
        """Takes a frame that wants an answer, for the first time."""

    @property
    def since(self) -> int | None:
        """From where a new registration goes on: what is owed comes again."""
        if not self.is_replayed or self.position is None:
            return None
        return min([self.position, *(owed.seq - 1 for owed in self.owed.values())])

    @property
    def start(self) -> JSONObject:
        """The members of a registration that say where it begins."""
        if self.beginning and not self.position:
            return self.beginning
        return {} if self.since is None else {"since": self.since}

    @property
    def reached(self) -> int | None:
        """The number from which its session goes on."""
        joined = self.beginning.get("since")
        return joined if self.position == 0 and isinstance(joined, int) else self.position

    def begin_at(self, beginning: JSONObject) -> None:
        """It begins in the past."""
        if beginning.keys() == {"since"} and isinstance(since := beginning["since"], int):
            self.position = since
        else:
            self.beginning = beginning

    def join(self, seq: int) -> None:
        """The broker has registered it, behind this number."""
        self.joined = seq
        if not self.beginning:
            self.position = seq if self.position is None else min(self.position, seq)
            return
        self.position = self.position or 0
        if "since" not in self.beginning:
            # The last ones of a later time would be others, and those between would be missing.
            self.beginning = {"since": seq}

    def begin_numbers_anew(self) -> None:
        """The broker counts from its own beginning."""
        self.position, self.joined, self.beginning = 0, 0, {}
        self.owed.clear()

    def begin_at_present(self) -> None:
        """What was missed is given up."""
        self.begin_numbers_anew()
        self.position = None

    def end(self, error: BelfryError | None) -> None:
        """It is no more; without an error because its owner said so."""
        self.is_removed = True
        if error is not None:
            settle(self.confirmed, None, error)
        settle(self.ended, None, error)
        for future in (self.confirmed, self.ended):
            if future.done():
                # It may be that nobody waits any more.
                future.exception()

    def tell_gap(self, gap: Gap) -> None:
        if not self.is_claimed:
            return self._untold.append(gap)
        call_guarded(self._on_gap, gap)

    def tell_removed(self, reason: str) -> None:
        call_guarded(self._on_removed, reason)


class Wire(Registration):
    """An observer whose notifications go to whoever holds an address."""

    def __init__(self, filter: JSONObject, target: str, selector: str, *common: Any) -> None:
        super().__init__(*common)
        self._params = {**filter, "target": target, "selector": selector}

    def params(self) -> JSONObject:
        return self._params
