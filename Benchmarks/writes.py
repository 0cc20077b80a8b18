#!/usr/bin/env python3
"""Counts the writes to each socket in each turn of the loop, under 16 publishers and 200 observers.

    Benchmarks/writes.py [--observers 200] [--publishers 16] [--posts 4000]

The broker runs under strace. A turn is what lies between two waits for events. Each socket must get
at most one write a turn, and each turn with posts must write to each observer once, before any
poster gets its answer.
"""

import argparse
import collections
import os
import re
import select
import sys
import tempfile

import support

WRITES = "write,writev,sendto,sendmsg,sendmmsg"
WAITS = "epoll_wait,epoll_pwait,epoll_pwait2"


def publish(port, audience, publishers, posts, observers):
    """Posts over many connections at once; each sends its next post when it has its answer."""
    request = support.post_request(support.user_info(280))
    clients = {}
    poll = select.epoll()
    for _ in range(publishers):
        client = support.HTTPClient(port)
        clients[client.socket.fileno()] = client
        poll.register(client.socket, select.EPOLLIN)
    left = posts - publishers
    for client in clients.values():
        client.send(request)
    answered = drained = 0
    while answered < posts:
        again = []
        for number, _ in poll.poll(30):
            clients[number].responses(1)
            answered += 1
            if left > 0:
                left -= 1
                again.append(clients[number])
        # All that were answered in one turn post together again.
        for client in again:
            client.send(request)
        if answered - drained >= 64:
            audience.drain((answered - drained) * observers)
            drained = answered
    audience.drain((posts - drained) * observers)
    audience.finish()


def turns(trace):
    """The writes of each turn, as a list of descriptors in order."""
    call = re.compile(r"^(?:\d+ +)?(\w+)\((\d+)")
    turn = []
    with open(trace, errors="replace") as lines:
        for line in lines:
            found = call.match(line)
            if not found:
                continue
            if found.group(1).startswith("epoll"):
                yield turn
                turn = []
            else:
                turn.append((int(found.group(2)), "EAGAIN" in line))
    yield turn


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--observers", type=int, default=200)
    parser.add_argument("--publishers", type=int, default=16)
    parser.add_argument("--posts", type=int, default=4_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="belfry-strace.") as folder:
        trace = os.path.join(folder, "trace")
        wrapper = ["strace", "-f", "-qq", "-s", "0", "-o", trace, "-e", f"trace={WRITES},{WAITS}"]
        with support.Broker(wrapper) as broker:
            audience = support.Observers(broker.port, options.observers)
            before = os.path.getsize(trace)
            publish(broker.port, audience, options.publishers, options.posts, options.observers)
            after = os.path.getsize(trace)
            audience.close()
        with open(trace, "rb") as file:
            file.seek(before)
            part = file.read(after - before)
        with open(trace, "wb") as file:
            file.write(part)
        report(list(turns(trace)), options)


def report(all_turns, options):
    writes = collections.Counter()
    fan_outs = late = partial = full = 0
    posts_in_turn = collections.Counter()
    for turn in all_turns:
        counts = collections.Counter(number for number, _ in turn)
        writes.update(counts.values())
        full += sum(is_full for _, is_full in turn)
        if len(counts) < options.observers:
            # The trace is cut in the middle of a turn at its ends.
            partial += bool(counts)
            continue
        fan_outs += 1
        posts_in_turn[len(counts) - options.observers] += 1
    # Sockets that are written in every fan-out are the observers'.
    always = set.intersection(
        *(set(number for number, _ in turn) for turn in all_turns
          if len(set(number for number, _ in turn)) >= options.observers))
    for turn in all_turns:
        numbers = [number for number, _ in turn]
        last = max((place for place, number in enumerate(numbers) if number in always), default=-1)
        late += any(number not in always for number in numbers[:last])
    print(f"{len(all_turns)} turns, {fan_outs} with a fan-out to {options.observers} observers, "
          f"{partial} others with writes, {full} writes found a full socket")
    print("writes to one socket in one turn: "
          + ", ".join(f"{count} writes: {times} times" for count, times in sorted(writes.items())))
    print("posters answered in a turn: "
          + ", ".join(f"{count}: {times}" for count, times in sorted(posts_in_turn.items())))
    print(f"turns in which a poster was answered before an observer: {late}")
    sys.exit(max(writes) > 1 or late > 0 or len(always) < options.observers)


if __name__ == "__main__":
    main()
