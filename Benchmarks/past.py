#!/usr/bin/env python3
"""The replay of an archive: how fast one reader gets it, what it costs, and what others feel of it.

    Benchmarks/past.py [--kept 1000000] [--clients 990] [--stalled 100] [--durable]

An archive keeps so many notifications of 200 bytes, in memory or with --durable in the store. Then:

- One reader begins at the oldest and reads until it has all; the bar is 60,000 a second, with at most 16 MiB
  more memory of the broker.
- So many other clients observe a channel to which 30 posts a second go, without that replay and during
  replays that follow each other; the bar is 1.5 times their p99 without.
- So many readers begin at the oldest and do not read; the bar is what --unsent-limit allows, 1 GiB, and
  16 MiB more.

The reader is a process of its own, which counts frames and does not parse them.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
import time

import slow
import start
import support

RATE_BAR, MEMORY_BAR, RATIO_BAR = 60_000, 16, 1.5
UNSENT_LIMIT = 1_024
OPTIONS = (
    "--archive-limit", "10,2GiB", "--archive-memory", "4GiB", "--anonymous-grants", "post,observe,inspect,admin")


def begin(port, receive_buffer=None):
    """A client whose one observer begins at the oldest."""
    client = support.WebSocketClient(port, receive_buffer=receive_buffer)
    client.send_text(json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "addObserver",
         "params": {"name": "Log", "since": "oldest", "lifetime": "connection"}}))
    return client


def read_all(port, count):
    """Reads a whole replay; returns the seconds that it took."""
    begun = time.monotonic()
    client = begin(port)
    mark = b'"redelivered":true'
    found, text = 0, client.rest
    while True:
        found += text.count(mark)
        if found >= count:
            break
        more = client.socket.recv(1 << 20)
        if not more:
            sys.exit(f"the connection ended after {found} of {count}")
        # A mark may be cut in two; a whole one is longer than what is kept.
        text = text[-len(mark) + 1:] + more
    client.close()
    return time.monotonic() - begun


def read_in_process(port, count, results):
    results.put(read_all(port, count))


def read_on_and_on(port, count, results):
    while True:
        results.put(read_all(port, count))


def measure_rate(broker, count):
    results = multiprocessing.Queue()
    before = highest = slow.memory(broker.pid)
    cpu = broker.cpu_seconds()
    process = multiprocessing.Process(target=read_in_process, args=(broker.port, count, results))
    process.start()
    while process.is_alive():
        highest = max(highest, slow.memory(broker.pid))
        time.sleep(0.01)
    seconds = results.get()
    cpu = broker.cpu_seconds() - cpu
    print(f"{count / seconds:,.0f} a second (at least {RATE_BAR:,}), {cpu / count * 1e6:.1f} µs of the processor each; "
          f"{highest - before:.1f} MiB more memory (at most {MEMORY_BAR})", flush=True)
    return count / seconds >= RATE_BAR and highest - before <= MEMORY_BAR


def measure_others(broker, count, options):
    readers = [slow.Reader(support.WebSocketClient(broker.port)) for _ in range(options.clients)]
    for reader in readers:
        slow.register(reader.client, "Busy", "hold")
    p99s = []
    for is_replaying in (False, True):
        results = multiprocessing.Queue()
        process = multiprocessing.Process(
            target=read_on_and_on, args=(broker.port, count, results), daemon=True)
        if is_replaying:
            process.start()
        latencies = sorted(slow.measure(broker.port, readers, options))
        if is_replaying:
            process.kill()
        p99s.append(latencies[len(latencies) * 99 // 100])
    for reader in readers:
        reader.client.close()
    ratio = p99s[1] / p99s[0]
    print(f"p99 of {options.clients} others: {p99s[0] * 1000:.1f} ms without, {p99s[1] * 1000:.1f} ms beside replays: "
          f"{ratio:.2f} times (at most {RATIO_BAR})", flush=True)
    return ratio <= RATIO_BAR


def measure_stalled(broker, options):
    before = slow.memory(broker.pid)
    clients = [begin(broker.port, receive_buffer=4_096) for _ in range(options.stalled)]
    time.sleep(5)
    more = slow.memory(broker.pid) - before
    for client in clients:
        client.close()
    print(f"{options.stalled} readers that do not read: {more:.1f} MiB (at most {UNSENT_LIMIT + MEMORY_BAR})", flush=True)
    return more <= UNSENT_LIMIT + MEMORY_BAR


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kept", type=int, default=1_000_000)
    parser.add_argument("--clients", type=int, default=990)
    parser.add_argument("--stalled", type=int, default=100)
    parser.add_argument("--posts", type=int, default=300)
    parser.add_argument("--rate", type=float, default=30)
    parser.add_argument("--durable", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="belfry-past.") as data:
        place = ("--data", data, "--durability", "process") if options.durable else ("--in-memory",)
        with support.Broker(options=(*place, *OPTIONS)) as broker:
            start.fill_archive(broker.port, options.kept)
            print(f"{options.kept:,} kept, {slow.memory(broker.pid):.0f} MiB", flush=True)
            results = [
                measure_rate(broker, options.kept), measure_others(broker, options.kept, options),
                measure_stalled(broker, options)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
