"""Work for several workers, which are killed: the programs of the README."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import re
import sys
import tempfile
import unittest
from typing import Any

from support import AsyncTestCase, Broker, eventually, request

from belfry import Ask, NotificationCenter, ObserverRemoved

README = pathlib.Path(__file__).parents[1] / "README.md"
DEADLINE = 30.0


def program(name: str, url: str) -> str:
    """A program of the README, for this broker."""
    found = re.search(rf"```python\n(# {name}\n.*?)```", README.read_text(), re.DOTALL)
    assert found is not None, f"the README has no {name}"
    return found[1].replace("http://127.0.0.1:8080", url)


class WorkTests(AsyncTestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.broker = self.enterContext(Broker(data=str(self.folder / "data")))

    async def begin(self, name: str, **options: Any) -> asyncio.subprocess.Process:
        path = os.pathsep.join(os.path.abspath(folder) for folder in sys.path)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program(name, self.broker.url), cwd=self.folder,
            env=os.environ | {"PYTHONPATH": path}, **options)
        self.addCleanup(self.kill, process)
        return process

    @staticmethod
    def kill(process: asyncio.subprocess.Process) -> None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()

    async def until_there_are(self, count: int) -> None:
        await eventually(lambda: self.workers() == count, f"{count} workers are there")

    def workers(self) -> int:
        _, listing = request(f"{self.broker.url}/v1/responders?object=pages")
        return len([row for row in listing["responders"] if row["state"] == "live"])

    async def answers(self, ids: list[str]) -> list[Any]:
        async with NotificationCenter(self.broker.url) as center:
            async with asyncio.timeout(DEADLINE):
                fates = await asyncio.gather(*(center.fate(id, wait=DEADLINE) for id in ids))
        return [fate.answer["page"] for fate in fates]

    async def test_the_programs_of_the_readme(self) -> None:
        workers = [await self.begin("worker.py") for _ in range(3)]
        await self.until_there_are(3)
        poster = await self.begin("poster.py", stdout=asyncio.subprocess.PIPE)
        # While pieces are being worked on, two of the workers die, and one comes back.
        said, _ = await poster.communicate()
        for worker in workers[:2]:
            worker.kill()
            await worker.wait()
        workers[0] = await self.begin("worker.py")
        self.assertEqual(await self.answers(said.decode().split()), list(range(8)))

    async def test_work_waits_where_all_are_dead_and_outlives_the_broker(self) -> None:
        worker = await self.begin("worker.py")
        await self.until_there_are(1)
        session = self.folder / "worker.session"
        await eventually(
            lambda: session.exists() and '"selectors"' in session.read_text(), "it is stored")
        worker.kill()
        await worker.wait()
        await self.until_there_are(0)
        poster = await self.begin("poster.py", stdout=asyncio.subprocess.PIPE)
        said, _ = await poster.communicate()
        self.broker.kill()
        await asyncio.to_thread(self.broker.start)
        await self.begin("worker.py")
        self.assertEqual(await self.answers(said.decode().split()), list(range(8)))

    async def test_each_piece_has_one_worker_and_none_has_too_many(self) -> None:
        begun: list[tuple[int, Any]] = []
        busy = [0, 0]

        def working(number: int) -> Any:
            async def work(ask: Ask) -> Any:
                begun.append((number, ask.user_info))
                busy[number] += 1
                self.assertLessEqual(busy[number], 2)
                await asyncio.sleep(0.02)
                busy[number] -= 1
                return ask.user_info
            return work

        async with (
            NotificationCenter(self.broker.url) as one, NotificationCenter(self.broker.url) as other
        ):
            for number, center in enumerate((one, other)):
                await center.work("pages", "render", working(number), concurrency=2)
            asks = [await one.ask("pages", "render", {"k": k}, ttl=60) for k in range(20)]
            fates = await asyncio.gather(*(one.fate(ask.id, wait=20) for ask in asks))
            self.assertEqual([fate.answer for fate in fates], [{"k": k} for k in range(20)])
        self.assertEqual(sorted(user_info["k"] for _, user_info in begun), list(range(20)))
        self.assertEqual({number for number, _ in begun}, {0, 1})

    async def test_the_end_of_a_worker_is_told(self) -> None:
        async with NotificationCenter(self.broker.url) as center:
            worker = await center.work("pages", "render", lambda ask: 1)
            ending = asyncio.create_task(worker.until_removed())
            request(f"{self.broker.url}/v1/observers/{worker.token}", method="DELETE")
            with self.assertRaises(ObserverRemoved):
                await ending
            worker = await center.work("pages", "render", lambda ask: 1)
            ending = asyncio.create_task(worker.until_removed())
            await asyncio.sleep(0)
            await worker.remove()
            await ending


if __name__ == "__main__":
    unittest.main()
