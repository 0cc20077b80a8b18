"""Archives, and the past that they keep: a request of its own each."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Any
from urllib.parse import quote

from .errors import Refused
from .notification import Archive, Notification, Page
from .request import Requesting
from .wire import JSONObject, Where, filter_of, given, text_of, time_of

NOT_FOUND = 404
PAGE_LIMIT = 1_000


class Archives(Requesting):
    """The calls of a center that are about what is kept."""

    async def put_archive(
        self, name: str | None = None, *, name_prefix: str | None = None, count: int | None = None,
        bytes: int | None = None, age: float | None = None, each: str | None = None,
        keep_last: int | None = None, stored: bool | None = None, timeout: float | None = None,
    ) -> Archive:
        """Keeps what is posted from now on to a channel, or to all whose names begin alike.

        All bounds hold at once, and what is past them goes, the oldest first: `count` of each
        channel (with `each="object"` of each channel and object), `bytes` of all, `age` seconds,
        but for the `keep_last` newest. Without `stored` it is kept in memory alone. An archive that
        is there gets these bounds. It needs the grant `admin`.
        """
        content = given(
            count=count, bytes=bytes, age=age, each=each, keep_last=keep_last)
        if stored is not None:
            content["stored"] = stored
        path, query = _place(name, name_prefix)
        row = await self._requested(
            "PUT", path, query, shape="archive", content=content, timeout=timeout)
        return Archive.of(row)

    async def archive(
        self, name: str | None = None, *, name_prefix: str | None = None,
        timeout: float | None = None,
    ) -> Archive | None:
        """An archive, with what it keeps; None where there is none that this caller may see."""
        path, query = _place(name, name_prefix)
        try:
            row = await self._requested("GET", path, query, shape="archive", timeout=timeout)
        except Refused as refusal:
            if refusal.status == NOT_FOUND:
                return None
            raise
        return Archive.of(row)

    async def archives(self, *, timeout: float | None = None) -> list[Archive]:
        """The archives that this caller may see."""
        query: JSONObject = {"limit": PAGE_LIMIT}
        found: list[Archive] = []
        while True:
            page = await self._requested(
                "GET", "archives", query, shape="archives", timeout=timeout)
            found += [Archive.of(row) for row in page["archives"]]
            if page.get("next") is None:
                return found
            query["cursor"] = page["next"]

    async def remove_archive(
        self, name: str | None = None, *, name_prefix: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Removes an archive, with all that it keeps."""
        path, query = _place(name, name_prefix)
        await self._requested("DELETE", path, query, timeout=timeout)

    async def past(
        self, name: str | None = None, *, name_prefix: str | None = None,
        object: str | None = None, object_prefix: str | None = None, where: Where | None = None,
        after: int | None = None, before: int | None = None, from_: datetime | str | None = None,
        until: datetime | str | None = None, order: str | None = None, limit: int | None = None,
        last: int | None = None, last_each: int | None = None, timeout: float | None = None,
    ) -> Page:
        """A page of what is kept: of a channel, or of all whose names begin alike.

        `order` is `oldest` or `newest` first; a page has at most `limit` (1 to 1,000, else 100). In
        their place `last` is the newest so many, `last_each` those of each name and object. It
        raises `Refused` (`not-archived`) for a name of which nothing is kept.
        """
        query = _choice(name, name_prefix, object, object_prefix, where) | given(
            after=after, before=before, until=time_of(until), order=order, limit=limit,
            last=last, last_each=last_each)
        if from_ is not None:
            query["from"] = time_of(from_)
        answer = await self._requested(
            "GET", "notifications", query, shape="past", timeout=timeout)
        return Page.of(answer)

    async def history(
        self, name: str | None = None, *, after: int | None = None, **choice: Any
    ) -> AsyncGenerator[Notification, None]:
        """All that is kept, the oldest first, page after page; the options are those of `past`."""
        if not choice.keys() & {"last", "last_each"}:
            choice.setdefault("limit", PAGE_LIMIT)
        while True:
            page = await self.past(name, after=after, **choice)
            for notification in page.notifications:
                yield notification
            if page.next is None:
                return
            after = page.next

    async def remove_notifications(
        self, name: str | None = None, *, name_prefix: str | None = None,
        object: str | None = None, object_prefix: str | None = None, after: int | None = None,
        before: int | None = None, id: str | None = None, timeout: float | None = None,
    ) -> int:
        """Removes notifications from all that is kept, and answers how many they were.

        Nobody is given them any more who has not got them. It needs the grant `admin`.
        """
        query = _choice(name, name_prefix, object, object_prefix, None) | given(
            after=after, before=before, id=id)
        answer = await self._requested(
            "DELETE", "notifications", query, shape="forget", timeout=timeout)
        removed: int = answer["removed"]
        return removed


def _place(name: str | None, name_prefix: str | None) -> tuple[str, JSONObject]:
    """The path of an archive, and its query."""
    if (name is None) == (name_prefix is None):
        raise ValueError("an archive has a name, or a name_prefix: give one of them")
    if name_prefix is not None:
        return f"archives/{quote(name_prefix, safe='')}", {"prefix": "true"}
    return f"archives/{quote(name or '', safe='')}", {}


def _choice(
    name: str | None, name_prefix: str | None, object: str | None, object_prefix: str | None,
    where: Where | None,
) -> JSONObject:
    """The parameters that choose notifications."""
    choice = filter_of(name, None, name_prefix, object, object_prefix, where)
    if "where" in choice:
        choice["where"] = text_of(choice["where"])
    return {key: value for key, value in choice.items() if value is not None}
