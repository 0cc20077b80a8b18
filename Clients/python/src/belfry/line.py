"""One WebSocket to the broker: opening it, its frames, and whether it is alive."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator
from typing import Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.typing import Subprotocol

from .errors import ConnectionLost, refused_opening
from .wire import JSONObject, text_of

FRAME_LIMIT = 4 << 20
"""The largest frame that is taken, in bytes; the broker sends none of more than about 1 MiB."""

CLOSE_TIME = 1.0
"""Seconds that the broker has for answering a Close frame."""

LEAST_PING_INTERVAL = 0.05
"""Seconds: a broker that says less is not asked more often."""

NO_CODE = 1006
"""The code of a connection that ended without one (RFC 6455 section 7.4.1)."""

BAD_FRAME_CODE = 1002


class Line:
    """A connection that is open. What is sent leaves in its order, and nobody waits for it."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()
        self._heard_at = time.monotonic()
        self._writing = asyncio.create_task(self._write())
        self._watching: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, url: str, token: str | None, timeout: float) -> Self:
        """Opens a connection.

        Raises Refused where the broker said no, and ConnectionLost where it said nothing.
        """
        fields = {} if token is None else {"Authorization": f"Bearer {token}"}
        try:
            socket = await connect(
                url, subprotocols=[Subprotocol("belfry.v1")], additional_headers=fields,
                open_timeout=timeout, close_timeout=CLOSE_TIME, ping_interval=None,
                max_size=FRAME_LIMIT)
        except InvalidStatus as refusal:
            body = refusal.response.body
            raise refused_opening(
                refusal.response.status_code, _problem(bytes(body or b""))) from refusal
        except (OSError, EOFError, InvalidHandshake) as fault:
            raise ConnectionLost(f"the broker cannot be reached: {fault}") from fault
        return cls(socket)

    def send(self, message: JSONObject) -> None:
        """Sends a message; raises TypeError or ValueError where it is no JSON."""
        self._outgoing.put_nowait(text_of({"jsonrpc": "2.0", **message}))

    async def frames(self) -> AsyncGenerator[JSONObject, None]:
        """The messages of the broker, until the connection ends."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                content = await self._socket.recv()
                self._heard_at = time.monotonic()
                frame = _object(content)
                if frame is None:
                    await self.fail("not a JSON object")
                    return
                yield frame

    async def fail(self, reason: str) -> None:
        """Ends it because of a frame; what that meant comes again with the next connection."""
        await self._socket.close(BAD_FRAME_CODE, reason)

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
                self._socket.transport.abort()
                return


def _object(content: str | bytes) -> JSONObject | None:
    try:
        frame = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return frame if isinstance(frame, dict) else None


def _refuse_constant(name: str) -> None:
    # Python reads NaN and Infinity, which are no JSON.
    raise ValueError(name)


def _problem(body: bytes) -> JSONObject | None:
    return _object(body) if body else None
