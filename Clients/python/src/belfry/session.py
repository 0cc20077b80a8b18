"""The client at the broker: its connection, which comes back by itself, and its session."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import Any

from .backoff import STEADY_TIME, BackOff
from .errors import BelfryError, Closed, ConnectionLost, Refused, Unreachable, problem_of
from .handling import call_guarded, logger
from .keeping import CLAIM_TIME, Keeping
from .lasting import Lasting
from .limit import settle
from .line import Line
from .registering import Identity, Registering
from .state import State
from .tokens import Tokens
from .verdict import BROKER_PAUSE_LIMIT, OVERLOADED_CODE, TAKEN_OVER_CODE, checked, verdict_of
from .wire import JSONObject

CLOSED_CODE = 1000

LEAST_FAULT_STATUS = 500
"""From here on it is the broker, and not the call, that the refusal is about."""

CLOSE_TIME = 2.0
"""Seconds that a center which is closed waits for the broker to withdraw and remove what it had."""

BAD_FRAME_LIMIT = 2
"""Lines in a row that end by a frame which is no JSON; from then on such frames are passed over."""

PING_INTERVAL = 25.0
"""Seconds between two pings where the broker does not say; one that knows no ping says so."""


class Session(Registering):
    """Keeps a client at the broker, from `start` until `close`."""

    def __init__(
        self, url: str, tokens: Tokens, *, resumes: bool, timeout: float,
        on_state: Callable[[State], None] | None, is_apart: bool = False,
        keeping: Keeping | None = None,
    ) -> None:
        """One that is apart is that of one observer, and ends with it.

        With `keeping` it goes on where an earlier run of the program was.
        """
        super().__init__(tokens, timeout, resumes, is_apart, keeping)
        self.is_suspended = False
        self.lasting = Lasting()
        self._url = url
        self._on_state = on_state
        self._back_off = BackOff()
        self._end_code: int | None = None
        self._announced: float | None = None
        self._welcomed_at: float | None = None
        self._lost_at = 0.0
        # Frames that cannot be read, and whether the last line has ended by one that is too large.
        self._bad_frames = 0
        self._gives_up_past = False

    @property
    def epoch(self) -> str | None:
        """The life of the broker's center that the last connection was to."""
        return None if self._identity is None else self._identity.epoch

    def start(self) -> None:
        if self._keeping is not None:
            self._restore(self._keeping.read())
        self._running = asyncio.create_task(self._run())

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
                if not self._was_connected and isinstance(fault, Unreachable):
                    self._tell_unreachable(str(fault))
                code = OVERLOADED_CODE if verdict.is_busy else None
            else:
                code = await self._serve(line)
                if self.state.name == "closed":
                    return
                verdict = verdict_of(
                    code=code, was_welcomed=self._welcomed_at is not None, can_renew=can_renew)
                if verdict.is_final and not (code == TAKEN_OVER_CODE and self._yields()):
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

        self._save()
        self._enter(State("closed", code, problem_of(self._why)))
        if self._keeping is not None:
            self._keeping.close()
        if code == CLOSED_CODE:
            # The loops of a center that its owner closes end without an error.
            for registration in self.registry:
                if registration.confirmed.done():
                    self.registry.remove(registration, None)
        for future in list(self._waiting):
            settle(future, None, error())
        for registration in self.registry:
            self.registry.remove(registration, error())

    def _tell_unreachable(self, text: str) -> None:
        claimed = [each.confirmed for each in self.registry if each.is_claimed]
        for future in [*self._waiting, *claimed]:
            settle(future, None, Unreachable(text))

    def _enter(self, state: State) -> None:
        if state.name != self.state.name:
            self.state = state
            call_guarded(self._on_state, state)

    async def close(self) -> None:
        """Ends the connection, and with it every observer."""
        if self.state.name == "closed":
            return
        await self._end_finishing(CLOSE_TIME)
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
        if self._keeping is not None or not self._resumes or self.state.name != "open":
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
                self._save_soon()

    def _welcomed(self, params: JSONObject) -> None:
        own = Identity(params["client"], params["session"], params["epoch"])
        if not isinstance(own.epoch, str):
            raise TypeError("the epoch of a welcome is a text")
        self._why, self._was_connected = None, True
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
            if self._is_restored:
                # What the earlier run had asked for is not known here.
                self.call("setSuspended", {"suspended": self.is_suspended}, lambda *end: None)
            self._unknown = self.registry.go_on(kept, is_other_epoch)
            # One that an earlier run had not stored yet may hold an address that this one will.
            if not self._is_restored:
                self._remove_unknown()
        else:
            self._identity = own
            if self.is_suspended:
                self.call("setSuspended", {"suspended": True}, lambda result, error: None)
        self._is_restored = False
        self._save()
        self._make_again(None if kept is None else time.monotonic() - self._lost_at)
        for registration in self.registry:
            if not registration.is_registered:
                if is_other_epoch and registration.id is not None:
                    self.registry.begin_anew(registration)
                self._register(registration)
        self._open_if_confirmed()

    def _make_again(self, away: float | None) -> None:
        """Sets again what has a lease, before anybody is told that the connection is open."""
        line = self._line
        self._unconfirmed += 1

        async def again() -> None:
            await self.lasting.make_again(self.result_now, away)
            if line is self._line:
                self._unconfirmed -= 1
                self._open_if_confirmed()

        self._in_background(again())

    def _open_if_confirmed(self) -> None:
        if not self.is_welcomed or self._unconfirmed > 0 or self.state.name != "connecting":
            return
        self._enter(State("open"))
        if self._unknown or any(not registration.is_claimed for registration in self.registry):
            asyncio.get_running_loop().call_later(CLAIM_TIME, self._remove_unclaimed)
        for future in list(self._waiting):
            settle(future, None, None)

