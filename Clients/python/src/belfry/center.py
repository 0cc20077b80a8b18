"""The notification center of a broker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from os import PathLike
from typing import Any, Self

from .archives import Archives
from .asking import Asks
from .errors import BelfryError, Refused
from .handling import Handler
from .inbox import OWN_INBOX_LIMIT
from .keeping import Keeping, Store
from .mailboxes import Mailboxes
from .notification import (
    JSON,
    Change,
    ModeLease,
    Notification,
    Receipt,
)
from .observation import NotificationObservation, Observation, ValueObservation
from .observer import Observer, Responder, Token
from .registration import GapHandler, RemovedHandler, Wire
from .responding import AskHandler, Responding
from .session import Session
from .state import State
from .tokens import Credentials, Tokens
from .url import socket_url
from .values import Values
from .wire import (
    NOT_GIVEN,
    JSONObject,
    Since,
    Where,
    add_lease,
    beginning_of,
    filter_of,
    given,
    members,
    place,
)

DEFAULT_TIMEOUT = 15.0


class NotificationCenter(Archives, Asks, Mailboxes, Values):
    """A center of a broker, over a connection that comes back by itself.

        async with NotificationCenter("http://127.0.0.1:8080") as center:
            async for notification in center.notifications("ButtonChange"):
                print(notification.seq, notification.object, notification.user_info)

    Entering begins to connect, and leaving closes it. A call waits for the connection, for at most
    `timeout` seconds in all; where the broker refuses the connection it is told why.
    """

    def __init__(
        self, url: str, *, center: str | None = None, token: Credentials = None,
        resume: bool = False, session: str | PathLike[str] | Store | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        on_state: Callable[[State], None] | None = None,
    ) -> None:
        """`center` names another center than the default one.

        `token` is what the broker is shown: a key, a JWT, or a function that answers one, which may
        be a coroutine and is asked before each connection. With `resume` the observers outlive a
        lost connection at the broker, and what is posted meanwhile is held for them. With a
        `session`, a file or a store with `get` and `set`, they also outlive the program.

        `on_state` is called with each state: `connecting`, `open`, `waiting`, `closed` for good.
        """
        self._url = socket_url(url, center)
        self._timeout = timeout
        self._tokens = Tokens(token)
        self._resumes = resume or session is not None
        self._session = Session(
            self._url, self._tokens, resumes=self._resumes, timeout=timeout, on_state=on_state,
            keeping=None if session is None else Keeping(session, self._url))
        # Those of observers that have a connection of their own.
        self._apart: set[Session] = set()
        self._workers: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._session.start()
        return self

    async def __aexit__(self, *fault: Any) -> None:
        await self.close()

    @property
    def state(self) -> State:
        """How the connection stands."""
        return self._session.state

    async def close(self) -> None:
        """Ends the connection, and with it every observer; loops end."""
        await asyncio.gather(*(session.close() for session in self._apart), self._session.close())

    # Observers.

    async def add_observer(
        self, name: str | None = None, handler: Handler[Notification] | None = None, *,
        object: str | None = None, names: Sequence[str] | None = None,
        name_prefix: str | None = None, object_prefix: str | None = None,
        where: Where | None = None, selector: str | None = None, since: Since | None = None,
        last: int | None = None, last_each: int | None = None, own_connection: bool | None = None,
        acknowledge: bool = False, suspension_behavior: str | None = None,
        hold_limit: int | None = None, min_interval: float | None = None,
        lease: float | None = NOT_GIVEN, on_gap: GapHandler | None = None,
        on_removed: RemovedHandler | None = None, timeout: float | None = None,
    ) -> Observer[Notification]:
        """Registers an observer, and answers its token once the broker has confirmed it.

        A name or object of None matches any. In the place of `name` may be `names` (each of up to
        32) or `name_prefix`, in that of `object` `object_prefix`. `where` is a condition on the
        userInfo, a dict in the broker's words, or a list of them, of which one must hold.

        The handler may be a coroutine function; it gets one notification after the other, in the
        order of `seq`. An error that it raises is logged and stops nobody. With `acknowledge` what
        it returns is the answer, and what it raises refuses, with the text of the error (`Refusal`
        is not logged). Without a handler the observer is an async sequence.

        An observer may begin in the past, and goes on live without a hole: `since` a number, a time
        (a datetime, or its text) or `"oldest"`, with the `last` so many, or the `last_each` of each
        name and object. While it is given the past, its connection brings nothing else live. So it
        has one of its own, unless it begins behind a number; `own_connection` decides otherwise.

        `suspension_behavior`, `hold_limit`, `min_interval` and `lease` (None is for ever) go to the
        broker. `on_gap` is called with what was lost.
        """
        terms = given(
            acknowledge=acknowledge, suspension_behavior=suspension_behavior,
            hold_limit=hold_limit, min_interval=min_interval)
        add_lease(terms, lease)
        observation = NotificationObservation(
            filter_of(name, names, name_prefix, object, object_prefix, where),
            selector or self._session.registry.next_selector(), handler, terms, on_gap, on_removed)
        observation.has_own_selector = selector is not None
        observation.begin_at(beginning_of(since, last, last_each))
        if own_connection is None:
            own_connection = bool(observation.beginning)
        if not own_connection:
            return await self._observe(observation, handler, timeout)
        if not observation.acknowledges:
            observation.inbox.limit = OWN_INBOX_LIMIT
        return await self._observe(observation, handler, timeout, self._begun_apart())

    def _begun_apart(self) -> Session:
        """Another connection of this center, for one observer."""
        self._session.check_begun()
        session = Session(
            self._url, self._tokens, resumes=self._resumes, timeout=self._timeout, on_state=None,
            is_apart=True)
        session.is_suspended = self._session.is_suspended
        self._apart = {each for each in self._apart if each.state.name != "closed"} | {session}
        session.start()
        return session

    async def notifications(
        self, name: str | None = None, *, object: str | None = None, **terms: Any
    ) -> AsyncGenerator[Notification, None]:
        """The notifications of an observer that is registered when the loop begins.

        Leaving the loop removes it. The other options are those of `add_observer`.
        """
        observer = await self.add_observer(name, object=object, **terms)
        try:
            async for notification in observer:
                yield notification
        finally:
            with suppress(BelfryError):
                await observer.remove()

    async def observe_value(
        self, object: str, key_path: str = "", handler: Handler[Change] | None = None, *,
        selector: str | None = None, initial: bool = True, old: bool = False, own: bool = True,
        suspension_behavior: str | None = None, hold_limit: int | None = None,
        min_interval: float | None = None, lease: float | None = NOT_GIVEN,
        on_removed: RemovedHandler | None = None, timeout: float | None = None,
    ) -> Observer[Change]:
        """Observes the value of an object, or what is at a key path in it; "" is the whole.

        The first change is the value as it is, and each has the whole value at the path. With `old`
        changes have what was there; without `own` those are left out that this center writes.
        """
        terms = given(
            old=old, suspension_behavior=suspension_behavior, hold_limit=hold_limit,
            min_interval=min_interval)
        terms |= {} if initial else {"initial": False}
        terms |= {} if own else {"own": False}
        add_lease(terms, lease)

        def look(tell: Callable[[Any, int], None]) -> None:
            def take(answer: Any, error: BelfryError | None) -> None:
                if error is None:
                    tell(answer["value"], answer["seq"])
            self._session.call("value", place(object, key_path), take)

        observation = ValueObservation(
            look, {"object": object, "keyPath": key_path},
            selector or self._session.registry.next_selector(), handler, terms, None, on_removed)
        return await self._observe(observation, handler, timeout)

    async def changes(
        self, object: str, key_path: str = "", **terms: Any
    ) -> AsyncGenerator[Change, None]:
        """The changes of a value: `observe_value` as a loop, which removes it when it is left."""
        observer = await self.observe_value(object, key_path, **terms)
        try:
            async for change in observer:
                yield change
        finally:
            with suppress(BelfryError):
                await observer.remove()

    async def add_action(
        self, name: str | None = None, *, target: str, selector: str, object: str | None = None,
        names: Sequence[str] | None = None, name_prefix: str | None = None,
        object_prefix: str | None = None, where: Where | None = None, acknowledge: bool = False,
        lease: float | None = NOT_GIVEN, on_removed: RemovedHandler | None = None,
        timeout: float | None = None,
    ) -> Token:
        """Registers an observer whose notifications call a selector at whoever holds an address.

        That may be another client, may change and may be nobody. With `acknowledge` it is the
        responder that answers.
        """
        terms = given(acknowledge=acknowledge)
        add_lease(terms, lease)
        filter = filter_of(name, names, name_prefix, object, object_prefix, where)
        wire = Wire(filter, target, selector, terms, None, on_removed)
        await self._session.add(wire, timeout)
        return Token(self._session, wire)

    async def respond(
        self, object: str, handlers: Mapping[str, AskHandler], *, next: str | None = None,
        if_held: str | None = None, concurrency: int | None = None, acknowledge: bool = False,
        suspension_behavior: str | None = None, hold_limit: int | None = None,
        lease: float | None = NOT_GIVEN, on_gap: GapHandler | None = None,
        on_removed: RemovedHandler | None = None, timeout: float | None = None,
    ) -> Responder:
        """Holds the address of an object, and answers what it is asked.

        `handlers` has a function for each selector. It gets the ask, and what it returns is the
        answer: any JSON. What it raises refuses, with the text of the error, and `return
        ask.pass_on()` hands on. Handlers work side by side; one is cancelled when its ask is over.
        Posts with the object and one of these names come to the same functions, and so do actions.
        """
        if not isinstance(handlers, Mapping):
            raise TypeError("handlers must be a dict of selectors, such as {'confirm': confirm}")
        terms = given(
            next=next, if_held=if_held, concurrency=concurrency, acknowledge=acknowledge,
            suspension_behavior=suspension_behavior, hold_limit=hold_limit)
        add_lease(terms, lease)
        responding = await self._session.add(
            Responding(object, handlers, terms, on_gap, on_removed), timeout)
        return Responder(self._session, responding)

    async def work(
        self, object: str, selector: str, handler: AskHandler, *, concurrency: int = 1,
        lease: float | None = NOT_GIVEN, on_removed: RemovedHandler | None = None,
        timeout: float | None = None,
    ) -> Responder:
        """Takes asks as work, one of several that share an address.

        The broker gives each ask to the worker that has the fewest, at most `concurrency` at once,
        and what the handler returns is the answer. The work of one that dies goes to another; where
        none is left it waits for the `lease`, with `resume` or a `session`.
        """
        return await self.respond(
            object, {selector: handler}, if_held="share", suspension_behavior="hold",
            concurrency=concurrency, lease=lease, on_removed=on_removed, timeout=timeout)

    async def _observe(
        self, observation: Observation[Any], handler: Handler[Any] | None, timeout: float | None,
        session: Session | None = None,
    ) -> Observer[Any]:
        session = session or self._session
        observation = await session.add(observation, timeout)
        if handler is not None:
            worker = asyncio.create_task(observation.work())
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)
        return Observer(session, observation)

    # Posts.

    async def post(
        self, name: str, *, object: str | None = None, user_info: Mapping[str, JSON] | None = None,
        style: str | None = None, coalesce: Iterable[str] | str | None = None,
        keep: str | None = None, modes: Iterable[str] | None = None,
        max_delay: float | None = None, immediate: bool = False, ttl: float | None = None,
        caused_by: str | None = None, wait: float | None = None, report: str | None = None,
        idempotency_key: str | None = None, after: float | None = None,
        at: datetime | str | None = None, every: float | None = None,
        lease: float | None = NOT_GIVEN, replaces: bool = False, on_disconnect: bool = False,
        timeout: float | None = None,
    ) -> Receipt:
        """Posts a notification, and answers who matched, and what became of it.

        The options are those of the broker; a queued post has no counts but an `outcome`. It is
        sure that nothing was posted only after `Refused` with another `slug` than
        `outcome-unknown`: with that one it may have happened, or happen still. With
        the same `idempotency_key` it can be repeated, and happens once.
        """
        if coalesce is not None and not isinstance(coalesce, str):
            coalesce = list(coalesce)
        params = given(
            name=name, object=object, user_info=members(user_info), style=style, coalesce=coalesce,
            keep=keep, modes=None if modes is None else list(modes), max_delay=max_delay,
            immediate=immediate, ttl=ttl, caused_by=caused_by, wait=wait, report=report,
            idempotency_key=idempotency_key, after=after,
            at=at.isoformat() if isinstance(at, datetime) else at, every=every, replaces=replaces,
            on_disconnect=on_disconnect)
        add_lease(params, lease)
        answer = await self._session.result_of("post", params, timeout)
        if on_disconnect:
            self._session.lasting.posted(answer["id"], params)
        return Receipt.of(answer)

    async def explain(
        self, name: str | None = None, *, object: str | None = None, selector: str | None = None,
        user_info: Mapping[str, JSON] | None = None, limit: int | None = None,
        cursor: str | None = None, timeout: float | None = None,
    ) -> JSONObject:
        """Tells who would get a notification, or be asked, and whom it nearly reaches.

        A `user_info` decides the conditions of observers; without one their rows have `where`.
        """
        params = given(
            name=name, object=object, selector=selector, user_info=members(user_info),
            limit=limit, cursor=cursor)
        answer: JSONObject = await self._session.result_of("explain", params, timeout)
        return answer

    # Suspension and the queue.

    async def set_suspended(self, is_suspended: bool, *, timeout: float | None = None) -> None:
        """Suspends this client, or lets it go on; it stays so on the next connection."""
        await self._session.result_of("setSuspended", {"suspended": is_suspended}, timeout)
        self._session.is_suspended = is_suspended
        for session in list(self._apart):
            if session.state.name != "closed":
                await session.result_of("setSuspended", {"suspended": is_suspended}, timeout)
                session.is_suspended = is_suspended

    async def dequeue(
        self, *, id: str | None = None, name: str | None = None, object: str | None = None,
        coalesce: Iterable[str] | None = None, timeout: float | None = None,
    ) -> int:
        """Takes notifications out of the queue, by id or by what is equal; answers how many."""
        params = given(
            id=self._session.lasting.dequeued(id, name, object), name=name, object=object,
            coalesce=None if coalesce is None else list(coalesce))
        removed: int = (await self._session.result_of("dequeue", params, timeout))["removed"]
        return removed

    async def enter_mode(self, mode: str, *, timeout: float | None = None) -> ModeLease:
        """Enters a mode of the queue; the lease ends with the connection."""
        answer = await self._session.result_of("enterMode", {"mode": mode}, timeout)
        return ModeLease(id=answer["id"], mode=answer.get("mode", mode), token=answer["token"])

    async def leave_mode(self, lease: ModeLease, *, timeout: float | None = None) -> None:
        """Leaves a mode that was entered."""
        await self._session.result_of("leaveMode", {"token": lease.token}, timeout)
