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

import broker_counts
import support

THRESHOLDS = os.path.join(support.ROOT, "Benchmarks", "thresholds.json")


# --- Rooms by themselves ------------------------------------------------------------------------


class Room:
    """A RoomBenchmark process; it does one of its works as often as it is told."""

    def __init__(self, works, wrapper=(), path=None):
        path = path or support.built("RoomBenchmark")
        # Otherwise dictionaries would have other collisions each time, which are 5 % of what a timer costs.
        environment = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"}
        self.process = subprocess.Popen(
            [*wrapper, path, *works], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment)

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
    "close-frame": 4_000, "head": 4_000, "head-again": 4_000, "timer-1k": 2_000,
    "match-kept": 2_000, "match-280": 2_000, "match-prefixes": 2_000, "where-three": 2_000, "where-false": 40,
}
MILLION_WORKS = ("match-1m", "match-timers", "timer-1m")
# One event about many things, each of these with a few of them and with ten times as many.
GROWING_WORKS = (
    "timers-end-1k", "timers-end-10k", "timers-replace-1k", "timers-replace-10k", "reports-1k", "reports-10k",
    "merge-2k", "merge-20k", "asker-leaves-100", "asker-leaves-1k", "responder-leaves-1k",
    "responder-leaves-10k", "report-rows-100", "report-rows-1k", "walk-100", "walk-1k",
)


def count_works(folder, works, begins_late=False):
    """Instructions of each of these works, done once."""
    counts = {}
    callgrind = support.Callgrind(folder, begins_late)
    program = support.readable_binary(folder, support.built("RoomBenchmark"))
    with Room(works, callgrind.wrapper, program) as room:
        callgrind.attach(room.process.pid)
        for name, count in works.items():
            room.expect("ready")
            if begins_late:
                callgrind.begin()
            # What is remembered of the past is full, and what is reused is there.
            room.run(max(count // 4, 2))
            counts[name] = callgrind.cost(count, room.run)
            room.tell("")
    return counts


def count_rooms(folder):
    return count_works(folder, ROOM_WORKS)


def count_millions(folder):
    """The works that need a million of something before they begin, each in a process of its own."""
    counts = {}
    for name in MILLION_WORKS:
        counts.update(count_works(folder, {name: 2_000}, begins_late=True))
    return counts


def count_growing(folder):
    """Events about many things; there are as many centers as the event is done, twice before it is counted."""
    counts = {}
    for name in GROWING_WORKS:
        counts.update(count_works(folder, {name: 1}, begins_late=True))
    return counts


# --- Memory -------------------------------------------------------------------------------------


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure_memory(_):
    """Resident bytes of an observer without a connection, a held notification, a timer, a connection."""
    sizes = {}
    for name, work, count in [
        ("observer-bytes", "observers", 1_000_000),
        ("named-observer-bytes", "named-observers", 1_000_000),
        ("held-bytes", "held", 100_000),
        ("timer-bytes", "timers", 1_000_000),
    ]:
        with Room([work]) as room:
            room.expect("ready")
            before = resident_bytes(room.process.pid)
            room.run(count)
            sizes[name] = (resident_bytes(room.process.pid) - before) / count
    with support.Broker(path=support.built("BenchmarkBroker"), options=("patient",)) as broker:
        # So many that no growth of one table decides: at 4,000 that was 4 % of the figure.
        audience = support.Observers(broker.port, 500)
        before = resident_bytes(broker.pid)
        audience.add(7_000)
        sizes["connection-bytes"] = (resident_bytes(broker.pid) - before) / 7_000
        audience.close()
    return sizes


# --- The verdict --------------------------------------------------------------------------------


# What takes longest comes first.
PARTS = {
    count_millions: set(MILLION_WORKS),
    broker_counts.count_broker: {
        "post", "post-pipelined", "post-object", "post-notifications", "post-observed",
        "connection", "delivery", "delivery-burst",
    },
    broker_counts.count_asks: {
        "call-observed", "call-acknowledged", "ask", "ask-chain", "post-acknowledged", "ask-http",
    },
    broker_counts.count_crowded_asks: {"ask-addresses", "ask-open"},
    broker_counts.count_values: {
        "post-unobserved", "put", "put-others", "call-unobserved", "call-set", "post-1k", "put-1k",
        "merge-1k",
    },
    count_growing: set(GROWING_WORKS),
    count_rooms: set(ROOM_WORKS),
    measure_memory: {
        "observer-bytes", "named-observer-bytes", "held-bytes", "timer-bytes", "connection-bytes"},
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
