"""Does what the shared cases say (Clients/cases/README.md), and tells what it is told.

    ../cases/broker.py -- python tests/case_runner.py
"""

import asyncio
import json
import logging
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from typing import Any

from belfry import (
    BelfryError,
    Change,
    Closed,
    ConnectionLost,
    Gap,
    Notification,
    NotificationCenter,
    Refusal,
    Refused,
    State,
    TimedOut,
)

OPTIONS = {
    "userInfo": "user_info", "maxDelay": "max_delay", "causedBy": "caused_by",
    "idempotencyKey": "idempotency_key", "onDisconnect": "on_disconnect", "ifHeld": "if_held",
    "suspensionBehavior": "suspension_behavior", "holdLimit": "hold_limit",
    "minInterval": "min_interval", "namePrefix": "name_prefix", "objectPrefix": "object_prefix",
    "lastEach": "last_each", "ifMatch": "if_match", "ifNoneMatch": "if_none_match",
}


def say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def spelled(options: dict[str, Any] | None) -> dict[str, Any]:
    """Options as this library calls them."""
    return {OPTIONS.get(key, key): value for key, value in (options or {}).items()}


class Case:
    """One case: a center, and what was begun in it."""

    def __init__(self, name: str, begin: dict[str, Any]) -> None:
        self.name = name
        options = dict(begin["options"])
        if isinstance(token := options.get("token"), dict):
            options["token"] = self.token_function(token["function"])
        self.center = NotificationCenter(
            begin["url"], center=begin["center"], on_state=self.state_changed, **options)
        self.calls: dict[str, asyncio.Task[None]] = {}
        self.results: dict[str, Any] = {}
        # What handlers wait for, by observer.
        self.answers: dict[str, list[tuple[str, asyncio.Future[dict[str, Any]]]]] = (
            defaultdict(list))

    @staticmethod
    def token_function(tokens: list[str | None]) -> Callable[[], str]:
        def token() -> str:
            found = tokens.pop(0) if len(tokens) > 1 else tokens[0]
            if found is None:
                raise RuntimeError("there is no token now")
            return found
        return token

    def tell(self, kind: str, **members: Any) -> None:
        say({"case": self.name, "told": kind, **members})

    def state_changed(self, state: State) -> None:
        self.tell("state", state=state.name, code=state.code)

    # What is to be done.

    def do(self, step: dict[str, Any]) -> None:
        verb = step["do"]
        if verb == "cancel":
            # A task that has not begun yet could not tell of its end.
            asyncio.get_running_loop().call_soon(self.calls[step["of"]].cancel)
        elif verb == "answer":
            self.answer(step)
        else:
            method = getattr(self, f"do_{verb}")
            self.calls[step["as"]] = asyncio.create_task(self.call(step["as"], method(step)))

    async def call(self, label: str, work: Any) -> None:
        say({"case": self.name, "begun": label})
        try:
            self.results[label] = result = await work
        except asyncio.CancelledError:
            self.tell("error", of=label, why="cancelled")
        except BelfryError as error:
            self.tell(
                "error", of=label, why=reason(error), code=error.code, problem=error.problem)
        else:
            self.tell("result", of=label, value=plain(result))

    async def do_addObserver(self, step: dict[str, Any]) -> Any:
        label, options = step["as"], spelled(step.get("options"))
        if "target" in step:
            return await self.center.add_action(
                step.get("name"), target=step["target"], selector=step["selector"],
                object=step.get("object"), **options)
        def removed(reason: str) -> None:
            self.tell("removed", observer=label, reason=reason)

        if "keyPath" in step:
            return await self.center.observe_value(
                step["object"], step["keyPath"], self.change_handler(label), on_removed=removed,
                **options)

        async def handle(notification: Notification) -> Any:
            self.tell("notification", observer=label, notification=notification.raw)
            if options.get("acknowledge"):
                return await self.answered(label, notification.id)

        def gap(gap: Gap) -> None:
            self.tell("gap", observer=label, gap=plain(gap))

        # A case has one connection.
        return await self.center.add_observer(
            step.get("name"), handle, object=step.get("object"), on_gap=gap, on_removed=removed,
            own_connection=False, **options)

    def change_handler(self, label: str) -> Callable[[Change], None]:
        def handle(change: Change) -> None:
            value = {} if change.value is None else {"value": change.value}
            told = {"kind": change.kind, "initial": change.initial}
            self.tell("change", observer=label, change=told, **value)
        return handle

    async def do_respond(self, step: dict[str, Any]) -> Any:
        label = step["as"]

        async def handle(ask: Any) -> Any:
            self.tell("ask", observer=label, selector=ask.selector, ask=ask.raw)
            said = await self.answered(label, ask.id)
            return ask.pass_on() if said == "pass" else said

        return await self.center.respond(
            step["object"], {selector: handle for selector in step["selectors"]},
            **spelled(step.get("options")))

    async def do_remove(self, step: dict[str, Any]) -> None:
        await self.results[step["observer"]].remove()

    async def do_post(self, step: dict[str, Any]) -> Any:
        return await self.center.post(step["name"], **spelled(step.get("options")))

    async def do_ask(self, step: dict[str, Any]) -> Any:
        return await self.center.ask(
            step["object"], step["selector"], step.get("userInfo"), **spelled(step.get("options")))

    async def do_withdraw(self, step: dict[str, Any]) -> None:
        await self.center.withdraw(step["id"])

    async def do_explain(self, step: dict[str, Any]) -> Any:
        return await self.center.explain(**spelled(step.get("options")))

    async def do_value(self, step: dict[str, Any]) -> Any:
        return await self.center.value(step["object"], step["keyPath"])

    async def do_setValue(self, step: dict[str, Any]) -> Any:
        return await self.center.set_value(
            step["object"], step["keyPath"], step["value"], **spelled(step.get("options")))

    async def do_mergeValue(self, step: dict[str, Any]) -> Any:
        return await self.center.merge_value(
            step["object"], step["keyPath"], step["patch"], **spelled(step.get("options")))

    async def do_removeValue(self, step: dict[str, Any]) -> Any:
        return await self.center.remove_value(
            step["object"], step["keyPath"], **spelled(step.get("options")))

    async def do_setSuspended(self, step: dict[str, Any]) -> None:
        await self.center.set_suspended(step["suspended"])

    async def do_dequeue(self, step: dict[str, Any]) -> int:
        return await self.center.dequeue(**spelled(step.get("options")))

    async def do_enterMode(self, step: dict[str, Any]) -> Any:
        return await self.center.enter_mode(step["mode"])

    async def do_leaveMode(self, step: dict[str, Any]) -> None:
        await self.center.leave_mode(self.results[step["lease"]])

    async def do_close(self, step: dict[str, Any]) -> None:
        await self.center.close()

    # Handlers, which wait for the step that says what they answer.

    async def answered(self, label: str, id: str) -> Any:
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        waiting = (id, future)
        self.answers[label].append(waiting)
        try:
            said = await future
        except asyncio.CancelledError:
            self.answers[label].remove(waiting)
            self.tell("aborted", observer=label, id=id)
            raise
        if "refuse" in said:
            raise Refusal(said["refuse"])
        return "pass" if "pass" in said else said["result"]

    def answer(self, step: dict[str, Any]) -> None:
        waiting = self.answers[step["observer"]]
        for index, (id, future) in enumerate(waiting):
            if step.get("id", id) == id:
                del waiting[index]
                return future.set_result(step["with"])

    async def end(self) -> None:
        await self.center.close()
        say({"case": self.name, "ended": True})


def reason(error: BelfryError) -> str:
    match error:
        case Refused():
            return "refused"
        case TimedOut():
            return "timeout"
        case ConnectionLost():
            return "lost"
        case Closed():
            return "closed"
    return type(error).__name__


def plain(value: Any) -> Any:
    """A result as JSON, in the broker's words."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if hasattr(value, "token"):
        return {"id": value.id, "token": value.token}
    return value


async def main() -> None:
    # What goes wrong inside the library is no secret.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    loop = asyncio.get_running_loop()
    source = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(source), sys.stdin)
    say({"hello": {"library": "python", "lacks": [], "also": ["lasting"]}})
    cases: dict[str, Case] = {}
    ends = set()
    while line := await source.readline():
        said = json.loads(line)
        name = said["case"]
        if "begin" in said:
            cases[name] = Case(name, said["begin"])
            await cases[name].center.__aenter__()
        elif "do" in said:
            cases[name].do(said)
        elif "end" in said:
            ends.add(asyncio.create_task(cases.pop(name).end()))
    await asyncio.gather(*ends)


if __name__ == "__main__":
    asyncio.run(main())
