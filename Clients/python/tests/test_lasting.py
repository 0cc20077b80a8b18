"""Presence and farewells over a line that is cut for 0.9 s: the client is another one then."""

from __future__ import annotations

import asyncio
import contextlib
import unittest
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import patch

from support import AsyncTestCase, Broker, eventually

from belfry import ConnectionLost, Notification, NotificationCenter

CUT = 0.9


class Way:
    """A way to a broker that can be stopped, and cut."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._writers: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self._is_cut = False
        self._is_stopped = False
        self.url = ""

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Way]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            self.abort()
            await asyncio.gather(*self._serving)

    def stop(self) -> None:
        """From now on nothing comes back."""
        self._is_stopped = True

    def abort(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def cut(self) -> None:
        self._is_cut = True
        self.abort()
        await asyncio.sleep(CUT)
        self._is_cut = self._is_stopped = False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            return writer.transport.abort()
        if (task := asyncio.current_task()) is not None:
            self._serving.add(task)
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers |= {writer, back}
        await asyncio.gather(self._copy(reader, back), self._copy(there, writer, True))

    async def _copy(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_back: bool = False
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while content := await reader.read(1 << 16):
                if not (is_back and self._is_stopped):
                    writer.write(content)


class PresenceTests(AsyncTestCase):
    def setUp(self) -> None:
        self.enterContext(patch("belfry.backoff.FIRST_PAUSE", 0.2))
        self.broker = self.enterContext(Broker())

    async def test_presence_and_farewells_are_there_when_the_center_is_open(self) -> None:
        settings = [(lease, resume) for lease in (0, 0.5, 3) for resume in (False, True)]
        async with NotificationCenter(self.broker.url) as watch:
            async with asyncio.TaskGroup() as group:
                for setting in settings:
                    group.create_task(self.comes_back(watch, *setting))

    async def comes_back(self, watch: NotificationCenter, lease: float, resume: bool) -> None:
        room, states = f"room-{lease}-{resume}", []
        async with Way(int(self.broker.url.rpartition(":")[2])).open() as way:
            async with NotificationCenter(
                way.url, resume=resume, on_state=lambda state: states.append(state.name)
            ) as center:
                await center.set_value(room, "who.ann", {"name": "Ann"}, lease=lease)
                await center.post("Left", object=room, on_disconnect=True, after=lease)
                left: list[Notification] = []
                await watch.add_observer("Left", left.append, object=room)
                await way.cut()
                await eventually(lambda: states.count("open") == 2, "it is back")
                self.assertIsNotNone(await watch.value(room, "who.ann"), room)
                # The lease of the earlier client is over.
                await asyncio.sleep(lease + 0.3)
                self.assertIsNotNone(await watch.value(room, "who.ann"), room)
                count = len(left)
                way.abort()
                await center.close()
                # The farewell of the present client is posted, and its presence ends.
                await eventually(lambda: len(left) == count + 1, f"{room} is left")
                self.assertIsNone(await watch.value(room, "who.ann"), room)

    async def test_an_update_that_is_lost_with_the_line_leaves_the_presence(self) -> None:
        async with Way(int(self.broker.url.rpartition(":")[2])).open() as way:
            async with NotificationCenter(way.url) as center:
                await center.set_value("room", "who.ann", {"at": 1}, lease=0.1)
                way.stop()
                updating: asyncio.Future[Any] = asyncio.ensure_future(
                    center.set_value("room", "who.ann", {"at": 2}, lease=0.1))
                await asyncio.sleep(0.1)
                await way.cut()
                with self.assertRaises(ConnectionLost):
                    await updating
                found = await center.value("room", "who.ann")
                assert found is not None
                self.assertEqual(found.value, {"at": 1})


if __name__ == "__main__":
    unittest.main()
