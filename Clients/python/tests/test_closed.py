"""Asks that fail closed: whatever is no answer of a responder is the default, in time."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import unittest
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from unittest.mock import patch

from support import AsyncTestCase, Broker
from test_strangers import WELCOME, answer, listening, saying
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as serve_sockets
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from belfry import Answer, NotificationCenter

WAIT = 0.6
DELAY = 1.0
"""Seconds by which a busy machine may be late."""

PROBLEM = "Content-Type: application/problem+json"


def problem(status: int, slug: str) -> bytes:
    return json.dumps({"type": f"https://belfry.dev/problems/{slug}", "status": status}).encode()


class ClosedTests(AsyncTestCase):
    async def closed(self, url: str, **options: Any) -> Answer:
        """The answer of an ask, which is the default, and in time."""
        began = time.monotonic()
        async with NotificationCenter(url) as center:
            answer = await center.ask(
                "door", "mayOpen", wait=WAIT, default={"no": 1}, fail_closed=True, **options)
            self.assertLess(time.monotonic() - began, WAIT + DELAY)
        self.assertEqual((answer.answer, answer.by), ({"no": 1}, "asker"))
        self.assertTrue(answer.reason)
        return answer

    async def test_nobody_is_there(self) -> None:
        async with listening(saying(b"", [])) as port:
            pass
        self.assertIn(
            "cannot be reached", (await self.closed(f"http://127.0.0.1:{port}")).reason or "")

    async def test_somebody_who_says_nothing(self) -> None:
        async with listening(saying(b"", [], ends=False)) as port:
            await self.closed(f"http://127.0.0.1:{port}")

    async def test_what_others_answer_to_an_opening(self) -> None:
        for said in (
            b"", b"HTTP/1.1 ", b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
            answer("200 OK", "Content-Type: text/html", content=b"<html>yes</html>"),
            answer("200 OK", "Content-Type: application/json",
                   content=b'{"id":"n1","answer":true,"by":"responder"}'),
            answer("204 No Content"), answer("302 Found", "Location: /login"),
            answer("500 No", content=b"oh"), answer("500 No", PROBLEM, content=b"{"),
            answer("401 No", "Content-Type: text/html", content=b"<html>"),
            answer("401 No", PROBLEM, content=problem(401, "credentials-missing")),
            answer("403 No", PROBLEM, content=problem(403, "forbidden")),
            answer("429 No", PROBLEM, "Retry-After: 60", content=problem(429, "rate-limited")),
            answer("503 No", PROBLEM, "Retry-After: 60", content=problem(503, "draining")),
        ):
            with self.subTest(said=said[:60]):
                async with listening(saying(said, [])) as port:
                    await self.closed(f"http://127.0.0.1:{port}")

    async def test_what_others_answer_to_an_ask(self) -> None:
        sayings: tuple[Any, ...] = (
            None, "", "{", "<html>", "null", "[]", {}, {"result": None}, {"result": True},
            {"result": []}, {"result": {}}, {"result": {"id": "n1"}},
            {"result": {"id": "n1", "answer": True}},
            {"result": {"answer": True, "by": "responder"}},
            {"result": {"id": "n1", "by": "responder"}}, {"result": {"id": 7, "answer": True}},
            {"result": {"id": "n1", "answer": True, "by": "default"}},
            {"result": {"id": "n1", "outcome": "asked"}}, {"error": 1}, {"error": {}},
            {"error": {"code": -32000, "message": "no"}},
            {"error": {"code": -32000, "data": json.loads(problem(504, "no-answer"))}},
            {"error": {"code": -32000, "data": json.loads(problem(503, "draining"))}},
            {"error": {"code": -32000, "data": json.loads(problem(429, "rate-limited"))}},
        )
        # Frames that are none are logged.
        logging.disable()
        self.addCleanup(logging.disable, logging.NOTSET)
        for said in sayings:
            with self.subTest(said=said):
                async with answering(said) as port:
                    await self.closed(f"http://127.0.0.1:{port}")

    async def test_what_others_say_about_an_ask_that_waits_for_long(self) -> None:
        asked = {"result": {"id": "n1", "outcome": "asked"}}
        for status, kind, content in (
            (200, "text/html", "<html>yes</html>"), (200, "application/json", "true"),
            (200, "application/json", "{}"), (200, "application/json", '{"id":"n1","state":7}'),
            (200, "application/json", '{"id":"n1","state":"answered","by":"responder"}'),
            (200, "application/json", '{"id":"n1","state":"asked"}'),
            (200, "application/json", '{"id":"n1","state":"failed"}'),
            (200, "application/json", '{"id":"n1","state":"withdrawn"}'),
            (204, "application/json", ""), (404, "text/html", ""),
            *((status, "application/problem+json", problem(status, "slug").decode())
              for status in (401, 403, 404, 429, 500, 503)),
        ):
            with self.subTest(status=status, content=content):
                async with answering(asked, status, kind, content) as port:
                    with patch("belfry.asking.SHORT_WAIT", WAIT / 2):
                        await self.closed(f"http://127.0.0.1:{port}")

    async def test_a_connection_that_ends_each_time(self) -> None:
        async with answering("cut") as port:
            await self.closed(f"http://127.0.0.1:{port}")

    async def test_with_a_broker(self) -> None:
        with Broker() as broker:
            self.assertEqual((await self.closed(broker.url)).reason, "no-responder")
            async with NotificationCenter(broker.url) as desk:
                await desk.respond("door", {
                    "mayOpen": lambda ask: asyncio.sleep(60 if ask.user_info else 0, "come in")})
                # Its time is over for the broker and for the asker.
                self.assertIn(
                    (await self.closed(broker.url, user_info={"k": 1})).reason,
                    ("no-answer", f"the broker did not answer within {WAIT} s"))
                async with NotificationCenter(broker.url) as center:
                    answer = await center.ask("door", "mayOpen", default=0, fail_closed=True)
                    self.assertEqual((answer.answer, answer.by), ("come in", "responder"))
                    broker.kill()
                    answer = await center.ask(
                        "door", "mayOpen", default=0, fail_closed=True, wait=WAIT)
                    self.assertEqual((answer.answer, answer.by), (0, "asker"))
                await self.closed(broker.url)
                broker.start()

    async def test_without_a_right(self) -> None:
        with Broker("--anonymous-grants", "") as broker:
            await self.closed(broker.url)

    async def test_a_token_that_cannot_be_had(self) -> None:
        def token() -> str:
            raise RuntimeError("there is none")

        with Broker() as broker:
            async with NotificationCenter(broker.url, token=token) as center:
                with self.assertLogs("belfry"):
                    answer = await center.ask(
                        "door", "mayOpen", default=0, fail_closed=True, wait=WAIT)
            self.assertIn("there is no token", answer.reason or "")

    async def test_wrong_calls_and_cancelling_are_told(self) -> None:
        async with listening(saying(b"", [], ends=False)) as port:
            async with NotificationCenter(f"http://127.0.0.1:{port}") as center:
                with self.assertRaisesRegex(ValueError, "needs a default"):
                    await center.ask("door", "mayOpen", fail_closed=True)
                asking = asyncio.ensure_future(
                    center.ask("door", "mayOpen", default=0, fail_closed=True))
                await asyncio.sleep(0.05)
                asking.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await asking


@asynccontextmanager
async def answering(
    said: Any, status: int = 500, kind: str = "text/plain", content: str = ""
) -> AsyncIterator[int]:
    """A broker by its welcome, which answers each ask so, and each request with that content."""
    async def serve(socket: ServerConnection) -> None:
        await socket.send(json.dumps(
            {"jsonrpc": "2.0", "method": "belfry.welcome", "params": WELCOME}))
        with suppress(ConnectionClosed):
            async for message in socket:
                if said == "cut":
                    socket.transport.abort()
                elif said is not None:
                    frame = said if isinstance(said, str) else json.dumps(
                        {"jsonrpc": "2.0", "id": json.loads(message)["id"], **said})
                    await socket.send(frame)

    def respond(socket: ServerConnection, request: Request) -> Response | None:
        if request.path.endswith("/ws"):
            return None
        response = socket.respond(status, content)
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = kind
        return response

    async with serve_sockets(serve, "127.0.0.1", 0, process_request=respond) as server:
        yield next(iter(server.sockets)).getsockname()[1]


if __name__ == "__main__":
    unittest.main()
