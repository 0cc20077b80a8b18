"""The line of the scripted broker: WebSocket and HTTP on one port, for many cases at once.

A case is a center, so that a library needs nothing but the name of a center to be in its case.
"""

import asyncio
import base64
import contextlib
import http
import json
import urllib.parse

from websockets.datastructures import Headers
from websockets.exceptions import InvalidState
from websockets.frames import Opcode
from websockets.server import ServerProtocol

BEARER = "base64url.bearer.belfry."
PROBLEMS = "https://belfry.dev/problems/"
HEAD_LIMIT = 16_384


class Connection:
    """A WebSocket of a library, from the opening on; the script says what becomes of it."""

    def __init__(self, head, fields, reader, writer):
        self.token = shown_token(fields)
        self.key = fields.get("Sec-WebSocket-Key")
        self.ended = asyncio.Event()
        self.is_frozen = False
        self._head = head
        self._reader = reader
        self._writer = writer
        self._protocol = ServerProtocol(subprotocols=["belfry.v1"], max_size=1 << 20)

    @property
    def is_gone(self):
        """Whether the library has given it up before it was answered."""
        return self._reader.at_eof() or self._writer.is_closing()

    def answer(self, answered):
        """Answers the opening with something else than a WebSocket: a refusal, or a stranger."""
        self._writer.write(answered)
        if is_cut(answered):
            self._writer.close()

    def accept(self, take):
        """Accepts it; `take` is called with each text that comes, as JSON where it is that."""
        self._protocol.receive_data(self._head)
        [request] = self._protocol.events_received()
        self._protocol.send_response(self._protocol.accept(request))
        self._flush()
        self._reading = asyncio.create_task(self._read(take))

    def send(self, text):
        # What comes too late for a line is missed by a later step.
        with contextlib.suppress(InvalidState):
            self._protocol.send_text(text.encode())
        self._flush()

    def close(self, code):
        self._protocol.send_close(code)
        self._flush()

    def cut(self):
        """Ends it without a word, as a lost line does."""
        self._writer.transport.abort()
        self.ended.set()

    async def _read(self, take):
        with contextlib.suppress(ConnectionError):
            while data := await self._reader.read(65_536):
                self._protocol.receive_data(data)
                for frame in self._protocol.events_received():
                    if frame.opcode is Opcode.TEXT:
                        take(json.loads(frame.data))
                    elif frame.opcode is Opcode.CLOSE:
                        self.ended.set()
                self._flush()
                if self._protocol.close_expected():
                    self._writer.close()
        self.ended.set()

    def _flush(self):
        for data in self._protocol.data_to_send():
            # A frozen broker answers nothing, a ping of WebSocket neither.
            if data and not self.is_frozen and not self._writer.is_closing():
                self._writer.write(data)


class HTTPRequest:
    """A request of a library that has no WebSocket; the script says what it is answered."""

    def __init__(self, method, path, query, fields, writer):
        self.said = {
            "method": method, "path": path, "query": query, "lastEventID": fields.get("Last-Event-ID"),
            "token": shown_token(fields),
        }
        self._writer = writer

    def reply(self, answered, ends):
        self._writer.write(answered)
        if ends:
            self._writer.close()

    def cut(self):
        self._writer.transport.abort()


class HTTPCall:
    """A request that says what a call says, as some libraries ask."""

    def __init__(self, method, params, writer):
        self.frame = {"id": None, "method": method, "params": params}
        self._writer = writer
        self._is_answered = False

    def cut(self):
        """Ends its connection without a word, if it was not answered."""
        if not self._is_answered:
            self._writer.transport.abort()

    def answer(self, result):
        self._is_answered = True
        self._writer.write(response(200, result))

    def fail(self, error):
        self._is_answered = True
        problem = error.get("data", {"status": 500, "detail": error["message"]})
        self._writer.write(response(problem["status"], problem))


class Server:
    """Hands what comes in to the script of the center that it is for."""

    def __init__(self):
        self.scripts = {}
        self._server = None

    async def start(self):
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", 0, limit=HEAD_LIMIT)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _connected(self, reader, writer):
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                method, target, fields = parsed(head)
                script = self._script(target)
                if fields.get("Upgrade", "").lower() == "websocket" and script is not None:
                    script.opened(Connection(head, fields, reader, writer))
                    return
                content = await reader.readexactly(int(fields.get("Content-Length", "0")))
                self._requested(script, method, target, fields, content, writer)
                await writer.drain()

    def _script(self, target):
        match target.split("?")[0].split("/"):
            case ["", "v1", "centers", name, *_]:
                return self.scripts.get(urllib.parse.unquote(name))
        return None

    @staticmethod
    def _requested(script, method, target, fields, content, writer):
        call = call_of(method, target, fields, content)
        if script is not None and script.has_requests:
            path, _, query = target.partition("?")
            script.requested(HTTPRequest(
                method, "/" + path.split("/", 4)[-1], urllib.parse.parse_qs(query), fields, writer))
        elif script is not None and script.refusal is not None:
            writer.write(script.refusal)
            if is_cut(script.refusal):
                writer.close()
        elif script is not None and call is not None:
            script.called(HTTPCall(*call, writer))
        else:
            problem = {"type": f"{PROBLEMS}not-found", "status": 404, "title": "Not found"}
            writer.write(response(404, problem))


def parsed(head):
    """Method, target and fields of the head of a request."""
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    fields = Headers()
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            fields[name] = value.strip()
    return method, target, fields


def shown_token(fields):
    """The token of an opening, in a field or among the subprotocols; None without one."""
    if "Authorization" in fields:
        return fields["Authorization"].removeprefix("Bearer ")
    for protocol in fields.get("Sec-WebSocket-Protocol", "").split(","):
        if (text := protocol.strip()).startswith(BEARER):
            code = text.removeprefix(BEARER)
            return base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)).decode()
    return None


def call_of(method, target, fields, content):
    """The call that a request over HTTP stands for; None for any other request."""
    path, _, query = target.partition("?")
    match method, [urllib.parse.unquote(part) for part in path.split("/")[4:]]:
        case "POST", ["responders", address, selector]:
            params = {"object": address, "selector": selector}
            params |= dict(urllib.parse.parse_qsl(query))
            for key in ("default", "ttl", "once"):
                if key in params:
                    params[key] = json.loads(params[key])
            if content:
                params["userInfo"] = json.loads(content)
            for part in fields.get("Prefer", "").split(","):
                if part.strip().startswith("wait="):
                    params["wait"] = int(part.strip().removeprefix("wait="))
            if "Idempotency-Key" in fields:
                params["idempotencyKey"] = fields["Idempotency-Key"].strip('"')
            return "ask", params
        case "DELETE", ["notifications", identifier]:
            return "withdraw", {"id": identifier}
    return None


def response(status, value, **fields):
    """The bytes of a response of a broker with this JSON."""
    kind = "problem+json" if status >= 400 else "json"
    return answer_of({
        "status": status, "type": f"application/{kind}", "content": json.dumps(value),
        "fields": fields})


def answer_of(said):
    """The bytes of any response: `status`, `type`, `content`, `fields`; `cut` ends it too early.

    With `streams` its end is not said, so that more can follow.
    """
    status, content = said["status"], said.get("content", "").encode()
    fields = dict(said.get("fields", {}))
    if said.get("type"):
        fields["Content-Type"] = said["type"]
    if not said.get("streams") and status != 204:
        fields["Content-Length"] = len(content) + 100 * bool(said.get("cut"))
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\n{lines}\r\n".encode() + content


def is_cut(answered):
    """Whether the content of a response is shorter than its head says."""
    head, _, content = answered.partition(b"\r\n\r\n")
    lengths = [line for line in head.split(b"\r\n") if line.startswith(b"Content-Length: ")]
    return bool(lengths) and int(lengths[0].split()[1]) > len(content)
