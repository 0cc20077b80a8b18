#!/usr/bin/env python3
"""Makes a state that needs more memory than there is, and starts with it again and again.

    Tests/BlackBox/outgrown.py BINARY [--limit MIB] [--observers N] [--filler BINARY]

Observers of key paths (16 keys each) are registered without a limit. Then the broker is started three times in a
control group of so many MiB, and killed each time: it must be ready, take a post, name in its log what it left
out, and stay below the limit. A last start without a limit has all of it. Control groups need root.
Python 3 and its standard library only.
"""

import argparse
import os
import re
import signal
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../Benchmarks"))
import support  # noqa: E402
from abusing import tables  # noqa: E402
from abusing.clients import ask, expect  # noqa: E402
from abusing.groups import ControlGroup  # noqa: E402
from abusing.memory import resident  # noqa: E402

MIB = 1 << 20
LIVES = 3
LEFT_OUT = "does not fit into the memory"


def observer_count(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        return int(re.search(r"^belfry_observers (\d+)", answer.read().decode(), re.M).group(1))


def start(path, data, wrapper=()):
    return support.Broker(path=path, options=["--data", data], wrapper=wrapper)


def kill(broker):
    broker.process.send_signal(signal.SIGKILL)
    broker.process.wait()
    text = broker.text()
    broker.__exit__(None, None, None)
    return text


def fill(path, data, count):
    """Registers the observers without a limit, and one value besides."""
    with start(path, data) as broker:
        clients = tables.sessions(broker.port, [
            {"object": f"o{n // 10_000}", "keyPath": tables.key_path(n), "lease": 86_400}
            for n in range(count)])
        expect(ask(broker.port, b'{"a":1}', "/v1/values/last", method="PUT") == "201", "no value")
        time.sleep(1)
        kept = resident(broker.pid)
        for client in clients:
            client.close()
        kill(broker)
    return kept


def live(path, data, limit):
    """One start in a group, which ends by a kill; tells what it had and how long it took."""
    with ControlGroup(limit) as group:
        began = time.monotonic()
        broker = start(path, data, group.wrapper)
        seconds = time.monotonic() - began
        expect(ask(broker.port, b"{}", "/v1/channels/Again") == "200", "a post is not taken")
        expect(ask(broker.port, b"", "/v1/values/last", method="GET") == "200", "the value is not there")
        count, size, peak = observer_count(broker.port), resident(broker.pid), group.peak()
        text = kill(broker)
        expect(LEFT_OUT in text, f"the log does not say what was left out: {text[-300:]}")
        expect(peak < limit, f"{peak // MIB} MiB of {limit // MIB}")
    return count, size, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--filler", help="the broker that makes the state; the same if it is not given")
    parser.add_argument("--limit", type=int, default=512)
    parser.add_argument("--observers", type=int, default=66_000)
    arguments = parser.parse_args()
    fault = ControlGroup.fault()
    if fault:
        print(f"skipped: {fault}")
        return
    with tempfile.TemporaryDirectory(prefix="belfry-outgrown-") as folder:
        data = os.path.join(folder, "data")
        kept = fill(arguments.filler or arguments.binary, data, arguments.observers)
        print(f"{arguments.observers:,} observers: {kept // MIB} MiB without a limit")
        counts = []
        for life in range(LIVES):
            count, size, seconds = live(arguments.binary, data, arguments.limit * MIB)
            counts.append(count)
            print(f"start {life + 1} with {arguments.limit} MiB: {count:,} observers, VmRSS {size // MIB} MiB, "
                  f"ready in {seconds:.1f} s", flush=True)
        expect(0 < counts[0] < arguments.observers and len(set(counts)) == 1, counts)
        broker = start(arguments.binary, data)
        count = observer_count(broker.port)
        text = kill(broker)
        print(f"start without a limit: {count:,} observers")
        expect(count == arguments.observers and LEFT_OUT not in text, "not all of them are back")


if __name__ == "__main__":
    main()
