"""How long nobody's post is answered when a part of a cluster is lost: three brokers beside three servers of the engine.

    cluster_losses.py [--runs 10] [LOSS...]     kill-broker, stop-broker, kill-follower, stop-leader, kill-leader, pause-leader

Each broker has a connection that posts one after the other. What counts is the longest time between two answers at a broker
that was not hit. Each loss has a bar, and one past it fails. Needs nats-server (NATS_SERVER); everything is on loopback.
"""

import argparse
import http.client
import json
import os
import sys
import threading
import time
import urllib.request

import support

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Tests/ClusterFaults"))
import brokers  # noqa: E402
from brokers import BROKERS, port  # noqa: E402
from engine import Cluster  # noqa: E402

# The bar in seconds, and for how long the loss is watched.
LOSSES = {
    "kill-broker": (1.0, 4), "stop-broker": (0.5, 3), "kill-follower": (1.0, 2.5), "stop-leader": (1.0, 2.5),
    "kill-leader": (12.0, 13), "pause-leader": (12.0, 13),
}


class Poster(threading.Thread):
    """Posts to a broker one after the other, and notes when each answer came."""

    def __init__(self, broker):
        super().__init__(daemon=True)
        self.broker, self.answers, self.is_over = broker, [], False
        self.start()

    def run(self):
        connection = None
        while not self.is_over:
            try:
                connection = connection or http.client.HTTPConnection("127.0.0.1", port(self.broker), timeout=15)
                connection.request("POST", "/v1/channels/x", "{}", {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
                if answer.status == 200:
                    self.answers.append(time.monotonic())
                if answer.will_close:
                    connection = None
            except (OSError, http.client.HTTPException):
                connection = None
                time.sleep(0.02)
            time.sleep(0.005)

    def longest_silence(self):
        self.is_over = True
        self.join()
        return max(later - earlier for earlier, later in zip(self.answers, self.answers[1:]))


def leader(cluster):
    """The number of the server that leads the log."""
    for _ in range(100):
        for number in BROKERS:
            host, monitor = cluster.monitor(number)
            try:
                with urllib.request.urlopen(f"http://{host}:{monitor}/jsz?streams=1&accounts=1", timeout=2) as answer:
                    accounts = json.load(answer).get("account_details", [])
            except OSError:
                continue
            for stream in (stream for account in accounts for stream in account.get("stream_detail", [])):
                name = stream.get("cluster", {}).get("leader")
                if stream["name"] == "BELFRY_prod" and name:
                    return int(name[1:])
        time.sleep(0.2)
    sys.exit("the log has no leader")


def lose(loss, run, cluster):
    """Loses a part, brings it back, and gives the longest silence of the brokers that were not hit."""
    server = leader(cluster)
    if loss == "kill-follower":
        server = server % 3 + 1
    broker = run % 3 + 1
    hit = broker if loss.endswith("broker") else None
    posters = {number: Poster(number) for number in BROKERS if number != hit}
    time.sleep(0.4)
    if loss == "kill-broker":
        cluster.kill(f"b{broker}")
    elif loss == "stop-broker":
        threading.Thread(target=cluster.stop, args=(f"b{broker}",)).start()
    elif loss == "stop-leader":
        cluster.stop(f"n{server}")
    elif loss == "pause-leader":
        cluster.pause(f"n{server}")
    else:
        cluster.kill(f"n{server}")
    time.sleep(LOSSES[loss][1])
    if loss == "pause-leader":
        cluster.go_on(f"n{server}")
    elif hit:
        cluster.restart(f"b{hit}")
    else:
        cluster.start_engine(server)
    cluster.wait_for_engines(60)
    brokers.wait_for_all()
    time.sleep(0.3)
    return max(poster.longest_silence() for poster in posters.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("losses", nargs="*", default=list(LOSSES))
    arguments = parser.parse_args()
    silences = {loss: [] for loss in arguments.losses}
    with Cluster(port=27_000) as cluster:
        brokers.start(support.binary(), cluster)
        for run in range(arguments.runs):
            for loss in arguments.losses:
                silences[loss].append(lose(loss, run, cluster))
        took = brokers.wait_for_one_digest()
        print(f"equal digests after {took:.1f} s")
    is_past = False
    for loss, times in silences.items():
        bar = LOSSES[loss][0]
        is_past = is_past or max(times) > bar
        print(f"{loss:14} worst {max(times):5.2f} s of {len(times)} (at most {bar}), median {sorted(times)[len(times) // 2]:5.2f}")
    sys.exit(1 if is_past else 0)


if __name__ == "__main__":
    main()
