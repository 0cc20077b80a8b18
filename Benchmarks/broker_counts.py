"""What counts.py counts of a broker under callgrind: posts, deliveries, connections, asks and writes to values."""

import contextlib
import itertools
import json

import support

BODY = support.user_info(280)


@contextlib.contextmanager
def counted_broker(folder, begins_late=False):
    """A broker that counts its instructions, and the counts."""
    callgrind = support.Callgrind(folder, begins_late)
    program = support.readable_binary(folder, support.built("BenchmarkBroker"))
    with support.Broker(callgrind.wrapper, path=program, options=("patient",)) as broker:
        callgrind.attach(broker.process.pid)
        yield broker, callgrind


# --- The broker under callgrind -----------------------------------------------------------------


class Posting:
    """A connection that posts to a broker, some posts a turn, and observers who get them all."""

    def __init__(self, port, audience=None):
        self.client = support.HTTPClient(port)
        self.audience = audience

    def post(self, count, batch=1, path=None, content=BODY):
        name = self.audience.name if self.audience else "ButtonChange"
        request = support.post_request(content, path or f"/v1/channels/{name}")
        self.send(count, [request * batch], batch)

    def send(self, count, requests, batch=1):
        """Sends so many, of these in turn; all of the audience get what comes of each."""
        observers = len(self.audience.clients) if self.audience else 0
        for _, request in zip(range(count // batch), itertools.cycle(requests)):
            self.client.send(request)
            status, receipt = self.client.responses(batch)
            if status not in (200, 201) or b'"matched":%d' % observers not in receipt:
                raise ValueError(f"{status} {receipt!r}")
            if observers:
                self.audience.drain(batch * observers)


def count_broker(folder):
    """Instructions of posts, of deliveries and of connections."""
    counts = {}
    with counted_broker(folder) as (broker, callgrind):

        def count(posting, posts, **options):
            callgrind.zero()
            posting.post(posts, **options)
            return callgrind.total()

        alone = Posting(broker.port)
        # The replay ring is full before the first measure.
        alone.post(1_600, batch=16)
        wrapped = b'{"name":"ButtonChange","object":"calculator","userInfo":%b}'
        kinds = {
            "post": (1_000, {}),
            "post-pipelined": (1_600, {"batch": 16}),
            "post-object": (1_000, {"path": "/v1/channels/ButtonChange?object=calculator"}),
            "post-notifications": (1_000, {
                "path": "/v1/notifications", "content": wrapped % support.user_info(224)}),
        }
        for name, (posts, options) in kinds.items():
            alone.post(64, **options)
            counts[name] = count(alone, posts, **options) / posts

        # An observer outlives its connection, so each audience has a name of its own.
        audience = support.Observers(broker.port, 1, name="Observed")
        observed = Posting(broker.port, audience)
        options = {"batch": 16, "content": support.user_info(100)}
        observed.post(160, **options)
        counts["post-observed"] = count(observed, 1_600, **options) / 1_600
        audience.close()

        audience = support.Observers(broker.port, 50, name="Connected")
        callgrind.zero()
        audience.add(300)
        counts["connection"] = callgrind.total() / 300
        audience.close()
        counts.update(count_deliveries(broker.port, count))
    return counts


def count_deliveries(port, count):
    """The slope of the cost of posts over the number of their observers."""
    ends, few, many = [], 50, 250
    audience = support.Observers(port, few, name="Delivered")
    posting = Posting(port, audience)
    for observers in (few, many):
        audience.add(observers - len(audience.clients))
        posting.post(32, batch=16)
        posting.post(2)
        ends.append((count(posting, 60), count(posting, 320, batch=16)))
    audience.close()
    (few_alone, few_burst), (many_alone, many_burst) = ends
    return {
        "delivery": (many_alone - few_alone) / (60 * (many - few)),
        "delivery-burst": (many_burst - few_burst) / (320 * (many - few)),
    }


# --- Asks under callgrind -------------------------------------------------------------------------


class Asking:
    """A WebSocket and an HTTP connection that ask or post, and a WebSocket that answers at once."""

    def __init__(self, port):
        self.port = port
        self.web_socket = support.WebSocketClient(port)
        self.http = support.HTTPClient(port)
        self.answering = support.WebSocketClient(port)
        self.number = 0
        for client in (self.web_socket, self.answering):
            client.next_frame()  # The welcome.

    def call(self, client, method, params):
        """The result of a call, before which nothing else comes."""
        self.number += 1
        client.send_text(json.dumps(
            {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}))
        _, payload = client.next_frame()
        answer = json.loads(payload)
        if "result" not in answer:
            raise ValueError(payload.decode())
        return answer["result"]

    def register(self, **fields):
        self.call(self.answering, "addObserver", fields)

    def answer(self, result):
        """Reads what the answering side is sent, and answers it if that wants an answer."""
        _, payload = self.answering.next_frame()
        if result:
            end = payload.index(b',"method"')
            self.answering.send_text(payload[:end] + b',"result":' + result + b"}")

    def by_call(self, count, method, fields, result, expected):
        """Makes calls one after the other, each when the one before has its answer."""
        call_in_turn(
            count, self.web_socket, method, [fields], expected, lambda: self.answer(result))

    def by_request(self, count, path, result, expected):
        """The same over HTTP."""
        request = support.post_request(ASK_BODY, path)
        for _ in range(count):
            self.http.send(request)
            self.answer(result)
            status, content = self.http.responses(1)
            if status != 200 or expected not in content:
                raise ValueError(f"{status} {content!r}")

    def ask(self, count, address="desk"):
        fields = {"object": b'"%b"' % address.encode(), "selector": b'"shouldStart"',
                  "userInfo": ASK_BODY}
        self.by_call(count, "ask", fields, b"true", b'"answer":true')

    def ask_by_request(self, count):
        self.by_request(count, "/v1/responders/desk/shouldStart", b"true", b'"answer":true')

    def post(self, count, name, result=None, expected=b'"delivered":1'):
        fields = {"name": b'"%b"' % name.encode(), "userInfo": ASK_BODY}
        self.by_call(count, "post", fields, result, expected)

    def post_by_request(self, count):
        self.by_request(count, "/v1/channels/Acknowledged", b"null", b'"acknowledged":1')


ASK_BODY = support.user_info(100)
# How many asks of one kind are counted.
ASK_COUNT = 400


def count_asks(folder):
    """Instructions of asks that are answered at once, and of the posts that they are measured by."""
    counts = {}
    with counted_broker(folder) as (broker, callgrind):
        asking = Asking(broker.port)
        asking.register(name="Plain")
        asking.register(name="Acknowledged", acknowledge=True)
        asking.register(object="desk", implements=["shouldStart"])

        def count(name, act, *arguments):
            counts[name] = callgrind.cost(ASK_COUNT, act, *arguments)

        count("call-observed", asking.post, "Plain")
        count("call-acknowledged", asking.post, "Acknowledged", b"null", b'"acknowledged":1')
        count("ask", asking.ask)
        count("post-acknowledged", asking.post_by_request)
        count("ask-http", asking.ask_by_request)
        for place in range(1, 8):
            asking.register(
                object=f"hop{place}", implements=[],
                next=f"hop{place + 1}" if place < 7 else "desk")
        count("ask-chain", asking.ask, "hop1")
    return counts


def count_crowded_asks(folder):
    """The same beside 100,000 other addresses, and then beside 9,990 open asks, too."""
    counts = {}
    with counted_broker(folder, begins_late=True) as (broker, callgrind):
        asking = Asking(broker.port)
        asking.register(object="desk", implements=["shouldStart"])
        keeping = [support.WebSocketClient(broker.port) for _ in range(10)]
        for place, client in enumerate(keeping):
            for first in range(0, 10_000, 1_000):
                call_several(client, "addObserver", [
                    {"object": f"other-{place}-{number}", "implements": ["shouldStart"]}
                    for number in range(first, first + 1_000)])
        callgrind.begin()
        for name in ("ask-addresses", "ask-open"):
            counts[name] = callgrind.cost(ASK_COUNT, asking.ask)
            if name == "ask-open":
                break
            # One less than would make the client slow that owes the answers.
            for place, client in enumerate(keeping):
                call_several(client, "ask", [
                    {"object": f"other-{place}-1", "selector": "shouldStart", "ttl": 3600}] * 999,
                    delivery_count=999)
    return counts


def call_in_turn(count, client, method, params, expected, meanwhile=lambda: None):
    """Makes so many calls, with these params in turn, each when the one before has its answer."""
    texts = [
        b",".join(b'"%b":%b' % (name.encode(), text) for name, text in fields.items())
        for fields in params]
    for _, text in zip(range(count), itertools.cycle(texts)):
        client.send_text(
            b'{"jsonrpc":"2.0","id":7,"method":"%b","params":{%b}}' % (method.encode(), text))
        meanwhile()
        _, payload = client.next_frame()
        if expected not in payload:
            raise ValueError(payload.decode())


def call_several(client, method, params, delivery_count=0):
    """Makes calls in one frame, and reads their answers, which come in one frame, and what they deliver."""
    client.send_text(json.dumps([
        {"jsonrpc": "2.0", "id": 1, "method": method, "params": fields} for fields in params]))
    answers = b""
    while not answers or delivery_count > 0:
        _, payload = client.next_frame()
        if payload.startswith(b"["):
            answers = payload
        elif b'"belfry.ask"' in payload or b'"shouldStart"' in payload:
            delivery_count -= 1
    if b'"error"' in answers:
        raise ValueError(answers[:500].decode())


# --- Values under callgrind -----------------------------------------------------------------------


# Two contents of a value, of 100 bytes each.
VALUE_BODIES = [b'{"n":"' + letter * 92 + b'"}' for letter in (b"x", b"y")]


def count_values(folder):
    """Instructions of writes to values, and of the posts that they are measured by."""
    counts = {}
    with counted_broker(folder, begins_late=True) as (broker, callgrind):
        audience = support.Observers(broker.port, 1_000, name="Observed")
        audience.observe(object="shared", keyPath="", initial=False)
        audience.observe(object="placed", keyPath="ui", initial=False)
        others = support.WebSocketClient(broker.port)
        others.next_frame()  # The welcome.
        call_several(others, "addObserver", [
            {"object": "others", "keyPath": f"other{number}", "initial": False}
            for number in range(1_000)])
        callgrind.begin()

        def send(measure, posting, times, method, path, contents=VALUE_BODIES):
            counts[measure] = callgrind.cost(times, posting.send, [
                support.post_request(content, path, method) for content in contents])

        def call(measure, method, member, **fields):
            counts[measure] = callgrind.cost(1_000, call_in_turn, others, method, [
                {**fields, member: content} for content in VALUE_BODIES], b'"matched":0')

        alone = Posting(broker.port)
        send("post-unobserved", alone, 1_000, "POST", "/v1/channels/Unobserved")
        send("put", alone, 1_000, "PUT", "/v1/values/plain/ui")
        send("put-others", alone, 1_000, "PUT", "/v1/values/others/ui")
        call("call-unobserved", "post", "userInfo", name=b'"Unobserved"')
        call("call-set", "setValue", "value", object=b'"plain"', keyPath=b'"ui"')
        observed = Posting(broker.port, audience)
        send("post-1k", observed, 40, "POST", "/v1/channels/Observed")
        send("put-1k", observed, 40, "PUT", "/v1/values/placed/ui", [
            b'"' + letter * 98 + b'"' for letter in (b"x", b"y")])
        send("merge-1k", observed, 40, "PATCH", "/v1/values/shared")
        audience.close()
    return counts
