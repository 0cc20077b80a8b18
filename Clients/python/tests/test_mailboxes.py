"""Mailboxes, with a broker that is killed and stopped."""

from __future__ import annotations

import asyncio
import tempfile
import unittest
from typing import Any
from unittest.mock import patch

from support import AsyncTestCase, Broker, eventually, request

from belfry import Gap, Notification, NotificationCenter, Refused


class MailboxTests(AsyncTestCase):
    def setUp(self) -> None:
        self.enterContext(patch("belfry.mailboxes.CALL_WAIT", 0.25))
        self.enterContext(patch("belfry.backoff.FIRST_PAUSE", 0.1))
        data = self.enterContext(tempfile.TemporaryDirectory())
        self.broker = self.enterContext(Broker(data=data))

    def center(self) -> NotificationCenter:
        return NotificationCenter(self.broker.url)

    def post(self, count: int, name: str = "Order") -> None:
        for k in range(count):
            url = f"{self.broker.url}/v1/channels/{name}"
            self.assertEqual(request(url, method="POST", body={"k": k})[0], 200)

    async def test_one_that_is_acknowledged_does_not_come_again(self) -> None:
        async with self.center() as center:
            mailbox = await center.mailbox("Order", where={"k": {"atLeast": 1}})
            self.post(4)
            self.assertEqual([(await anext(mailbox)).user_info for _ in range(2)],
                             [{"k": 1}, {"k": 2}])
        async with self.center() as center:
            mailbox = await center.mailbox(token=mailbox.token)
            self.assertEqual([(await anext(mailbox)).user_info for _ in range(2)],
                             [{"k": 2}, {"k": 3}])

    async def test_the_rest_of_a_batch_comes_again(self) -> None:
        async with self.center() as center:
            mailbox = await center.mailbox("Order", batch=2)
            self.post(3)
            got = [await anext(mailbox) for _ in range(2)]
            again = await center.mailbox(token=mailbox.token)
            self.assertEqual(await anext(again), got[0])
            self.assertEqual((await anext(mailbox)).user_info, {"k": 2})

    async def test_it_is_followed_over_a_kill_and_a_stop(self) -> None:
        got: list[Any] = []
        async with self.center() as center:
            mailbox = await center.mailbox("Order")

            async def follow() -> None:
                async for order in mailbox:
                    got.append(order.user_info)

            following = asyncio.create_task(follow())
            self.post(2)
            await eventually(lambda: len(got) == 2, "it is read")
            for end in (self.broker.kill, self.broker.stop):
                await asyncio.to_thread(end)
                await asyncio.sleep(0.3)
                await asyncio.to_thread(self.broker.start)
                self.post(2)
                count = len(got)
                await eventually(lambda: len(got) >= count + 2, "it goes on")
                self.assertEqual(got[-2:], [{"k": 0}, {"k": 1}])
            following.cancel()
        # After a kill the last one may come again.
        self.assertLessEqual(len(got), 7)

    async def test_what_is_lost_is_told(self) -> None:
        gaps: list[Gap] = []
        async with self.center() as center:
            mailbox = await center.mailbox("Order", hold_limit=2, on_gap=gaps.append)
            self.post(5)
            self.assertEqual((await anext(mailbox)).user_info, {"k": 3})
            self.assertEqual((await anext(mailbox)).user_info, {"k": 4})
            self.assertEqual([(gap.reason, gap.lost) for gap in gaps], [("overflow", 3)])

    async def test_the_past_comes_first(self) -> None:
        self.post(3)
        async with self.center() as center:
            mailbox = await center.mailbox("Order", since=0)
            self.assertEqual([(await anext(mailbox)).user_info for _ in range(3)],
                             [{"k": 0}, {"k": 1}, {"k": 2}])

    async def test_one_that_is_removed_ends_its_readers(self) -> None:
        async with self.center() as center:
            mailbox = await center.mailbox("Order")
            reading: asyncio.Future[Notification] = asyncio.ensure_future(anext(mailbox))
            await asyncio.sleep(0.1)
            other = await center.mailbox(token=mailbox.token)
            await other.remove()
            with self.assertRaises(Refused) as refused:
                await reading
            self.assertEqual(refused.exception.status, 410)
            await mailbox.remove()
            with self.assertRaises(Refused) as refused:
                await anext(await center.mailbox(token="o1.secret"))
            self.assertEqual(refused.exception.status, 404)
            for options in ({"name": "Order"}, {"hold_limit": 3}, {"where": {"k": 1}}):
                with self.assertRaises(ValueError):
                    await center.mailbox(token=mailbox.token, **options)

    async def test_a_second_reader_takes_the_place_of_the_first(self) -> None:
        with patch("belfry.mailboxes.CALL_WAIT", 5):
            async with self.center() as center:
                mailbox = await center.mailbox("Order")
                reading: asyncio.Future[Notification] = asyncio.ensure_future(anext(mailbox))
                await asyncio.sleep(0.2)
                other = asyncio.ensure_future(anext(await center.mailbox(token=mailbox.token)))
                with self.assertRaises(Refused) as refused:
                    await reading
                self.assertEqual(refused.exception.slug, "reader-replaced")
                self.post(1)
                self.assertEqual((await other).user_info, {"k": 0})


if __name__ == "__main__":
    unittest.main()
