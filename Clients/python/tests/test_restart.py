"""A broker that is killed under 20 posts a second, and one that stops answering."""

from __future__ import annotations

import asyncio
import signal
import tempfile
import time
import unittest
from dataclasses import dataclass, field

from support import AsyncTestCase, Broker, eventually, request
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from belfry import Gap, Notification, NotificationCenter

PAUSE = 0.05
"""Seconds between two posts."""


@dataclass
class Account:
    """What was answered to the posters, and what came."""

    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    got: list[int] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)

    def take(self, notification: Notification) -> None:
        assert notification.user_info is not None
        self.got.append(notification.user_info["k"])


class RestartTests(AsyncTestCase):
    async def play(self, resume: bool, data: str | None) -> Account:
        """Kills the broker and starts it again, and posts until the observer is back."""
        account, states = Account(), []
        with Broker(data=data) as broker:
            async with NotificationCenter(
                broker.url, resume=resume, on_state=lambda state: states.append(state.name)
            ) as center:
                await center.add_observer(
                    "Tick", account.take, on_gap=account.gaps.append,
                    suspension_behavior="hold" if resume else None)
                await self.post(broker, account.before, 0, lambda: len(account.before) == 15)
                broker.kill()
                await asyncio.sleep(0.1)
                await asyncio.to_thread(broker.start)
                # Posts that the new broker takes before the library is back, and some after.
                await self.post(
                    broker, account.after, 1_000,
                    lambda: states.count("open") == 2 and len(account.after) >= 20)
                await eventually(
                    lambda: account.got[-1:] == account.after[-1:], "the last one comes")
        return account

    @staticmethod
    async def post(broker: Broker, answered: list[int], first: int, is_enough: object) -> None:
        assert callable(is_enough)
        number, end = first, time.monotonic() + 15
        while not is_enough():
            assert time.monotonic() < end, "the library did not come back"
            number += 1
            url, body = f"{broker.url}/v1/channels/Tick", {"k": number}
            status, _ = await asyncio.to_thread(request, url, method="POST", body=body)
            if status == 200:
                answered.append(number)
            await asyncio.sleep(PAUSE)

    async def test_four_settings(self) -> None:
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            settings = ((False, None), (False, one), (True, None), (True, other))
            accounts = await asyncio.gather(
                *(self.play(resume, data) for resume, data in settings))
        for (resume, data), account in zip(settings, accounts, strict=True):
            with self.subTest(resume=resume, data=data is not None):
                got = account.got
                self.assertEqual(len(got), len(set(got)), "nothing comes twice")
                self.assertEqual(got, sorted(got), "all comes in order")
                self.assertEqual(
                    [number for number in got if number > 1_000], account.after,
                    "what the new broker has comes")
                told = [gap.reason for gap in account.gaps]
                if resume and data is not None:
                    # What the broker had on its way when it died it may not know to have arrived.
                    self.assertIn(told, ([], ["unknown"]), "nothing else is told")
                    lost = set(account.before) - set(got)
                    self.assertEqual(lost, set(), "what was held is not lost")
                else:
                    self.assertEqual(told, ["unknown"], "one gap is told")

    async def test_a_broker_that_is_stopped_is_noticed(self) -> None:
        states: list[str] = []
        with Broker("--ping-interval", "1s") as broker:
            if not await self.tells_interval(broker):
                self.skipTest("this broker does not tell its ping interval")
            async with NotificationCenter(
                broker.url, on_state=lambda state: states.append(state.name)
            ) as center:
                got: list[int] = []
                await center.add_observer(
                    "Tick", lambda notification: got.append(notification.seq))
                broker.signal(signal.SIGSTOP)
                try:
                    began = time.monotonic()
                    await eventually(lambda: "waiting" in states, "the dead line is noticed")
                    self.assertLess(time.monotonic() - began, 2)
                finally:
                    broker.signal(signal.SIGCONT)
                await eventually(lambda: states.count("open") == 2, "it comes back")
                receipt = await center.post("Tick")
                await eventually(lambda: got == [receipt.seq], "and goes on")

    @staticmethod
    async def tells_interval(broker: Broker) -> bool:
        url = broker.url.replace("http", "ws") + "/v1/ws"
        async with connect(url, subprotocols=[Subprotocol("belfry.v1")]) as socket:
            return "pingInterval" in str(await socket.recv())


if __name__ == "__main__":
    unittest.main()
