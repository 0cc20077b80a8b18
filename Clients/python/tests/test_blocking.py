"""Calls without asyncio, as a script makes them."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
import unittest
from unittest.mock import patch

from support import DEADLINE, Broker, request

import belfry


class BlockingTests(unittest.TestCase):
    def setUp(self) -> None:
        self.broker = self.enterContext(Broker())
        self.enterContext(patch.dict(os.environ, {"BELFRY_URL": self.broker.url}))

    def run_script(self, text: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", f"import belfry\n{text}"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_a_post_and_a_value(self) -> None:
        self.assertEqual(belfry.post("Order", user_info={"k": 1}).matched, 0)
        self.assertIsNone(belfry.value("settings"))
        self.assertTrue(belfry.set_value("settings", "ui.theme", "dark").changed)
        found = belfry.value("settings", "ui")
        assert found is not None
        self.assertEqual(found.value, {"theme": "dark"})

    def test_an_ask(self) -> None:
        answer = belfry.ask("door", "mayOpen", {"who": "ann"}, default=False)
        self.assertEqual((answer.answer, answer.reason), (False, "no-responder"))
        with self.assertRaises(belfry.Refused):
            belfry.ask("door", "mayOpen")

    def test_an_address_names_a_center_as_that_of_the_command_line(self) -> None:
        url = f"{self.broker.url}/v1/centers/other%20place"
        belfry.set_value("settings", "", {"a": 1}, url=url)
        self.assertIsNone(belfry.value("settings"))
        with patch.dict(os.environ, {"BELFRY_URL": url}):
            self.assertIsNotNone(belfry.value("settings"))

    def test_the_token_of_the_environment(self) -> None:
        with self.assertRaises(belfry.Refused) as refused:
            belfry.post("Order", token="wrong")
        self.assertEqual(refused.exception.slug, "credentials-invalid")
        with patch.dict(os.environ, {"BELFRY_TOKEN": "wrong"}):
            with self.assertRaises(belfry.Refused):
                belfry.post("Order")
        with patch.dict(os.environ, {"BELFRY_TOKEN": ""}):
            belfry.post("Order")

    def test_a_dead_address_is_one_sentence(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        began = time.monotonic()
        script = self.run_script(f"belfry.post('Order', url='http://127.0.0.1:{port}')")
        _, told = script.communicate(timeout=DEADLINE)
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(told.count("Traceback"), 1, told)
        self.assertIn(f"the broker cannot be reached at 127.0.0.1:{port}: Connection refused", told)

    def test_a_broker_that_hangs_does_not_hold_up_what_fails_closed(self) -> None:
        self.broker.signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            answer = belfry.ask("door", "mayOpen", default=False, fail_closed=True, wait=0.5)
            self.assertLess(time.monotonic() - began, 1.5)
        finally:
            self.broker.signal(signal.SIGCONT)
        self.assertEqual((answer.answer, answer.by), (False, "asker"))

    def test_an_interrupt_withdraws_an_ask(self) -> None:
        registered = request(f"{self.broker.url}/v1/observers", method="POST", body={
            "object": "desk", "implements": ["confirm"]})
        self.assertEqual(registered[0], 201)
        script = self.run_script("belfry.ask('desk', 'confirm', wait=3600)")
        asks = f"{self.broker.url}/v1/asks"
        end = time.monotonic() + DEADLINE
        while not request(asks)[1]["asks"]:
            self.assertLess(time.monotonic(), end, "it is asked")
            time.sleep(0.02)
        script.send_signal(signal.SIGINT)
        _, told = script.communicate(timeout=DEADLINE)
        self.assertIn("KeyboardInterrupt", told)
        self.assertEqual(request(asks)[1]["asks"], [])

    def test_inside_a_coroutine_it_says_what_to_do(self) -> None:
        async def call() -> None:
            belfry.post("Order")

        with self.assertRaisesRegex(RuntimeError, "await that of a NotificationCenter"):
            asyncio.run(call())


if __name__ == "__main__":
    unittest.main()
