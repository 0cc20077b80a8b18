"""A broker for the tests, requests to it, and waiting for what it does."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.parse
from collections.abc import Callable
from typing import Any, Self

DEADLINE = 10.0
"""Seconds after which what is awaited counts as missing."""


class AsyncTestCase(unittest.IsolatedAsyncioTestCase):
    """Tests that do not say that this machine is busy."""

    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().slow_callback_duration = DEADLINE


class Broker:
    """A broker of its own, which can be killed and started again at the same address."""

    def __init__(self, *options: str, data: str | None = None) -> None:
        self._options = options
        self._keeping = ["--in-memory"] if data is None else ["--data", data]
        self._listen = "127.0.0.1:0"
        self._process: subprocess.Popen[bytes] | None = None
        self._log = tempfile.TemporaryFile()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *fault: Any) -> None:
        self.stop()
        self._log.close()

    @property
    def url(self) -> str:
        return f"http://{self._listen}"

    def start(self) -> None:
        self._log.seek(0)
        self._log.truncate()
        self._process = subprocess.Popen(
            [os.environ["BELFRY_BINARY"], "serve", "--log-format", "json", "--listen",
             self._listen, *self._keeping, *self._options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._log)
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            # By position: the broker writes at the offset that another read would move.
            number = self._log.fileno()
            text = os.pread(number, os.fstat(number).st_size, 0).decode()
            if found := re.search(r'"listening".*?(127\.0\.0\.1:[1-9]\d*)', text):
                self._listen = found[1]
                if request(f"{self.url}/readyz")[0] == 200:
                    return
            if self._process.poll() is not None:
                break
            time.sleep(0.01)
        raise AssertionError(f"the broker did not start: {text}")

    def signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """Ends it as a crash does."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        status = self._process.wait(DEADLINE)
        assert status == 0, f"the broker ended with {status}"


def request(
    url: str, *, method: str = "GET", body: Any = None, token: str | None = None
) -> tuple[int, Any]:
    """A request to the API: its status, 0 without an answer, and its content as JSON, if it is."""
    parts = urllib.parse.urlsplit(url)
    assert parts.hostname is not None
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=DEADLINE)
    try:
        content = None if body is None else json.dumps(body)
        connection.request(method, url.partition(parts.netloc)[2], content, headers)
        answer = connection.getresponse()
        status, content = answer.status, answer.read().decode()
    except (OSError, http.client.HTTPException):
        return 0, None
    finally:
        connection.close()
    try:
        return status, json.loads(content)
    except ValueError:
        return status, None


async def eventually(condition: Callable[[], Any], what: str) -> None:
    """Waits for something that another task, or process, does."""
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {DEADLINE:g} s: {what}")
        await asyncio.sleep(0.01)
