"""Attacks with asks: responders that never answer, that answer wrongly, and askers that leave."""

import json
import time

from .clients import expect, support

ANSWER_LIMIT = 262_144


class Caller:
    """A WebSocket that calls, and reads what comes in the meantime."""

    def __init__(self, port):
        self.client = support.WebSocketClient(port)
        self.client.socket.settimeout(20)
        self.client.next_frame()
        self.others = []

    def frame(self):
        """The next text frame; a ping is answered."""
        while True:
            opcode, payload = self.client.next_frame()
            if opcode == 9:
                self.client.socket.sendall(support.text_frame(payload, opcode=10))
            else:
                expect(opcode == 1, f"the session ended: {payload!r}")
                return json.loads(payload)

    def send(self, *calls):
        """Sends calls, each a method and its params; in one frame if they are several."""
        calls = [{"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                 for number, (method, params) in enumerate(calls)]
        self.client.send_text(json.dumps(calls if len(calls) > 1 else calls[0]))

    def call(self, *calls):
        """The answers to calls, in their order; frames before them are kept."""
        self.send(*calls)
        while True:
            frame = self.frame()
            if isinstance(frame, list):
                return frame
            if frame.get("id") == 0:
                return [frame]
            self.others.append(frame)

    def respond(self, address, **terms):
        answer = self.call(("addObserver", {"object": address, "implements": ["go"], **terms}))[0]
        expect("result" in answer, answer)
        return answer["result"]

    def next_ask(self):
        while True:
            frame = self.others.pop(0) if self.others else self.frame()
            if frame.get("method") == "go":
                return frame

    def answer(self, frame, text):
        """Answers with this JSON text."""
        self.client.send_text(f'{{"jsonrpc":"2.0","id":"{frame["id"]}","result":{text}}}')

    def close(self):
        self.client.close()


def status_of(answer):
    return answer["error"]["data"]["status"] if "error" in answer else 200


def open_asks(port):
    """How many asks are open; a page has at most 1,000."""
    client = support.HTTPClient(port)
    client.send(b"GET /v1/asks?limit=1000 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    status, content = client.responses(1)
    client.close()
    expect(status == 200, f"{status} {content!r}")
    return len(json.loads(content)["asks"])


def wait_for_no_asks(port, seconds):
    deadline = time.monotonic() + seconds
    while (count := open_asks(port)) and time.monotonic() < deadline:
        time.sleep(0.05)
    expect(count == 0, f"{count} asks are open after {seconds} s")


def asks_without_answers(port):
    """As many asks as a center takes, at a responder that never answers; then their time is over."""
    silent = Caller(port)
    silent.respond("silent", suspensionBehavior="hold")
    askers = [Caller(port) for _ in range(11)]
    params = {"object": "silent", "selector": "go", "ttl": 4, "userInfo": {"text": "x" * 200}}
    statuses = {}
    for asker in askers:
        for size in (500, 500, 1):
            for answer in asker.call(*[("ask", params)] * size):
                status = status_of(answer)
                statuses[status] = statuses.get(status, 0) + 1
    expect(statuses == {200: 10_000, 429: 10, 503: 1_001}, f"statuses {statuses}")
    wait_for_no_asks(port, 8)
    for client in [silent, *askers]:
        client.close()
    return "429 at 1,001, 503 at 10,001; gone when their time is over"


def askers_that_leave(port):
    """1,000 asks of WebSockets and of requests whose connections end before there is an answer."""
    silent = Caller(port)
    silent.respond("left")
    askers = [Caller(port) for _ in range(10)]
    for asker in askers:
        asker.send(*[("ask", {"object": "left", "selector": "go", "wait": 30})] * 50)
    requests = []
    for _ in range(490):
        client = support.HTTPClient(port)
        client.send(support.post_request(b"{}", "/v1/responders/left/go").replace(
            b"Host:", b"Prefer: wait=30\r\nHost:"))
        requests.append(client)
    shown = {silent.next_ask()["params"]["id"] for _ in range(990)}
    for client in [*askers, *requests]:
        client.close()
    settled = set()
    while len(settled) < 990:
        frame = silent.others.pop(0) if silent.others else silent.frame()
        if frame.get("method") == "belfry.settled":
            expect(frame["params"]["reason"] == "withdrawn", frame)
            settled.add(frame["params"]["id"])
    expect(settled == shown, "others are settled than were shown")
    wait_for_no_asks(port, 1)
    silent.close()
    return "990 withdrawn"


def wrong_answers(port):
    """Answers that come twice, late, from others, too large and too deep."""
    responder, other, asker = Caller(port), Caller(port), Caller(port)
    token = responder.respond("wrong")["token"]
    other_token = other.respond("elsewhere")["token"]

    def asked(text, again=None, **params):
        """What the asker is told when the responder answers with this text, and perhaps again."""
        asker.send(("ask", {"object": "wrong", "selector": "go", "wait": 10, **params}))
        frame = responder.next_ask()
        other.answer(frame, '"of another"')
        expect(put(frame, other_token) == "404", "an answer of another is not 404")
        responder.answer(frame, text)
        if again:
            responder.answer(frame, again)
        return asker.frame()

    def put(frame, by):
        path = f"/v1/notifications/{frame['params']['id']}/answer"
        head = support.post_request(b"1", path).replace(b"POST", b"PUT").replace(
            b"Host:", b"Belfry-Token: " + by.encode() + b"\r\nHost:")
        client = support.HTTPClient(port)
        client.send(head)
        status, _ = client.responses(1)
        client.close()
        return str(status)

    for _ in range(20):
        told = asked("1", again="2")
        expect(told["result"]["answer"] == 1, told)
    whole = '"' + "x" * (ANSWER_LIMIT - 2) + '"'
    told = asked(whole)
    expect(len(told["result"]["answer"]) == ANSWER_LIMIT - 2, "an answer at the limit is not whole")
    told = asked("[" * 64 + "]" * 64)
    expect("result" in told, told)
    for text in (whole[:-1] + 'x"', "[" * 65 + "]" * 65):
        for _ in range(20):
            told = asked(text)
            expect(status_of(told) == 502, f"{told}"[:300])
    asker.send(("ask", {"object": "wrong", "selector": "go", "wait": 1}))
    frame = responder.next_ask()
    expect(status_of(asker.frame()) == 504, "no answer is not 504")
    responder.answer(frame, whole)
    expect(put(frame, token) == "409", "a late answer is not 409")
    for client in (responder, other, asker):
        client.close()
    return "the first counts; 502 past a limit; 409 when it is late"


ATTACKS = [asks_without_answers, askers_that_leave, wrong_answers]
