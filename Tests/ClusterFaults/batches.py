"""The largest batch that one broker of a cluster lets in: do all three stay, and how long do others wait?

    batches.py BELFRY [--selectors 64] [--targets 100] [--bar 0.25]

Four clients hold 32 addresses of a chain with 1,000 responders each, none of which implements what is asked for. So
many observers have the first address as their target. A batch of 1,000 posts reaches them; while the broker refuses
the batch (413), half as many are posted. The same entries reach all brokers. What counts is the longest time between two
answers of other posters at each broker, and whether each broker is in the cluster still. Needs nats-server (NATS_SERVER);
everything is on loopback.
"""

import argparse
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Benchmarks"))
import brokers
import cluster_losses
import support
from brokers import BROKERS, check, port
from engine import Cluster

HOPS, HOLDERS = 32, 1_000
POSTS = 1_000
IN_FLIGHT = 500


def register(client, rows):
    """Registers observers, some in flight at a time; gives how many were let in."""
    count = 0
    for start in range(0, len(rows), IN_FLIGHT):
        part = rows[start:start + IN_FLIGHT]
        client.send_text(json.dumps([
            {"jsonrpc": "2.0", "id": number, "method": "addObserver", "params": row}
            for number, row in enumerate(part)]))
        answers = []
        while len(answers) < len(part):
            found = json.loads(client.next_frame()[1])
            answers += [each for each in (found if isinstance(found, list) else [found]) if "id" in each]
        count += sum("result" in answer for answer in answers)
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("belfry")
    parser.add_argument("--selectors", type=int, default=64)
    parser.add_argument("--targets", type=int, default=100)
    parser.add_argument("--bar", type=float, default=0.25)
    options = parser.parse_args()
    brokers.GRANTS = "post,observe,inspect,admin,read,set,respond,ask,acknowledge"
    others = [f"s{number}" for number in range(options.selectors)]
    with Cluster(port=27_000) as cluster:
        brokers.start(options.belfry, cluster)
        clients = [support.WebSocketClient(port(1)) for _ in range(5)]
        held = 0
        for place, client in enumerate(clients[:4]):
            held += register(client, [
                {"object": f"h{hop}", "implements": others, "ifHeld": "share", "next": f"h{hop + 1}"}
                for hop in range(HOPS) for _ in range(HOLDERS // 4)])
        targets = register(clients[4], [
            {"name": "press", "target": "h0", "selector": "asked"} for _ in range(options.targets)])
        print(f"{held} of {HOPS * HOLDERS} responders and {targets} of {options.targets} targets were let in")
        check(held and targets, "none were let in")
        quiet = {number: cluster_losses.Poster(number) for number in BROKERS}
        time.sleep(3)
        before = {number: poster.longest_silence() for number, poster in quiet.items()}
        posters = {number: cluster_losses.Poster(number) for number in BROKERS}
        time.sleep(0.5)
        count = 2 * POSTS
        status = 413
        while status == 413 and count > 1:
            count //= 2
            begin = time.monotonic()
            status, answer = brokers.ask(1, "POST", "/v1/notifications", json.dumps([{"name": "press"}] * count))
        took = time.monotonic() - begin
        time.sleep(2)
        silences = {number: poster.longest_silence() for number, poster in posters.items()}
        print(f"a batch of {count}: {status} after {took:.2f} s {answer.get('detail', '')}")
        for number in BROKERS:
            print(f"broker {number}: {before[number]:.3f} s without, {silences[number]:.3f} s beside the batch")
            check(brokers.is_ready(number), f"broker {number} has left the cluster")
        brokers.wait_for_one_digest(20)
        late = [number for number in BROKERS if silences[number] > before[number] + options.bar]
        check(not late, f"others wait too long at {late}")


if __name__ == "__main__":
    main()
