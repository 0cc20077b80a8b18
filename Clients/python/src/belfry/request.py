"""A request of its own, for what the broker answers over HTTP alone."""

from __future__ import annotations

import asyncio
import http.client
import json
from typing import Any
from urllib.parse import urlencode, urlsplit

from .errors import ConnectionLost
from .verdict import checked, fault_of, parsed
from .wire import JSONObject

DONE = 204


async def requested(
    socket_url: str, token: str | None, method: str, path: str, query: JSONObject, *,
    shape: str | None, content: JSONObject | None = None, timeout: float,
) -> Any:
    """The JSON of an answer, which has this shape; None where the answer has no content.

    Raises Refused where the broker said no, and ConnectionLost where it said nothing. It goes
    through no proxy.
    """
    try:
        status, field, body = await asyncio.to_thread(
            _exchange, socket_url, token, method, path, query, content, timeout)
    except (OSError, http.client.HTTPException) as fault:
        text = str(fault) or type(fault).__name__
        raise ConnectionLost(f"the broker cannot be reached: {text}") from fault
    if not 200 <= status < 300:
        raise fault_of(status, field, body)
    return None if status == DONE or shape is None else checked(shape, parsed(body))


def _exchange(
    socket_url: str, token: str | None, method: str, path: str, query: JSONObject,
    content: JSONObject | None, timeout: float,
) -> tuple[int, Any, bytes]:
    parts = urlsplit(socket_url)
    kind = http.client.HTTPSConnection if parts.scheme == "wss" else http.client.HTTPConnection
    connection = kind(parts.netloc, timeout=timeout)
    fields = {} if token is None else {"Authorization": f"Bearer {token}"}
    body = None
    if content is not None:
        fields["Content-Type"] = "application/json"
        body = json.dumps(content, allow_nan=False)
    target = f"{parts.path.removesuffix('ws')}{path}"
    if query:
        target = f"{target}?{urlencode(query)}"
    try:
        connection.request(method, target, body, fields)
        answer = connection.getresponse()
        return answer.status, answer.getheader, answer.read()
    finally:
        connection.close()
