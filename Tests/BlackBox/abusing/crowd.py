"""What a generated attack draws, and the sessions with which it attacks."""

import contextlib
import json
import random
import re
import socket
import struct
import time

from .clients import Failure, expect, support
from .sending import add, call_often, connect, mailbox_request, pipelined, told

PROBLEM = re.compile(rb'problems/([a-z-]+)"')
LINGER_NOT = struct.pack("ii", 1, 0)


class Draw(random.Random):
    """What a seed chooses."""

    def size(self, least, most):
        """A number between two, as often small as large: its logarithm is drawn evenly."""
        return min(most, int(least * (most / least) ** self.random() + 0.5))

    def chance(self, share=0.5):
        return self.random() < share

    def text(self, length):
        return "".join(self.choices("abcdefghijklmnop", k=length))

    def path(self, keys, first):
        return ".".join([first] + [self.text(self.size(1, 8)) for _ in range(keys - 1)])

    def object_of(self, members, length):
        return {f"m{n:05d}": self.text(length) for n in range(members)}


class Crowd:
    """The sessions of an attacker, and how it sends; a refusal ends nothing."""

    def __init__(self, target, count):
        self.target, self.port = target, target.port
        self.sessions, self.answers = [], {}
        for _ in range(count):
            try:
                self.sessions.append(connect(self.port))
            except (OSError, ConnectionError):
                break
        if not self.sessions:
            raise Failure("no session is let in")

    def call(self, session, calls, byte_limit=900_000):
        """Calls in frames of at most 1,000 calls and so many bytes; a lost session is opened anew."""
        frame, size = [], 0
        for method, params in calls:
            length = len(json.dumps(params)) + 80
            if frame and (len(frame) == 1_000 or size + length > byte_limit):
                self._frame(session, frame)
                frame, size = [], 0
            if self.target.is_over:
                return
            frame.append((method, params))
            size += length
        if frame:
            self._frame(session, frame)

    def _frame(self, session, calls):
        try:
            answer = call_often(self.sessions[session], calls)
            add(self.answers, {"ok": answer.count(b'"result":')})
            for problem in PROBLEM.findall(answer):
                add(self.answers, {problem.decode(): 1})
        except (OSError, ConnectionError):
            add(self.answers, {"lost": 1})
            self._reopen(session)

    def request(self, requests, depth=8):
        client = support.HTTPClient(self.port)
        client.socket.settimeout(60)
        try:
            add(self.answers, {str(k): v for k, v in pipelined(client, requests, depth).items()})
        except (OSError, ConnectionError):
            add(self.answers, {"lost": 1})
        client.close()

    def serve(self, session, result, seconds=2):
        """Answers what a session is asked with this text, until nothing comes for so long."""
        client, deadline = self.sessions[session], time.monotonic() + 6
        client.socket.settimeout(seconds)
        with contextlib.suppress(OSError, ConnectionError):
            while time.monotonic() < deadline:
                opcode, payload = client.next_frame()
                frame = json.loads(payload) if opcode == 1 else {}
                if isinstance(frame, dict) and "id" in frame and "method" in frame:
                    client.send_text(json.dumps({"jsonrpc": "2.0", "id": frame["id"], "result": result}))
        client.socket.settimeout(60)

    def leave(self, session):
        """Resets a connection; another session takes the place of the lost one."""
        client = self.sessions[session]
        with contextlib.suppress(OSError):
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
        client.close()
        self._reopen(session)

    def _reopen(self, session):
        """Opens a session in the place of a lost one, which stays lost when that is refused three times."""
        for _ in range(3):
            try:
                self.sessions[session] = connect(self.port)
                return
            except ConnectionError:
                add(self.answers, {"refused": 1})
                time.sleep(1)

    def told(self):
        return told(self.answers)


def get(path, fields=""):
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{support.request_fields}{fields}\r\n".encode()


def waiting_post(path):
    return support.post_request(b"{}", path).replace(b"Host:", b"Prefer: wait=20\r\nHost:")


def entity_tag(port, path):
    client = support.HTTPClient(port)
    client.send(get(path).replace(b"GET", b"HEAD"))
    head = client.socket.recv(65_536).decode()
    client.close()
    return next(line for line in head.split("\r\n") if line.lower().startswith("etag:")).split(":", 1)[1].strip()


def mailbox(port, **terms):
    """The path of what a new mailbox holds."""
    client = support.HTTPClient(port)
    client.send(mailbox_request(name="box", **terms))
    status, content = client.responses(1)
    client.close()
    expect(status == 201, f"{status} {content[:200]}")
    return f"/v1/observers/{json.loads(content)['token']}/notifications"
