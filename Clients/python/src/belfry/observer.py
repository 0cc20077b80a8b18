"""What a registration is to the program that has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from typing import Generic

from .inbox import Item
from .observation import Observation
from .registration import Registration
from .session import Session


class Token:
    """A registration, and what removes it."""

    def __init__(self, session: Session, registration: Registration) -> None:
        self._session = session
        self._registration = registration

    @property
    def id(self) -> str | None:
        """The public half of the token.

        It changes when the observer is registered again: on each connection, or, with `resume`,
        when the broker did not keep it.
        """
        return self._registration.id

    @property
    def token(self) -> str | None:
        """The secret that removes it from anywhere (`DELETE /v1/observers/{token}`)."""
        return self._registration.token

    @property
    def is_removed(self) -> bool:
        return self._registration.is_removed

    async def until_removed(self) -> None:
        """Waits until it is removed; raises why, where that was not done here."""
        await asyncio.shield(self._registration.ended)

    async def remove(self, *, timeout: float | None = None) -> None:
        """Removes it; nothing is told after the call.

        A lost connection is no error: on the next one it is not registered again.
        """
        await self._session.remove(self._registration, timeout)


class Responder(Token):
    """An address that this client holds."""


class Observer(Token, Generic[Item]):
    """An observer. Without a handler it is an async sequence of what comes.

    The sequence ends when the observer is removed from here; when somebody else removes it, or the
    center is closed by the broker, it raises why. An acknowledging observer acknowledges one
    notification when the next is asked for, and at the end of the loop none.
    """

    def __init__(self, session: Session, observation: Observation[Item]) -> None:
        super().__init__(session, observation)
        self._observation = observation
        self._due: Hashable = None

    @property
    def selector(self) -> str:
        """The method that the broker calls, which listings show."""
        return self._observation.selector

    def __aiter__(self) -> AsyncIterator[Item]:
        return self

    async def __anext__(self) -> Item:
        if self._due is not None:
            self._observation.answer(self._due, {"result": None})
            self._due = None
        taken = await self._observation.inbox.take()
        if taken is None:
            raise StopAsyncIteration
        item, self._due = taken
        return item

