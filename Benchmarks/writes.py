#!/usr/bin/env python3
"""Counts the writes to each socket in each turn of the loop, under the load of fan1k-w32-100.

    Benchmarks/writes.py [--observers 1000] [--publishers 4] [--depth 8] [--posts 4000] [--tls]

The broker runs under strace. A turn is what lies between two waits for events. Each socket must get
at most one write a turn, and each turn with posts must write to each observer once, before any
poster gets its answer. With TLS each of these writes must be one record, which is one SSL_write.
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

WRITES = "write,writev,sendto,sendmsg,sendmmsg"
WAITS = "epoll_wait,epoll_pwait,epoll_pwait2"
RECORD_LIMIT = 1 << 14


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


def turns(trace):
    """The writes of each turn in order: the descriptor, and whether it is one TLS record or less."""
    call = re.compile(r"^(?:\d+ +)?(\w+)\((\d+)(?:.*?\"((?:\\x[0-9a-f]{2})*)\")?.*= (-?\d+)")
    turn = []
    with open(trace, errors="replace") as lines:
        for line in lines:
            found = call.match(line)
            if not found:
                continue
            if found.group(1).startswith("epoll"):
                yield turn
                turn = []
                continue
            head = bytes.fromhex((found.group(3) or "").replace("\\x", ""))
            size = 5 + int.from_bytes(head[3:5], "big") if len(head) == 5 else 0
            is_record = head[:1] == b"\x17" and int(found.group(4)) in (size, -1)
            turn.append((int(found.group(2)), is_record, "EAGAIN" in line))
    yield turn


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
            f"trace={WRITES},{WAITS}"]
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
        report(between_fan_outs(list(turns(trace)), options.observers), options)


def between_fan_outs(all_turns, count):
    """The turns from the first that writes to all observers to the last: the load alone."""
    fan_outs = [
        place for place, turn in enumerate(all_turns)
        if len(set(number for number, _, _ in turn)) >= count]
    if not fan_outs:
        sys.exit("no turn wrote to all observers")
    return all_turns[fan_outs[0]:fan_outs[-1] + 1]


def report(all_turns, options):
    writes = collections.Counter()
    fan_outs = late = partial = full = records = 0
    posts_in_turn = collections.Counter()
    for turn in all_turns:
        counts = collections.Counter(number for number, _, _ in turn)
        writes.update(counts.values())
        full += sum(is_full for _, _, is_full in turn)
        records += sum(is_record for _, is_record, _ in turn)
        if len(counts) < options.observers:
            partial += bool(counts)
            continue
        fan_outs += 1
        posts_in_turn[len(counts) - options.observers] += 1
    # Sockets that are written in every fan-out are the observers'.
    always = set.intersection(
        *(set(number for number, _, _ in turn) for turn in all_turns
          if len(set(number for number, _, _ in turn)) >= options.observers))
    torn = 0
    for turn in all_turns:
        numbers = [number for number, _, _ in turn]
        last = max((place for place, number in enumerate(numbers) if number in always), default=-1)
        late += any(number not in always for number in numbers[:last])
        torn += 0 < len(always.intersection(numbers)) < options.observers
    print(f"{len(all_turns)} turns, {fan_outs} with a fan-out to {options.observers} observers, "
          f"{partial} others with writes, {full} writes found a full socket")
    print("writes to one socket in one turn: "
          + ", ".join(f"{count} writes: {times} times" for count, times in sorted(writes.items())))
    print("posters answered in a turn: "
          + ", ".join(f"{count}: {times}" for count, times in sorted(posts_in_turn.items())))
    print(f"turns in which a poster was answered before an observer: {late}; "
          f"turns that wrote to some observers only: {torn}")
    total = sum(count * times for count, times in writes.items())
    if options.tls:
        print(f"writes that were one TLS record: {records} of {total}")
    bad = max(writes) > 1 or late or torn or len(always) < options.observers
    sys.exit(bool(bad or options.tls and records < total))


if __name__ == "__main__":
    main()
