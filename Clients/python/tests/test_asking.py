"""Asks that wait for long, over what may happen to a broker meanwhile."""

from __future__ import annotations

import asyncio
import tempfile
import time
import unittest
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from support import AsyncTestCase, Broker, eventually, request

from belfry import Ask, Answer, NotificationCenter, Refused, TimedOut


class LongAskTests(AsyncTestCase):
    """Asks that are stored; here one look waits for at most a quarter of a second."""

    def setUp(self) -> None:
        self.enterContext(patch("belfry.asking.CALL_WAIT", 0.25))
        self.enterContext(patch("belfry.asking.SHORT_WAIT", 0.5))
        self.enterContext(patch("belfry.backoff.FIRST_PAUSE", 0.1))
        self.data = self.enterContext(tempfile.TemporaryDirectory())
        self.asked: list[str] = []
        self.may_answer = asyncio.Event()

    async def answer(self, ask: Ask) -> Any:
        self.asked.append(ask.id)
        await self.may_answer.wait()
        return {"yes": True}

    async def begun(self, broker: Broker, **options: Any) -> asyncio.Task[Answer]:
        """An ask that a responder was shown."""
        self.center = await self.enterAsyncContext(NotificationCenter(broker.url))
        # One whose responder stays at the broker, so that somebody holds the address at its start.
        self.desk = await self.enterAsyncContext(NotificationCenter(broker.url, resume=True))
        await self.desk.respond("desk", {"confirm": self.answer}, suspension_behavior="hold")
        task = asyncio.create_task(self.center.ask("desk", "confirm", **options))
        await eventually(lambda: self.asked, "the responder is asked")
        return task

    def open_asks(self, broker: Broker) -> list[Any]:
        asks: list[Any] = request(f"{broker.url}/v1/asks")[1]["asks"]
        return asks

    async def test_the_answer_comes_after_many_looks(self) -> None:
        broker = self.enterContext(Broker(data=self.data))
        task = await self.begun(broker, wait=60)
        await asyncio.sleep(1)
        self.may_answer.set()
        answer = await task
        self.assertEqual((answer.answer, answer.by), ({"yes": True}, "responder"))
        self.assertEqual([answer.id], self.asked)

    async def test_nobody_answers(self) -> None:
        broker = self.enterContext(Broker(data=self.data))
        with self.assertRaises(Refused) as refused:
            await (await self.begun(broker, wait=1.5))
        self.assertEqual(refused.exception.slug, "no-answer")
        answer = await self.center.ask("desk", "confirm", wait=1.5, default=[0])
        self.assertEqual((answer.answer, answer.by, answer.reason),
                         ([0], "default", "no-answer"))
        with self.assertRaises(Refused) as refused:
            await self.center.ask("nobody", "confirm", wait=60)
        self.assertEqual(refused.exception.slug, "no-responder")

    async def test_what_is_asked_for_longer_than_it_is_waited_for_stays(self) -> None:
        broker = self.enterContext(Broker(data=self.data))
        answer = await (await self.begun(broker, wait=0.6, ttl=60))
        self.assertEqual((answer.outcome, answer.answer), ("asked", None))
        self.assertEqual((await self.center.fate(answer.id)).outcome, "asked")
        async with NotificationCenter(broker.url) as later:
            waiting = asyncio.create_task(later.fate(answer.id, wait=30))
            await asyncio.sleep(0.3)
            self.may_answer.set()
            self.assertEqual((await waiting).answer, {"yes": True})
            self.assertEqual((await later.fate(answer.id)).answer, {"yes": True})

    async def test_one_ask_lives_over_a_kill(self) -> None:
        await self.lives_over(Broker.kill)

    async def test_one_ask_lives_over_a_stop(self) -> None:
        await self.lives_over(Broker.stop)

    async def lives_over(self, end: Callable[[Broker], None]) -> None:
        broker = self.enterContext(Broker(data=self.data))
        task = await self.begun(broker, wait=60)
        await asyncio.to_thread(end, broker)
        await asyncio.sleep(0.6)
        await asyncio.to_thread(broker.start)
        await eventually(lambda: self.desk.state.name == "open", "it is back")
        self.assertFalse(task.done())
        self.may_answer.set()
        self.assertEqual((await task).answer, {"yes": True})
        self.assertEqual(len(self.asked), 1, f"it is one ask, and handled once: {self.asked}")

    async def test_a_broker_that_forgets_is_asked_anew(self) -> None:
        broker = self.enterContext(Broker())
        task = await self.begun(broker, wait=60)
        broker.kill()
        await asyncio.to_thread(broker.start)
        await eventually(lambda: len(self.asked) == 2, "it is asked again")
        self.may_answer.set()
        answer = await task
        self.assertEqual((answer.answer, answer.id), ({"yes": True}, self.asked[1]))

    async def test_one_that_may_be_shown_once_is_not_asked_anew(self) -> None:
        broker = self.enterContext(Broker())
        task = await self.begun(broker, wait=60, once=True)
        broker.kill()
        await asyncio.to_thread(broker.start)
        with self.assertRaises(Refused) as refused:
            await task
        self.assertEqual((refused.exception.status, len(self.asked)), (404, 1))

    async def test_a_short_one_is_asked_again_when_the_line_is_lost(self) -> None:
        broker = self.enterContext(Broker(data=self.data))
        with patch("belfry.asking.SHORT_WAIT", 15):
            task = await self.begun(broker, wait=15)
            broker.kill()
            await asyncio.to_thread(broker.start)
            await eventually(lambda: len(self.asked) == 2, "it is asked again")
            self.may_answer.set()
            self.assertEqual((await task).answer, {"yes": True})

    async def test_cancelling_withdraws(self) -> None:
        broker = self.enterContext(Broker(data=self.data))
        task = await self.begun(broker, wait=60)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        await eventually(lambda: not self.open_asks(broker), "it is withdrawn")
        with self.assertRaises(Refused) as refused:
            await self.center.fate(self.asked[0])
        self.assertEqual(refused.exception.slug, "already-settled")

    async def test_cancelling_withdraws_also_in_the_first_moment_and_at_the_end(self) -> None:
        broker = self.enterContext(Broker(data=self.data))
        async with NotificationCenter(broker.url) as desk:
            await desk.respond("desk", {"confirm": self.answer})
            async with NotificationCenter(broker.url) as center:
                await center.post("Ready")
                task = asyncio.create_task(center.ask("desk", "confirm", wait=60))
                # The call has left, and has no answer.
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                task.cancel()
            self.assertEqual(self.open_asks(broker), [])

    async def test_cancelling_keeps_what_is_to_be_kept(self) -> None:
        broker = self.enterContext(Broker(data=self.data))
        task = await self.begun(broker, wait=60, keep=True)
        task.cancel()
        await self.center.close()
        self.assertEqual([ask["id"] for ask in self.open_asks(broker)], self.asked)

    async def test_an_ask_that_somebody_withdraws_has_no_answer(self) -> None:
        broker = self.enterContext(Broker(data=self.data))
        task = await self.begun(broker, wait=60)
        await self.center.withdraw(self.asked[0])
        with self.assertRaises(Refused) as refused:
            await task
        self.assertEqual(refused.exception.slug, "already-settled")

    async def test_a_broker_that_stays_away_ends_the_wait(self) -> None:
        broker = self.enterContext(Broker(data=self.data))
        began = time.monotonic()
        task = await self.begun(broker, wait=1, timeout=1)
        broker.kill()
        with self.assertRaises(TimedOut):
            await task
        self.assertLess(time.monotonic() - began, 4)
        await asyncio.to_thread(broker.start)

    async def test_fates_of_what_is_no_ask(self) -> None:
        broker = self.enterContext(Broker(data=self.data))
        async with NotificationCenter(broker.url) as center:
            with self.assertRaises(Refused) as refused:
                await center.fate("01M7YHX300M8V3ZJ6X5R7N9C1D", wait=5)
            self.assertEqual(refused.exception.status, 404)
            receipt = await center.post("Post")
            with self.assertRaisesRegex(Exception, "is not an ask"):
                await center.fate(receipt.id)


if __name__ == "__main__":
    unittest.main()
