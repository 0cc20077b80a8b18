#!/usr/bin/env python3
"""Runs the cells of the matrix against Belfry, the floors and other brokers, in rounds.

    bench.py --built FOLDER --belfry BINARY --certificates FOLDER [--rounds 15] [--seconds 2]
             [--cells PATTERN,...] [--peers PATTERN,...] [--out FILE.jsonl] [--unpinned]
    bench.py --report FILE.jsonl

The server has core 0 and the load core 1. A round runs all servers of a cell once, one after the
other in changing order; ratios are of two runs in the same round. A run during which other programs used
a tenth of a core is made again, up to three times; if that does not help the round does not count,
and is run again, up to three times as many rounds as were asked for in all.
"""

import argparse
import datetime
import fnmatch
import json
import os
import random
import signal
import subprocess
import sys
import time

import cells
import peers
import table

# Servers and cells that no bar needs are for orientation.
ROUNDS_FOR_ORIENTATION = 5

# How often a run is made until nothing else ran meanwhile.
ATTEMPTS = 3


def busy_seconds():
    with open("/proc/stat") as file:
        fields = [int(word) for word in file.readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def wait_for_quiet(limit, patience):
    """Waits until others have used less than so much of a core for half a second."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        start, busy = time.monotonic(), busy_seconds()
        time.sleep(0.5)
        if (busy_seconds() - busy) / (time.monotonic() - start) < limit:
            return


def measure(run, options):
    """What wsload says of one run, as a dictionary."""
    tools = peers.Tools(options.built, options.belfry, options.certificates)
    try:
        with peers.Server(run.peer, tools, not options.unpinned) as server:
            pin = ["taskset", "-c", "1"] if server.is_pinned else []
            command = [
                *pin, os.path.join(options.built, "wsload"), "--label", run.peer,
                "--server-pid", ",".join(map(str, server.pids)), "--duration",
                str(options.seconds), "--warmup", "0.3", *server.load, *run.load.split()]
            outcome = subprocess.run(command, capture_output=True, text=True, timeout=240)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return {"error": str(error)}
    lines, complaints = outcome.stdout.splitlines(), outcome.stderr.splitlines()
    if not lines:
        return {"error": (complaints or ["wsload said nothing"])[-1]}
    record = json.loads(lines[-1])
    if complaints:
        record["complaints"] = complaints[:3]
    return record


def measure_quietly(run, options):
    """What wsload says of a run with nothing else beside it, if one of three is; faults are of all."""
    wait_for_quiet(options.foreign, options.patience)
    record = measure(run, options)
    for _ in range(ATTEMPTS - 1):
        if "error" in record or table.is_quiet(record, options.foreign):
            break
        wait_for_quiet(options.foreign, options.patience)
        noisy, record = record, measure(run, options)
        if "error" not in record:
            for name in (*table.FAULTS, *table.OTHER_FAULTS):
                record[name] += noisy[name]
            record["clean"] = record["clean"] and noisy["clean"]
    return record


def run_round(cell, names, order, options):
    """One round of a cell; returns whether nothing else ran meanwhile."""
    names = list(names)
    order.shuffle(names)
    stamp = datetime.datetime.now().isoformat(timespec="milliseconds")
    records = []
    for name in names:
        record = measure_quietly(cell.runs[name], options)
        record.update(cell=cell.name, run=name, round=stamp)
        print(describe(record), file=sys.stderr, flush=True)
        records.append(record)
    # Written at once, so that an interrupted round leaves nothing behind.
    with open(options.out, "a") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    return all(table.is_quiet(record, options.foreign) for record in records)


def describe(record):
    start = f"{record['cell']:20} {record['run']:14}"
    if "error" in record:
        return f"{start} FAILED {record['error']}"
    clean = "" if record["clean"] else f"  FAULTS {record.get('complaints')}"
    rates = ""
    if record["mode"] == "run":
        rates = (
            f" {record['acked_per_s']:8.0f} posts/s {record['delivered_per_s']:9.0f} deliveries/s")
    return (
        f"{start} {record['server_us_per_unit']:8.3f} µs{rates}"
        f"  foreign {record['foreign_cpu']:.2f}{clean}")


def run_matrix(chosen, options):
    order = random.Random(options.rounds)
    run, quiet = dict.fromkeys(chosen, 0), dict.fromkeys(chosen, 0)

    def wanted(name):
        cell, _ = chosen[name]
        most = cell.most_rounds if cell.needed() else ROUNDS_FOR_ORIENTATION
        return min(options.rounds, most)

    while True:
        left = [
            name for name in chosen
            if quiet[name] < wanted(name) and run[name] < 3 * wanted(name)]
        if not left:
            return
        for name in left:
            cell, names = chosen[name]
            if quiet[name] >= ROUNDS_FOR_ORIENTATION:
                names = [each for each in names if each in cell.needed()] or names
            run[name] += 1
            quiet[name] += run_round(cell, names, order, options)


def choose(options):
    """The cells that are asked for, with the names of their runs."""
    chosen = {}
    for cell in cells.CELLS:
        if not any(fnmatch.fnmatch(cell.name, each) for each in options.cells.split(",")):
            continue
        names = [
            name for name, run in cell.runs.items()
            if any(fnmatch.fnmatch(run.peer, each) for each in options.peers.split(","))]
        if names:
            chosen[cell.name] = (cell, names)
    if not chosen:
        sys.exit("no cell is left; there are " + " ".join(cell.name for cell in cells.CELLS))
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--built", default=peers.HERE, help="the folder of wsload and wsfloor")
    parser.add_argument("--belfry", default="belfry", help="the broker")
    parser.add_argument("--certificates", default=".", help="has ca.pem, cert.pem and key.pem")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=2, help="how long each run is measured")
    parser.add_argument("--cells", default="*", help="patterns, such as fan1k*,tls:*")
    parser.add_argument("--peers", default="*", help="patterns, such as belfry*,floor*")
    parser.add_argument("--out", default="bench.jsonl", help="where the runs are added")
    parser.add_argument("--report", metavar="FILE", help="print the table of saved runs")
    parser.add_argument("--unpinned", action="store_true", help="no process has a core of its own")
    parser.add_argument(
        "--foreign", type=float, default=0.1, help="cores that others may use in a round")
    parser.add_argument(
        "--patience", type=float, default=20, help="seconds to wait for a quiet machine")
    options = parser.parse_args()
    if options.report:
        sys.exit(not table.show(options.report, options.foreign))
    if os.cpu_count() < 2 and not options.unpinned:
        sys.exit("the server and the load need a core each; see --unpinned")
    # As an exception it ends the server, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run_matrix(choose(options), options)
    sys.exit(not table.show(options.out, options.foreign))


if __name__ == "__main__":
    main()
