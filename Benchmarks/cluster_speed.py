"""What a cluster does, beside the engine alone and one broker alone: three brokers, three servers of the engine, loopback.

    cluster_speed.py [--rounds 3] [--seconds 3] [CELL...]      one, loaded, centers, asap, readers (default: all)

    one       a post at a time, p50, beside an append of 300 bytes to the engine
    loaded    64 posters and an observer at each broker, posts of 300 bytes, beside one broker `--in-memory`
    centers   the same posts in 64 centers, beside 64 channels of one center
    asap      the time until a delivery, of `asap` posts beside plain ones
    readers   processor time of the engine for a post, and entries a second, as 3, 8 and 16 read the log

Rounds are interleaved, and each figure is the median of them. A figure past its bar fails. It needs nats-server (NATS_SERVER)
and `wsload` of the yardstick (WSLOAD, by default that which Scripts/bench has built).
"""

import argparse
import json
import os
import re
import select
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

import support

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Tests/ClusterFaults"))
import brokers  # noqa: E402
from brokers import BROKERS, port  # noqa: E402
from engine import Cluster, Nats, make_stream  # noqa: E402

WSLOAD = os.environ.get("WSLOAD") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "belfry/yardstick/wsload")
# The payload that makes a body of 300 bytes.
PAYLOAD = 300 - len('{"p":""}')


class Load:
    """A run of wsload at a broker, whose names begin with a prefix."""

    def __init__(self, at, prefix, seconds, *more, posters=64, channels=1, center="/v1", query=""):
        observer = json.dumps({
            "jsonrpc": "2.0", "id": 1, "method": "addObserver", "params": {"name": f"{prefix}%c", "selector": "n"}})
        self.process = subprocess.Popen(
            [WSLOAD, "--label", prefix, "--port", str(at), "--sub", "ws", "--pub", "http",
             "--sub-path", f"{center}/ws", "--sub-subprotocol", "belfry.v1", "--sub-acks", "2", "--sub-msg", observer,
             "--pub-path", f"{center}/channels/{prefix}%c{query}", "--ctype", "application/json",
             "--pub-body", '{"p":"%p"}', "--size", str(PAYLOAD), "--subs", str(channels), "--chans", str(channels),
             "--pubs", str(posters), "--depth", "1", "--window", "100000", "--warmup", "0.5",
             "--duration", str(seconds), *more],
            stdout=subprocess.PIPE, text=True)

    def result(self):
        """What it says; a run with a loss ends the benchmark."""
        output, _ = self.process.communicate(timeout=120)
        result = json.loads(output.splitlines()[-1])
        if not result["clean"]:
            sys.exit(f"a run is not clean: {output}")
        return result


class Alone:
    """A broker of its own that keeps everything in memory."""

    def __init__(self):
        self.broker = support.Broker(options=("--in-memory", "--loops", "1"))
        self.port = self.broker.port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.broker.stop()


def median(values):
    return statistics.median(values)


def posts_of_all(seconds, **options):
    """Posts a second of all brokers together, and the longest p99 of an answer in milliseconds."""
    loads = [Load(port(number), f"n{number}x", seconds, **options) for number in BROKERS]
    results = [load.result() for load in loads]
    return sum(one["acked_per_s"] for one in results), max(one["ack_us"]["p99"] for one in results) / 1e3


def append_milliseconds(cluster, count=1_500):
    """p50 of an append of 300 bytes to a log of its own, one at a time."""
    nats = Nats(cluster.url(1))
    times = []
    for number in range(count):
        begin = time.perf_counter()
        nats.ask("alone.log", b"x" * 300, {"Nats-Msg-Id": f"{begin}.{number}"})
        times.append(time.perf_counter() - begin)
    nats.close()
    return median(times) * 1e3


def megabytes_a_second(cluster, seconds, size=16 << 10, under_way=16):
    """What the engine appends in all, entries of 16 KiB, 16 under way."""
    nats = Nats(cluster.url(1))
    payload, done, begin = b"x" * size, 0, time.perf_counter()
    for number in range(under_way):
        nats.publish("alone.log", payload, f"{nats.box}.a", {"Nats-Msg-Id": f"{begin}.{number}"})
    while time.perf_counter() - begin < seconds:
        if b'"error"' in nats.next()[2]:
            sys.exit("the engine refuses an append")
        done += 1
        nats.publish("alone.log", payload, f"{nats.box}.a", {"Nats-Msg-Id": f"{begin}.{done + under_way}"})
    nats.close()
    return done * size / 1e6 / (time.perf_counter() - begin)


def engine_cpu(cluster):
    """Processor seconds of the servers of the engine so far."""
    total = 0
    for name, (process, *_) in cluster.process.items():
        if name.startswith("n"):
            with open(f"/proc/{process.pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


class Readers:
    """Connections that only read the log, as further brokers would."""

    def __init__(self, cluster, count):
        self.nats = [Nats(cluster.url(1 + number % 3)) for number in range(count)]
        for one in self.nats:
            one.subscribe("belfry.prod.rep")
        self.is_over = False
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        while not self.is_over:
            if not self.nats:
                return
            ready, _, _ = select.select([one.socket for one in self.nats], [], [], 0.2)
            for one in ready:
                if b"PING\r\n" in one.recv(1 << 20):
                    one.sendall(b"PONG\r\n")

    def close(self):
        self.is_over = True
        self.thread.join()
        for one in self.nats:
            one.close()


def metric(number, name):
    """A sum of the metrics of a broker."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port(number)}/metrics", timeout=5) as answer:
        return float(re.search(rf"^{name} ([0-9.e+]+)$", answer.read().decode(), re.M)[1])


class Bench:
    def __init__(self, cluster, rounds, seconds):
        self.cluster, self.rounds, self.seconds, self.is_past = cluster, rounds, seconds, False

    def say(self, text, figure, bar, unit):
        """A line of a figure and the most, or with a negative bar the least, that it may be."""
        holds = figure <= bar if bar >= 0 else figure >= -bar
        self.is_past = self.is_past or not holds
        word = "at most" if bar >= 0 else "at least"
        print(f"{text}: {figure:.3f} {unit} ({word} {abs(bar):.3f}){'' if holds else '  PAST'}", flush=True)

    def one(self):
        appends, posts = [], []
        for _ in range(self.rounds):
            appends.append(append_milliseconds(self.cluster))
            load = Load(port(1), "one", self.seconds, posters=1)
            posts.append(load.result()["ack_us"]["p50"] / 1e3)
        append = median(appends)
        print(f"an append to the engine, 300 B, one at a time: p50 {append:.3f} ms")
        self.say("a post, one at a time, p50", median(posts), 1.5 * append + 0.15, "ms")

    def loaded(self):
        alone, together, slowest, megabytes = [], [], [], []
        for _ in range(self.rounds):
            with Alone() as broker:
                alone.append(Load(broker.port, "x", self.seconds).result()["acked_per_s"])
            megabytes.append(megabytes_a_second(self.cluster, self.seconds))
            before = [(metric(n, "belfry_cluster_entry_bytes_sum"), metric(n, "belfry_cluster_entry_commands_sum"),
                       metric(n, "belfry_cluster_entry_bytes_count")) for n in BROKERS]
            rate, p99 = posts_of_all(self.seconds)
            together.append(rate)
            slowest.append(p99)
            after = [(metric(n, "belfry_cluster_entry_bytes_sum"), metric(n, "belfry_cluster_entry_commands_sum"),
                      metric(n, "belfry_cluster_entry_bytes_count")) for n in BROKERS]
            byte_count, command_count, entry_count = (
                sum(b[k] - a[k] for a, b in zip(before, after)) for k in range(3))
        size = byte_count / command_count
        limit = 0.8 * median(megabytes) * 1e6 / size
        print(f"one broker in memory {median(alone):.0f} posts/s; the engine {median(megabytes):.1f} MB/s, a command "
              f"{size:.0f} B, so {limit:.0f} posts/s are 0.8 of it; an entry has {command_count / entry_count:.1f} commands")
        self.say("three brokers, posts", median(together), -min(0.5 * median(alone), limit), "/s")
        self.say("three brokers, p99 of an answer", median(slowest), 20, "ms")

    def centers(self):
        one, many = [], []
        for _ in range(self.rounds):
            one.append(posts_of_all(self.seconds, channels=64)[0])
            many.append(posts_of_all(self.seconds, channels=64, center="/v1/centers/c%c")[0])
        print(f"one center {median(one):.0f} posts/s, 64 centers {median(many):.0f}")
        self.say("64 centers beside one", median(many) / median(one), -0.9, "times")

    def asap(self):
        plain, asap = [], []
        for _ in range(self.rounds):
            plain.append(Load(port(1), "p", self.seconds, posters=1).result()["e2e_us"]["p50"])
            asap.append(Load(port(1), "q", self.seconds, posters=1, query="?style=asap&coalesce=none").result()["e2e_us"]["p50"])
        print(f"a plain delivery {median(plain) / 1e3:.3f} ms, an asap one {median(asap) / 1e3:.3f} ms, p50")
        self.say("asap beside plain", median(asap) / median(plain), 1.3, "times")

    def readers(self):
        costs = {}
        for _ in range(self.rounds):
            for count in (3, 8, 16):
                readers = Readers(self.cluster, count - 3)
                cpu, entries = engine_cpu(self.cluster), sum(metric(n, "belfry_cluster_entry_bytes_count") for n in BROKERS)
                rate, _ = posts_of_all(self.seconds)
                cpu = engine_cpu(self.cluster) - cpu
                entries = sum(metric(n, "belfry_cluster_entry_bytes_count") for n in BROKERS) - entries
                readers.close()
                seconds = self.seconds + 0.5
                costs.setdefault(count, []).append((cpu * 1e6 / (rate * seconds), entries / seconds, rate))
        for count, rows in costs.items():
            cost, entries, rate = (median([row[k] for row in rows]) for k in range(3))
            print(f"{count:2} read: engine {cost:.2f} us a post, {entries:.0f} entries/s, {rate:.0f} posts/s")
        first, last = (median([row[0] for row in costs[count]]) for count in (3, 16))
        self.say("engine, a post, for each further reader", (last - first) / 13, 0.3, "us")


def main():
    cells = ("one", "loaded", "centers", "asap", "readers")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("cells", nargs="*", default=cells)
    arguments = parser.parse_args()
    with Cluster(port=27_000, store_limit="16G") as cluster:
        make_stream(Nats(cluster.url(1)), "ALONE", "alone.log", max_bytes=-1, discard="old")
        brokers.start(support.binary(), cluster)
        bench = Bench(cluster, arguments.rounds, arguments.seconds)
        for cell in arguments.cells:
            if cell not in cells:
                sys.exit(f"there is no cell {cell}")
            getattr(bench, cell)()
    sys.exit(1 if bench.is_past else 0)


if __name__ == "__main__":
    main()
