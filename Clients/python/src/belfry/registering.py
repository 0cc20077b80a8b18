"""The client at the broker, with what it has registered there, and what it keeps of that."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from .client import Client
from .errors import BelfryError, Closed, ConnectionLost, Refused
from .keeping import SAVE_PAUSE, Keeping, Kept
from .line import Line
from .registration import Registration
from .registry import Registry
from .tokens import Tokens
from .verdict import checked
from .wire import JSONObject, text_of

Added = TypeVar("Added", bound=Registration)


@dataclass(slots=True)
class Identity:
    """Who this client is at the broker."""

    client: str
    session: str
    epoch: str


class Registering(Client, ABC):
    """Registers at the broker, and again on each connection that needs it."""

    def __init__(
        self, tokens: Tokens, timeout: float, resumes: bool, is_apart: bool,
        keeping: Keeping | None,
    ) -> None:
        super().__init__(tokens, timeout)
        self.registry = Registry(self)
        self.is_welcomed = False
        self._resumes = resumes
        self._is_apart = is_apart
        self._identity: Identity | None = None
        # How many registrations the broker has yet to confirm before the connection is open.
        self._unconfirmed = 0
        self._keeping = keeping
        # Whether it is that of an earlier run, the observers at the broker that nobody here knows,
        # and when it is stored where the observers are.
        self._is_restored = False
        self._unknown: list[str] = []
        self._saving: asyncio.TimerHandle | None = None

    @abstractmethod
    async def close(self) -> None:
        """Ends the connection, and with it every observer."""

    @abstractmethod
    def _open_if_confirmed(self) -> None:
        """The connection is open once the broker has confirmed all that was asked of it."""

    async def add(self, new: Added, timeout: float | None) -> Added:
        """Registers it, and returns when the broker has confirmed it.

        Answers the one that is registered, which an earlier run of the program may have had.
        """
        self.check_begun()
        # What is no JSON is refused here, and not on some later connection.
        text_of({**new.terms, **new.params()})
        registration = cast(Added, self.registry.claim(new) or new)
        if registration is new:
            for earlier in self.registry.in_the_way(new):
                self.registry.remove(earlier, None)
                if earlier.is_registered:
                    self._remove_quietly({"token": earlier.token})
            self.registry.add(new)
            if self.is_welcomed:
                self._register(new)
        try:
            async with self.limit(timeout):
                await asyncio.shield(registration.confirmed)
        except BaseException:
            # Cancelling counts, too.
            self._give_up(registration)
            raise
        return registration

    async def remove(self, registration: Registration, timeout: float | None = None) -> None:
        """Removes it; nothing of it is told after the call."""
        if registration.is_removed:
            return
        is_registered, params = registration.is_registered, {"token": registration.token}
        self.registry.remove(registration, None)
        self._save()
        # Without a connection it is gone with it, or removed when the session goes on.
        if is_registered and self._line is not None:
            with suppress(ConnectionLost, Closed):
                await self.result_of("removeObserver", params, timeout)
        self._end_if_alone()

    def _end_if_alone(self) -> None:
        if self._is_apart and not any(True for _ in self.registry):
            self._in_background(self.close())

    def _give_up(self, registration: Registration) -> None:
        """Nobody waits for it any more; one that the broker confirms later is removed then."""
        if registration.id is not None and not self._was_connected:
            # An earlier run had it, and the broker may have it still.
            return registration.unclaim()
        if not registration.is_removed:
            self.registry.remove(registration, None)
        if registration.is_registered:
            self._remove_quietly({"token": registration.token})
        self._end_if_alone()

    def _register(self, registration: Registration) -> None:
        lifetime = "token" if self._resumes else "connection"
        params = {
            **registration.terms, **registration.params(), "lifetime": lifetime,
            **registration.start}
        self._unconfirmed += 1
        line = self._line
        self.call("addObserver", params,
                  lambda answer, error: self._registered(registration, line, answer, error))

    def _registered(
        self, registration: Registration, line: Line | None, answer: Any, error: BelfryError | None
    ) -> None:
        if isinstance(error, Refused):
            if not registration.is_removed:
                self.registry.refused(registration, error)
        elif error is not None:
            # The next connection registers it again.
            return
        else:
            self.registry.confirmed(registration, checked("addObserver", answer))
            if registration.is_removed:
                self._remove_quietly({"token": registration.token})
            self._save()
        if line is self._line:
            self._unconfirmed -= 1
            self._open_if_confirmed()

    def _remove_quietly(self, params: JSONObject) -> None:
        self.call("removeObserver", params, lambda result, error: None)

    # What is kept for the next run of the program.

    def _restore(self, kept: Kept | None) -> None:
        if kept is None:
            return
        for registration in kept.registrations:
            # One that a damaged file has twice is there once.
            with suppress(ValueError):
                self.registry.add(registration)
        self.registry.avoid_selectors()
        self._identity = Identity(kept.client, kept.session, kept.epoch)
        self._is_restored = True

    def _save(self) -> None:
        if self._saving is not None:
            self._saving.cancel()
            self._saving = None
        if self._keeping is not None and self._identity is not None and self._was_connected:
            own = self._identity
            self._keeping.write(own.client, own.session, own.epoch, self.registry.records())

    def _save_soon(self) -> None:
        if self._keeping is not None and self._saving is None:
            self._saving = asyncio.get_running_loop().call_later(SAVE_PAUSE, self._save)

    def _remove_unclaimed(self) -> None:
        for registration in self.registry:
            if not registration.is_claimed:
                self._give_up(registration)
        self._remove_unknown()
        self._save()

    def _remove_unknown(self) -> None:
        unknown, self._unknown = self._unknown, []
        for id in unknown:
            self._remove_quietly({"observer": id})

    def _yields(self) -> bool:
        """Leaves a stored session to the program that has taken it, and goes on with a new one."""
        if self._keeping is None:
            return False
        self._keeping.close()
        self._keeping = self._identity = None
        return True
