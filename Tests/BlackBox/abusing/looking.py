"""Loads that look at much: listings, explain, reports, over 10,000 observers and as many names."""

import json
import select

from .clients import support
from .sending import client_with_observers, connect, pipelined, register_all, told

GZIP = "Accept-Encoding: gzip\r\n"


def looked_at(target):
    """A center with very many of everything that can be looked at; a connection to look with."""
    target.keep(client_with_observers(target.port, name="Look", suspensionBehavior="drop"))
    named = connect(target.port)
    register_all(named, [{"name": f"look{n}", "object": f"{n}"} for n in range(10_000)])
    target.keep(named)
    poster = support.HTTPClient(target.port)
    names = [{"name": f"name{n}"} for n in range(10_000)]
    entries = [{"name": f"q{n}", "style": "idle", "modes": ["never"], "coalesce": []} for n in range(10_000)]
    pipelined(poster, [
        support.post_request(json.dumps(part[n:n + 1_000]).encode(), "/v1/notifications")
        for part in (names, entries) for n in range(0, 10_000, 1_000)])
    return poster


def looks(target, method, **params):
    """20 connections, each with a batch of 200 calls."""
    looked_at(target)
    clients = [connect(target.port) for _ in range(20)]
    text = json.dumps([
        {"jsonrpc": "2.0", "id": n, "method": method, "params": params} for n in range(target.count(200))])
    target.begin()
    for client in clients:
        client.send_text(text)
    answers = 0
    for client in clients:
        opcode, payload = client.next_frame()
        while opcode != 1 or not payload.startswith(b"["):
            opcode, payload = client.next_frame()
        answers += payload.count(b'"result"')
    return f"{answers:,} of {20 * target.count(200):,} calls answered"


def requests(target, path, count=200):
    """20 connections that pipeline a look, and take its answer as gzip."""
    looked_at(target)
    clients = [support.HTTPClient(target.port) for _ in range(20)]
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{GZIP}\r\n".encode()
    target.begin()
    for client in clients:
        client.send(request * target.count(count))
    answers = answers_on([client.socket for client in clients], 20 * target.count(count), target)
    return f"{answers:,} of {20 * target.count(count):,} answered with 200"


def answers_on(sockets, count, target):
    """Reads from all until so many answers have come, or the time is over; tells how many did."""
    poll, answers, ends = select.epoll(), 0, {}
    by_number = {client.fileno(): client for client in sockets}
    for number in by_number:
        poll.register(number, select.EPOLLIN)
    while by_number and answers < count and not target.is_over:
        for number, _ in poll.poll(0.1):
            more = by_number[number].recv(1 << 20)
            # The status line may come in two pieces.
            text = ends.get(number, b"") + more
            answers += text.count(b"HTTP/1.1 200")
            ends[number] = text[-11:]
            if not more:
                poll.unregister(number)
                del by_number[number]
    return answers


def listings(target):
    return looks(target, "observers", limit=1_000)


def listings_without_a_match(target):
    return looks(target, "observers", name="none")


def explain(target):
    return looks(target, "explain", name="Look")


def explain_near_misses(target):
    return looks(target, "explain", name="lOOk77", object="none")


def pages_of_observers(target):
    return requests(target, "/v1/observers?limit=1000")


def pages_of_channels(target):
    return requests(target, "/v1/channels?limit=1000")


def pages_of_a_queue(target):
    return requests(target, "/v1/queue?limit=1000")


def pages_of_clients(target):
    return requests(target, "/v1/clients?limit=1000")


def leaks(target):
    return requests(target, "/v1/reports/leaks?limit=1000", 50)


def unmatched(target):
    return requests(target, "/v1/reports/unmatched?limit=1000", 50)


def metrics(target):
    return requests(target, "/metrics")


def largest_file(target):
    return requests(target, "/openapi.yaml")


def explained_by_requests(target):
    """`explain` on one connection, one at a time."""
    poster = looked_at(target)
    target.begin()
    return told(pipelined(poster, [
        b"GET /v1/explain?name=lookk&limit=1000 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"] * target.count(300)))


LOADS = [
    listings, listings_without_a_match, explain, explain_near_misses, explained_by_requests, pages_of_observers,
    pages_of_channels, pages_of_a_queue, pages_of_clients, leaks, unmatched, metrics, largest_file,
]
