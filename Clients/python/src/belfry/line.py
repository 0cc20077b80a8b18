"""One WebSocket to the broker: opening it, its frames, and whether it is alive."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import time
from collections.abc import AsyncGenerator
from ipaddress import ip_address
from typing import Any, Self
from urllib.parse import urlsplit
from urllib.request import getproxies

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.http11 import Response
from websockets.typing import Subprotocol

from .errors import BelfryError, unreached
from .verdict import fault_of, parsed
from .wire import JSONObject, text_of

FRAME_LIMIT = 64 << 20
"""The largest frame that is taken, in bytes.

A delivery has at most 16 MiB of userInfo, whatever the broker's options (`--max-user-info`).
"""

TOO_BIG_CODE = 1009

CLOSE_TIME = 1.0
"""Seconds that the broker has for answering a Close frame."""

LEAST_PING_INTERVAL = 0.05
"""Seconds: a broker that says less is not asked more often."""

NO_CODE = 1006
"""The code of a connection that ended without one (RFC 6455 section 7.4.1)."""

BAD_FRAME_CODE = 1002


class Opening(connect):
    """An opening that follows no redirect: a key is shown to the address that it was given for."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class Line:
    """A connection that is open. What is sent leaves in its order, and nobody waits for it."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()
        self._heard_at = time.monotonic()
        self.has_refused_size = False
        """Whether it has ended since a frame was larger than the limit: it would come again."""
        self._writing = asyncio.create_task(self._write())
        self._watching: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, url: str, token: str | None, timeout: float) -> Self:
        """Opens a connection.

        Raises Refused where the broker said no, Unreachable where nobody is there, and
        ConnectionLost where it said nothing, whatever the reason: a stranger's answer, TLS, or a
        proxy of the environment that is not named well, or needs a package that is not installed.
        """
        fields = {} if token is None else {"Authorization": f"Bearer {token}"}
        way = _way_to(url)
        try:
            socket = await Opening(
                url, subprotocols=[Subprotocol("belfry.v1")], additional_headers=fields,
                open_timeout=timeout, close_timeout=CLOSE_TIME, ping_interval=None,
                max_size=FRAME_LIMIT, **way)
        except InvalidStatus as refusal:
            raise _fault(refusal.response) from refusal
        except Exception as fault:
            place = urlsplit(url).netloc
            if not way and getproxies():
                place = f"{place}, perhaps through a proxy of the environment"
            raise unreached(place, fault) from None
        return cls(socket)

    def send(self, message: JSONObject) -> None:
        """Sends a message; raises TypeError or ValueError where it is no JSON."""
        self._outgoing.put_nowait(text_of({"jsonrpc": "2.0", **message}))

    async def frames(self) -> AsyncGenerator[JSONObject | None, None]:
        """The messages of the broker, until the connection ends; None is one that is no object."""
        try:
            while True:
                content = await self._socket.recv()
                self._heard_at = time.monotonic()
                yield parsed(content)
        except ConnectionClosed as end:
            self.has_refused_size = (
                end.sent is not None and end.sent.code == TOO_BIG_CODE
                and not end.rcvd_then_sent)

    async def fail(self, reason: str) -> None:
        """Ends it because of a frame; what that meant comes again with the next connection."""
        await self._socket.close(BAD_FRAME_CODE, reason)

    def abort(self) -> None:
        """Ends it without a word."""
        self._socket.transport.abort()

    def watch(self, interval: float) -> None:
        """Ends the connection when the broker is silent for one and a half of this interval.

        After one it is asked whether it is there. It takes the place of an earlier watch.
        """
        if self._watching is not None:
            self._watching.cancel()
        self._watching = asyncio.create_task(self._watch(max(interval, LEAST_PING_INTERVAL)))

    @property
    def code(self) -> int:
        """The code with which it ended."""
        return self._socket.close_code or NO_CODE

    async def close(self) -> None:
        """Ends it with code 1000."""
        await self._socket.close()
        await self.end()

    async def end(self) -> None:
        """Lets go of what is left of it."""
        tasks = [task for task in (self._writing, self._watching) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._socket.transport.abort()

    async def _write(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self._socket.send(await self._outgoing.get())

    async def _watch(self, interval: float) -> None:
        while True:
            if (left := self._heard_at + interval - time.monotonic()) > 0:
                await asyncio.sleep(left)
                continue
            asked_at = time.monotonic()
            self.send({"id": "ping", "method": "ping"})
            await asyncio.sleep(interval / 2)
            if self._heard_at < asked_at:
                self.abort()
                return


def _fault(response: Response) -> BelfryError:
    def field(name: str) -> str | None:
        # One that comes twice says nothing.
        found = response.headers.get_all(name)
        return found[0] if len(found) == 1 else None

    return fault_of(response.status_code, field, bytes(response.body or b""))


def _way_to(url: str) -> dict[str, Any]:
    """The options of the way to the broker.

    `websockets` 15 and later go through the proxies of the environment. No proxy leads to this
    machine itself.
    """
    host = urlsplit(url).hostname or ""
    try:
        is_here = ip_address(host).is_loopback
    except ValueError:
        is_here = host == "localhost" or host.endswith(".localhost")
    has_proxies = "proxy" in inspect.signature(connect.__init__).parameters
    return {"proxy": None} if is_here and has_proxies else {}
