#!/usr/bin/env python3
"""Compares the broker's account of memory with what its process really has.

    Tests/BlackBox/memory_account.py BINARY [--only REGEX] [--scale F]

Each load has a broker of its own. Before and after it, the sum of `belfry_memory_bytes` and the resident
size (VmRSS) are read: what the account has grown by must be within 15 % of what the process has grown by.
What is free in the allocator is no part of that: each reading waits until the broker has given it back,
which it does after a peak.
Python 3 and its standard library only.
"""

import argparse
import json
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../Benchmarks"))
import support  # noqa: E402
from abusing import tables  # noqa: E402
from abusing.clients import expect  # noqa: E402
from abusing.memory import account  # noqa: E402
from abusing.sending import (  # noqa: E402
    batches, call_often, connect, mailbox_request, register_all,
)
from abusing.tables import send  # noqa: E402

BAR = 0.15
OPTIONS = ["--in-memory", "--max-batch", "10000", "--max-body", "16MiB", "--max-message", "16MiB"]


# --- Loads --------------------------------------------------------------------------------------


def register(port, filters, size=1_000):
    """Registers an observer for each filter, ten thousand a session; the sessions stay open."""
    clients = []
    for start in range(0, len(filters), 10_000):
        client = connect(port)
        register_all(client, filters[start:start + 10_000], size)
        clients.append(client)
    return clients


def observers_of_one_name(port, scale):
    return register(port, [{"name": "n"}] * int(100_000 * scale))


def observers_with_long_filters(port, scale):
    return register(port, [
        {"name": f"{n:06d}" + "n" * 240, "object": f"{n:06d}" + "o" * 240}
        for n in range(int(40_000 * scale))], size=400)


def removed_observers(port, scale):
    """Tombstones: registered and removed again, a thousand at a time."""
    client = connect(port)
    for start in range(0, int(100_000 * scale), 500):
        calls = []
        for n in range(start, start + 500):
            filter_ = {"name": f"{n:06d}" + "t" * 100}
            calls += [("addObserver", filter_), ("removeObserver", filter_)]
        answer = call_often(client, calls)
        expect(b'"error"' not in answer, answer[:300])
    client.close()
    return []


def post_batches(port, center, posts, size=1_000):
    """Posts in batches of one request each."""
    send(port, batches(center, posts, size))


def held(port, scale):
    """Mailboxes that nobody reads."""
    for number in range(int(10 * scale) or 1):
        send(port, [mailbox_request(name=f"m{number}", suspensionBehavior="hold", holdLimit=10_000)])
        post_batches(port, "default", [
            {"name": f"m{number}", "userInfo": {"text": "x" * 600}} for _ in range(10_000)])
    return []


def queued(port, scale):
    """Entries for a mode that nobody enters."""
    for number in range(int(8 * scale) or 1):
        post_batches(port, f"q{number}", [
            {"name": f"q{n}", "style": "asap", "coalesce": [], "modes": ["never"],
             "userInfo": {"text": "x" * 500}} for n in range(9_000)])
    return []


def keyed(port, scale):
    """Posts with an idempotency key each."""
    requests = []
    for n in range(int(100_000 * scale)):
        requests.append(
            (f"POST /v1/channels/k HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
             f"Idempotency-Key: \"{n:08d}{'k' * 60}\"\r\nContent-Length: 2\r\n\r\n{{}}").encode())
    send(port, requests, depth=64)
    return []


def posted(port, scale):
    """Rings and fates of some centers."""
    for number in range(int(40 * scale) or 1):
        post_batches(port, f"c{number}", [
            {"name": "p", "userInfo": {"text": "x" * 1_000}} for _ in range(4_000)])
    return []


def names(port, scale):
    """Names that nobody observes."""
    for number in range(int(20 * scale) or 1):
        post_batches(port, f"c{number}", [
            {"name": f"{n:05d}" + "n" * 200} for n in range(10_000)])
    return []


def centers(port, scale):
    for number in range(int(990 * scale)):
        post_batches(port, f"c{number}", [{"name": "p"}])
    return []


LOADS = [
    observers_of_one_name, observers_with_long_filters, removed_observers, held, queued, keyed,
    posted, names, centers, *tables.LOADS,
]


# --- Measuring ----------------------------------------------------------------------------------


def resident(broker):
    with open(f"/proc/{broker.pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) * 1_024


def settle(port):
    """Makes a peak of bytes that have not fully arrived, after which the broker gives back what is free."""
    client = support.HTTPClient(port)
    client.send(b"POST /v1/notifications HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                b"Content-Length: 16000000\r\n\r\n")
    for _ in range(12):
        client.send(b"x" * 1_000_000)
    time.sleep(0.3)
    client.close()
    time.sleep(0.7)


def readings(broker):
    settle(broker.port)
    return account(broker.port), resident(broker)


def measure(path, load, scale):
    with support.Broker(path=path, options=OPTIONS) as broker:
        # What the first requests make is no load.
        post_batches(broker.port, "default", [{"name": "warm"}] * 10)
        before, resident_before = readings(broker)
        kept = load(broker.port, scale)
        after, resident_after = readings(broker)
        for client in kept:
            client.close()
    accounted = sum(after.values()) - sum(before.values())
    real = resident_after - resident_before
    error = accounted / real - 1
    kinds = sorted(((after[k] - before[k], k) for k in after), reverse=True)[:3]
    most = ", ".join(f"{k} {v / 2**20:.1f}" for v, k in kinds if v > 2**18)
    good = abs(error) <= BAR
    print(f"| {load.__name__.replace('_', ' ')} | {real / 2**20:.1f} | {accounted / 2**20:.1f} | "
          f"{error * 100:+.0f} % | {most} | {'ok' if good else 'NO'} |", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--only", default="")
    parser.add_argument("--scale", type=float, default=1.0)
    arguments = parser.parse_args()
    print("| load | process, MiB | account, MiB | error | most of it, MiB | |")
    print("| --- | ---: | ---: | ---: | --- | --- |")
    results = [measure(arguments.binary, load, arguments.scale) for load in LOADS
               if re.search(arguments.only, load.__name__)]
    sys.exit(0 if results and all(results) else 1)


if __name__ == "__main__":
    main()
