"""Asks: what a center asks others, and how it waits for their answers."""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from urllib.parse import quote

from .apart import ask_apart
from .errors import BelfryError, ConnectionLost, Refused, TimedOut, refusal_of
from .notification import JSON, Answer
from .request import AGAIN_PAUSE, Requesting, is_unheard
from .verdict import PROBLEM_TYPE
from .wire import NOT_GIVEN, JSONObject, given, members

CALL_WAIT = 60.0
"""Seconds: the longest time for which one call may ask the broker to wait."""

SHORT_WAIT = 15.0
"""Seconds: an ask that waits for longer is stored at the broker."""

CLOSED_WAIT = 5.0
"""Seconds that an ask waits which says nothing: what the broker does by itself."""

UNKNOWN = "outcome-unknown"
DRAINING = "draining"

PASSING = frozenset({UNKNOWN, DRAINING, "overloaded", "rate-limited", "store-unavailable"})
"""Refusals that are about the broker as it is now, and not about the ask."""

NOT_FOUND = 404


class Asks(Requesting):
    """The calls of a center that ask."""

    async def ask(
        self, object: str, selector: str, user_info: Mapping[str, JSON] | None = None, *,
        default: JSON = NOT_GIVEN, wait: float | None = None, ttl: float | None = None,
        once: bool = False, keep: bool = False, fail_closed: bool = False,
        present: Mapping[str, JSON] | None = None, if_nobody: str | None = None,
        caused_by: str | None = None, idempotency_key: str | None = None,
        own_connection: bool = False, timeout: float | None = None,
    ) -> Answer:
        """Asks who holds an address, and answers what they say, or the default.

        `wait` may be any number of seconds. An ask that waits for more than 15, or that waits and
        has a `ttl` or `keep`, is stored at the broker: it outlives lost connections and restarts,
        and cancelling the task withdraws it, unless `keep` is true. Any other ask ends with its
        connection, or by itself when its time is over; cancelling withdraws it where it has its
        `own_connection`. With a `ttl` alone it is answered at once with its `id` and the `outcome`
        `asked`; `fate` waits for it.

        Without an answer it raises `Refused` with the problem, such as `no-responder`. When the
        connection is lost, or the broker does not know what became of the ask (`outcome-unknown`)
        or stops (`draining`), it asks again where it has a `wait`, a `ttl` or an
        `idempotency_key`, and raises that otherwise. What may be shown `once` needs the key.

        With `fail_closed` all that is no answer of a responder gives the `default` within `wait`
        seconds (5), by `asker` and with a reason, and raises nothing, whatever has failed.
        """
        params = given(
            object=object, selector=selector, user_info=members(user_info), wait=wait, ttl=ttl,
            once=once, present=members(present), if_nobody=if_nobody, caused_by=caused_by,
            idempotency_key=idempotency_key)
        if fail_closed:
            if default is NOT_GIVEN:
                raise ValueError("fail_closed needs a default: give the answer for when none comes")
            params["wait"] = CLOSED_WAIT if wait is None else wait
            return await self._closed_answer(
                self._answered(params, keep, own_connection, timeout), params["wait"], default)
        if default is not NOT_GIVEN:
            params["default"] = default
        return await self._answered(params, keep, own_connection, timeout)

    async def fate(
        self, id: str, *, wait: float | None = None, timeout: float | None = None
    ) -> Answer:
        """What became of an ask that was made before, perhaps by an earlier run of the program.

        The `outcome` of one that is open is `asked`. With `wait` it waits for the end, for so many
        seconds, over lost connections and restarts of the broker. It raises `Refused` as `ask`
        does, and where the broker does not know such an ask (404).
        """
        if wait is None:
            return _ending_of(await self._fate(id, 0, timeout))
        async with self._session.limit(timeout, wait):
            return await self._settled(id, time.monotonic() + wait)

    async def withdraw(self, id: str, *, timeout: float | None = None) -> None:
        """Withdraws an ask that was made with `ttl`."""
        await self._session.result_of("withdraw", {"id": id}, timeout)

    # One call.

    async def _answered(
        self, params: JSONObject, keep: bool, own_connection: bool, timeout: float | None
    ) -> Answer:
        wait = params.get("wait", 0)
        has_time = bool(wait) or "ttl" in params
        if has_time and "once" not in params:
            params.setdefault("idempotencyKey", _new_key())
        if wait > SHORT_WAIT or (wait and (keep or "ttl" in params)):
            return await self._answered_later(params, keep, timeout)
        async with self._session.limit(timeout, wait):
            while True:
                try:
                    if own_connection:
                        token = await self._session.token()
                        return _answer_of(
                            await ask_apart(self._url, token, params, self._timeout))
                    return _answer_of(await self._session.result_of("ask", params, timeout))
                except (ConnectionLost, Refused) as error:
                    # The broker may not know what became of it: any other refusal is the outcome.
                    is_unknown = error.slug in (UNKNOWN, DRAINING)
                    may_repeat = is_unknown or isinstance(error, ConnectionLost)
                    if not may_repeat or "idempotencyKey" not in params:
                        raise
                    await self._pause(error)

    async def _closed_answer(
        self, answering: Awaitable[Answer], wait: float, default: JSON
    ) -> Answer:
        """The answer of a responder, or the default."""
        try:
            async with self._session.limit(wait):
                answer = await answering
            if answer.by == "responder":
                return answer
            reason = answer.reason or f"the ask is {answer.outcome}, and has no answer"
        except BelfryError as error:
            reason = error.slug or str(error)
        return Answer.of({"answer": default, "by": "asker", "reason": reason})

    # An ask that the broker has stored.

    async def _answered_later(
        self, params: JSONObject, keep: bool, timeout: float | None
    ) -> Answer:
        """Asks once, by a key, and waits for the fate of the ask."""
        params = {"idempotencyKey": _new_key(), "ttl": params["wait"], **params}
        wait = params.pop("wait")
        # Where the ask itself lives for the wait, the broker says how it ended.
        end = time.monotonic() + wait if params["ttl"] > wait else math.inf
        asking: asyncio.Task[Answer] | None = None
        try:
            async with self._session.limit(timeout, wait):
                while True:
                    await self._session.until_open()
                    asking = asyncio.create_task(self._asked(params))
                    # After a cancelled task nobody asks how it ends.
                    asking.add_done_callback(lambda task: task.cancelled() or task.exception())
                    asked = await asyncio.shield(asking)
                    if asked.outcome is None:
                        return asked
                    epoch = self._session.epoch
                    try:
                        return await self._settled(asked.id, end)
                    except Refused as error:
                        if error.status != NOT_FOUND:
                            raise
                        await self._session.until_open()
                        # A broker that kept nothing over its restart is asked anew.
                        if self._session.epoch == epoch or "once" in params:
                            raise
        except (asyncio.CancelledError, TimedOut):
            if asking is not None and not keep:
                self._session.finish(self._withdrawn(asking))
            raise

    async def _asked(self, params: JSONObject) -> Answer:
        """Asks by a key, until the broker has said that it knows the ask."""
        while True:
            try:
                return _answer_of(await self._session.result_of("ask", params))
            except BelfryError as error:
                if not is_unheard(error) and error.slug not in PASSING:
                    raise
                await self._pause(error)

    async def _settled(self, id: str, end: float) -> Answer:
        """How an ask has ended, or at the `end` of the time that it is open still."""
        while True:
            asked_at = time.monotonic()
            left = max(0.0, end - asked_at)
            try:
                fate = await self._fate(id, min(left, CALL_WAIT))
            except BelfryError as error:
                if not self._is_passing(error):
                    raise
                await self._pause(error)
                continue
            if fate.get("state") != "asked" or left == 0:
                return _ending_of(fate)
            if time.monotonic() < asked_at + AGAIN_PAUSE:
                # A broker that stops answers before the time.
                await asyncio.sleep(AGAIN_PAUSE)

    async def _fate(self, id: str, wait: float, timeout: float | None = None) -> JSONObject:
        path = f"notifications/{quote(id, safe='')}"
        fate: JSONObject = await self._requested(
            "GET", path, shape="fate", wait=wait, timeout=timeout)
        return fate

    async def _withdrawn(self, asking: asyncio.Task[Answer]) -> None:
        """Withdraws an ask, also where its call is under way."""
        with suppress(BelfryError):
            asked = await asking
            while asked.outcome is not None:
                try:
                    return await self.withdraw(asked.id)
                except BelfryError as error:
                    if not self._is_passing(error):
                        raise
                    await self._pause(error)


def _answer_of(result: JSONObject) -> Answer:
    """What the result of an ask says."""
    if "answer" not in result and result.get("outcome") != "asked":
        raise ConnectionLost("the answer to ask is not that of a broker")
    return Answer.of(result)


def _ending_of(fate: JSONObject) -> Answer:
    """What the fate of an ask says; raises where it says that there is no answer."""
    match fate["state"]:
        case "asked":
            return Answer.of({**fate, "outcome": "asked"})
        case "answered":
            return _answer_of(fate)
        case "failed" if isinstance(problem := fate.get("problem"), dict):
            raise refusal_of(problem)
        case "withdrawn":
            # What an asker is told that waits with its call.
            raise refusal_of({
                "type": f"{PROBLEM_TYPE}already-settled", "status": 409,
                "detail": "the ask was withdrawn", "id": fate["id"], "path": fate.get("path")})
        case state:
            raise BelfryError(f"{fate['id']} is not an ask: it is a post that is {state}")


def _new_key() -> str:
    return uuid.uuid4().hex
