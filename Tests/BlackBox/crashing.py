"""What crash.py and its parts share: a violation, clients that are cut when the broker is killed, and times."""

import datetime
import http.client
import json
import os
import sys

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Benchmarks"))
import support  # noqa: E402

TIMEOUT = 20
# What a client is told when the broker is gone.
CUT = (OSError, http.client.HTTPException)


class Violation(Exception):
    """Something that was promised did not hold."""


class Connection:
    """HTTP requests on a connection that is kept; what is cut is one of CUT."""

    def __init__(self, port):
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)

    def ask(self, method, path, content=None, fields=None):
        headers = dict(fields or {})
        body = None
        if content is not None:
            body = json.dumps(content)
            headers["Content-Type"] = "application/json"
        self.http.request(method, path, body, headers)
        response = self.http.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text else None, response

    def mailbox(self, observer):
        """Registers a mailbox, and returns its token."""
        status, row, _ = self.ask("POST", "/v1/observers", observer)
        if status != 201:
            raise Violation(f"a mailbox was answered {status} {row}")
        return row["token"]

    def read_all(self, token, after=0):
        """What is in a mailbox, its gaps, and where it goes on."""
        notes, gaps = [], []
        while True:
            status, page, _ = self.ask(
                "GET", f"/v1/observers/{token}/notifications?after={after}&limit=1000")
            if status != 200:
                raise Violation(f"a mailbox was answered {status} {page}")
            gaps += page["gaps"]
            if not page["notifications"]:
                return notes, gaps, after
            notes += page["notifications"]
            after = page["next"]

    def queue(self, query=""):
        """The entries of the queue and its timers, by id."""
        waiting = {}
        cursor = ""
        while True:
            status, page, _ = self.ask("GET", f"/v1/queue?limit=1000{query}{cursor}")
            if status != 200:
                raise Violation(f"the queue was answered {status} {page}")
            for entry in page["entries"]:
                waiting[entry["id"]] = entry
            if not page.get("next"):
                return waiting
            cursor = f"&cursor={page['next']}"


class Session:
    """A WebSocket, of a new client or of one that goes on with its session."""

    def __init__(self, port, session=None, after=None):
        self.client = support.WebSocketClient(port)
        self.client.socket.settimeout(TIMEOUT)
        self.session = self.next()["params"]["session"]
        if session is None:
            return
        position = {} if after is None else {"after": after}
        self.call("resume", session=session, **position)
        frame = self.next()
        if frame.get("id") != "resume":
            raise Violation(f"before the answer of resume came {frame}")
        if "error" in frame:
            raise Violation(f"the session is gone: {frame}")
        self.session, self.resumed = session, frame["result"]

    def call(self, method, **params):
        self.client.send_text(
            json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}))

    def next(self):
        """The next frame, as JSON."""
        while True:
            opcode, content = self.client.next_frame()
            if opcode == 9:
                self.client.socket.sendall(support.text_frame(content, opcode=10))
            elif opcode == 1:
                return json.loads(content)
            else:
                raise ConnectionError("the broker closed the connection")

    def reply(self, method, take=lambda frame: None, **params):
        """The reply to a call; what comes before it is handed over."""
        self.call(method, **params)
        while (frame := self.next()).get("id") != method:
            take(frame)
        return frame

    def result(self, method, take=lambda frame: None, **params):
        """The result of a call that may not fail."""
        reply = self.reply(method, take, **params)
        if "result" not in reply:
            raise Violation(f"{method} was answered {reply}")
        return reply["result"]

    def answer(self, frame, answer):
        self.client.send_text(json.dumps({"jsonrpc": "2.0", "id": frame["id"], "result": answer}))

    def leave(self):
        """Closes the connection with code 1000, and waits for the answer of the broker."""
        self.client.socket.sendall(support.text_frame((1000).to_bytes(2, "big"), opcode=8))
        while self.client.next_frame()[0] != 8:
            pass
        self.close()

    def close(self):
        """Cuts the connection without a word."""
        self.client.close()


def milliseconds(text):
    """A time of the broker as milliseconds since 1970."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return round(moment.timestamp() * 1000)
