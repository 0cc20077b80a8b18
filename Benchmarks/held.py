#!/usr/bin/env python3
"""Posts that are held or kept durably, or values that are written: their rate beside SQLite alone with the same rows.

    Benchmarks/held.py [--values | --archived] [--rounds 5] [--posts 9000] [--posters 64] [--pipelined 4] [--log-pages 2714]

With --values each request puts a value of its own, of 100 bytes. With --archived an archive keeps each post, and
nobody observes. Otherwise one mailbox observer with the behaviour `hold` is away. So many posters post, each with so many
requests on the way, until all are answered; each answer waits for the commit of its rows. The posters
are a C program (Posters/posters.c), for they share the processors with what is measured. Then another
inserts the same rows into a file of its own with the same schema and settings, and as many posts a
commit as the broker had on average (SQLiteFloor/floor.c; both need cc, and it libsqlite3-dev). The bar is
half of its rate, as the median of the ratios of all rounds, for both durabilities.

The store moves its log into the main file at 2,714 pages (`StoreFile.logPageLimit` with its usual
ballast), and so does the loop; `--log-pages 0` lets the loop do it at SQLite's 1,000. On a machine
with other work, `chrt -r 1` in front keeps that out of the processors, though not off the disk.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import support


def metrics(port):
    client = support.HTTPClient(port)
    client.send(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    status, content = client.responses(1)
    assert status == 200
    client.close()
    return {
        name: float(value)
        for name, value in re.findall(rb"^(\w+)(?:\{[^}]*\})? ([0-9.e+]+)$", content, re.M)
    }


def ask(port, method, path, content=b""):
    client = support.HTTPClient(port)
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    client.send(head.encode() + content)
    status, content = client.responses(1)
    client.close()
    return status, json.loads(content)


def post_all(posters, port, request, post_count, poster_count, pipelined):
    """Posts so many in all, and returns the seconds until the last answer.

    A client in Python would take more of the processors than broker and store do.
    """
    command = [posters, str(port), str(post_count), str(poster_count), str(pipelined)]
    answer = subprocess.run(command, input=request, check=True, stdout=subprocess.PIPE).stdout
    return float(answer.split()[0])


def compile_program(folder, name, path, *libraries):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), *path)
    program = os.path.join(folder, name)
    subprocess.run(
        ["cc", "-O2", "-D_GNU_SOURCE", "-o", program, source, *libraries], check=True)
    return program


def prepare_request(port, options):
    """The request that is sent over and over; each of values has a number in the place of ########."""
    if options.table == "values":
        content = support.user_info(100).replace(b"x" * 8, b"########", 1)
        return support.post_request(content, "/v1/values/value-########", "PUT")
    if options.table == "kept":
        status, archive = ask(port, "PUT", "/v1/archives/Held")
        assert status == 201 and archive["stored"], archive
        return support.post_request(support.user_info(), "/v1/channels/Held")
    status, observer = ask(
        port, "POST", "/v1/observers",
        json.dumps({"name": "Held", "holdLimit": options.posts + 1_000}).encode())
    assert status == 201, observer
    return support.post_request(support.user_info(), "/v1/channels/Held")


def measure(folder, floor, posters, durability, options):
    data = os.path.join(folder, "data")
    extra = ["--data", data, "--durability", durability, "--hold-limit", str(options.posts + 1_000),
             "--anonymous-grants", "post,observe,inspect,admin"]
    with support.Broker(options=extra) as broker:
        request = prepare_request(broker.port, options)
        before = metrics(broker.port)[b"belfry_store_commits_total"]
        seconds = post_all(
            posters, broker.port, request, options.posts, options.posters, options.pipelined)
        commits = metrics(broker.port)[b"belfry_store_commits_total"] - before
        broker.process.kill()
        broker.process.wait()
    rows_a_commit = max(1, round(options.posts / max(commits, 1)))
    target = os.path.join(folder, "floor.db")
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(target + suffix):
            os.unlink(target + suffix)
    synchronous = "full" if durability == "power" else "normal"
    answer = subprocess.run(
        [floor, os.path.join(data, "belfry.db"), target, str(rows_a_commit), synchronous,
         str(options.log_pages), options.table],
        check=True, capture_output=True, text=True).stdout.split()
    if int(answer[0]) != options.posts:
        sys.exit(f"the store has {answer[0]} rows, not {options.posts}")
    shutil.rmtree(data)
    return options.posts / seconds, options.posts / float(answer[1]), rows_a_commit


def main():
    parser = argparse.ArgumentParser()
    rows = parser.add_mutually_exclusive_group()
    rows.add_argument("--values", dest="table", action="store_const", const="values", default="held")
    rows.add_argument("--archived", dest="table", action="store_const", const="kept")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--posts", type=int, default=9_000)
    parser.add_argument("--posters", type=int, default=64)
    parser.add_argument("--pipelined", type=int, default=4)
    parser.add_argument("--log-pages", type=int, default=2714)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="belfry-held.")
    floor = compile_program(folder, "floor", ("SQLiteFloor", "floor.c"), "-lsqlite3")
    posters = compile_program(folder, "posters", ("Posters", "posters.c"))
    isGood = True
    for durability in ("power", "process"):
        ratios = []
        for _ in range(options.rounds):
            rate, floor_rate, rows_a_commit = measure(
                folder, floor, posters, durability, options)
            ratios.append(rate / floor_rate)
            print(f"{durability}: {rate:,.0f} a second, SQLite alone {floor_rate:,.0f}, "
                  f"{rows_a_commit} a commit, ratio {ratios[-1]:.2f}", flush=True)
        median = statistics.median(ratios)
        isGood = isGood and median >= 0.5
        print(f"{durability}: median ratio {median:.2f} (at least 0.50)", flush=True)
    shutil.rmtree(folder)
    return 0 if isGood else 1


if __name__ == "__main__":
    sys.exit(main())
