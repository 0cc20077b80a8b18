"""The client at the broker as callers see it: what it calls, and what waits for the connection."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from .calls import Calls, Outcome
from .errors import BelfryError, Closed, Unreachable, problem_of
from .handling import logger
from .limit import Limit, settle
from .line import Line
from .state import State
from .tokens import Tokens
from .verdict import checked
from .wire import JSONObject


class Client:
    """Calls the broker on the connection that there is, or waits for one."""

    def __init__(self, tokens: Tokens, timeout: float) -> None:
        self.state = State("connecting")
        self._tokens = tokens
        self._timeout = timeout
        self._calls = Calls()
        self._line: Line | None = None
        # Why there is no connection, as far as is known, and whether there ever was one.
        self._why: BelfryError | None = None
        self._was_connected = False
        self._waiting: set[asyncio.Future[None]] = set()
        self._running: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        # What is still done for calls that were given up.
        self._finishing: set[asyncio.Task[None]] = set()

    async def result_of(
        self, method: str, params: JSONObject, timeout: float | None = None
    ) -> Any:
        """Calls the broker when it is there, and answers the result.

        Raises BelfryError: the broker refused, did not answer in time, or went.
        """
        async with self.limit(timeout, params.get("wait") or 0):
            await self.until_open()
            future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            id = self.call(method, params, lambda result, error: settle(future, result, error))
            try:
                return checked(method, await future)
            finally:
                self._calls.give_up(id)

    async def result_now(self, method: str, params: JSONObject) -> Any:
        """Calls the broker on the connection as it is, which takes as long as that does."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.call(method, params, lambda result, error: settle(future, result, error))
        return checked(method, await future)

    def limit(self, timeout: float | None, wait: float = 0) -> Limit:
        """The time that a call may take, with that for which it asks the broker to wait."""
        seconds = (self._timeout if timeout is None else timeout) + wait
        return Limit(seconds, lambda: self._why)

    async def token(self) -> str | None:
        """What the broker is shown next; raises BelfryError where the program's function fails."""
        try:
            async with asyncio.timeout(self._timeout):
                return await self._tokens.next()
        except Exception as fault:
            logger.exception("there is no token")
            raise BelfryError(f"there is no token: {fault}") from fault

    def send(self, message: JSONObject) -> None:
        """Sends a message; without a connection it is not sent."""
        if self._line is not None:
            self._line.send(message)

    def call(self, method: str, params: JSONObject, outcome: Outcome) -> int:
        """Calls the broker now, and answers the id by which the call can be given up."""
        id = self._calls.add(outcome)
        try:
            self.send({"id": id, "method": method, "params": params})
        except (TypeError, ValueError):
            # What is no JSON never left.
            self._calls.give_up(id)
            raise
        return id

    def finish(self, work: Coroutine[Any, Any, None]) -> None:
        """Does the rest of a call that was given up; closing waits for it."""
        _keep(asyncio.create_task(work), self._finishing)

    def check_begun(self) -> None:
        """Raises where the center is not entered yet, is closed, or has never found a broker."""
        if self._running is None:
            raise RuntimeError(
                "the center is not connected: use it in `async with NotificationCenter(...)`")
        if self.state.name == "closed":
            raise self._closed() from None
        if not self._was_connected and isinstance(self._why, Unreachable):
            raise Unreachable(str(self._why)) from None

    async def until_open(self) -> None:
        """Waits for the connection, and raises where the center is closed."""
        self.check_begun()
        if self.state.name == "open":
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)

    def _closed(self) -> Closed:
        why = self._why
        text = "the center is closed" + (f": {why}" if why else "")
        return Closed(text, problem=problem_of(why))

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        _keep(asyncio.create_task(work), self._tasks)

    async def _end_finishing(self, time: float) -> None:
        if self._finishing:
            _, late = await asyncio.wait(self._finishing, timeout=time)
            for task in late:
                task.cancel()


def _keep(task: asyncio.Task[None], tasks: set[asyncio.Task[None]]) -> None:
    tasks.add(task)
    task.add_done_callback(tasks.discard)
