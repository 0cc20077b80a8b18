"""The client at the broker: its connection, which comes back by itself, and its session."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any

from .backoff import STEADY_TIME, BackOff
from .calls import Calls, Outcome
from .errors import BelfryError, Closed, ConnectionLost, Refused, Unreachable, problem_of
from .handling import call_guarded, logger
from .lasting import Lasting
from .limit import Limit, settle
from .line import Line
from .registration import Registration
from .registry import Registry
from .state import State
from .tokens import Tokens
from .verdict import BROKER_PAUSE_LIMIT, OVERLOADED_CODE, checked, verdict_of
from .wire import JSONObject, text_of

CLOSED_CODE = 1000

LEAST_FAULT_STATUS = 500
"""From here on it is the broker, and not the call, that the refusal is about."""

CLOSE_TIME = 2.0
"""Seconds that a center which is closed waits for the broker to withdraw and remove what it had."""

BAD_FRAME_LIMIT = 2
"""Lines in a row that end by a frame which is no JSON; from then on such frames are passed over."""

PING_INTERVAL = 25.0
"""Seconds between two pings where the broker does not say; one that knows no ping says so."""


@dataclass(slots=True)
class Identity:
    """Who this client is at the broker."""

    client: str
    session: str
    epoch: str


class Session:
    """Keeps a client at the broker, from `start` until `close`."""

    def __init__(
        self, url: str, tokens: Tokens, *, resumes: bool, timeout: float,
        on_state: Callable[[State], None] | None, is_apart: bool = False,
    ) -> None:
        """One that is apart is that of one observer, and ends with it."""
        self.state = State("connecting")
        self.is_welcomed = False
        self.registry = Registry(self)
        self.is_suspended = False
        self.lasting = Lasting()
        self._url = url
        self._tokens = tokens
        self._resumes = resumes
        self._timeout = timeout
        self._on_state = on_state
        self._is_apart = is_apart
        self._calls = Calls()
        self._back_off = BackOff()
        self._line: Line | None = None
        self._identity: Identity | None = None
        # How many registrations the broker has yet to confirm before the connection is open.
        self._unconfirmed = 0
        self._end_code: int | None = None
        self._announced: float | None = None
        self._welcomed_at: float | None = None
        self._lost_at = 0.0
        # Frames that cannot be read, and whether the last line has ended by one that is too large.
        self._bad_frames = 0
        self._gives_up_past = False
        self._tasks: set[asyncio.Task[None]] = set()
        # What is still done for calls that were given up.
        self._finishing: set[asyncio.Task[None]] = set()
        # Why there is no connection, as far as is known.
        self._why: BelfryError | None = None
        self._waiting: set[asyncio.Future[None]] = set()
        self._running: asyncio.Task[None] | None = None

    @property
    def epoch(self) -> str | None:
        """The life of the broker's center that the last connection was to."""
        return None if self._identity is None else self._identity.epoch

    def start(self) -> None:
        self._running = asyncio.create_task(self._run())

    # Calls.

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

    async def _result_now(self, method: str, params: JSONObject) -> Any:
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
        if self._identity is None and isinstance(self._why, Unreachable):
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

    # Registrations.

    async def add(self, registration: Registration, timeout: float | None) -> None:
        """Registers it, and returns when the broker has confirmed it."""
        self.check_begun()
        # What is no JSON is refused here, and not on some later connection.
        text_of({**registration.terms, **registration.params()})
        self.registry.add(registration)
        if self.is_welcomed:
            self._register(registration)
        try:
            async with self.limit(timeout):
                await asyncio.shield(registration.confirmed)
        except BaseException:
            # Cancelling counts, too.
            self._give_up(registration)
            raise

    async def remove(self, registration: Registration, timeout: float | None = None) -> None:
        """Removes it; nothing of it is told after the call."""
        if registration.is_removed:
            return
        is_registered, params = registration.is_registered, {"token": registration.token}
        self.registry.remove(registration, None)
        # Without a connection it is gone with it, or removed when the session goes on.
        if is_registered and self._line is not None:
            with suppress(ConnectionLost, Closed):
                await self.result_of("removeObserver", params, timeout)
        self._end_if_alone()

    def _end_if_alone(self) -> None:
        if self._is_apart and not any(True for _ in self.registry):
            self._in_background(self.close())

    def _give_up(self, registration: Registration) -> None:
        """Nobody waits for it any more; one that the broker confirms later is removed then."""
        if not registration.is_removed:
            self.registry.remove(registration, None)
        if registration.is_registered:
            self._remove_quietly({"token": registration.token})
        self._end_if_alone()

    def _register(self, registration: Registration) -> None:
        lifetime = "token" if self._resumes else "connection"
        params = {
            **registration.terms, **registration.params(), "lifetime": lifetime,
            **registration.start}
        self._unconfirmed += 1
        line = self._line
        self.call("addObserver", params,
                  lambda answer, error: self._registered(registration, line, answer, error))

    def _registered(
        self, registration: Registration, line: Line | None, answer: Any, error: BelfryError | None
    ) -> None:
        if isinstance(error, Refused):
            if not registration.is_removed:
                self.registry.refused(registration, error)
        elif error is not None:
            # The next connection registers it again.
            return
        else:
            self.registry.confirmed(registration, checked("addObserver", answer))
            if registration.is_removed:
                self._remove_quietly({"token": registration.token})
        if line is self._line:
            self._unconfirmed -= 1
            self._open_if_confirmed()

    def _remove_quietly(self, params: JSONObject) -> None:
        self.call("removeObserver", params, lambda result, error: None)

    # The connection.

    async def _run(self) -> None:
        try:
            await self._keep_up()
        except Exception as fault:
            # Nobody may wait for a client that is no more.
            logger.exception("the client has failed")
            self._why = BelfryError(f"the client has failed: {fault}")
            self._finish(None, None)

    async def _keep_up(self) -> None:
        """Connects again and again, until the center is closed."""
        while True:
            self._enter(State("connecting"))
            code: int | None = None
            can_renew = self._tokens.can_change
            try:
                line = await self._opened()
            except BelfryError as fault:
                self._why = fault
                verdict = verdict_of(fault=fault, can_renew=can_renew)
                if verdict.is_final:
                    return self._finish(fault, None)
                if self._identity is None and isinstance(fault, Unreachable):
                    self._give_up_waiting(lambda: Unreachable(str(fault)))
                code = OVERLOADED_CODE if verdict.is_busy else None
            else:
                code = await self._serve(line)
                if self.state.name == "closed":
                    return
                verdict = verdict_of(
                    code=code, was_welcomed=self._welcomed_at is not None, can_renew=can_renew)
                if verdict.is_final:
                    self._why = ConnectionLost(f"the broker ended the connection with {code}")
                    return self._finish(None, code)
            pause = self._back_off.pause(self._lasted(), verdict, self._announced)
            self._announced = None
            self._enter(State("waiting", code, problem_of(self._why), pause))
            await asyncio.sleep(pause)

    async def _opened(self) -> Line:
        return await Line.open(self._url, await self.token(), self._timeout)

    def _lasted(self) -> float:
        """Seconds since the last welcome, if the connection had one."""
        welcomed_at, self._welcomed_at = self._welcomed_at, None
        lasted = 0 if welcomed_at is None else time.monotonic() - welcomed_at
        if lasted > STEADY_TIME:
            self._bad_frames = 0
        return lasted

    async def _serve(self, line: Line) -> int:
        """Takes what comes on the connection until it ends, and answers its close code."""
        self._line, self._end_code, self._unconfirmed = line, None, 0
        # Who has opened it, and says no welcome in time, is no broker, whatever else comes.
        opening = asyncio.get_running_loop().call_later(
            self._timeout, lambda: None if self.is_welcomed else line.abort())
        try:
            async with aclosing(line.frames()) as frames:
                async for frame in frames:
                    if (reason := self._fault_of(frame)) is not None:
                        await line.fail(reason)
                        break
                    if self._end_code is not None:
                        await line.close()
                        break
        finally:
            opening.cancel()
            # Such a frame comes again, as long as what was missed is asked for.
            self._gives_up_past = line.has_refused_size
            self._lose(ConnectionLost(f"the connection ended ({line.code})"))
            await line.end()
        return self._end_code or line.code

    def _fault_of(self, frame: JSONObject | None) -> str | None:
        """Takes a frame, and answers why the connection has to end for it, if so.

        A frame that is no JSON ends it, so that what is missing comes again; one that comes so
        again is passed over, as is any that cannot be taken: it would come for ever.
        """
        if frame is None:
            self._bad_frames += 1
            if self._bad_frames < BAD_FRAME_LIMIT:
                return "not a JSON object"
            logger.warning("a frame that is no JSON object is passed over")
            self.registry.tell_gaps()
            return None
        try:
            self._take(frame)
        except Exception:
            logger.warning("a frame is not of the protocol belfry.v1", exc_info=True)
            method = frame.get("method")
            if not isinstance(method, str) or method == "belfry.welcome":
                return "not of the protocol"
            if not method.startswith("belfry."):
                self.registry.pass_over(method, frame.get("params"), frame.get("id"))
        return None

    def _lose(self, error: ConnectionLost) -> None:
        self._line, self._why = None, error
        if self.is_welcomed:
            self._lost_at = time.monotonic()
        self.registry.leave()
        self.is_welcomed = False
        self._calls.fail(lambda: ConnectionLost(str(error)))

    def _finish(self, fault: BelfryError | None, code: int | None) -> None:
        """The center is closed, and everything that waits is told why.

        `fault` is the broker's refusal of a connection; without one it is closed by this code.
        """
        def error() -> BelfryError:
            if fault is None:
                return self._closed()
            return Refused(str(fault), code=fault.code, problem=fault.problem)

        self._enter(State("closed", code, problem_of(self._why)))
        if code == CLOSED_CODE:
            # The loops of a center that its owner closes end without an error.
            for registration in self.registry:
                if registration.confirmed.done():
                    self.registry.remove(registration, None)
        self._give_up_waiting(error)

    def _give_up_waiting(self, error: Callable[[], BelfryError]) -> None:
        for future in list(self._waiting):
            settle(future, None, error())
        for registration in self.registry:
            self.registry.remove(registration, error())

    def _closed(self) -> Closed:
        why = self._why
        text = "the center is closed" + (f": {why}" if why else "")
        return Closed(text, problem=problem_of(why))

    def _enter(self, state: State) -> None:
        if state.name != self.state.name:
            self.state = state
            call_guarded(self._on_state, state)

    async def close(self) -> None:
        """Ends the connection, and with it every observer."""
        if self.state.name == "closed":
            return
        if self._finishing:
            _, late = await asyncio.wait(self._finishing, timeout=CLOSE_TIME)
            for task in late:
                task.cancel()
        await self._remove_lasting()
        line = self._line
        self._why = None
        self._calls.fail(lambda: Closed("the center was closed"))
        self._finish(None, CLOSED_CODE)
        if line is not None:
            await line.close()
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running

    async def _remove_lasting(self) -> None:
        """Removes what would outlive the connection; without one it stays for its lease."""
        if not self._resumes or self.state.name != "open":
            return
        registered = [one for one in self.registry if one.is_registered]
        removals = (
            self.result_of("removeObserver", {"token": one.token}, CLOSE_TIME)
            for one in registered)
        await asyncio.gather(*removals, return_exceptions=True)

    # What comes in.

    def _take(self, frame: JSONObject) -> None:
        method, params = frame.get("method"), frame.get("params")
        if method is None:
            return self._calls.answer(frame)
        params = {} if params is None else params
        match method:
            case "belfry.welcome":
                self._welcomed(params)
            case "belfry.gap":
                self.registry.gap(params)
            case "belfry.removed":
                self.registry.removed(params)
                self._end_if_alone()
            case "belfry.settled":
                self.registry.settled(params)
            case "belfry.draining":
                if isinstance(pause := params.get("reconnectAfter"), (int, float)):
                    self._announced = min(max(0.0, pause), BROKER_PAUSE_LIMIT)
            case str() if not method.startswith("belfry."):
                self.registry.take(method, params, frame.get("id"))

    def _welcomed(self, params: JSONObject) -> None:
        own = Identity(params["client"], params["session"], params["epoch"])
        if not isinstance(own.epoch, str):
            raise TypeError("the epoch of a welcome is a text")
        self._why = None
        self._welcomed_at = time.monotonic()
        if self._line is not None:
            self._line.watch(float(params.get("pingInterval") or PING_INTERVAL))
        earlier = self._identity
        if self._gives_up_past:
            self.registry.give_up_past()
        if not self._resumes or earlier is None or self._gives_up_past:
            return self._begin(own, earlier, None)
        resume: JSONObject = {"session": earlier.session, "epoch": earlier.epoch}
        if (after := self.registry.position()) is not None:
            resume["after"] = after
        self.call("resume", resume, lambda answer, error: self._resumed(own, answer, error))

    def _resumed(self, own: Identity, answer: Any, error: BelfryError | None) -> None:
        if error is None:
            ids = [row["id"] for row in checked("resume", answer)["observers"]]
            self._begin(own, self._identity, ids)
        elif isinstance(error, Refused):
            if (error.status or 0) >= LEAST_FAULT_STATUS:
                # It has too much to do; the session waits.
                self._end_code = OVERLOADED_CODE
            else:
                self._begin(own, self._identity, None)

    def _begin(self, own: Identity, earlier: Identity | None, kept: list[str] | None) -> None:
        """Everything can be asked for; `kept` are the observers of a session that goes on."""
        is_other_epoch = earlier is not None and earlier.epoch != own.epoch
        if is_other_epoch:
            self.registry.begin_epoch()
        self.is_welcomed = True
        if kept is not None and earlier is not None:
            self._identity = Identity(earlier.client, earlier.session, own.epoch)
            for id in self.registry.go_on(kept, is_other_epoch):
                self._remove_quietly({"observer": id})
        else:
            self._identity = own
            if self.is_suspended:
                self.call("setSuspended", {"suspended": True}, lambda result, error: None)
        self._make_again(None if kept is None else time.monotonic() - self._lost_at)
        for registration in self.registry:
            if not registration.is_registered:
                if is_other_epoch and registration.id is not None:
                    self.registry.begin_anew(registration)
                self._register(registration)
        self._open_if_confirmed()

    def _make_again(self, away: float | None) -> None:
        self._in_background(self.lasting.make_again(self._result_now, away))

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        _keep(asyncio.create_task(work), self._tasks)

    def _open_if_confirmed(self) -> None:
        if not self.is_welcomed or self._unconfirmed > 0 or self.state.name != "connecting":
            return
        self._enter(State("open"))
        for future in list(self._waiting):
            settle(future, None, None)


def _keep(task: asyncio.Task[None], tasks: set[asyncio.Task[None]]) -> None:
    tasks.add(task)
    task.add_done_callback(tasks.discard)
