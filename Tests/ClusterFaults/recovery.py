#!/usr/bin/env python3
"""Puts the files of all engine servers back while three brokers run, and lets one broker's state go on.

    recovery.py BELFRY        ends with "passed", or with the first thing that does not hold

All brokers must stop and say why, `belfry cluster recover` must bring the cluster back, no number may come twice, and the
observers must be told a gap.
"""
import os, shutil, subprocess, sys

from brokers import BROKERS, ask, check, is_ready, port, start, wait, wait_for_all, wait_for_one_digest
from engine import Cluster

POSTS = 100


def has_stopped(number):
    return ask(number, "GET", "/readyz")[1].get("reason") == "lost-entries"


def post(number):
    status, receipt = ask(number, "POST", "/v1/channels/a", "{}")
    check(status < 300, f"a post at broker {number} is answered {status} {receipt}")
    return receipt["seq"]


def run(belfry, cluster):
    def command(number, *words):
        return subprocess.run(
            [belfry, "cluster", *words, "--url", f"http://127.0.0.1:{port(number)}"],
            capture_output=True, text=True)

    def start_engines():
        for number in BROKERS:
            cluster.start_engine(number)
        cluster.wait_for_engines()

    start(belfry, cluster)
    status, mailbox = ask(1, "POST", "/v1/observers", '{"name":"a"}')
    check(status == 201, f"no mailbox: {status} {mailbox}")
    for count in range(POSTS):
        post(count % 3 + 1)

    # The files of this moment, and as many posts that they do not have.
    for number in BROKERS:
        cluster.stop(f"n{number}")
    stores = [os.path.join(cluster.folder, f"js{number}") for number in BROKERS]
    for store in stores:
        shutil.copytree(store, store + ".kept")
    start_engines()
    wait_for_all()
    last = max(post(count % 3 + 1) for count in range(POSTS))
    for number in BROKERS:
        cluster.kill(f"n{number}")
    for store in stores:
        shutil.rmtree(store)
        os.rename(store + ".kept", store)
    start_engines()

    for number in BROKERS:
        took = wait(f"broker {number} stops", 60, lambda: has_stopped(number))
        status, problem = ask(number, "POST", "/v1/channels/a", "{}")
        check(status == 503, f"a post at broker {number}, which has stopped, is answered {status}")
        print(f"broker {number} stops, {took:.1f} s behind the one before: {problem['detail']}")

    best = max(BROKERS, key=lambda number: ask(number, "GET", "/v1/cluster")[1]["index"])
    other = best % 3 + 1
    check(
        command(other, "recover", "--from", f"n{best}").returncode == 2,
        "the command spoke to another broker than --from says")
    done = command(best, "recover", "--from", f"n{best}")
    check(done.returncode == 0, done.stderr)
    took = wait("the broker takes part again", 30, lambda: is_ready(best))
    print(f"broker {best} takes part again after {took:.1f} s")
    check(post(best) > last, "a number was given twice")
    for number in BROKERS:
        if number != best:
            check(has_stopped(number), f"broker {number} goes on with another past")
            cluster.stop(f"b{number}")
            cluster.restart(f"b{number}")
    wait_for_all()

    status, box = ask(other, "GET", f"/v1/observers/{mailbox['token']}/notifications")
    check(
        any(gap["reason"] == "unknown" and gap["firstSeq"] > last for gap in box["gaps"]),
        f"the mailbox tells no gap: {box['gaps']}")
    wait_for_one_digest()


if __name__ == "__main__":
    with Cluster(port=27_000) as engines:
        for server in BROKERS:
            if not engines.alive(f"n{server}"):
                sys.exit(f"recovery.py: server {server} of the engine has not started")
        run(sys.argv[1], engines)
    print("passed")
