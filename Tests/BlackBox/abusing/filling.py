"""Loads that fill the broker's memory with what it keeps: observers, names, rings, keys, queues.

Each goes on until it has sent all, or its time is over, whether it is refused or not: a broker that only refuses
must live through that too.
"""

import json

from .clients import ask, support
from .sending import (
    add, batches, call_often, connect, mailbox_request, pipelined, register, told,
)

# 235 scalars of four bytes and a number: nearly a kibibyte.
WIDE = "\U0001f514" * 235


def observers_of(target, filter_, size, clients=20, each=9_980):
    """Registers with several clients, which stay until the end of the attack."""
    registered = 0
    for number in range(clients):
        try:
            client = connect(target.port)
        except ConnectionError:
            # A session is an observer's client, and costs of the same kind.
            break
        target.keep(client)
        start = number * each
        registered += register(client, [filter_(n) for n in range(start, start + target.count(each))], size)
        if target.is_over:
            break
    return f"{registered:,} observers"


def wide_observers(target):
    """Observers with names and objects of 1 KiB, of 20 clients."""
    return observers_of(
        target, lambda n: {"name": f"{n:06d}{WIDE}", "object": f"{n:06d}{WIDE}"}, size=300)


def small_observers(target):
    """Observers with short names, of 20 clients."""
    return observers_of(target, lambda n: {"name": f"{n:x}"}, size=1_000)


def observers_of_one_name(target):
    """As many as a table of one name can take, of 20 clients."""
    return observers_of(target, lambda n: {"name": "n", "object": f"{n % 3}"}, size=1_000)


def post_into(target, centers, requests):
    """Sends what `requests(n)` makes for each center; tells the answers."""
    client, counts = support.HTTPClient(target.port), {}
    client.socket.settimeout(60)
    for number in range(centers):
        add(counts, pipelined(client, requests(number)))
        if target.is_over:
            break
    client.close()
    return told(counts)


def rings(target):
    """1,000 notifications of 4 KiB into each of 123 centers, and 400 more centers after that."""
    text = "x" * 4_000
    posts = [{"name": "p", "userInfo": {"text": text}}] * target.count(1_000)
    made = batches("CENTER", posts, size=200)
    # The length of the name is that of the place holder, so the head stays right.
    return post_into(target, 523, lambda n: [
        request.replace(b"CENTER", b"r%05d" % n) for request in made])


def centers(target):
    """As many centers as there may be, and some more, with the longest names."""
    count = target.count(1_200)
    return post_into(target, count // 100 or 1, lambda n: [
        support.post_request(b"{}", f"/v1/centers/{n * 100 + place:05d}{'c' * 240}/channels/A")
        for place in range(100)])


def unmatched_names(target):
    """Names that nobody observes, 10,000 in each of 60 centers."""
    return post_into(target, 60, lambda center: batches(
        f"n{center:03d}", [{"name": f"{n:05d}{'n' * 236}"} for n in range(target.count(10_000))]))


def wide_names(target):
    """The same with names of 1 KiB."""
    return post_into(target, 30, lambda center: batches(
        f"w{center:03d}", [{"name": f"{n:05d}{WIDE}"} for n in range(target.count(10_000))], size=400))


def fates(target):
    """Small posts, 10,000 in each of 60 centers."""
    made = batches("CENTER", [{"name": "f"}] * target.count(10_000))
    return post_into(target, 60, lambda n: [
        request.replace(b"CENTER", b"f%05d" % n) for request in made])


def keys(target):
    """Posts with long idempotency keys, 5,000 in each of 40 centers."""
    def requests(center):
        return [
            (f"POST /v1/centers/k{center:03d}/channels/k HTTP/1.1\r\nHost: 127.0.0.1\r\n"
             f"Content-Type: application/json\r\nIdempotency-Key: \"{n:06d}{'k' * 240}\"\r\n"
             "Content-Length: 2\r\n\r\n{}").encode() for n in range(target.count(5_000))]
    return post_into(target, 40, requests)


def tombstones(target):
    """Observers with wide filters that are registered and removed again."""
    client, removed = connect(target.port), 0
    while not target.is_over and removed < target.count(200_000):
        calls = []
        for n in range(removed, removed + 100):
            filter_ = {"name": f"{n:06d}{WIDE}", "object": f"{n:06d}{WIDE}"}
            calls += [("addObserver", filter_), ("removeObserver", filter_)]
        answers = call_often(client, calls)
        removed += answers.count(b'"removed":1')
        if b'"error"' in answers:
            break
    client.close()
    return f"{removed:,} removed"


def fill(target, names, size):
    """Posts large notifications in turn, until 400 of each name are sent or the time is over."""
    client, counts = support.HTTPClient(target.port), {}
    client.socket.settimeout(60)
    content = support.user_info(size)
    requests = [support.post_request(content, f"/v1/channels/{name}") for name in names]
    for _ in range(target.count(400)):
        add(counts, pipelined(client, requests))
        if target.is_over:
            break
    client.close()
    return told(counts)


def held_in_mailboxes(target):
    """30 mailboxes that nobody reads, and posts of 64 KiB for each."""
    client = support.HTTPClient(target.port)
    names = [f"Box{n}" for n in range(30)]
    pipelined(client, [
        mailbox_request(name=name, suspensionBehavior="hold", holdLimit=10_000, lease=8) for name in names])
    client.close()
    return fill(target, names, 65_000)


def held_for_the_absent(target):
    """20 clients that are away, with observers that hold, and small posts for all of them."""
    for _ in range(20):
        client = connect(target.port)
        register(client, [
            {"name": "Away", "suspensionBehavior": "hold", "holdLimit": 10_000, "lease": 8}] * 4)
        client.close()
    poster, counts = support.HTTPClient(target.port), {}
    poster.socket.settimeout(60)
    request = support.post_request(
        json.dumps([{"name": "Away", "userInfo": {"n": n}} for n in range(500)]).encode(), "/v1/notifications")
    for _ in range(target.count(20)):
        add(counts, pipelined(poster, [request], depth=1))
        if target.is_over:
            break
    poster.close()
    return told(counts)


def queued(target):
    """Entries for a mode that nobody enters, 9,000 in each of 20 centers."""
    def requests(center):
        return batches(f"q{center:03d}", [
            {"name": f"q{n}", "style": "asap", "coalesce": [], "modes": ["never"], "ttl": 8,
             "userInfo": {"text": "x" * 500}} for n in range(target.count(9_000))])
    return post_into(target, 20, requests)


def large_queued(target):
    """Entries of 250 KiB for a mode that nobody enters."""
    request = support.post_request(
        support.user_info(250_000), "/v1/channels/Large?style=asap&coalesce=none&modes=never&ttl=8")
    return post_into(target, 1, lambda _: [request] * target.count(400))


def dequeued(target):
    """What the queue of the default center has is taken out of it."""
    return ask(target.port, b"", "/v1/queue?name=Large", method="DELETE")


LOADS = [
    wide_observers, small_observers, observers_of_one_name, rings, centers, unmatched_names, wide_names, fates,
    keys, tombstones, held_in_mailboxes, held_for_the_absent, queued, large_queued,
]
