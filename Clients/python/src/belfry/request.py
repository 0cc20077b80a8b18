"""A request of its own, for what the broker answers over HTTP alone."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import re
from typing import Any
from urllib.parse import urlencode, urlsplit

from .errors import BelfryError, ConnectionLost, TimedOut, unreached
from .session import Session
from .tokens import Tokens
from .verdict import CREDENTIALS_STATUS, checked, fault_of, parsed
from .wire import JSONObject

AGAIN_PAUSE = 0.5
"""Seconds between two attempts, where the broker does not say."""

FAULT_STATUS = 500
BUSY_STATUS = 429

CONTENT_LIMIT = 64 << 20
"""The longest answer that is read, in bytes; a page of the broker has about 1 MiB."""


class Requesting:
    """The part of a center that sends requests over HTTP."""

    _url: str
    _tokens: Tokens
    _timeout: float
    _session: Session

    async def _requested(
        self, method: str, path: str, query: JSONObject | None = None, *, shape: str | None = None,
        content: JSONObject | None = None, fields: dict[str, str] | None = None, wait: float = 0,
        timeout: float | None = None,
    ) -> Any:
        """The JSON of an answer, which has this shape; None where no shape is expected.

        Raises Refused where the broker said no, and ConnectionLost where it said nothing. `wait` is
        for how long the request asks the broker to wait.
        """
        fields = dict(fields or {})
        if wait > 0:
            fields["Prefer"] = f"wait={max(1, round(wait))}"
        async with self._session.limit(timeout, wait):
            if (token := await self._session.token()) is not None:
                fields["Authorization"] = f"Bearer {token}"
            return await requested(
                self._url, method, path, query, shape=shape, content=content, fields=fields)

    def _is_passing(self, error: BelfryError) -> bool:
        """Whether a request may fare better at another time."""
        status = error.status or 0
        may_renew = status == CREDENTIALS_STATUS and self._tokens.can_change
        return (
            is_unheard(error) or status >= FAULT_STATUS or status == BUSY_STATUS or may_renew)

    async def _pause(self, error: BelfryError) -> None:
        self._session.check_begun()
        told = error.retry_after or (error.problem or {}).get("retryAfter")
        await asyncio.sleep(told if isinstance(told, (int, float)) else AGAIN_PAUSE)


async def requested(
    socket_url: str, method: str, path: str, query: JSONObject | None = None, *,
    shape: str | None = None, content: JSONObject | None = None,
    fields: dict[str, str] | None = None,
) -> Any:
    """Sends a request to the broker of this WebSocket, and answers as `Requesting` says.

    It goes through no proxy, and takes as long as the broker does.
    """
    parts = urlsplit(socket_url)
    is_secure = parts.scheme == "wss"
    # What `http.client` does here is the text of HTTP alone: the bytes go over a stream of asyncio,
    # which a program can cancel.
    connection = http.client.HTTPConnection(
        parts.hostname or "", parts.port or (443 if is_secure else 80))
    memory = _Memory()
    connection.sock = memory
    fields = {"Connection": "close", **(fields or {})}
    body = None
    if content is not None:
        fields["Content-Type"] = "application/json"
        body = json.dumps(content, allow_nan=False)
    target = f"{parts.path.removesuffix('ws')}{path}"
    if query:
        target = f"{target}?{urlencode(query)}"
    connection.request(method, target, body, fields)
    try:
        memory.received = await _exchanged(
            connection.host, connection.port, is_secure, bytes(memory.sent))
        answer = connection.getresponse()
        status, received = answer.status, answer.read()
    except (OSError, EOFError, ValueError, asyncio.LimitOverrunError,
            http.client.HTTPException) as fault:
        raise unreached(parts.netloc, fault) from None
    if not 200 <= status < 300:
        raise fault_of(status, answer.getheader, received)
    return None if shape is None else checked(shape, parsed(received))


class _Memory:
    """A socket in memory: what was sent, and what comes back."""

    def __init__(self) -> None:
        self.sent = bytearray()
        self.received = b""

    def sendall(self, content: bytes) -> None:
        self.sent += content

    def makefile(self, mode: str) -> io.BytesIO:
        return io.BytesIO(self.received)

    def close(self) -> None:
        pass


async def _exchanged(host: str, port: int, is_secure: bool, request: bytes) -> bytes:
    """The bytes that come back, up to where their length says or the connection ends."""
    reader, writer = await asyncio.open_connection(host, port, ssl=is_secure or None)
    try:
        writer.write(request)
        await writer.drain()
        received = bytearray(await reader.readuntil(b"\r\n\r\n"))
        length = re.search(rb"\r\nContent-Length:[ \t]*(\d{1,15})[ \t]*\r\n", received, re.I)
        end = len(received) + (CONTENT_LIMIT if length is None else int(length[1]))
        while len(received) < end:
            if not (part := await reader.read(1 << 16)):
                break
            received += part
            if len(received) > CONTENT_LIMIT:
                raise ValueError("the answer is too long")
        return bytes(received)
    finally:
        writer.transport.abort()


def is_unheard(error: BelfryError) -> bool:
    """Whether nobody knows what became of a request."""
    return isinstance(error, (ConnectionLost, TimedOut))
