"""Who answers in the place of a broker, and frames that are hard to take.

The table is `../../cases/verdicts.json`, which the shared cases play; here is what they cannot.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import ssl
import subprocess
import tempfile
import time
import unittest
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from unittest.mock import patch

from support import DEADLINE, AsyncTestCase, eventually
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as serve_sockets
from websockets.typing import Subprotocol

from belfry import ConnectionLost, Gap, NotificationCenter, State, TimedOut, Unreachable
from belfry.lasting import LASTING_LIMIT, Lasting
from belfry.verdict import checked, fault_of, parsed

TABLE = pathlib.Path(__file__).parents[2] / "cases" / "verdicts.json"
WELCOME = {"client": "c1", "session": "c1.s", "epoch": "e1", "seq": 0}

Streams = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def listening(
    serve: Streams, context: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """Serves connections on a free port of this machine."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


def saying(answer: bytes, heads: list[bytes], ends: bool = True) -> Streams:
    """Answers each request with these bytes, and keeps its head."""
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            heads.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(answer)
            if not ends:
                await reader.read()
        writer.close()
    return serve


def answer(status: str, *fields: str, content: bytes = b"") -> bytes:
    lines = "".join(f"{field}\r\n" for field in fields)
    length = f"Content-Length: {len(content)}\r\n"
    return f"HTTP/1.1 {status}\r\n{length}{lines}\r\n".encode() + content


class Brief(AsyncTestCase):
    """Tests in which a client is soon back."""

    def setUp(self) -> None:
        self.enterContext(patch("belfry.backoff.PAUSE_LIMIT", 0.02))
        self.enterContext(patch("belfry.backoff.FIRST_PAUSE", 0.02))

    async def goes_on(self, url: str, why: str, timeout: float = DEADLINE, **options: Any) -> None:
        """The client is not ended: it tries again, and says why."""
        states: list[State] = []
        told = ""
        end = time.monotonic() + DEADLINE
        async with NotificationCenter(
            url, timeout=timeout, on_state=states.append, **options
        ) as center:
            while not told or why not in told:
                with self.assertRaises((TimedOut, Unreachable)) as raised:
                    await center.post("Mail", timeout=0.05)
                told = str(raised.exception)
                self.assertLess(time.monotonic(), end, f"{why!r} is not told, but {told!r}")
            count = len(states)
            await eventually(
                lambda: "waiting" in [state.name for state in states[count:]], "it tries again")
            self.assertNotIn("closed", [state.name for state in states])


class OpeningTests(Brief):
    async def test_no_key_leaves_for_another_origin(self) -> None:
        others: list[bytes] = []
        heads: list[bytes] = []
        async with listening(saying(answer("200 OK"), others)) as other:
            for host in ("127.0.0.1", "localhost"):
                place = f"Location: http://{host}:{other}/v1/ws"
                for status in ("301 Moved", "302 Found", "303 See Other", "307 There", "308 There"):
                    async with listening(saying(answer(status, place), heads)) as port:
                        await self.goes_on(
                            f"http://127.0.0.1:{port}", f"{status[:3]} to http://{host}",
                            token="secret")
        self.assertEqual(others, [])
        self.assertIn(b"Authorization: Bearer secret", heads[0])

    async def test_redirects_that_lead_nowhere(self) -> None:
        for place in (
            "https://127.0.0.1/", "ftp://a/", "//", "", "http://[", "/v1/ws", "x" * 9_000,
        ):
            async with listening(saying(answer("301 Moved", f"Location: {place}"), [])) as port:
                await self.goes_on(
                    f"http://127.0.0.1:{port}", "" if len(place) > 8_000 else "301")

    async def test_answers_that_are_none(self) -> None:
        for said in (
            b"", b"\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 200\r\n\r\n",
            b"\x15\x03\x01\x00\x02",
            b"HTTP/2 200 OK\r\n\r\n", answer("200 OK", "Content-Type: a", "Content-Type: b"),
            b"HTTP/1.1 401 No\r\nContent-Length: 500\r\n"
            b"Content-Type: application/problem+json\r\n\r\n{",
            b"HTTP/1.1 401 No\r\nContent-Length: x\r\n\r\n",
            b"HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"HTTP/1.1 101 Switching Protocols\r\n\r\n", b"HTTP/1.1 403 \xff\r\n\r\n",
            answer("401 No", "Content-Type: application/problem+json", content=b"[" * 100_000),
            answer("401 No", "Content-Type: application/problem+json", content=b"\xff\xfe{}"),
            answer("503 No", "Retry-After: soon"), answer("503 No", "Retry-After: -1"),
            answer("503 No", "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT"),
            b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 1_000 + b"\r\n",
        ):
            with self.subTest(said=said[:60]):
                async with listening(saying(said, [])) as port:
                    await self.goes_on(f"http://127.0.0.1:{port}", "")

    async def test_silence(self) -> None:
        async with listening(saying(b"", [], ends=False)) as port:
            await self.goes_on(f"http://127.0.0.1:{port}", "timed out", timeout=0.1)

    async def test_a_server_that_echoes_is_no_broker(self) -> None:
        count = 0

        async def echo(socket: ServerConnection) -> None:
            nonlocal count
            count += 1
            await socket.send('{"method":"belfry.settled","params":{}}')
            async for message in socket:
                await socket.send(message)

        async with serve_sockets(echo, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            await self.goes_on(f"http://127.0.0.1:{port}", "", timeout=0.1)
        self.assertGreaterEqual(count, 1)

    async def test_tls(self) -> None:
        async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(answer("400 Bad"))
            writer.close()

        async with listening(plain) as port:
            await self.goes_on(f"https://127.0.0.1:{port}", "cannot be reached")
        with tempfile.TemporaryDirectory() as folder:
            pair = [f"{folder}/cert.pem", f"{folder}/key.pem"]
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                 "-nodes", "-subj", "/CN=localhost", "-out", pair[0], "-keyout", pair[1]],
                check=True, capture_output=True)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*pair)
            # A client that hangs up within the handshake is no fault of this server.
            asyncio.get_running_loop().set_exception_handler(lambda loop, fault: None)
            async with listening(saying(answer("200 OK"), []), context) as port:
                await self.goes_on(f"https://127.0.0.1:{port}", "certificate", token="secret")

    async def test_proxies_of_the_environment(self) -> None:
        for proxy in (
            "http://", "gopher://a", "socks5://127.0.0.1:1", "http://127.0.0.1:1", "%",
            "http://a:b",
        ):
            environment = {"http_proxy": proxy, "all_proxy": proxy}
            with self.subTest(proxy=proxy), patch.dict("os.environ", environment):
                await self.goes_on("http://broker.invalid", "cannot be reached")

    async def test_no_proxy_leads_to_this_machine(self) -> None:
        seen: list[bytes] = []
        async with listening(saying(answer("502 No"), seen)) as proxy, Good().serve() as broker:
            place = f"http://127.0.0.1:{proxy}"
            with patch.dict("os.environ", {"http_proxy": place, "all_proxy": place}):
                for host in ("127.0.0.1", "localhost"):
                    async with NotificationCenter(f"http://{host}:{broker}", token="key") as center:
                        await center.add_observer("Mail")
        self.assertEqual(seen, [])


class Good:
    """A broker that registers an observer, and then says what it is given."""

    def __init__(self, *frames: Any) -> None:
        self.frames = [one if isinstance(one, str) else json.dumps(one) for one in frames]
        self.calls: list[dict[str, Any]] = []
        self.count = 0

    @contextlib.asynccontextmanager
    async def serve(self) -> AsyncIterator[int]:
        async with serve_sockets(
            self.take, "127.0.0.1", 0, subprotocols=[Subprotocol("belfry.v1")], compression=None
        ) as server:
            yield next(iter(server.sockets)).getsockname()[1]

    async def take(self, socket: ServerConnection) -> None:
        self.count += 1
        await socket.send(json.dumps({"method": "belfry.welcome", "params": WELCOME}))
        async for message in socket:
            call = json.loads(message)
            self.calls.append(call)
            if call.get("method") != "addObserver":
                continue
            since = call["params"].get("since", 4)
            registered = {"id": f"o{self.count}", "token": "t", "since": since}
            await socket.send(json.dumps({"id": call["id"], "result": registered}))
            for frame in self.frames:
                await socket.send(frame)


def delivery(seq: int, **more: Any) -> dict[str, Any]:
    return {"method": "n1", "params": {"id": f"n{seq}", "seq": seq, "name": "Mail"} | more}


class FrameTests(Brief):
    async def got(self, broker: Good, seqs: list[int], connections: int = 1) -> list[Gap]:
        """What comes of these frames, and the gaps that are told."""
        got: list[int] = []
        gaps: list[Gap] = []
        async with broker.serve() as port, NotificationCenter(f"http://127.0.0.1:{port}") as center:
            await center.add_observer(
                "Mail", lambda notification: got.append(notification.seq), on_gap=gaps.append)
            await eventually(lambda: got == seqs, f"{seqs} come")
            self.assertEqual(broker.count, connections)
        return gaps

    async def test_numbers_of_any_length(self) -> None:
        for digits in ("1" * 4_301, "-" + "9" * 100_000, "1e999999", "0." + "3" * 5_000):
            frame = json.dumps(delivery(5, userInfo={"a": 0})).replace('"a": 0', f'"a": {digits}')
            self.assertEqual(await self.got(Good(frame, delivery(6)), [5, 6]), [])
        self.assertEqual(parsed('{"a":' + "7" * 4_301 + "}"), {"a": "7" * 4_301})

    async def test_the_largest_frames(self) -> None:
        large = "x" * (16 << 20)
        gaps = await self.got(Good(delivery(5, userInfo={"a": large}), delivery(6)), [5, 6])
        self.assertEqual(gaps, [])

    async def test_a_frame_that_is_too_large_is_told_as_a_gap(self) -> None:
        with patch("belfry.line.FRAME_LIMIT", 1_000):
            broker = Good(delivery(5, userInfo={"a": "x" * 1_000}))
            gaps: list[Gap] = []
            async with (
                broker.serve() as port,
                NotificationCenter(f"http://127.0.0.1:{port}") as center,
            ):
                await center.add_observer("Mail", lambda notification: None, on_gap=gaps.append)
                await eventually(lambda: gaps != [], "a gap is told")

                def registrations() -> list[Any]:
                    return [
                        call["params"] for call in broker.calls
                        if call.get("method") == "addObserver"]

                await eventually(lambda: len(registrations()) >= 2, "it registers again")
                self.assertEqual([one.get("since") for one in registrations()[:2]], [None, None])
        self.assertEqual(gaps[0], Gap("unknown", None))

    async def test_what_is_not_of_the_protocol_is_passed_over(self) -> None:
        for more in ({"seq": "5"}, {"seq": [5]}, {"redelivered": 3, "seq": {}}):
            with self.assertLogs("belfry", "WARNING"):
                gaps = await self.got(Good(delivery(5) | {"params": more}, delivery(6)), [6])
            self.assertEqual([gap.reason for gap in gaps], ["unknown"])

    async def test_what_wants_an_answer_is_refused(self) -> None:
        broker = Good({"id": 9, **delivery(5, observer=[])}, delivery(6))
        with self.assertLogs("belfry", "WARNING"):
            gaps = await self.got(broker, [6])
        self.assertEqual(gaps, [Gap("unknown", 1, 5, 5)])
        answers = [call for call in broker.calls if call.get("id") == 9]
        self.assertEqual([one["error"]["code"] for one in answers], [1])

    async def test_a_frame_that_is_no_json_does_not_come_for_ever(self) -> None:
        with self.assertLogs("belfry", "WARNING"):
            gaps = await self.got(Good("{", delivery(6)), [6], connections=2)
        self.assertEqual(gaps, [Gap("unknown", None)])


class VerdictTests(unittest.TestCase):
    def test_each_row_of_an_answer(self) -> None:
        rows = [row for row in json.loads(TABLE.read_text()) if "answer" in row]
        self.assertGreater(len(rows), 30)
        for row in rows:
            said = row["answer"]
            fields = {"Content-Type": said.get("type"), **said.get("fields", {})}
            fault = fault_of(said["status"], fields.get, said.get("content", "").encode())
            with self.subTest(row=row["row"]):
                is_word = row["means"] == "refused" or row["row"] == "503-problem"
                self.assertEqual(isinstance(fault, ConnectionLost), not is_word)

    def test_results_without_their_shape(self) -> None:
        wrong: dict[str, list[Any]] = {
            "post": [None, [], {}, "", {"id": 7}], "dequeue": [{"removed": "1"}],
            "value": [{"etag": None, "seq": 1}], "setValue": [{}], "explain": [[], None],
        }
        for method, results in wrong.items():
            for result in results:
                with self.assertRaisesRegex(ConnectionLost, f"the answer to {method}"):
                    checked(method, result)
        self.assertEqual(checked("post", {"id": "n1"}), {"id": "n1"})
        self.assertIsNone(checked("leaveMode", None))

    def test_retry_after(self) -> None:
        def pause(text: str, kind: str = "text/html") -> float | None:
            content = b'{"type":"https://belfry.dev/problems/draining","status":503}'
            fields = {"Content-Type": kind, "Retry-After": text}
            return fault_of(503, fields.get, content).retry_after

        found = [pause(text) for text in ("2", "31", "x", "", "\u0662")]
        self.assertEqual(found, [2, 30, None, None, None])
        broker = [pause(text, "application/problem+json") for text in ("2", "301", "9" * 400)]
        self.assertEqual(broker, [2, 300, 300])


class LastingTests(unittest.TestCase):
    def test_no_more_than_the_limit(self) -> None:
        lasting = Lasting()
        for number in range(LASTING_LIMIT + 1):
            params = {"object": "a", "keyPath": f"k{number}", "value": 1, "lease": 5}
            lasting.write("setValue", params)({"etag": "x"}, None)
        self.assertEqual(len(lasting._leases), LASTING_LIMIT)
        self.assertNotIn(("a", "k0"), lasting._leases)

    def test_what_takes_a_lease_away(self) -> None:
        at = {"object": "a", "keyPath": "b.c"}
        for method, params, stays in (
            ("setValue", {"object": "a", "keyPath": "b", "value": {}}, False),
            ("setValue", {"object": "a", "keyPath": "b.c", "value": 1}, False),
            ("setValue", {"object": "a", "keyPath": "b.cc", "value": 1}, True),
            ("setValue", {"object": "o", "keyPath": "b.c", "value": 1}, True),
            ("removeValue", {"object": "a"}, False),
            ("removeValue", {"object": "a", "keyPath": "b.c.d"}, True),
            ("mergeValue", {"object": "a", "patch": {"b": None}}, False),
            ("mergeValue", {"object": "a", "patch": {"b": {"c": 3}}}, False),
            ("mergeValue", {"object": "a", "patch": {"b": {"x": 3}}}, True),
            ("mergeValue", {"object": "a", "patch": {"b": {"c": {"d": None}}}}, True),
            ("mergeValue", {**at, "patch": {"d": 1}}, False),
        ):
            with self.subTest(method=method, params=params):
                lasting = Lasting()
                leased = {**at, "value": {"d": 1}, "lease": 5}
                lasting.write("setValue", leased)({"etag": "x"}, None)
                lasting.write(method, params)({"etag": "y"}, None)
                self.assertEqual(("a", "b", "c") in lasting._leases, stays)


class CallTests(AsyncTestCase):
    async def test_content_that_is_no_mapping(self) -> None:
        async with NotificationCenter("http://127.0.0.1:1", timeout=0.1) as center:
            contents: list[Any] = ["hi", ["a"], 7, [("a", 1)]]
            for content in contents:
                for call in (center.post("Mail", user_info=content), center.ask("a", "b", content)):
                    with self.assertRaisesRegex(TypeError, "user_info is a mapping"):
                        await call


if __name__ == "__main__":
    unittest.main()
