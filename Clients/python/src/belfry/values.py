"""Values: what a center reads and writes of them."""

from __future__ import annotations

from .errors import Refused
from .notification import JSON, Value, Written
from .session import Session
from .wire import JSONObject, given, place


class Values:
    """The calls of a center that are about values."""

    _session: Session

    async def value(
        self, object: str, key_path: str = "", *, timeout: float | None = None
    ) -> Value | None:
        """What is at a key path of an object's value; None where there is nothing."""
        try:
            answer = await self._session.result_of("value", place(object, key_path), timeout)
        except Refused as refusal:
            if refusal.status == 404:
                return None
            raise
        return Value(answer["value"], answer["etag"], answer["seq"])

    async def set_value(
        self, object: str, key_path: str, value: JSON, *, ttl: float | None = None,
        lease: float | None = None, if_match: str | None = None, if_none_match: str | None = None,
        timeout: float | None = None,
    ) -> Written:
        """Sets what is at a key path; "" is the whole.

        With `if_match` it raises `Refused` (`precondition-failed`) unless the value has that tag;
        `if_none_match="*"` sets only where there is nothing. `ttl` removes it so many seconds
        later, and `lease` so many seconds after this client has gone. One with a lease is set
        again when a connection has brought a new client.
        """
        params = given(ttl=ttl, lease=lease, if_match=if_match, if_none_match=if_none_match)
        return await self._write(
            "setValue", {**place(object, key_path), **params, "value": value}, timeout)

    async def merge_value(
        self, object: str, key_path: str, patch: JSON, *, if_match: str | None = None,
        if_none_match: str | None = None, timeout: float | None = None,
    ) -> Written:
        """Applies a merge patch (RFC 7396): several keys in one change; null removes one."""
        params = given(if_match=if_match, if_none_match=if_none_match)
        return await self._write(
            "mergeValue", {**place(object, key_path), **params, "patch": patch}, timeout)

    async def remove_value(
        self, object: str, key_path: str = "", *, if_match: str | None = None,
        timeout: float | None = None,
    ) -> Written:
        """Removes what is at a key path, or the whole value."""
        params = {**place(object, key_path), **given(if_match=if_match)}
        return await self._write("removeValue", params, timeout)

    async def _write(self, method: str, params: JSONObject, timeout: float | None) -> Written:
        ended = self._session.lasting.write(method, params)
        try:
            answer = await self._session.result_of(method, params, timeout)
        except BaseException as error:
            ended(None, error)
            raise
        ended(answer, None)
        return Written.of(answer)
