#!/usr/bin/env python3
"""What four bad clients at once do to a good one: its p99 with and without them, live.

    Benchmarks/isolation.py [--rounds 5] [--seconds 8]

The good client measures a WebSocket ping and the way from a post to its delivery, 200 times a
second in all, while somebody posts to a busy channel (500 posts of 4 KiB a second). The bad clients:
one is killed again and again while it observes the busy channel, one sends garbage, one observes the
busy channel and stops reading, one sends half requests and keeps them open. Rounds alternate; the
bar is a median ratio of the p99 of 1.25. As root, broker and good client get a real-time priority,
and all others a lower one, so that what is measured is the broker and not the scheduler of a busy
machine. What the broker did with the bad clients is told at the end, from its metrics.
"""

import argparse
import os
import random
import select
import signal
import socket
import statistics
import struct
import sys
import time

import support

BUSY = "Busy"


def prefer(pid, priority=10):
    """Gives a process a real-time priority where that is allowed."""
    try:
        os.sched_setscheduler(pid, os.SCHED_RR, os.sched_param(priority))
        return True
    except PermissionError:
        return False


# --- The bad clients: each runs in a process of its own, and counts what it did -------------------


def killed_again_and_again(port, count):
    """A process that observes is killed, in the middle of a frame, 25 times a second."""
    while True:
        ready, tell = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                client = support.WebSocketClient(port)
                client.observe(BUSY)
                client.socket.sendall(b"\x81\xfe\x10\x00half a frame")
                os.write(tell, b"x")
                time.sleep(60)
            finally:
                os._exit(0)
        os.close(tell)
        os.read(ready, 1)
        os.close(ready)
        time.sleep(0.03)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        count()


def garbage(port, count):
    """Random bytes, and random bytes where frames are expected, 50 times a second."""
    noise = random.Random(7)
    while True:
        try:
            if noise.random() < 0.5:
                client = support.connect(port)
                client.sendall(noise.randbytes(4_096))
            else:
                session = support.WebSocketClient(port)
                client = session.socket
                client.sendall(noise.randbytes(4_096))
            client.settimeout(0.2)
            while client.recv(65_536):
                pass
        except OSError:
            pass
        client.close()
        count()
        time.sleep(0.02)


def stopped_reader(port, count):
    """Observes the busy channel and reads nothing; goes after 3 s, or when the broker has hung up."""
    while True:
        client = support.WebSocketClient(port, receive_buffer=4_096)
        client.observe(BUSY)
        poll = select.poll()
        poll.register(client.socket, select.POLLRDHUP | select.POLLHUP | select.POLLERR)
        poll.poll(3_000)
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        count()


def half_requests(port, count):
    """Opens 50 requests a second, ends none, and adds a byte to the open ones now and then."""
    request = support.post_request(support.user_info(280))
    noise = random.Random(11)
    held = []
    while True:
        client = support.connect(port)
        client.sendall(request[: noise.randrange(1, len(request))])
        held.append(client)
        for other in noise.sample(held, min(5, len(held))):
            try:
                other.send(b"x")
            except OSError:
                pass
        if len(held) > 200:
            held.pop(0).close()
        count()
        time.sleep(0.02)


BAD_CLIENTS = [killed_again_and_again, garbage, stopped_reader, half_requests]


class BadClients:
    """All four at once, until they are stopped."""

    def __init__(self, port):
        self.children = []
        for behave in BAD_CLIENTS:
            receive, send = os.pipe()
            pid = os.fork()
            if pid == 0:
                try:
                    os.setpgid(0, 0)
                    prefer(0, 5)
                    os.close(receive)
                    behave(port, lambda: os.write(send, b"x"))
                finally:
                    os._exit(1)
            os.close(send)
            os.set_blocking(receive, False)
            self.children.append((pid, receive))

    def stop(self):
        """Ends them, and gives how often each did what it does."""
        counts = []
        for pid, receive in self.children:
            try:
                os.killpg(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.waitpid(pid, 0)
            total = b""
            while True:
                try:
                    more = os.read(receive, 65_536)
                except BlockingIOError:
                    break
                if not more:
                    break
                total += more
            os.close(receive)
            counts.append(len(total))
        return counts


# --- The good ones ------------------------------------------------------------------------------


def post_to_busy_channel(port):
    """500 posts of 4 KiB a second, until it is killed."""
    client = support.HTTPClient(port)
    request = support.post_request(support.user_info(4_096), f"/v1/channels/{BUSY}")
    next_time = time.monotonic()
    while True:
        client.send(request)
        client.responses(1)
        next_time += 0.002
        time.sleep(max(0, next_time - time.monotonic()))


def measure(port, seconds):
    """Times of pings and of posts to their delivery, in microseconds."""
    session = support.WebSocketClient(port)
    session.observe("Good")
    poster = support.HTTPClient(port)
    request = support.post_request(b'{"title":"7"}', "/v1/channels/Good")
    ping = support.text_frame(b"are you there", opcode=9)
    pings, posts = [], []
    next_time = end = time.monotonic()
    end += seconds
    while time.monotonic() < end:
        start = time.perf_counter()
        session.socket.sendall(ping)
        opcode, _ = session.next_frame()
        pings.append((time.perf_counter() - start) * 1e6)
        assert opcode == 10, opcode
        start = time.perf_counter()
        poster.send(request)
        opcode, _ = session.next_frame()
        posts.append((time.perf_counter() - start) * 1e6)
        assert opcode == 1, opcode
        poster.responses(1)
        next_time += 0.01
        time.sleep(max(0, next_time - time.monotonic()))
    session.close()
    poster.close()
    return pings, posts


def metrics(port):
    """The numbers of /metrics without labels, by name."""
    client = support.HTTPClient(port)
    client.send(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    text = client.responses(1)[1].decode()
    client.close()
    rows = (line.split(" ") for line in text.splitlines() if not line.startswith("#"))
    return {row[0]: float(row[1]) for row in rows if len(row) == 2}


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    found = {False: [], True: []}
    done = [0] * len(BAD_CLIENTS)
    with support.Broker() as broker:
        busy = os.fork()
        if busy == 0:
            try:
                prefer(0, 5)
                post_to_busy_channel(broker.port)
            finally:
                os._exit(1)
        bad = None
        try:
            has_priority = prefer(broker.pid)
            # The first run only warms up.
            measure(broker.port, 1)
            for number in range(options.rounds):
                for is_bad in (False, True) if number % 2 == 0 else (True, False):
                    if is_bad:
                        bad = BadClients(broker.port)
                        time.sleep(0.5)
                    if has_priority:
                        prefer(0)
                    pings, posts = measure(broker.port, options.seconds)
                    if has_priority:
                        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
                    if is_bad:
                        done = [a + b for a, b in zip(done, bad.stop())]
                        bad = None
                        time.sleep(0.5)
                    found[is_bad].append((percentile(pings, 0.99), percentile(posts, 0.99),
                                          statistics.median(pings), statistics.median(posts)))
            numbers = metrics(broker.port)
        finally:
            if bad:
                bad.stop()
            os.kill(busy, signal.SIGKILL)
            os.waitpid(busy, 0)
    print(f"load {os.getloadavg()[0]:.1f}, real-time priority: {'yes' if has_priority else 'no'}")
    for behave, count in zip(BAD_CLIENTS, done):
        print(f"  {behave.__name__}: {count} times")
    for name in ("posts", "requests_refused", "clients_too_slow", "connections_accepted"):
        print(f"  belfry_{name}_total {numbers.get(f'belfry_{name}_total', 0):.0f}")
    failed = min(done) == 0
    for place, title in enumerate(("ping", "post to delivery")):
        rows = [(a[place], b[place], b[place] / a[place]) for a, b in zip(*found.values())]
        ratio = statistics.median(row[2] for row in rows)
        failed = failed or ratio > 1.25
        medians = [statistics.median(run[place + 2] for run in found[key]) for key in found]
        print(f"{title}: p99 {statistics.median(r[0] for r in rows):.0f} us without, "
              f"{statistics.median(r[1] for r in rows):.0f} us with; median ratio {ratio:.2f} "
              f"(at most 1.25); rounds {' '.join(f'{row[2]:.2f}' for row in rows)}; "
              f"medians {medians[0]:.0f} and {medians[1]:.0f} us")
    sys.exit(failed)


if __name__ == "__main__":
    main()
