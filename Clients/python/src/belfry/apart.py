"""An ask over a connection of its own: when the connection ends, the ask is withdrawn."""

from __future__ import annotations

from typing import Any

from .errors import ConnectionLost, refused
from .line import Line
from .verdict import checked
from .wire import JSONObject

CALL = 1


async def ask_apart(url: str, token: str | None, params: JSONObject, timeout: float) -> Any:
    """Asks, and answers the result; to cancel it withdraws the ask."""
    line = await Line.open(url, token, timeout)
    try:
        line.send({"id": CALL, "method": "ask", "params": params})
        async for frame in line.frames():
            if frame is None or frame.get("id") != CALL or "method" in frame:
                continue
            if isinstance(error := frame.get("error"), dict):
                raise refused(error)
            return checked("ask", frame.get("result"))
        raise ConnectionLost(f"the connection ended ({line.code})")
    finally:
        await line.close()
