#!/usr/bin/env python3
"""1,000 clients of which 10 do not read: what the others get, how late, and what it costs.

    Benchmarks/slow.py [--rounds 5] [--clients 1000] [--slow 10] [--posts 300] [--rate 30]

All clients observe one channel. In every second round some of them, with the behaviour `hold`, have
stopped reading, and so much was posted for them that they count as slow. The others must get every
notification, in order; the bar is a median ratio of their p99 of 1.5. At the end of such a round
the slow ones read on: what they get is in order, and with what gaps tell nothing is missing. The
broker's memory is told for each round.
"""

import argparse
import json
import select
import statistics
import sys
import time

import support

FILL_COUNT = 4_000


class Reader:
    """One good client: the latencies and the order of what it gets."""

    def __init__(self, client):
        self.client = client
        self.last_seq = 0
        self.count = 0


def memory(pid):
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return 0


def register(client, name, behavior):
    client.send_text(json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "addObserver",
         "params": {"name": name, "suspensionBehavior": behavior, "lifetime": "connection"}}))
    while True:
        frame = json.loads(client.next_frame()[1])
        if frame.get("id") == 1:
            assert "result" in frame, frame
            return


def fill(port):
    """Posts so much that who does not read counts as slow, and waits for the receipts."""
    poster = support.HTTPClient(port)
    request = support.post_request(support.user_info(4_096), "/v1/channels/Fill")
    for _ in range(FILL_COUNT // 40):
        poster.send(request * 40)
        poster.responses(40)
    poster.close()


def slow_states(port):
    asker = support.HTTPClient(port)
    asker.send(b"GET /v1/clients?state=slow&limit=1000 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    status, content = asker.responses(1)
    asker.close()
    assert status == 200, content
    return len(json.loads(content)["clients"])


def measure(port, readers, options):
    """Posts at a steady rate; returns all latencies in seconds."""
    poll = select.epoll()
    by_number = {}
    for reader in readers:
        reader.client.socket.setblocking(False)
        poll.register(reader.client.socket, select.EPOLLIN)
        by_number[reader.client.socket.fileno()] = reader
        reader.count = 0
    poster = support.HTTPClient(port)
    latencies = []
    posted = 0
    start = time.monotonic()
    due = options.posts * len(readers)
    while len(latencies) < due:
        now = time.monotonic()
        if posted < options.posts and now >= start + posted / options.rate:
            content = b'{"at":%.6f}' % now
            poster.send(support.post_request(content, "/v1/channels/Busy"))
            posted += 1
        if now - start > options.posts / options.rate + 60:
            sys.exit(f"{due - len(latencies)} of {due} notifications did not come")
        for number, _ in poll.poll(0.002):
            reader = by_number[number]
            more = reader.client.socket.recv(1 << 18)
            if not more:
                sys.exit("the broker closed a good client's connection")
            frames, reader.client.rest = support.parse_frames(reader.client.rest + more)
            arrived = time.monotonic()
            for opcode, payload in frames:
                if opcode == 9:
                    reader.client.socket.send(support.text_frame(payload, opcode=10))
                    continue
                params = json.loads(payload)["params"]
                if params["seq"] <= reader.last_seq:
                    sys.exit("a good client got its notifications in a wrong order")
                reader.last_seq = params["seq"]
                reader.count += 1
                latencies.append(arrived - params["userInfo"]["at"])
    if any(reader.count != options.posts for reader in readers):
        sys.exit("a good client got a notification twice, and another one none")
    poster.close()
    for reader in readers:
        poll.unregister(reader.client.socket)
        reader.client.socket.setblocking(True)
    return latencies


def read_on(clients, expected):
    """Who did not read reads on: what is missing is told by gaps."""
    for client in clients:
        client.socket.settimeout(60)
        got, lost, last = 0, 0, 0
        while got + lost < expected:
            opcode, payload = client.next_frame()
            if opcode == 9:
                client.socket.sendall(support.text_frame(payload, opcode=10))
                continue
            if opcode == 8:
                sys.exit("a slow client was closed")
            frame = json.loads(payload)
            if frame["method"] == "belfry.gap":
                lost += frame["params"]["lost"]
            else:
                if frame["params"]["seq"] <= last:
                    sys.exit("a slow client got its notifications in a wrong order")
                last = frame["params"]["seq"]
                got += 1
        if got + lost != expected:
            sys.exit(f"a slow client got {got}, was told {lost} lost, of {expected}")


def run(options, slow_count):
    with support.Broker() as broker:
        good = [
            Reader(support.WebSocketClient(broker.port))
            for _ in range(options.clients - slow_count)
        ]
        for reader in good:
            register(reader.client, "Busy", "hold")
        slow = [
            support.WebSocketClient(broker.port, receive_buffer=4_096) for _ in range(slow_count)
        ]
        for client in slow:
            register(client, "Fill", "hold")
            client.send_text(json.dumps(
                {"jsonrpc": "2.0", "id": 2, "method": "addObserver",
                 "params": {"name": "Busy", "suspensionBehavior": "hold",
                            "lifetime": "connection"}}))
            while b'"id":2' not in client.next_frame()[1]:
                pass
        if slow:
            fill(broker.port)
            if slow_states(broker.port) != slow_count:
                sys.exit(f"{slow_states(broker.port)} clients are slow, not {slow_count}")
        latencies = sorted(measure(broker.port, good, options))
        used = memory(broker.pid)
        read_on(slow, FILL_COUNT + options.posts)
        for reader in good:
            reader.client.close()
        for client in slow:
            client.close()
    return latencies[len(latencies) * 99 // 100], statistics.median(latencies), used


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=1_000)
    parser.add_argument("--slow", type=int, default=10)
    parser.add_argument("--posts", type=int, default=300)
    parser.add_argument("--rate", type=float, default=30)
    options = parser.parse_args()
    ratios = []
    for _ in range(options.rounds):
        without = run(options, 0)
        with_slow = run(options, options.slow)
        ratios.append(with_slow[0] / without[0])
        print(f"p99 {without[0] * 1000:.1f} ms without, {with_slow[0] * 1000:.1f} ms with "
              f"{options.slow} that do not read (median {without[1] * 1000:.1f} and "
              f"{with_slow[1] * 1000:.1f} ms); memory {without[2]:.0f} and {with_slow[2]:.0f} MiB",
              flush=True)
    median = statistics.median(ratios)
    print(f"median ratio of the p99 {median:.2f} (at most 1.50)")
    return 0 if median <= 1.5 else 1


if __name__ == "__main__":
    sys.exit(main())
