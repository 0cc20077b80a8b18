"""The library with a broker: the program that BELFRY_BINARY names."""

from __future__ import annotations

import asyncio
import unittest
from collections.abc import Callable
from typing import Any

from support import AsyncTestCase, Broker, eventually, request

from belfry import (
    Ask,
    Change,
    Closed,
    Notification,
    NotificationCenter,
    ObserverRemoved,
    Refusal,
    Refused,
)


class BrokerTests(AsyncTestCase):
    """What a program does with the library, once with a broker."""

    broker: Broker

    @classmethod
    def setUpClass(cls) -> None:
        cls.broker = cls.enterClassContext(Broker())

    async def asyncSetUp(self) -> None:
        await super().asyncSetUp()
        self.center = await self.enterAsyncContext(NotificationCenter(self.broker.url))

    async def test_a_handler_is_told_in_order(self) -> None:
        got: list[Any] = []

        async def handle(notification: Notification) -> None:
            # The first takes longest.
            await asyncio.sleep(0.02 if not got else 0)
            got.append((notification.object, notification.user_info))

        await self.center.add_observer("Told", handle)
        receipts = [
            await self.center.post("Told", object=f"o{k}", user_info={"k": k}) for k in range(5)]
        self.assertEqual([receipt.matched for receipt in receipts], [1] * 5)
        await eventually(lambda: len(got) == 5, "all come")
        self.assertEqual(got, [(f"o{k}", {"k": k}) for k in range(5)])

    async def test_leaving_a_loop_removes_the_observer(self) -> None:
        loop = self.center.notifications("Loop")
        first = asyncio.ensure_future(anext(loop))
        await self.until_observed("Loop")
        await self.center.post("Loop", user_info={"k": 1})
        self.assertEqual((await first).user_info, {"k": 1})
        await loop.aclose()
        self.assertEqual((await self.center.post("Loop")).matched, 0)

    async def test_who_removes_ends_the_loop(self) -> None:
        observer = await self.center.add_observer("Ended")
        await self.center.post("Ended")
        self.assertEqual((await anext(observer)).name, "Ended")
        waiting = asyncio.ensure_future(anext(observer))
        await asyncio.sleep(0)
        await observer.remove()
        with self.assertRaises(StopAsyncIteration):
            await waiting

    async def test_who_is_removed_is_told(self) -> None:
        reasons: list[str] = []
        observer = await self.center.add_observer("Gone", on_removed=reasons.append)
        status, _ = request(f"{self.broker.url}/v1/observers/{observer.token}", method="DELETE")
        self.assertEqual(status, 204)
        with self.assertRaises(ObserverRemoved):
            await anext(observer)
        self.assertEqual((reasons, observer.is_removed), (["removed"], True))

    async def test_what_a_handler_returns_is_the_acknowledgement(self) -> None:
        async def good(notification: Notification) -> dict[str, int]:
            return {"printed": 1}

        def bad(notification: Notification) -> None:
            raise Refusal("out of paper")

        await self.center.add_observer("Order", good, acknowledge=True)
        await self.center.add_observer("Order", bad, acknowledge=True)
        receipt = await self.center.post("Order", report="observers", wait=5)
        self.assertEqual(
            (receipt.delivered, receipt.acknowledged, receipt.refused, receipt.pending),
            (2, 1, 1, 0))
        self.assertEqual(receipt.observers[0]["result"], {"printed": 1})
        self.assertEqual(receipt.observers[1]["error"], {"code": 1, "message": "out of paper"})

    async def test_a_loop_acknowledges_when_it_goes_on(self) -> None:
        observer = await self.center.add_observer("Walk", acknowledge=True)
        post = asyncio.ensure_future(self.center.post("Walk", wait=5))
        self.assertEqual((await anext(observer)).name, "Walk")
        self.assertFalse(post.done())
        following = asyncio.ensure_future(anext(observer))
        self.assertEqual((await post).acknowledged, 1)
        following.cancel()

    async def test_asks(self) -> None:
        async def start(ask: Ask) -> Any:
            return [ask.user_info, ask.object, ask.target]

        def refuse(ask: Ask) -> None:
            raise Refusal("not today")

        handlers: dict[str, Callable[[Ask], Any]] = {
            "start": start, "refuse": refuse, "handOn": lambda ask: ask.pass_on()}
        await self.center.respond("deploy", handlers, next="team")
        await self.center.respond("team", {"handOn": lambda ask: ask.target})
        answer = await self.center.ask("deploy", "start", {"sha": "4f2c"})
        self.assertEqual(answer.answer, [{"sha": "4f2c"}, "deploy", "deploy"])
        answer = await self.center.ask("deploy", "handOn")
        self.assertEqual((answer.answer, answer.path), ("team", ["deploy", "team"]))
        with self.assertRaises(Refused) as refused:
            await self.center.ask("deploy", "refuse")
        self.assertEqual(refused.exception.slug, "responder-refused")
        answer = await self.center.ask("nobody", "start", default=None)
        self.assertEqual((answer.answer, answer.by, answer.reason),
                         (None, "default", "no-responder"))

    async def test_an_ask_that_is_cancelled_is_withdrawn(self) -> None:
        shown, ended = asyncio.Event(), asyncio.Event()

        async def think(ask: Ask) -> None:
            shown.set()
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()

        await self.center.respond("thinker", {"think": think})
        ask = asyncio.ensure_future(
            self.center.ask("thinker", "think", wait=30, own_connection=True))
        await asyncio.wait_for(shown.wait(), 10)
        ask.cancel()
        await asyncio.wait_for(ended.wait(), 10)
        answer = await self.center.ask("thinker", "other", default=1, own_connection=True)
        self.assertEqual(answer.reason, "selector-not-implemented")

    async def test_actions(self) -> None:
        acted: list[Any] = []
        await self.center.respond(
            "lamp", {"toggle": lambda ask: acted.append((ask.name, ask.object, ask.target))})
        wire = await self.center.add_action(
            "touchUp", object="switch", target="lamp", selector="toggle", acknowledge=True)
        receipt = await self.center.post("touchUp", object="switch", wait=5)
        self.assertEqual((receipt.acknowledged, acted), (1, [("touchUp", "switch", "lamp")]))
        await wire.remove()
        self.assertEqual((await self.center.post("touchUp", object="switch")).matched, 0)

    async def test_values(self) -> None:
        changes: list[Change] = []
        await self.center.observe_value("settings", "ui", changes.append, old=True)
        await self.center.set_value("settings", "ui.theme", "dark")
        await self.center.merge_value("settings", "", {"ui": {"font": 12}, "volume": 5})
        await self.center.remove_value("settings", "ui")
        await eventually(lambda: len(changes) == 4, "each change comes")
        self.assertEqual(
            [change.value for change in changes],
            [None, {"theme": "dark"}, {"theme": "dark", "font": 12}, None])
        self.assertEqual([change.initial for change in changes], [True, False, False, False])
        found = await self.center.value("settings")
        assert found is not None
        self.assertEqual(found.value, {"volume": 5})
        self.assertIsNone(await self.center.value("settings", "ui"))
        with self.assertRaises(Refused) as late:
            await self.center.set_value("settings", "volume", 6, if_match='"other"')
        self.assertEqual(late.exception.slug, "precondition-failed")
        written = await self.center.set_value("settings", "", {"a": 1}, if_match=found.etag)
        self.assertTrue(written.changed)

    async def test_a_value_with_the_writes_of_others_alone(self) -> None:
        async with NotificationCenter(self.broker.url) as other:
            changes: list[Change] = []
            await self.center.observe_value("shared", "", changes.append, own=False)
            await self.center.set_value("shared", "", {"mine": 1})
            await other.merge_value("shared", "", {"theirs": 2})
            await eventually(lambda: len(changes) == 2, "the one by the other comes")
            self.assertEqual(changes[1].value, {"mine": 1, "theirs": 2})

    async def test_the_queue(self) -> None:
        lease = await self.center.enter_mode("held")
        options: dict[str, Any] = {"style": "asap", "coalesce": ["name"], "keep": "latest"}
        first = await self.center.post("Queued", **options)
        second = await self.center.post("Queued", **options)
        self.assertEqual((first.outcome, second.outcome), ("queued", "coalesced"))
        self.assertEqual(second.into, first.id)
        self.assertEqual(await self.center.dequeue(name="Queued"), 1)
        await self.center.leave_mode(lease)
        later = await self.center.post("Later", after=60)
        self.assertIsNotNone(later.due_at)
        self.assertEqual(await self.center.dequeue(id=later.id), 1)

    async def test_suspension(self) -> None:
        got: list[int] = []
        await self.center.add_observer(
            "Rest", lambda notification: got.append(notification.seq), suspension_behavior="hold")
        await self.center.set_suspended(True)
        receipt = await self.center.post("Rest")
        self.assertEqual((receipt.held, got), (1, []))
        await self.center.set_suspended(False)
        await eventually(lambda: got == [receipt.seq], "what was held comes")

    async def test_explain(self) -> None:
        observer = await self.center.add_observer("Explained")
        found = await self.center.explain("explained")
        self.assertEqual(
            found["near"], [{"id": observer.id, "reason": "name-differs-in-case"}])

    async def test_the_broker_names_the_field_that_is_wrong(self) -> None:
        with self.assertRaises(Refused) as refused:
            await self.center.post("Wrong", style="soon")
        self.assertIn("style", str(refused.exception))
        self.assertIn("now, asap or idle", str(refused.exception))

    async def test_other_centers(self) -> None:
        async with NotificationCenter(self.broker.url, center="other place/ü") as other:
            await other.add_observer("There", lambda notification: None)
            self.assertEqual((await other.post("There")).matched, 1)
            self.assertEqual((await self.center.post("There")).matched, 0)

    async def test_what_is_no_json_is_refused_here(self) -> None:
        with self.assertRaises(TypeError):
            await self.center.post("Bad", user_info={"k": object()})
        with self.assertRaises(ValueError):
            await self.center.set_value("bad", "", float("nan"))
        self.assertEqual((await self.center.post("Good")).matched, 0)

    async def test_a_selector_is_used_once(self) -> None:
        await self.center.add_observer("Once", selector="tell:")
        with self.assertRaises(ValueError):
            await self.center.add_observer("Twice", selector="tell:")

    async def test_closing_leaves_nothing_behind(self) -> None:
        async with NotificationCenter(self.broker.url, resume=True) as lasting:
            await lasting.add_observer("Lasting")
            waiting = asyncio.ensure_future(anext(await lasting.add_observer("Lasting")))
            await asyncio.sleep(0)
        with self.assertRaises(StopAsyncIteration):
            await waiting
        self.assertEqual(self.listed("Lasting"), [])
        with self.assertRaises(Closed):
            await lasting.post("Late")

    def listed(self, name: str) -> list[Any]:
        _, listing = request(f"{self.broker.url}/v1/observers?name={name}")
        return [row["id"] for row in listing["observers"]]

    async def until_observed(self, name: str) -> None:
        await eventually(lambda: self.listed(name), f"{name} is observed")


if __name__ == "__main__":
    unittest.main()
