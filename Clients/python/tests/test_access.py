"""Tokens: with a broker that wants one, and without any broker."""

from __future__ import annotations

import asyncio
import datetime
import json
import os
import pathlib
import subprocess
import tempfile
import traceback
import unittest
from collections.abc import Awaitable, Callable
from typing import Any

from support import AsyncTestCase, Broker, eventually

from belfry import Closed, NotificationCenter, Refused, State, Unreachable

LIFETIME = 3
"""Seconds until the first key has expired, or up to one less: its row has whole seconds."""


def key(name: str, **more: str) -> tuple[str, dict[str, object]]:
    """A token, and its row for the file of keys."""
    lines = subprocess.run(
        [os.environ["BELFRY_BINARY"], "gen-token", name], capture_output=True, text=True,
        check=True).stdout.splitlines()
    [row] = [json.loads(line) for line in lines if line.startswith("{")]
    [token] = [line for line in lines if line and not line.startswith("{")]
    return token, row | more


class AccessTests(AsyncTestCase):
    def setUp(self) -> None:
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=LIFETIME)
        self.short, short_row = key("short", principal="me", expires=f"{end:%Y-%m-%dT%H:%M:%SZ}")
        self.long, long_row = key("long", principal="me")
        keys = folder / "keys.json"
        keys.touch(0o600)
        keys.write_text(json.dumps({"keys": [short_row, long_row]}))
        self.broker = self.enterContext(
            Broker("--keys", str(keys), "--anonymous-grants", ""))

    async def test_a_good_token(self) -> None:
        async with NotificationCenter(self.broker.url, token=self.long) as center:
            self.assertEqual((await center.post("Fine")).matched, 0)
            answer = center.ask("nobody", "start", default=0, own_connection=True)
            with self.assertRaises(Refused) as refused:
                await answer
            self.assertEqual(refused.exception.slug, "forbidden")

    async def test_a_missing_or_wrong_token_is_told_at_once(self) -> None:
        for token, slug in ((None, "credentials-missing"), ("wrong", "credentials-invalid")):
            states: list[State] = []
            async with NotificationCenter(
                self.broker.url, token=token, on_state=states.append
            ) as center:
                with self.assertRaises(Refused) as refused:
                    async with asyncio.timeout(5):
                        await center.add_observer("Mail")
                self.assertEqual((refused.exception.status, refused.exception.slug), (401, slug))
                with self.assertRaises(Closed) as closed:
                    await center.post("Mail")
                self.assertEqual(closed.exception.slug, slug)
                self.assertEqual([state.name for state in states], ["closed"])

    async def test_an_expired_token_is_renewed(self) -> None:
        tokens = [self.short, self.long]
        states: list[str] = []

        async def token() -> str:
            return tokens.pop(0)

        async with NotificationCenter(
            self.broker.url, token=token, resume=True,
            on_state=lambda state: states.append(state.name),
        ) as center:
            got: list[int] = []
            observer = await center.add_observer(
                "Mail", lambda notification: got.append(notification.seq))
            before = observer.id
            await eventually(lambda: states.count("open") == 2, "it comes back")
            receipt = await center.post("Mail")
            await eventually(lambda: got == [receipt.seq], "and goes on")
            self.assertEqual((observer.id, tokens), (before, []))

    async def test_no_broker_is_told_at_once(self) -> None:
        for host, why in (
            ("127.0.0.1", "Connection refused"), ("localhost", "Connection refused"),
            ("nowhere.invalid", ""),
        ):
            async with NotificationCenter(f"http://{host}:1") as center:
                calls: tuple[Callable[[], Awaitable[Any]], ...] = (
                    lambda: center.add_observer("Mail"), lambda: center.post("Mail"),
                    lambda: center.ask("desk", "confirm", wait=3600, idempotency_key="k"),
                    lambda: center.fate("01M7YHX300M8V3ZJ6X5R7N9C1D", wait=3600),
                    center.archives,
                )
                for call in calls:
                    with self.assertRaises(Unreachable) as unreachable:
                        async with asyncio.timeout(5):
                            await call()
                    self.assertRegex(
                        str(unreachable.exception),
                        f"^the broker cannot be reached at {host}:1: {why}[A-Za-z ]*$")
                    shown = "".join(traceback.format_exception(unreachable.exception))
                    self.assertNotRegex(shown, "During handling|direct cause")
                self.assertIn(center.state.name, ("waiting", "connecting"))

    async def test_a_center_finds_a_broker_that_starts_later(self) -> None:
        broker = self.enterContext(Broker())
        broker.stop()
        async with NotificationCenter(broker.url) as center:
            with self.assertRaises(Unreachable):
                await center.post("Mail")
            await asyncio.to_thread(broker.start)
            await eventually(lambda: center.state.name == "open", "it comes")
            await center.post("Mail")
            await asyncio.to_thread(broker.stop)
            await eventually(lambda: center.state.name == "waiting", "it is lost")
            posting = asyncio.ensure_future(center.post("Mail"))
            await asyncio.to_thread(broker.start)
            await posting


if __name__ == "__main__":
    unittest.main()
