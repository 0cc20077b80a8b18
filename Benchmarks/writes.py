#!/usr/bin/env python3
"""Counts the writes to each socket in each turn of the loop, under the load of fan1k-w32-100.

    Benchmarks/writes.py [--observers 1000] [--publishers 4] [--depth 8] [--posts 4000] [--tls]

The broker runs under strace. A turn begins when a wait for events finds some, also amid a long flush,
which lets another turn in. Each socket must get at most one write a turn, and no more writes than
there were turns with posts; and when a poster gets its answer, each observer must have been written
since the post was read. Frames of two turns may leave in one write, so a turn need not write to
all observers. With TLS each of these writes must be one record, which is one SSL_write.

With TLS some runs fail: up to 1 % of the writes seem to be second ones of a turn. A likely cause is a
turn that begins with a timer, as that of a poster who has to wait for its next one does: no wait
finds something then, so it cannot be told from the turn before. It was seen in one trace, not in all.
"""

import argparse
import collections
import os
import re
import select
import ssl
import subprocess
import sys
import tempfile

import support

ACCEPTS = "accept,accept4"
READS = "read,recvfrom,recvmsg,readv"
WRITES = "write,writev,sendto,sendmsg,sendmmsg"
WAITS = "epoll_wait,epoll_pwait,epoll_pwait2"


def connect(port, options, tls):
    """The publishers, by the number of their socket; what opening them takes is over."""
    clients = {}
    for _ in range(options.publishers):
        client = support.HTTPClient(port, tls)
        client.send(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        client.responses(1)
        clients[client.socket.fileno()] = client
    return clients


def publish(clients, audience, options):
    """Posts over many connections at once; each sends its next ones when all are answered."""
    batch = support.post_request(support.user_info(100)) * options.depth
    missing = {}
    poll = select.epoll()
    for client in clients.values():
        poll.register(client.socket, select.EPOLLIN)
    left = options.posts // options.depth
    for number, client in clients.items():
        client.send(batch)
        missing[number] = options.depth
        left -= 1
    answered = drained = 0
    while any(missing.values()):
        again = []
        for number, _ in poll.poll(30):
            clients[number].responses(1)
            # Those that came with it wake nobody.
            count = 1 + clients[number].rest.count(b"HTTP/1.1 ")
            if count > 1:
                clients[number].responses(count - 1)
            answered += count
            missing[number] -= count
            if missing[number] == 0 and left > 0:
                left -= 1
                again.append(number)
        # All that were answered in one turn post together again.
        for number in again:
            clients[number].send(batch)
            missing[number] = options.depth
        audience.drain((answered - drained) * options.observers)
        drained = answered
    audience.finish()


class Call:
    """A system call of the loop: its kind, the descriptor, what it gave, its first five bytes."""

    KINDS = {
        name: kind
        for kind, names in (
            ("accept", ACCEPTS), ("read", READS), ("write", WRITES), ("wait", WAITS))
        for name in names.split(",")}
    PATTERN = re.compile(r"^(?:\d+ +)?(\w+)\((\d+)(?:.*?\"((?:\\x[0-9a-f]{2})*)\")?.*= (-?\d+)")

    def __init__(self, found):
        self.kind = self.KINDS[found.group(1)]
        self.number, self.result = int(found.group(2)), int(found.group(4))
        self.head = bytes.fromhex((found.group(3) or "").replace("\\x", ""))

    @property
    def begins_turn(self):
        return self.kind == "wait" and self.result > 0

    @property
    def is_record(self):
        """Whether a write is one TLS record, or a part of one that a full socket did not take."""
        size = 5 + int.from_bytes(self.head[3:5], "big") if len(self.head) == 5 else 0
        return self.head[:1] == b"\x17" and self.result in (size, -1)


def read_trace(path):
    with open(path, errors="replace") as lines:
        found = (Call.PATTERN.match(line) for line in lines)
        return [Call(match) for match in found if match and match.group(1) in Call.KINDS]


def make_certificate(folder):
    """A certificate for 127.0.0.1 that is its own authority."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", os.path.join(folder, "key.pem"), "-out", os.path.join(folder, "cert.pem")],
        check=True, capture_output=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--observers", type=int, default=1_000)
    parser.add_argument("--publishers", type=int, default=4)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--posts", type=int, default=4_000)
    parser.add_argument("--tls", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="belfry-strace.") as folder:
        trace = os.path.join(folder, "trace")
        wrapper = [
            "strace", "-f", "-qq", "-xx", "-s", "5", "-o", trace, "-e",
            f"trace={ACCEPTS},{READS},{WRITES},{WAITS}"]
        broker_options, tls = ["--in-memory", "--loops", "1"], None
        if options.tls:
            make_certificate(folder)
            certificate = os.path.join(folder, "cert.pem")
            broker_options += [
                "--tls-listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key",
                os.path.join(folder, "key.pem")]
            tls = ssl.create_default_context(cafile=certificate)
        with support.Broker(wrapper, options=broker_options) as broker:
            port = broker.port
            if options.tls:
                port = int(re.search(r"https://127\.0\.0\.1:(\d+)", broker.text()).group(1))
            audience = support.Observers(port, options.observers, tls=tls)
            publish(connect(port, options, tls), audience, options)
            audience.close()
        report(Load(read_trace(trace), options.publishers), options)


class Load:
    """What a trace tells of the posts, from the turn of the first to the last answer."""

    def __init__(self, trace, publisher_count):
        # The publishers came last.
        accepted = [
            place for place, call in enumerate(trace) if call.kind == "accept" and call.result >= 0]
        self.posters = {trace[place].result for place in accepted[-publisher_count:]}
        first_delivery = next(
            place for place in range(accepted[-1], len(trace))
            if trace[place].kind == "write" and trace[place].number not in self.posters)
        begin = max(place for place in range(first_delivery) if trace[place].begins_turn)
        self.walk(trace[begin:])

    def walk(self, trace):
        last_write, posted, answers, turns, turn = {}, {}, [], [], []
        for time, call in enumerate(trace):
            if call.begins_turn:
                turn = []
                turns.append(turn)
            turn.append(call)
            if call.kind == "read" and call.number in self.posters and call.result > 0:
                posted.setdefault(call.number, time)
            elif call.kind == "write":
                last_write[call.number] = time
                if call.number in posted:
                    answers.append((posted.pop(call.number), dict(last_write)))
                    turn_count = len(turns)
        self.turns = turns[:turn_count]
        writes = [call for turn in self.turns for call in turn if call.kind == "write"]
        self.to_socket = collections.Counter(call.number for call in writes)
        self.observers = set(self.to_socket) - self.posters
        self.full_count = sum(call.result < 0 for call in writes)
        self.record_count = sum(call.is_record for call in writes)
        self.posting_turn_count = sum(
            any(call.kind == "read" and call.number in self.posters for call in turn)
            for turn in self.turns)
        self.look_count = sum(call.kind == "wait" for turn in self.turns for call in turn)
        # How many writes a socket got in a turn, and how often.
        self.in_turn = collections.Counter()
        for turn in self.turns:
            counts = collections.Counter(call.number for call in turn if call.kind == "write")
            self.in_turn.update(counts.values())
        self.early_count = sum(
            any(writes.get(number, -1) < since for number in self.observers)
            for since, writes in answers)


def report(load, options):
    counts = [load.to_socket[number] for number in load.observers]
    total = sum(load.to_socket.values())
    print(f"{len(load.turns)} turns, {load.posting_turn_count} of them with posts; "
          f"{load.look_count} waits and looks; {load.full_count} writes found a full socket")
    print("writes to one socket in one turn: "
          + ", ".join(f"{count}: {times} times" for count, times in sorted(load.in_turn.items())))
    print(f"{len(load.observers)} observers, {min(counts, default=0)} to {max(counts, default=0)} "
          f"writes to each; {len(load.posters)} posters")
    print(f"answers that came before an observer was written: {load.early_count}")
    if options.tls:
        print(f"writes that were one TLS record: {load.record_count} of {total}")
    bad = (
        load.early_count or max(load.in_turn, default=2) > 1
        or len(load.observers) != options.observers
        or max(counts, default=0) > load.posting_turn_count)
    sys.exit(bool(bad or options.tls and load.record_count < total))


if __name__ == "__main__":
    main()
