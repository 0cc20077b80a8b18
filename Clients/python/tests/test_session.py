"""Sessions that outlive the program: workers that are killed, files that are damaged or shared."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import sys
import tempfile
import unittest
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import patch

from support import DEADLINE, AsyncTestCase, Broker, eventually, request

from belfry import Ask, Gap, Notification, NotificationCenter, Unreachable

WORKER = """
import asyncio, sys
from belfry import NotificationCenter

def tell(*words):
    print(*words, flush=True)

async def main(url, path):
    async with NotificationCenter(url, session=path) as center:
        await center.add_observer(
            "Order", lambda order: tell(order.user_info["k"]), suspension_behavior="hold",
            on_gap=lambda gap: tell("gap", gap.reason))
        await center.respond(
            "desk", {"confirm": lambda ask: "yes"}, suspension_behavior="hold")
        tell("ready")
        await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""


class Worker:
    """A run of a program with a session in a file."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.told: list[str] = []
        self._reading = asyncio.create_task(self._read())

    @property
    def numbers(self) -> list[int]:
        return [int(line) for line in self.told if line.isdigit()]

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self.told.append(line.decode().strip())

    async def kill(self) -> None:
        self._process.kill()
        await self._process.wait()
        await self._reading


@contextlib.asynccontextmanager
async def working(url: str, path: pathlib.Path) -> AsyncIterator[Worker]:
    worker = Worker(await asyncio.create_subprocess_exec(
        sys.executable, "-c", WORKER, url, str(path), stdout=asyncio.subprocess.PIPE))
    try:
        await eventually(lambda: "ready" in worker.told, "the worker is ready")
        yield worker
    finally:
        with contextlib.suppress(ProcessLookupError):
            await worker.kill()


class Texts(dict[str, str]):
    """A store."""

    def set(self, key: str, text: str) -> None:
        self[key] = text


class SessionTests(AsyncTestCase):
    def setUp(self) -> None:
        self.enterContext(patch("belfry.backoff.FIRST_PAUSE", 0.1))
        self.enterContext(patch("belfry.registering.SAVE_PAUSE", 0.05))
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "session"
        self.count = 0

    async def post(self, broker: Broker, count: int) -> None:
        for _ in range(count):
            self.count += 1
            url, body = f"{broker.url}/v1/channels/Order", {"k": self.count}
            status, _ = await asyncio.to_thread(request, url, method="POST", body=body)
            self.assertEqual(status, 200)

    async def test_a_worker_that_is_killed_gets_what_was_held(self) -> None:
        broker = self.enterContext(Broker(data=str(self.folder / "data")))
        told: list[int] = []
        for run in range(4):
            async with working(broker.url, self.path) as worker:
                await self.post(broker, 20)
                await eventually(lambda: worker.numbers[-1:] == [self.count], "the last one comes")
                await worker.kill()
            self.assertEqual(worker.numbers, sorted(set(worker.numbers)), "each comes once")
            if run < 2:
                # A broker that was killed does not know what the worker had that was killed, too.
                self.assertNotIn("gap unknown", worker.told)
            told += worker.numbers
            await self.post(broker, 5)
            if run == 1:
                broker.kill()
                await asyncio.to_thread(broker.start)
        async with working(broker.url, self.path) as worker:
            await eventually(lambda: worker.numbers[-1:] == [self.count], "the last one comes")
        self.assertEqual(set(told + worker.numbers), set(range(1, self.count + 1)))

    async def test_an_ask_waits_for_the_next_run(self) -> None:
        broker = self.enterContext(Broker(data=str(self.folder / "data")))
        async with working(broker.url, self.path) as worker:
            await worker.kill()
        async with NotificationCenter(broker.url) as center:
            asking = asyncio.create_task(center.ask("desk", "confirm", ttl=60, wait=30))
            await asyncio.sleep(0.2)
            self.assertFalse(asking.done())
            async with working(broker.url, self.path):
                self.assertEqual((await asking).answer, "yes")

    async def test_a_center_that_is_closed_goes_on_with_the_next(self) -> None:
        broker = self.enterContext(Broker())
        got: list[Any] = []
        observer = {}
        for run in range(3):
            async with NotificationCenter(broker.url, session=self.path) as center:
                token = await center.add_observer(
                    "Order", lambda order: got.append(order.raw["userInfo"]["k"]),
                    suspension_behavior="hold", where={"k": {"atLeast": 2}})
                observer[token.id] = token.token
                await self.post(broker, 2)
                await eventually(lambda: got[-1:] == [self.count], "the last one comes")
            await self.post(broker, 1)
        self.assertEqual(got, list(range(2, 9)))
        self.assertEqual(len(observer), 1, "it is one observer")
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o600)
        async with NotificationCenter(broker.url, session=self.path) as center:
            await (await center.add_observer(
                "Order", suspension_behavior="hold", where={"k": {"atLeast": 2}})).remove()
        self.assertEqual(request(f"{broker.url}/v1/observers")[1]["observers"], [])

    async def test_what_a_handler_has_not_ended_comes_again(self) -> None:
        broker = self.enterContext(Broker())
        async with NotificationCenter(broker.url, session=self.path) as center:
            observer = await center.add_observer("Order", suspension_behavior="hold")
            await self.post(broker, 3)
            self.assertEqual([(await anext(observer)).user_info for _ in range(2)],
                             [{"k": 1}, {"k": 2}])
        async with NotificationCenter(broker.url, session=self.path) as center:
            observer = await center.add_observer("Order", suspension_behavior="hold")
            again = [await anext(observer) for _ in range(2)]
            self.assertEqual([(each.user_info, each.redelivered) for each in again],
                             [({"k": 2}, True), ({"k": 3}, True)])

    async def test_an_observer_that_gets_nothing_brings_no_gap_to_the_others(self) -> None:
        broker = self.enterContext(Broker("--replay", "10"))
        gaps: list[Gap] = []
        for run in range(2):
            got: list[int] = []
            async with NotificationCenter(broker.url, session=self.path) as center:
                await center.add_observer("Rare", on_gap=gaps.append)
                await center.add_observer(
                    "Order", lambda order: got.append(order.seq), on_gap=gaps.append)
                await self.post(broker, 30)
                await eventually(lambda: len(got) == 30, f"all come once, in run {run}")
        self.assertEqual(gaps, [])

    async def test_a_broker_that_has_forgotten_tells_a_gap(self) -> None:
        broker = self.enterContext(Broker())
        async with NotificationCenter(broker.url, session=self.path) as center:
            await center.add_observer("Order")
        broker.kill()
        await asyncio.to_thread(broker.start)
        await self.post(broker, 1)
        gaps: list[Gap] = []
        got: list[Notification] = []
        async with NotificationCenter(broker.url, session=self.path) as center:
            await center.add_observer("Order", got.append, on_gap=gaps.append)
            await self.post(broker, 1)
            await eventually(lambda: len(got) == 2, "all comes that the new broker has")
        self.assertEqual([gap.reason for gap in gaps], ["unknown"])

    async def test_what_nobody_adds_again_is_removed(self) -> None:
        broker = self.enterContext(Broker())
        async with NotificationCenter(broker.url, session=self.path) as center:
            await center.add_observer("Order")
            await center.respond("desk", {"confirm": lambda ask: 1})
        with patch("belfry.session.CLAIM_TIME", 0.2):
            async with NotificationCenter(broker.url, session=self.path) as center:
                await center.add_observer("Refund")
                listing = f"{broker.url}/v1/observers"
                self.assertEqual(len(request(listing)[1]["observers"]), 3)
                await eventually(
                    lambda: len(request(listing)[1]["observers"]) == 1, "two are removed")

    async def test_an_address_is_held_also_where_the_last_run_had_not_stored_it(self) -> None:
        broker = self.enterContext(Broker())
        async with NotificationCenter(broker.url, session=self.path) as center:
            await center.work("desk", "confirm", lambda ask: 1)
        document = json.loads(self.path.read_text())
        self.path.write_text(json.dumps(document | {"observers": []}))
        async with NotificationCenter(broker.url) as asker:
            asking = asyncio.create_task(asker.ask("desk", "confirm", wait=10))
            with patch("belfry.session.CLAIM_TIME", 0.3):
                async with NotificationCenter(broker.url, session=self.path) as center:
                    await center.post("Ready")
                    await center.work("desk", "confirm", lambda ask: 2)
                    self.assertEqual((await asking).answer, 2)
                    listing = f"{broker.url}/v1/observers"
                    await eventually(
                        lambda: len(request(listing)[1]["observers"]) == 1, "one stays")

    async def test_another_observer_may_have_the_selector_of_the_last_run(self) -> None:
        broker = self.enterContext(Broker())
        async with NotificationCenter(broker.url, session=self.path) as center:
            await center.add_observer("Order", selector="tell:")
        for is_open in (False, True):
            async with NotificationCenter(broker.url, session=self.path) as center:
                if is_open:
                    await center.post("Ready")
                observer = await center.add_observer(f"Refund-{is_open}", selector="tell:")
                receipt = await center.post(f"Refund-{is_open}")
                self.assertEqual((await anext(observer)).seq, receipt.seq)

    async def test_a_suspended_run_does_not_suspend_the_next(self) -> None:
        broker = self.enterContext(Broker())
        async with NotificationCenter(broker.url, session=self.path) as center:
            await center.add_observer("Order", suspension_behavior="hold")
            await center.set_suspended(True)
            await self.post(broker, 1)
        async with NotificationCenter(broker.url, session=self.path) as center:
            observer = await center.add_observer("Order", suspension_behavior="hold")
            self.assertEqual((await anext(observer)).user_info, {"k": 1})

    async def test_a_damaged_file_counts_as_none(self) -> None:
        broker = self.enterContext(Broker())
        async with NotificationCenter(broker.url, session=self.path) as center:
            await center.add_observer("Order")
            await center.respond("desk", {"confirm": lambda ask: 1})
        whole = self.path.read_text()
        document = json.loads(whole)
        first = document["observers"][0]
        damages = [whole[:end] for end in range(1, len(whole), len(whole) // 20)]
        changes: tuple[dict[str, Any], ...] = (
            {"client": 1}, {"session": None}, {"epoch": []}, {"observers": {"a": 1}},
            {"observers": [7]}, {"observers": [first | {"position": "7"}]},
            {"observers": [first | {"filter": None}]}, {"observers": [first | {"id": 7}]},
            {"observers": [first | {"terms": 7}]})
        damages += ["[]", "null", "7", "[" * 100_000, "\0"]
        damages += [json.dumps(document | changed) for changed in changes]
        for damage in damages:
            with self.subTest(damage=damage[:80]):
                self.path.write_text(damage)
                with self.assertLogs("belfry") as logs:
                    async with NotificationCenter(broker.url, session=self.path) as center:
                        got: list[int] = []
                        await center.add_observer("Order", lambda order: got.append(order.seq))
                        await center.post("Order")
                        await eventually(lambda: len(got) == 1, "it comes once")
                self.assertEqual(len(logs.output), 1, logs.output)
                self.assertIn("damaged", logs.output[0])
                self.assertEqual(len(json.loads(self.path.read_text())["observers"]), 1)

    async def test_a_file_that_cannot_be_there_is_told_once(self) -> None:
        broker = self.enterContext(Broker())
        with self.assertLogs("belfry") as logs:
            async with NotificationCenter(broker.url, session=self.folder / "a" / "b") as center:
                await center.add_observer("Order")
                await center.add_observer("Refund")
        self.assertEqual(len(logs.output), 1, logs.output)

    async def test_programs_that_share_a_file_have_a_session_each(self) -> None:
        broker = self.enterContext(Broker())
        async with working(broker.url, self.path) as one, working(broker.url, self.path) as other:
            await self.post(broker, 3)
            for worker in (one, other):
                await eventually(lambda: worker.numbers == [1, 2, 3], "each has all")
        await self.post(broker, 3)
        async with working(broker.url, self.path) as one, working(broker.url, self.path) as other:
            for worker in (one, other):
                await eventually(lambda: worker.numbers[-3:] == [4, 5, 6], "each has all")
        self.assertEqual(len(request(f"{broker.url}/v1/observers?name=Order")[1]["observers"]), 2)

    async def test_a_store_that_two_programs_open_at_once(self) -> None:
        broker = self.enterContext(Broker())
        store = Texts()
        got: list[list[int]] = [[], []]
        async with NotificationCenter(broker.url, session=store) as one:
            await one.add_observer("Order", lambda order: got[0].append(order.seq))
            async with NotificationCenter(broker.url, session=store) as other:
                await other.add_observer("Order", lambda order: got[1].append(order.seq))
                await eventually(lambda: one.state.name == "open", "the first one is back")
                await eventually(
                    lambda: len(request(f"{broker.url}/v1/observers")[1]["observers"]) == 2,
                    "each has an observer")
                receipt = await one.post("Order")
                await eventually(lambda: got == [[receipt.seq]] * 2, "each has it once")

    async def test_a_store_that_raises_is_none(self) -> None:
        class Broken(Texts):
            def set(self, key: str, text: str) -> None:
                raise RuntimeError("no room")

        broker = self.enterContext(Broker())
        with self.assertLogs("belfry") as logs:
            async with NotificationCenter(broker.url, session=Broken()) as center:
                await center.add_observer("Order")
        self.assertEqual(len(logs.output), 1, logs.output)
        self.assertIn("no room", logs.output[0])

    async def test_a_broker_that_is_away_at_the_start_costs_nothing(self) -> None:
        broker = self.enterContext(Broker(data=str(self.folder / "data")))
        async with NotificationCenter(broker.url, session=self.path) as center:
            await center.add_observer("Order", suspension_behavior="hold")
        await self.post(broker, 1)
        await asyncio.to_thread(broker.stop)
        async with NotificationCenter(broker.url, session=self.path) as center:
            with self.assertRaises(Unreachable):
                await center.add_observer("Order", suspension_behavior="hold")
        async with NotificationCenter(broker.url, session=self.path) as center:
            with self.assertRaises(Unreachable):
                await center.add_observer("Order", suspension_behavior="hold")
            await asyncio.to_thread(broker.start)
            await eventually(lambda: center.state.name == "open", "it comes")
            observer = await center.add_observer("Order", suspension_behavior="hold")
            async with asyncio.timeout(DEADLINE):
                self.assertEqual((await anext(observer)).user_info, {"k": 1})

    async def test_asks_that_come_before_their_responder(self) -> None:
        broker = self.enterContext(Broker())

        def confirm(ask: Ask) -> Any:
            return ask.user_info

        async with NotificationCenter(broker.url, session=self.path) as center:
            await center.respond("desk", {"confirm": confirm}, suspension_behavior="hold")
        async with NotificationCenter(broker.url) as asker:
            asking = asyncio.create_task(asker.ask("desk", "confirm", {"k": 1}, wait=10))
            late = asyncio.create_task(asker.ask("desk", "confirm", {"k": 2}, wait=1, default=0))
            async with NotificationCenter(broker.url, session=self.path) as center:
                await center.post("Ready")
                self.assertEqual((await late).reason, "no-answer")
                await center.respond("desk", {"confirm": confirm}, suspension_behavior="hold")
                self.assertEqual((await asking).answer, {"k": 1})


if __name__ == "__main__":
    unittest.main()
