#!/usr/bin/env python3
"""Counts instructions and bytes, and compares them with Benchmarks/thresholds.json.

    Benchmarks/counts.py [--update] [MEASURE ...]

Scripts/instructions builds what this needs and runs it. A count past its threshold by more than its
tolerance fails; one that is as far below is told, so that the threshold can follow. --update writes
what was counted as thresholds; a `limit` is what no update may pass, and `most-times` says how many
times another measure of the same run.

The broker and rooms by themselves run under callgrind, one process for many measures. Between two
measures a process stands still, and its counts are read and begin again at 0; so nothing that it does
at its start is counted, and one start is enough. Bytes are the growth of the resident memory.
"""

import argparse
import concurrent.futures
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import support

THRESHOLDS = os.path.join(support.ROOT, "Benchmarks", "thresholds.json")
BODY = support.user_info(280)


def built(name):
    """The path of a program of this folder."""
    path = os.path.join(support.ROOT, ".build", "release", name)
    if not os.path.exists(path):
        sys.exit(f"{name} is not built (see Benchmarks/README.md)")
    return path


# --- The broker under callgrind -----------------------------------------------------------------


class Posting:
    """A connection that posts to a broker, some posts a turn, and observers who get them all."""

    def __init__(self, port, audience=None):
        self.client = support.HTTPClient(port)
        self.audience = audience

    def post(self, count, batch=1, path=None, content=BODY):
        name = self.audience.name if self.audience else "ButtonChange"
        observers = len(self.audience.clients) if self.audience else 0
        path = path or f"/v1/channels/{name}"
        request = support.post_request(content, path) * batch
        for _ in range(count // batch):
            self.client.send(request)
            status, receipt = self.client.responses(batch)
            if status != 200 or b'"matched":%d' % observers not in receipt:
                raise ValueError(f"{status} {receipt!r}")
            if observers:
                self.audience.drain(batch * observers)


def count_broker(folder):
    """Instructions of posts, of deliveries and of connections."""
    counts = {}
    callgrind = support.Callgrind(folder)
    program = support.readable_binary(folder, built("BenchmarkBroker"))
    with support.Broker(callgrind.wrapper, path=program, options=("patient",)) as broker:
        callgrind.attach(broker.process.pid)

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
        params = b",".join(b'"%b":%b' % (name.encode(), text) for name, text in fields.items())
        for _ in range(count):
            self.web_socket.send_text(
                b'{"jsonrpc":"2.0","id":7,"method":"%b","params":{%b}}' % (method.encode(), params))
            self.answer(result)
            _, payload = self.web_socket.next_frame()
            if expected not in payload:
                raise ValueError(payload.decode())

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
    callgrind = support.Callgrind(folder)
    program = support.readable_binary(folder, built("BenchmarkBroker"))
    with support.Broker(callgrind.wrapper, path=program, options=("patient",)) as broker:
        callgrind.attach(broker.process.pid)
        asking = Asking(broker.port)
        asking.register(name="Plain")
        asking.register(name="Acknowledged", acknowledge=True)
        asking.register(object="desk", implements=["shouldStart"])

        def count(name, act, *arguments):
            act(ASK_COUNT // 4, *arguments)
            callgrind.zero()
            act(ASK_COUNT, *arguments)
            counts[name] = callgrind.total() / ASK_COUNT

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
    callgrind = support.Callgrind(folder, begins_late=True)
    program = support.readable_binary(folder, built("BenchmarkBroker"))
    with support.Broker(callgrind.wrapper, path=program, options=("patient",)) as broker:
        callgrind.attach(broker.process.pid)
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
            asking.ask(ASK_COUNT // 4)
            callgrind.zero()
            asking.ask(ASK_COUNT)
            counts[name] = callgrind.total() / ASK_COUNT
            if name == "ask-open":
                break
            # One less than would make the client slow that owes the answers.
            for place, client in enumerate(keeping):
                call_several(client, "ask", [
                    {"object": f"other-{place}-1", "selector": "shouldStart", "ttl": 3600}] * 999,
                    delivery_count=999)
    return counts


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


# --- Rooms by themselves ------------------------------------------------------------------------


class Room:
    """A RoomBenchmark process; it does one of its works as often as it is told."""

    def __init__(self, works, wrapper=(), path=None):
        path = path or built("RoomBenchmark")
        self.process = subprocess.Popen(
            [*wrapper, path, *works], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def expect(self, word):
        line = self.process.stdout.readline().strip()
        if line != word:
            sys.exit(f"RoomBenchmark said {line!r} in the place of {word!r}")

    def tell(self, text):
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()

    def run(self, count):
        self.tell(count)
        self.expect("done")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


# How often each work is done while it is counted.
ROOM_WORKS = {
    "match-1": 2_000, "match-1k": 2_000, "enqueue": 2_000, "text-frame": 4_000,
    "binary-frame": 4_000, "text-frame-16": 4_000, "text-frame-64": 40, "ping-frame": 4_000,
    "close-frame": 4_000, "head": 4_000, "head-again": 4_000,
}


def count_works(folder, works, begins_late=False):
    """Instructions of each of these works, done once."""
    counts = {}
    callgrind = support.Callgrind(folder, begins_late)
    program = support.readable_binary(folder, built("RoomBenchmark"))
    with Room(works, callgrind.wrapper, program) as room:
        callgrind.attach(room.process.pid)
        for name, count in works.items():
            room.expect("ready")
            if begins_late:
                callgrind.begin()
            # What is remembered of the past is full, and what is reused is there.
            room.run(max(count // 2, 2))
            callgrind.zero()
            room.run(count)
            counts[name] = callgrind.total() / count
            room.tell("")
    return counts


def count_rooms(folder):
    return count_works(folder, ROOM_WORKS)


def count_million(folder):
    return count_works(folder, {"match-1m": 2_000}, begins_late=True)


# --- Memory -------------------------------------------------------------------------------------


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure_memory(_):
    """Resident bytes of an observer without a connection, a held notification, a connection."""
    sizes = {}
    for name, work, count in [
        ("observer-bytes", "observers", 1_000_000),
        ("named-observer-bytes", "named-observers", 1_000_000),
        ("held-bytes", "held", 100_000),
    ]:
        with Room([work]) as room:
            room.expect("ready")
            before = resident_bytes(room.process.pid)
            room.run(count)
            sizes[name] = (resident_bytes(room.process.pid) - before) / count
    with support.Broker(path=built("BenchmarkBroker"), options=("patient",)) as broker:
        audience = support.Observers(broker.port, 500)
        before = resident_bytes(broker.pid)
        audience.add(4_000)
        sizes["connection-bytes"] = (resident_bytes(broker.pid) - before) / 4_000
        audience.close()
    return sizes


# --- The verdict --------------------------------------------------------------------------------


PARTS = {
    count_broker: {
        "post", "post-pipelined", "post-object", "post-notifications", "post-observed",
        "connection", "delivery", "delivery-burst",
    },
    count_asks: {
        "call-observed", "call-acknowledged", "ask", "ask-chain", "post-acknowledged", "ask-http",
    },
    count_crowded_asks: {"ask-addresses", "ask-open"},
    count_million: {"match-1m"},
    count_rooms: set(ROOM_WORKS),
    measure_memory: {
        "observer-bytes", "named-observer-bytes", "held-bytes", "connection-bytes"},
}


def judge(name, row, counts):
    """Prints the row of a measure; whether its threshold is kept."""
    count = counts[name]
    unit = "instructions" if "instructions" in row else "bytes"
    threshold, tolerance = row[unit], row["tolerance"]
    change = count / threshold - 1 if threshold else float("inf")
    passes = change <= tolerance and count <= row.get("limit", count)
    if not passes:
        verdict = "TOO MANY"
    elif change < -tolerance:
        verdict = "fewer: lower the threshold"
    else:
        verdict = "ok"
    print(f"{name:20} {count:12,.1f} {unit:12} {100 * change:+7.2f} % (at most "
          f"{100 * tolerance:+.1f} %): {verdict}: {row['what']}", flush=True)
    for other, most in row.get("most-times", {}).items():
        # Those of one run belong together: what was not counted in this one is not compared.
        if other not in counts:
            continue
        ratio = count / counts[other]
        verdict = "ok" if ratio <= most else "TOO MANY"
        passes = passes and ratio <= most
        print(f"{'':20} {ratio:12.3f} times {other} (at most {most}): {verdict}", flush=True)
    return passes


def measure(parts):
    """The counts of these parts, of which as many run at a time as there are processors."""
    counts = {}

    def run(part):
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="belfry-counts.") as folder:
            found = part(folder)
        print(f"{part.__name__}: {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)
        return found

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(run, parts):
            counts.update(found)
    return counts


def main():
    with open(THRESHOLDS) as file:
        rows = json.load(file)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the counts as thresholds")
    parser.add_argument("measures", nargs="*", metavar="MEASURE", help=", ".join(rows))
    options = parser.parse_args()
    unknown = set(options.measures) - set(rows)
    if unknown:
        parser.error(f"there is no measure {', '.join(sorted(unknown))}")
    wanted = set(options.measures or rows)
    parts = [part for part, names in PARTS.items() if names & wanted]
    # Each observer has a socket here.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    found = measure(parts)
    counts = {name: found[name] for name in rows if name in wanted}
    if options.update:
        update(rows, counts)
    kept = [judge(name, rows[name], found) for name in counts]
    if not all(kept):
        sys.exit("error: what is marked TOO MANY costs more than its threshold allows")


def update(rows, counts):
    """Writes what was counted as thresholds; what is past its limit still fails."""
    for name, count in counts.items():
        row = rows[name]
        row["instructions" if "instructions" in row else "bytes"] = round(count, 1)
    with open(THRESHOLDS, "w") as file:
        json.dump(rows, file, indent=4)
        file.write("\n")


if __name__ == "__main__":
    main()
