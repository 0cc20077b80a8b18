"""What the shared cases cannot show: pauses, merge patches, addresses, tokens, texts of errors."""

import asyncio
import json
import unittest
from contextlib import suppress
from typing import Any, ClassVar
from unittest.mock import patch

from websockets.asyncio.server import Server, ServerConnection
from websockets.asyncio.server import serve as serve_sockets
from websockets.typing import Subprotocol

from belfry import BelfryError, NotificationCenter, Refused
from belfry.backoff import BackOff
from belfry.errors import refused
from belfry.inbox import INBOX_LIMIT, Inbox
from belfry.notification import Notification
from belfry.tokens import Tokens
from belfry.url import socket_url
from belfry.verdict import verdict_of
from belfry.wire import filter_of, given, is_same, merged, text_of


class FilterTests(unittest.TestCase):
    def test_a_name_and_an_object_of_none_match_any(self) -> None:
        self.assertEqual(
            filter_of(None, None, None, None, None, None), {"name": None, "object": None})

    def test_what_is_in_the_place_of_a_name_and_an_object(self) -> None:
        self.assertEqual(
            filter_of(None, ("A", "B"), None, None, "shop-", {"vip": True}),
            {"names": ["A", "B"], "objectPrefix": "shop-", "where": {"vip": True}})
        self.assertEqual(
            filter_of(None, None, "Order.", "o", None, ({"a": 1}, {"b": None})),
            {"namePrefix": "Order.", "object": "o", "where": [{"a": 1}, {"b": None}]})

    def test_what_is_too_much_goes_to_the_broker(self) -> None:
        self.assertEqual(
            filter_of("A", None, "A", None, None, {}),
            {"name": "A", "namePrefix": "A", "object": None, "where": {}})

    def test_a_text_is_no_set_of_names_and_no_condition(self) -> None:
        with self.assertRaises(TypeError):
            filter_of(None, "AB", None, None, None, None)
        with self.assertRaises(TypeError):
            filter_of(None, None, None, None, None, '{"vip":true}')  # type: ignore[arg-type]


class BackOffTests(unittest.TestCase):
    def pauses(self, spread: float, count: int) -> list[float]:
        back_off = BackOff(lambda: spread)
        return [back_off.pause(0, verdict_of(code=1006), None) for _ in range(count)]

    def test_doubles_up_to_the_limit(self) -> None:
        self.assertEqual(self.pauses(0, 8), [0, 1, 2, 4, 8, 15, 15, 15])
        self.assertEqual(self.pauses(1, 8), [1, 2, 4, 8, 16, 30, 30, 30])

    def test_the_first_pause_is_spread_as_far_as_the_second(self) -> None:
        pairs = zip(self.pauses(0, 2), self.pauses(1, 2), strict=True)
        first, second = (longest - least for least, longest in pairs)
        self.assertEqual((first, second), (1, 1))

    def test_never_overflows(self) -> None:
        self.assertEqual(self.pauses(1, 5_000)[-1], 30)

    def test_a_connection_that_lasted_begins_anew(self) -> None:
        back_off = BackOff(lambda: 0)
        for _ in range(5):
            back_off.pause(10, verdict_of(code=1006), None)
        self.assertEqual(back_off.pause(10.1, verdict_of(code=1006), None), 0)

    def test_overload_is_not_one_of_the_first(self) -> None:
        for code in (1013, 4008):
            self.assertEqual(BackOff(lambda: 0).pause(0, verdict_of(code=code), None), 4)

    def test_the_broker_says_when(self) -> None:
        stopping, fault = verdict_of(code=1012), BelfryError("busy")
        self.assertEqual(BackOff(lambda: 0).pause(0, stopping, 3.2), 3.2)
        self.assertEqual(BackOff(lambda: 1).pause(0, stopping, 3.0), 4.0)
        fault.retry_after = 2.0
        self.assertEqual(BackOff(lambda: 0).pause(0, verdict_of(fault=fault), None), 2)
        self.assertEqual(BackOff(lambda: 1).pause(0, verdict_of(fault=fault), None), 3)


class WireTests(unittest.TestCase):
    def test_merge_patches_of_rfc_7396(self) -> None:
        for value, patch, result in (
            ({"a": "b"}, {"a": "c"}, {"a": "c"}),
            ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
            ({"a": "b"}, {"a": None}, {}),
            ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
            ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
            ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
            ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
            ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
            (["a", "b"], ["c", "d"], ["c", "d"]),
            ({"a": "b"}, ["c"], ["c"]),
            ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
            ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
            ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ):
            with self.subTest(value=value, patch=patch):
                self.assertEqual(merged(value, patch), result)

    def test_a_patch_leaves_the_value_as_it_is(self) -> None:
        value = {"a": {"b": 1}}
        merged(value, {"a": {"b": 2}})
        self.assertEqual(value, {"a": {"b": 1}})

    def test_the_same_json(self) -> None:
        self.assertTrue(is_same({"a": [1, {"b": None}], "c": 2}, {"c": 2.0, "a": [1, {"b": None}]}))
        for left, right in ((True, 1), ([1], [1, 2]), ({"a": 1}, {"a": True}), (None, {}), ("", 0)):
            self.assertFalse(is_same(left, right), (left, right))

    def test_only_what_is_given_is_sent(self) -> None:
        self.assertEqual(
            given(caused_by="n1", wait=0, immediate=False, ttl=None, on_disconnect=True),
            {"causedBy": "n1", "wait": 0, "onDisconnect": True})

    def test_what_is_no_json_is_refused_here(self) -> None:
        for value in (float("nan"), object(), "\ud800", {1, 2}):
            with self.assertRaises((TypeError, ValueError)):
                text_of({"a": value})


class AddressTests(unittest.TestCase):
    def test_the_socket_of_a_center(self) -> None:
        for url, center, socket in (
            ("http://127.0.0.1:8080", None, "ws://127.0.0.1:8080/v1/ws"),
            ("https://example.com/", None, "wss://example.com/v1/ws"),
            ("ws://[::1]:8080", "a b/ü", "ws://[::1]:8080/v1/centers/a%20b%2F%C3%BC/ws"),
            ("https://example.com/belfry/", None, "wss://example.com/belfry/v1/ws"),
        ):
            self.assertEqual(socket_url(url, center), socket)

    def test_what_is_no_broker(self) -> None:
        for url in (
            "localhost:8080", "ftp://a", "http://", "", "http://a?b", "http://a#b", "http://a:b",
            "http://a:70000",
        ):
            with self.assertRaises(ValueError, msg=url):
                socket_url(url, None)

    def test_a_path_that_ends_behind_the_broker(self) -> None:
        for path in ("/v1", "/v1/", "/v1/centers/shop", "/belfry/v1/centers/shop/"):
            with self.assertRaisesRegex(ValueError, "must end before /v1"):
                socket_url(f"http://127.0.0.1:8080{path}", None)
        for prefix in ("/v1x", "/api/v1"):
            self.assertTrue(socket_url(f"http://a{prefix}", None).endswith(f"{prefix}/v1/ws"))

    def test_what_is_no_part_of_a_path(self) -> None:
        for center in ("", ".", ".."):
            with self.assertRaisesRegex(ValueError, "cannot be sent in the path"):
                socket_url("http://127.0.0.1:8080", center)
        self.assertTrue(socket_url("http://a", "...").endswith("/centers/.../ws"))


class TokenTests(unittest.IsolatedAsyncioTestCase):
    async def test_a_text_a_function_a_coroutine(self) -> None:
        async def later() -> str:
            return "c"
        found = [await Tokens(one).next() for one in (None, "a", lambda: "b", later)]
        self.assertEqual(found, [None, "a", "b", "c"])

    async def test_what_cannot_be_shown(self) -> None:
        for token in ("", "a b", "é", "a\r\nb", "a" * 8_193):
            with self.assertRaises(ValueError):
                NotificationCenter("http://127.0.0.1:1", token=token)
            with self.assertRaises(ValueError):
                await Tokens([token].pop).next()
        self.assertEqual(await Tokens("a" * 8_192).next(), "a" * 8_192)


class ErrorTests(unittest.TestCase):
    def test_the_text_names_each_fault(self) -> None:
        problem = {
            "type": "https://belfry.dev/problems/invalid-fields", "title": "Invalid fields",
            "status": 422, "detail": "The request has fields that are not valid.",
            "errors": [{"pointer": "#/style", "detail": "must be now, asap or idle"}]}
        error = refused({"code": -32000, "message": "Invalid fields", "data": problem})
        self.assertEqual(
            str(error),
            "The request has fields that are not valid: #/style must be now, asap or idle")
        self.assertEqual((error.status, error.slug), (422, "invalid-fields"))

    def test_faults_of_any_shape(self) -> None:
        faults: list[Any] = [3, "no", {"a": 1}, [None, 3, {}], None]
        for errors in faults:
            error = refused({"message": "no", "data": {"errors": errors, "status": 422}})
            self.assertTrue(str(error).startswith("no"), errors)


class MisuseTests(unittest.IsolatedAsyncioTestCase):
    async def test_a_center_that_is_not_entered(self) -> None:
        center = NotificationCenter("http://127.0.0.1:9")
        for call in (center.post("n"), center.add_observer("n", print)):
            with self.assertRaisesRegex(RuntimeError, "use it in `async with"):
                await call

    async def test_handlers_that_are_not_a_dict(self) -> None:
        handlers: Any = ["confirm"]
        with self.assertRaisesRegex(TypeError, "handlers must be a dict of selectors"):
            await NotificationCenter("http://127.0.0.1:9").respond("d", handlers)


class HostileTests(unittest.IsolatedAsyncioTestCase):
    """A broker whose frames have members of the wrong kind."""

    FRAMES: ClassVar[list[dict[str, Any]]] = [
        {"id": 1, "result": None}, {"id": 1, "result": []}, {"id": 1, "result": {"id": 7}},
        {"id": [], "result": {}}, {"id": 1, "error": {}}, {"id": 1, "error": {"data": 3}},
        {"method": "n1", "params": []}, {"method": "n1", "params": {"seq": "1"}},
        {"method": "n1", "params": {"seq": None}}, {"method": [], "params": {}},
        {"method": "n1", "params": {"seq": 1, "redelivered": 3, "change": 4}},
        {"id": {}, "method": "n1", "params": {"seq": 1, "observer": []}},
        {"method": "belfry.gap", "params": {"observer": {}}},
        {"method": "belfry.settled"}, {"method": "belfry.removed", "params": 3},
        {"method": "belfry.draining", "params": {"reconnectAfter": "soon"}},
        {"method": "belfry.welcome", "params": {"client": "c1"}},
    ]

    async def test_the_center_goes_on(self) -> None:
        left = list(self.FRAMES)

        async def serve(socket: ServerConnection) -> None:
            """Each connection brings one of them; the last one is a good one."""
            welcome = {"client": "c1", "session": "c1.s", "epoch": "e1"}
            await socket.send(json.dumps({"method": "belfry.welcome", "params": welcome}))
            call = json.loads(await socket.recv())
            if left:
                await socket.send(json.dumps(left.pop()))
                with suppress(TimeoutError):
                    await asyncio.wait_for(socket.wait_closed(), 0.05)
                return
            answer = {"id": "o1", "token": "o1.t", "since": 0}
            await socket.send(json.dumps({"id": call["id"], "result": answer}))
            await socket.wait_closed()

        subprotocols = [Subprotocol("belfry.v1")]
        with (
            patch("belfry.backoff.PAUSE_LIMIT", 0.001),
            patch("belfry.backoff.FIRST_PAUSE", 0.001),
            self.assertLogs("belfry", "WARNING") as logged,
        ):
            async with (
                serve_sockets(serve, "127.0.0.1", 0, subprotocols=subprotocols) as server,
                NotificationCenter(f"http://127.0.0.1:{port_of(server)}") as center,
            ):
                observer = await center.add_observer("Mail")
                self.assertEqual((observer.id, left), ("o1", []))
        self.assertFalse([line for line in logged.output if "has failed" in line])


def port_of(server: Server) -> int:
    [listener] = server.sockets
    port: int = listener.getsockname()[1]
    return port


class InboxTests(unittest.IsolatedAsyncioTestCase):
    @staticmethod
    def notification(seq: int) -> Notification:
        return Notification.of({"id": f"n{seq}", "seq": seq, "name": "A"})

    async def test_the_oldest_is_lost_past_the_limit(self) -> None:
        inbox: Inbox[Notification] = Inbox(INBOX_LIMIT)
        lost = [inbox.put(self.notification(seq), None) for seq in range(INBOX_LIMIT + 1)]
        self.assertEqual([one for one in lost if one], [self.notification(0)])
        taken = await inbox.take()
        assert taken is not None
        self.assertEqual(taken[0].seq, 1)

    async def test_what_is_acknowledged_is_not_lost(self) -> None:
        inbox: Inbox[Notification] = Inbox(None)
        lost = [inbox.put(self.notification(seq), seq) for seq in range(INBOX_LIMIT + 1)]
        self.assertEqual(set(lost), {None})

    async def test_an_error_comes_behind_what_is_there(self) -> None:
        inbox: Inbox[Notification] = Inbox(INBOX_LIMIT)
        inbox.put(self.notification(1), None)
        inbox.end(Refused("no"))
        self.assertIsNotNone(await inbox.take())
        with self.assertRaises(Refused):
            await inbox.take()

    async def test_who_removes_is_told_nothing_more(self) -> None:
        inbox: Inbox[Notification] = Inbox(INBOX_LIMIT)
        waiting = asyncio.create_task(inbox.take())
        await asyncio.sleep(0)
        inbox.end(None)
        self.assertIsNone(await waiting)


if __name__ == "__main__":
    unittest.main()
