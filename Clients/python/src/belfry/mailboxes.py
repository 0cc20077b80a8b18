"""Mailboxes: observers that keep what comes until a program asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from .asking import CALL_WAIT
from .errors import BelfryError, Refused
from .handling import call_guarded
from .notification import Gap, Notification
from .registration import GapHandler
from .request import Requesting
from .wire import NOT_GIVEN, JSONObject, Since, Where, add_lease, beginning_of, filter_of, given

GONE = 410


class Mailboxes(Requesting):
    """The calls of a center that are about mailboxes."""

    async def mailbox(
        self, name: str | None = None, *, token: str | None = None, object: str | None = None,
        names: Sequence[str] | None = None, name_prefix: str | None = None,
        object_prefix: str | None = None, where: Where | None = None,
        since: Since | None = None, last: int | None = None, last_each: int | None = None,
        suspension_behavior: str | None = None, hold_limit: int | None = None,
        min_interval: float | None = None, lease: float | None = NOT_GIVEN, batch: int = 1,
        on_gap: GapHandler | None = None, timeout: float | None = None,
    ) -> Mailbox:
        """Makes a mailbox, or with a `token` goes on with one that was made before.

        The broker keeps what matches while nobody reads, for the `lease` (24 hours) since the last
        look. A look fetches `batch` notifications at most.
        """
        content = filter_of(name, names, name_prefix, object, object_prefix, where) | given(
            suspension_behavior=suspension_behavior, hold_limit=hold_limit,
            min_interval=min_interval) | beginning_of(since, last, last_each)
        add_lease(content, lease)
        if token is None:
            answer = await self._requested(
                "POST", "observers", shape="addObserver", content=content, timeout=timeout)
            token = answer["token"]
        elif any(value is not None for value in content.values()):
            raise ValueError("a mailbox that goes on is as it was made: give it a token alone")
        return Mailbox(self, token, batch, on_gap)


class Mailbox:
    """A mailbox, and an async sequence of what comes into it.

    A notification is acknowledged when the next one is asked for: until then it comes again, also
    to another run of the program. The sequence goes on over lost connections and restarts of the
    broker. It raises `Refused` where the mailbox is gone (410, or 404 where the broker does not
    know it), or somebody else reads it (409).
    """

    def __init__(
        self, center: Mailboxes, token: str, batch: int, on_gap: GapHandler | None
    ) -> None:
        self.token = token
        """The secret by which any program goes on with it."""
        self._center = center
        self._batch = batch
        self._on_gap = on_gap
        self._fetched: list[Notification] = []
        self._after: int | None = None

    def __aiter__(self) -> AsyncIterator[Notification]:
        return self

    async def __anext__(self) -> Notification:
        while not self._fetched:
            try:
                await self._look()
            except BelfryError as error:
                if not self._center._is_passing(error):
                    raise
                await self._center._pause(error)
        notification = self._fetched.pop(0)
        self._after = notification.seq
        return notification

    async def remove(self, *, timeout: float | None = None) -> None:
        """Removes the mailbox, with all that it keeps; one that is gone is no error."""
        try:
            await self._requested("DELETE", "", timeout=timeout)
        except Refused as refusal:
            if refusal.status != GONE:
                raise

    async def _look(self) -> None:
        query: JSONObject = {"limit": self._batch} | given(after=self._after)
        page = await self._requested(
            "GET", "/notifications", query, shape="mailbox", wait=CALL_WAIT)
        for gap in page.get("gaps") or []:
            call_guarded(self._on_gap, Gap.of(gap))
        self._fetched = [Notification.of(row) for row in page["notifications"]]
        if not self._fetched:
            self._after = page.get("next") or self._after

    async def _requested(self, method: str, place: str, *query: JSONObject, **options: Any) -> Any:
        id = self.token.partition(".")[0]
        return await self._center._requested(
            method, f"observers/{id}{place}", *query, fields={"Belfry-Token": self.token},
            **options)
