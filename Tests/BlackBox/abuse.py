#!/usr/bin/env python3
"""Attacks a broker from loopback, and measures what another client feels of it.

    Tests/BlackBox/abuse.py BINARY [--only REGEX] [--rounds N] [--list] [-- OPTION ...]

Each attack has a broker of its own with `--max-connections 1000` and short timeouts, unless
`--rounds` sends them all against one process. A second process pings over a WebSocket every 20 ms
all the while. The bars, for each attack:

- another client's ping is answered within 0.25 s;
- the memory of the broker (VmRSS) grows by less than 48 MiB;
- its descriptors are as many as before, soon after the attack;
- what the attack opened ended as documented, within 1 s of the limit that it ran into.

With `--rounds`, the memory after the last round is at most 1.1 times that after a quarter of them.
Options after `--` are for the broker. Python 3 and its standard library only.
"""

import argparse
import json
import multiprocessing
import os
import re
import select
import socket
import struct
import sys
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Benchmarks"))
import support  # noqa: E402

PING_BAR_SECONDS = 0.25
MEMORY_BAR_MIB = 48
ENDING_BAR_SECONDS = 1.0
TIMEOUT_SECONDS = 2
OPTIONS = [
    "--in-memory", "--debug-endpoints", "--max-connections", "1000", "--head-timeout",
    f"{TIMEOUT_SECONDS}s", "--body-timeout", f"{TIMEOUT_SECONDS}s", "--idle-timeout", "4s",
    "--slow-timeout", f"{TIMEOUT_SECONDS}s",
]


class Failure(Exception):
    """The broker did not do what is documented."""


def expect(holds, what):
    if not holds:
        raise Failure(what)


# --- The other client ---------------------------------------------------------------------------


def ping_forever(port, pipe):
    """Pings until it is told to stop, then tells the latencies in seconds."""
    client = support.WebSocketClient(port, "/v1/ws")
    client.next_frame()  # The welcome.
    latencies = []
    pipe.send("ready")
    # Also after a short attack there is something to judge by.
    while not pipe.poll(0.02) or len(latencies) < 20:
        start = time.monotonic()
        client.socket.sendall(support.text_frame(b"x", opcode=9))
        client.socket.settimeout(10)
        try:
            while client.next_frame()[0] != 10:
                pass
        except (OSError, ConnectionError) as error:
            pipe.send(f"the other client's connection ended: {error}")
            return
        latencies.append(time.monotonic() - start)
    pipe.send(latencies)


class OtherClient:
    def __init__(self, port):
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=ping_forever, args=(port, theirs))
        self.process.start()
        expect(self.pipe.poll(10) and self.pipe.recv() == "ready", "the other client cannot connect")

    def stop(self):
        """The latencies in seconds."""
        self.pipe.send("stop")
        told = self.pipe.recv() if self.pipe.poll(15) else "the other client got no pong in 10 s"
        self.process.join()
        expect(not isinstance(told, str), told)
        return told


# --- What attacks share -------------------------------------------------------------------------


def connect_many(port, count):
    """So many connections, except for those that the broker refuses."""
    clients = []
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", port))
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.setblocking(False)
        clients.append(client)
    return clients


class Ended:
    """When each connection ended, and the first bytes that it got."""

    def __init__(self, clients):
        self.poll = select.epoll()
        self.clients = {client.fileno(): client for client in clients}
        self.bytes = {client.fileno(): b"" for client in clients}
        self.times = {}
        for number in self.clients:
            self.poll.register(number, select.EPOLLIN)

    def read(self, seconds):
        """Reads what has come; waits so long at most."""
        for number, _ in self.poll.poll(seconds):
            try:
                more = self.clients[number].recv(65_536)
            except OSError:
                more = b""
            if len(self.bytes[number]) < 4_096:
                self.bytes[number] += more
            if not more:
                self.times[number] = time.monotonic()
                self.poll.unregister(number)
                self.clients[number].close()

    @property
    def is_over(self):
        return len(self.times) == len(self.clients)

    def wait(self, deadline):
        while not self.is_over and time.monotonic() < deadline:
            self.read(0.1)
        expect(self.is_over, f"{len(self.clients) - len(self.times)} of {len(self.clients)} still "
               "open 1 s after their limit")

    def close(self):
        for client in self.clients.values():
            client.close()
        self.poll.close()


def dribble(port, count, head, piece, pause=0.4):
    """Sends a piece at a time on many connections, and waits until the broker ends them all.

    The time of a limit runs from the first byte of each, which are all sent within a moment.
    """
    clients = connect_many(port, count)
    start = time.monotonic()
    for client in clients:
        client.send(head)
    sent = time.monotonic()
    ended = Ended(clients)
    while not ended.is_over and time.monotonic() < start + TIMEOUT_SECONDS + 5:
        ended.read(pause)
        for number, client in ended.clients.items():
            if number not in ended.times:
                try:
                    client.send(piece)
                except OSError:
                    pass
    expect(ended.is_over, f"{len(clients) - len(ended.times)} connections still open")
    last = max(ended.times.values()) - sent
    first = min(ended.times.values()) - start
    statuses = {answer[9:12].decode() for answer in ended.bytes.values()}
    ended.close()
    expect(first >= TIMEOUT_SECONDS - 0.1, f"ended after {first:.2f} s, before the limit")
    expect(last <= TIMEOUT_SECONDS + ENDING_BAR_SECONDS + pause, f"ended after {last:.2f} s")
    expect(statuses <= {"408", ""}, f"statuses {statuses}")
    return f"{'/'.join(sorted(s or 'closed' for s in statuses))} after {last:.1f} s"


def until_closed(client, seconds=ENDING_BAR_SECONDS + 0.5):
    """The code of the Close frame that comes; None where the connection just ends."""
    client.socket.settimeout(seconds)
    try:
        while True:
            opcode, payload = client.next_frame()
            if opcode == 8:
                return int.from_bytes(payload[:2], "big")
    except (ConnectionError, TimeoutError) as error:
        expect(not isinstance(error, TimeoutError), "the connection did not end")
        return None


def expect_close(client, code, seconds=ENDING_BAR_SECONDS + 0.5):
    start = time.monotonic()
    told = until_closed(client, seconds)
    client.close()
    expect(told == code, f"closed with {told} instead of {code}")
    return f"{code} after {time.monotonic() - start:.2f} s"


def send_until_blocked(client, bytes_, seconds):
    """Sends without reading; tells how many bytes left, and whether the broker ended it."""
    client.settimeout(0.2)
    sent = 0
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            sent += client.send(bytes_)
        except TimeoutError:
            continue
        except OSError:
            return sent, True
    return sent, False


def ask(port, content, path="/v1/notifications", fields="", method="POST"):
    """The status of one request."""
    client = socket.create_connection(("127.0.0.1", port), timeout=10)
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Connection: close\r\nContent-Length: {len(content)}\r\n{fields}\r\n"
    )
    try:
        client.sendall(head.encode() + content)
    except OSError:
        pass  # The answer came first.
    answer = b""
    try:
        while more := client.recv(65_536):
            answer += more
    except OSError:
        pass
    client.close()
    return answer[9:12].decode()


def pipeline(port, requests, depth=64):
    """The statuses of many requests on one connection, counted."""
    client = support.HTTPClient(port)
    counts = {}
    for start in range(0, len(requests), depth):
        batch = requests[start : start + depth]
        client.send(b"".join(batch))
        for _ in batch:
            status, _content = client.responses(1)
            counts[status] = counts.get(status, 0) + 1
    client.close()
    return counts


# --- Attacks on connections ---------------------------------------------------------------------


def slow_heads(port):
    return dribble(port, 800, b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ", b"a")


def slow_bodies(port):
    head = (b"POST /v1/channels/Slow HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{")
    return dribble(port, 800, head, b" ")


def slow_chunks(port):
    head = (b"POST /v1/channels/Slow HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    return dribble(port, 800, head, b"1\r\n \r\n")


def silence(port):
    return dribble(port, 900, b"", b"")


def too_many(port):
    """More connections than there may be: those past it are told so, or at least let go at once."""
    clients = connect_many(port, 1_500)
    start = time.monotonic()
    ended = Ended(clients)
    while time.monotonic() < start + ENDING_BAR_SECONDS:
        ended.read(0.1)
    gone = len(ended.times)
    refused = sum(answer.startswith(b"HTTP/1.1 503") for answer in ended.bytes.values())
    ended.close()
    expect(gone >= 500 and refused >= 64, f"{gone} gone, {refused} of them told 503")
    return f"{gone} gone, {refused} with 503"


def resets(port):
    """Connections that are reset with half a request on its way."""
    linger = struct.pack("ii", 1, 0)
    for number in range(8_000):
        client = socket.create_connection(("127.0.0.1", port))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        if number % 2:
            client.send(b"POST /v1/channels/Reset HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le")
        client.close()
    return "8,000 resets"


def slow_readers(port):
    """Large answers that nobody reads."""
    request = b"GET /openapi.yaml HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    clients = [support.connect(port, receive_buffer=4_096) for _ in range(50)]
    for client in clients:
        client.setblocking(False)
        try:
            client.send(request * 2_000)
        except OSError:
            pass
    time.sleep(TIMEOUT_SECONDS)
    for client in clients:
        client.close()
    return "50 x 2,000 answers asked for"


def deaf_observers(port):
    """Observers that do not read, and a poster that goes on."""
    clients = []
    for _ in range(20):
        client = support.WebSocketClient(port, receive_buffer=4_096)
        client.observe("Deaf")
        clients.append(client)
    poster = support.HTTPClient(port)
    request = support.post_request(support.user_info(4_096), "/v1/channels/Deaf")
    start = time.monotonic()
    while time.monotonic() < start + TIMEOUT_SECONDS + 1.5:
        poster.send(request * 16)
        poster.responses(16)
    poster.close()
    codes = {until_closed(client) for client in clients}
    for client in clients:
        client.close()
    expect(codes <= {4008, None}, f"closed with {codes}")
    return f"4008 within {TIMEOUT_SECONDS + 1.5} s"


# --- Attacks by frames --------------------------------------------------------------------------


def frame(opcode, payload=b"", fin=True, rsv1=False, length=None):
    head = bytes([(0x80 if fin else 0) | (0x40 if rsv1 else 0) | opcode])
    size = len(payload) if length is None else length
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 65_536:
        head += b"\xfe" + size.to_bytes(2, "big")
    else:
        head += b"\xff" + size.to_bytes(8, "big")
    return head + b"\0\0\0\0" + payload


def endless_message(port):
    client = support.WebSocketClient(port)
    client.socket.sendall(frame(1, b"a" * 1_000, fin=False))
    send_until_blocked(client.socket, frame(0, b"a" * 1_000, fin=False) * 64, 1)
    return expect_close(client, 1009)


def empty_fragments(port):
    client = support.WebSocketClient(port)
    client.socket.sendall(frame(1, fin=False))
    send_until_blocked(client.socket, frame(0, fin=False) * 4_096, 1)
    return expect_close(client, 1009)


def huge_frame(port):
    client = support.WebSocketClient(port)
    client.socket.sendall(frame(1, b"a", length=1 << 62))
    return expect_close(client, 1009)


def frame_past_63_bits(port):
    client = support.WebSocketClient(port)
    client.socket.sendall(frame(1, b"a", length=(1 << 64) - 1))
    return expect_close(client, 1002)


def ping_flood(port):
    clients = [support.WebSocketClient(port, receive_buffer=4_096) for _ in range(20)]
    pings = frame(9, b"p" * 125) * 512
    for client in clients:
        client.socket.setblocking(False)
    sent, start = 0, time.monotonic()
    while time.monotonic() < start + 2:
        for client in clients:
            try:
                sent += client.socket.send(pings)
            except OSError:
                pass
    for client in clients:
        client.close()
    return f"{sent >> 20} MiB of pings taken"


def bomb(port):
    """A message that inflates to a thousand times its size."""
    client = support.WebSocketClient(port, extensions="permessage-deflate")
    if b"permessage-deflate" not in client.opening:
        client.close()
        return "not offered"
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(b" " * (64 << 20)) + packer.flush(zlib.Z_SYNC_FLUSH)
    try:
        client.socket.sendall(frame(1, packed[:-4], rsv1=True))
    except OSError:
        pass
    return expect_close(client, 1009)


# --- Attacks by JSON ----------------------------------------------------------------------------


def many_keys(port):
    keys = b",".join(b'"%d":0' % n for n in range(100_000))
    statuses = set()
    for _ in range(10):
        statuses.add(ask(port, b"{%s}" % keys))
        statuses.add(ask(port, b'{"name":"Keys","userInfo":{%s}}' % keys))
        statuses.add(ask(port, b"{%s}" % keys[:260_000].rpartition(b",")[0], "/v1/channels/Keys"))
    expect(statuses == {"422", "413", "200"}, f"statuses {statuses}")
    return "/".join(sorted(statuses))


def many_keys_by_call(port):
    client = support.WebSocketClient(port)
    keys = b",".join(b'"%d":0' % n for n in range(80_000))
    for number in range(10):
        client.send_text(b'{"jsonrpc":"2.0","id":%d,"method":"post","params":{%s}}' % (number, keys))
    errors = 0
    client.socket.settimeout(10)
    while errors < 10:
        errors += b'"error"' in client.next_frame()[1]
    client.close()
    return "10 errors"


def nesting(port):
    deep = b"[" * 200_000
    statuses = {
        ask(port, b'{"a":' + deep, "/v1/channels/Deep"), ask(port, deep),
        ask(port, b'{"name":"Deep","userInfo":{"a":' + deep),
    }
    expect(statuses <= {"400", "422"}, f"statuses {statuses}")
    return "/".join(sorted(statuses))


# --- Attacks on what is kept --------------------------------------------------------------------


def observers_for_ever(port):
    """One client registers observers until it may not, each with the longest name there is."""
    client = support.WebSocketClient(port)
    client.next_frame()
    client.socket.settimeout(10)
    refused = None
    for start in range(0, 10_240, 64):
        for number in range(start, start + 64):
            name = f"{number:05d}" + "\U0001f514" * 250
            client.send_text(json.dumps({
                "jsonrpc": "2.0", "id": number, "method": "addObserver",
                "params": {"name": name}}, ensure_ascii=False))
        for _ in range(64):
            answer = json.loads(client.next_frame()[1])
            if "error" in answer:
                refused = refused or (answer["id"], answer["error"]["data"]["status"])
    client.close()
    expect(refused == (10_000, 429), f"refused {refused}")
    return "429 at 10,001"


def observers_come_and_go(port):
    """Observers that are removed again: the tombstones of all of them."""
    requests = 0
    client = support.WebSocketClient(port)
    client.next_frame()
    client.socket.settimeout(10)
    for start in range(0, 40_000, 50):
        batch = []
        for number in range(start, start + 50):
            name = f"{number:05d}" + "x" * 250
            batch.append({"jsonrpc": "2.0", "id": number, "method": "addObserver",
                          "params": {"name": name}})
            batch.append({"jsonrpc": "2.0", "id": number, "method": "removeObserver",
                          "params": {"name": name}})
        client.send_text(json.dumps(batch))
        opcode, payload = client.next_frame()
        while opcode != 1 or not payload.startswith(b"["):
            opcode, payload = client.next_frame()
        expect(b'"error"' not in payload, payload[:300])
        requests += 50
    client.close()
    return f"{requests:,} removed"


def full_queue(port):
    """Entries for a mode that nobody enters."""
    request = support.post_request(
        support.user_info(280), "/v1/channels/Queue?style=asap&coalesce=none&modes=never")
    counts = pipeline(port, [request] * 12_000)
    expect(counts.get(503) == 2_000 and counts.get(202) == 10_000, f"statuses {counts}")
    expect(ask(port, b"", "/v1/queue?name=Queue", method="DELETE") == "200", "no dequeue")
    return "503 at 10,001"


def new_names(port):
    """Posts in channels that nobody observes, each in another one."""
    requests = [
        support.post_request(b"{}", f"/v1/channels/{number:06d}{'x' * 240}")
        for number in range(120_000)
    ]
    counts = pipeline(port, requests)
    expect(set(counts) <= {200, 429}, f"statuses {counts}")
    return f"{counts}"


def new_centers(port):
    requests = [
        support.post_request(b"{}", f"/v1/centers/abuse-{number}/channels/A")
        for number in range(1_200)
    ]
    counts = pipeline(port, requests)
    expect(counts.get(503, 0) >= 200, f"statuses {counts}")
    return "503 past 1,000"


def idempotency_keys(port):
    requests = []
    for number in range(60_000):
        head = (f"POST /v1/channels/Key HTTP/1.1\r\nHost: 127.0.0.1\r\nIdempotency-Key: "
                f"{number:06d}{'k' * 200}\r\nContent-Length: 2\r\n\r\n{{}}")
        requests.append(head.encode())
    counts = pipeline(port, requests)
    expect(set(counts) <= {200, 429}, f"statuses {counts}")
    return f"{counts}"


def stolen_tokens(port):
    """Guesses at the tokens of observers."""
    requests = [
        f"DELETE /v1/observers/o{number % 100}.{number:026d} HTTP/1.1\r\n"
        "Host: 127.0.0.1\r\n\r\n".encode() for number in range(20_000)
    ]
    counts = pipeline(port, requests)
    expect(set(counts) <= {404, 429}, f"statuses {counts}")
    return f"{counts}"


ATTACKS = [
    slow_heads, slow_bodies, slow_chunks, silence, too_many, resets, slow_readers, deaf_observers,
    endless_message, empty_fragments, huge_frame, frame_past_63_bits, ping_flood, bomb, many_keys,
    many_keys_by_call, nesting, observers_for_ever, observers_come_and_go, full_queue, new_names,
    new_centers, idempotency_keys, stolen_tokens,
]


# --- Measuring ----------------------------------------------------------------------------------


def memory_mib(broker):
    with open(f"/proc/{broker.pid}/status") as file:
        found = re.search(r"VmRSS:\s+(\d+)", file.read())
    return int(found.group(1)) / 1_024


def descriptor_count(broker):
    return len(os.listdir(f"/proc/{broker.pid}/fd"))


def wait_for_descriptors(broker, count):
    """Descriptors of ended connections go within the linger timeout."""
    deadline = time.monotonic() + 8
    while descriptor_count(broker) > count and time.monotonic() < deadline:
        time.sleep(0.05)
    return descriptor_count(broker)


def measure(broker, attack):
    """Attacks once; returns a row of the table, and whether all bars are kept."""
    memory, descriptors = memory_mib(broker), descriptor_count(broker)
    other = OtherClient(broker.port)
    faults = []
    try:
        ending = attack(broker.port)
    except Failure as failure:
        ending = "-"
        faults.append(str(failure))
    grown = memory_mib(broker) - memory
    try:
        latencies = sorted(other.stop())
        slowest, p99 = latencies[-1], latencies[len(latencies) * 99 // 100]
    except Failure as failure:
        slowest = p99 = float("nan")
        faults.append(str(failure))
    left = wait_for_descriptors(broker, descriptors) - descriptors
    if not slowest <= PING_BAR_SECONDS:
        faults.append(f"a ping took {slowest:.3f} s")
    if grown >= MEMORY_BAR_MIB:
        faults.append(f"{grown:.1f} MiB more")
    if left > 0:
        faults.append(f"{left} descriptors are left")
    row = (f"| {attack.__name__.replace('_', ' ')} | {slowest * 1_000:.0f} | {p99 * 1_000:.0f} | "
           f"{grown:+.1f} | {left} | {ending} | {'; '.join(faults) or 'ok'} |")
    return row, not faults


HEAD = """\
| attack | slowest ping, ms | p99, ms | memory, MiB | descriptors left | ending | |
| --- | ---: | ---: | ---: | ---: | --- | --- |"""


def one_broker_each(attacks, path, options):
    good = True
    print(HEAD, flush=True)
    for attack in attacks:
        with support.Broker(path=path, options=options) as broker:
            row, is_good = measure(broker, attack)
        print(row, flush=True)
        good &= is_good
    return good


def rounds_on_one(attacks, count, path, options):
    good, early, first = True, None, None
    with support.Broker(path=path, options=options) as broker:
        first = descriptor_count(broker)
        for number in range(1, count + 1):
            print(f"\nround {number}\n{HEAD}", flush=True)
            for attack in attacks:
                row, is_good = measure(broker, attack)
                print(row, flush=True)
                good &= is_good
            memory = memory_mib(broker)
            print(f"{memory:.1f} MiB, {descriptor_count(broker)} descriptors", flush=True)
            if number == max(1, count // 4):
                early = memory
        ratio = memory / early
        print(f"\nmemory after round {count} to round {max(1, count // 4)}: {ratio:.2f}; "
              f"descriptors {wait_for_descriptors(broker, first)} of {first}")
        return good and ratio <= 1.1 and descriptor_count(broker) == first


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--only", default="", help="attacks whose name this finds")
    parser.add_argument("--without", help="no attacks whose name this finds")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--list", action="store_true")
    arguments, more = parser.parse_known_args()
    attacks = [a for a in ATTACKS if re.search(arguments.only, a.__name__)
               and not (arguments.without and re.search(arguments.without, a.__name__))]
    if arguments.list:
        print(*(f"{a.__name__}: {a.__doc__ or ''}" for a in attacks), sep="\n")
        return
    options = OPTIONS + [option for option in more if option != "--"]
    if arguments.rounds:
        good = rounds_on_one(attacks, arguments.rounds, arguments.binary, options)
    else:
        good = one_broker_each(attacks, arguments.binary, options)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
