"""How soon a new broker is ready, which loads a snapshot with many observers and applies a long log behind it.

    cluster_newcomer.py [--observers 1000000] [--log-bytes 1073741824]

Three servers of the engine and one broker, loopback. The posts have 300 bytes and come in batches of 50. The log is made so
long by an engine that takes no snapshot any more. It takes 3 minutes and 4 GB of disk, and needs nats-server (NATS_SERVER). A
new broker that is not ready within 60 s fails.
"""

import argparse
import contextlib
import http.client
import json
import os
import socket
import sys
import threading
import time

import support

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Tests/ClusterFaults"))
import brokers  # noqa: E402
from engine import Cluster, Nats  # noqa: E402
from wire import frame  # noqa: E402

BAR = 60
BATCH = json.dumps([{"name": "posted", "userInfo": {"p": "x" * (300 - len('{"p":""}'))}}] * 50).encode()
# Observers wait for the log in messages of so many calls, of which so many are under way.
CALLS, CALLS_UNDER_WAY = 100, 4_000
MORE = ("--max-observers", "8000000", "--max-client-observers", "1000000", "--observer-memory", "8GiB",
        "--log-limit", "4GiB", "--snapshot-limit", "2GiB")


def start(cluster, number):
    """Starts a broker; gives the seconds until it is ready."""
    cluster.spawn(f"b{number}", number, brokers.command_line(support.binary(), cluster, number) + list(MORE))
    return brokers.wait(f"broker {number} is ready", 300, lambda: brokers.is_ready(number))


def read_message(file):
    """The payload of the next message of a broker, which sends each in one frame."""
    size = file.read(2)[1]
    if size > 125:
        size = int.from_bytes(file.read(2 if size == 126 else 8), "big")
    return json.loads(file.read(size))


def register(count):
    """Registers observers of as many names, all of one client; gives its connection."""
    connection = socket.create_connection(("127.0.0.1", brokers.port(1)))
    file = connection.makefile("rb", 1 << 20)
    connection.sendall(
        b"GET /v1/ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Protocol: belfry.v1\r\n\r\n")
    while file.readline() != b"\r\n":
        pass
    read_message(file)
    sent = done = 0
    while done < count:
        while sent < count and sent - done < CALLS_UNDER_WAY:
            calls = [{"jsonrpc": "2.0", "id": number, "method": "addObserver", "params": {"name": f"n{number}"}}
                     for number in range(sent, sent + CALLS)]
            connection.sendall(frame(1, json.dumps(calls).encode(), True))
            sent += CALLS
        answers = read_message(file)
        brokers.check(all("result" in answer for answer in answers), f"an observer is refused: {answers[0]}")
        done += len(answers)
    return connection


def post(byte_count):
    """Posts so many bytes at the first broker, by four posters."""
    left = [byte_count // len(BATCH)]
    refused = []

    def run():
        connection = http.client.HTTPConnection("127.0.0.1", brokers.port(1), timeout=60)
        while left[0] > 0 and not refused:
            left[0] -= 1
            connection.request("POST", "/v1/notifications", BATCH, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                refused.append(answer.status)

    posters = [threading.Thread(target=run) for _ in range(4)]
    for poster in posters:
        poster.start()
    for poster in posters:
        poster.join()
    brokers.check(not refused, f"a post is refused: {refused}")


def api(cluster, name, request=None):
    """What the engine answers, over a connection of its own: nobody reads an idle one."""
    with contextlib.closing(Nats(cluster.url(1), timeout=20)) as nats:
        return nats.api(name, request)


def stream(cluster, name):
    """Settings and state of a stream."""
    return api(cluster, f"STREAM.INFO.{name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--observers", type=int, default=1_000_000)
    parser.add_argument("--log-bytes", type=int, default=1 << 30)
    arguments = parser.parse_args()
    with Cluster(port=27_000, store_limit="8G") as cluster:
        start(cluster, 1)
        connection = register(arguments.observers)
        # A snapshot has them all; one more may be under way.
        post(80 << 20)
        brokers.wait("a snapshot with all observers", 60, lambda:
                     stream(cluster, "BELFRY_prod_SNAP")["state"]["bytes"] > 200 * arguments.observers)
        time.sleep(10)
        settings = stream(cluster, "BELFRY_prod_SNAP")["config"]
        elsewhere = [f"elsewhere.{subject}" for subject in settings["subjects"]]
        api(cluster, "STREAM.UPDATE.BELFRY_prod_SNAP", {**settings, "subjects": elsewhere})
        while stream(cluster, "BELFRY_prod")["state"]["bytes"] < arguments.log_bytes:
            post(64 << 20)
        connection.close()
        cluster.kill("b1")
        api(cluster, "STREAM.UPDATE.BELFRY_prod_SNAP", settings)
        log, snapshot = (stream(cluster, name)["state"] for name in ("BELFRY_prod", "BELFRY_prod_SNAP"))
        seconds = start(cluster, 2)
        print(f"{arguments.observers} observers, a snapshot of {snapshot['bytes'] / 1e6:.0f} MB, behind it a log of "
              f"{log['bytes'] / 1e6:.0f} MB in {log['messages']} entries: ready after {seconds:.1f} s (at most {BAR} s)")
    sys.exit(seconds > BAR)


if __name__ == "__main__":
    main()
