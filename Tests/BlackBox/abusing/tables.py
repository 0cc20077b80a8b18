"""Loads that fill one table of a center each, for the account of memory: all of them must be taken.

Each is called with the broker's port and a scale, and gives back the sessions that must stay.
"""

import json

from .clients import expect, support
from .sending import batches, call_often, connect, mailbox_request, pipelined, register_all, told

# 235 scalars of four bytes: nearly a kibibyte.
WIDE = "\U0001f514" * 235


def send(port, requests, depth=2):
    """Sends requests on one connection; all must be taken."""
    client = support.HTTPClient(port)
    client.socket.settimeout(60)
    counts = pipelined(client, requests, depth)
    client.close()
    expect(set(counts) <= {200, 201, 202, 204}, told(counts))


def call_all(client, calls, size=500):
    """Calls many times; none may be refused."""
    for start in range(0, len(calls), size):
        answers = call_often(client, calls[start:start + size])
        expect(b'"error"' not in answers, answers[:300])


def sessions(port, filters, each=10_000, size=500):
    """Registers an observer for each filter, so many a session; the sessions stay open."""
    clients = []
    for start in range(0, len(filters), each):
        client = connect(port)
        register_all(client, filters[start:start + each], size)
        clients.append(client)
    return clients


def key_path(number, count=16):
    """A key path whose first key is that of no other number."""
    return ".".join([f"n{number:06d}"] + [f"key{depth:02d}" for depth in range(1, count)])


# --- Values -------------------------------------------------------------------------------------


def key_paths(port, scale):
    """Observers of places 16 keys deep, which share no key."""
    return sessions(port, [
        {"object": f"o{n // 10_000}", "keyPath": key_path(n)} for n in range(int(60_000 * scale))])


def short_key_paths(port, scale):
    """Observers of places one key deep, each of an object of its own."""
    return sessions(port, [
        {"object": f"o{n:06d}", "keyPath": "state"} for n in range(int(100_000 * scale))])


def observers_of_one_place(port, scale):
    return sessions(port, [{"object": "o", "keyPath": "a.b"}] * int(100_000 * scale))


def places_that_end(port, scale):
    """Places 16 keys deep with a `ttl`, a thousand in each value."""
    client = connect(port)
    call_all(client, [
        ("setValue", {"object": f"o{n // 1_000}", "keyPath": key_path(n), "value": n, "ttl": 86_400})
        for n in range(int(50_000 * scale))])
    return [client]


def leased_places(port, scale):
    """The same with a `lease`, a thousand of each client."""
    clients = []
    for start in range(0, int(50_000 * scale), 1_000):
        client = connect(port)
        call_all(client, [
            ("setValue", {"object": f"o{start}", "keyPath": key_path(n), "value": n, "lease": 60})
            for n in range(start, start + 1_000)])
        clients.append(client)
    return clients


def put(port, documents):
    send(port, [
        support.post_request(json.dumps(document).encode(), f"/v1/values/v{n:06d}", "PUT")
        for n, document in enumerate(documents)], depth=16)


def documents(port, scale):
    """Values of some thousand nested objects with short members."""
    put(port, [
        {f"m{n:04d}": {"id": n, "at": {"x": n, "y": 2}} for n in range(2_000)}
        for _ in range(int(300 * scale))])
    return []


def flat_documents(port, scale):
    """Values of some hundred texts."""
    put(port, [
        {f"m{n:04d}": "x" * 60 for n in range(500)} for _ in range(int(800 * scale))])
    return []


def small_values(port, scale):
    """Values of one member each."""
    put(port, [{"on": True}] * int(90_000 * scale))
    return []


def changed_values(port, scale):
    """Values whose members were written one by one, so that the places of the last changes are known."""
    client = connect(port)
    for place in range(20):
        call_all(client, [
            ("setValue", {"object": f"o{n:05d}", "keyPath": f"member{place:02d}.state", "value": n})
            for n in range(int(10_000 * scale))])
    return [client]


# --- What waits ---------------------------------------------------------------------------------

MODES = [f"mode{n:02d}" for n in range(16)]


def timers(port, scale):
    send(port, batches("default", [
        {"name": f"t{n}", "object": "o", "style": "asap", "after": 86_400, "coalesce": []}
        for n in range(int(90_000 * scale))]))
    return []


def timers_with_modes(port, scale):
    """Timers with 16 modes each."""
    send(port, batches("default", [
        {"name": f"t{n}", "style": "asap", "after": 86_400, "coalesce": [], "modes": MODES}
        for n in range(int(60_000 * scale))]))
    return []


def repeating_timers(port, scale):
    send(port, batches("default", [
        {"name": f"t{n}", "style": "asap", "every": 86_400, "coalesce": []}
        for n in range(int(60_000 * scale))]))
    return []


def queued_with_modes(port, scale):
    """Entries with 16 modes each."""
    for number in range(int(12 * scale) or 1):
        send(port, batches(f"q{number}", [
            {"name": f"q{n}", "style": "asap", "coalesce": [], "modes": MODES} for n in range(5_000)]))
    return []


def asks(port, scale):
    """Open asks that a mailbox does not answer."""
    for number in range(int(10 * scale) or 1):
        center = f"/v1/centers/a{number}"
        send(port, [support.post_request(
            json.dumps({"object": "desk", "implements": ["answer"], "lease": 3_600}).encode(), f"{center}/observers")])
        send(port, [
            (f"POST {center}/responders/desk/answer?ttl=3600 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
             "Content-Type: application/json\r\nPrefer: respond-async\r\n"
             f"Content-Length: {len(content)}\r\n\r\n").encode() + content
            for content in [json.dumps({"text": "x" * 300}).encode()] * 900], depth=32)
    return []


# --- Observers ----------------------------------------------------------------------------------


def intervals(port, scale):
    """Posts with names and objects of 940 bytes to an observer with a `minInterval`, which reads all."""
    client = connect(port)
    register_all(client, [{"minInterval": 3_600}])
    poster = support.HTTPClient(port)
    posts = [{"name": f"{n:06d}{WIDE}"[:240], "object": f"{n:06d}{WIDE}"}
             for n in range(int(60_000 * scale))]
    for request in batches("default", posts, size=200):
        pipelined(poster, [request])
        for _ in range(200):
            client.next_frame()
    poster.close()
    return [client]


def targets(port, scale):
    """Observers with a target of their own each."""
    return sessions(port, [
        {"name": "n", "object": "o", "target": f"target{n:06d}", "selector": "press"}
        for n in range(int(60_000 * scale))])


def coalesced(port, scale):
    """What mailboxes hold that coalesce, each of another name and object."""
    for number in range(int(8 * scale) or 1):
        send(port, [mailbox_request(
            object=f"box{number}", suspensionBehavior="coalesce", holdLimit=10_000, lease=3_600)])
        send(port, batches("default", [
            {"name": f"{number}-{n:05d}-{'n' * 150}", "object": f"box{number}"} for n in range(9_000)]))
    return []


LOADS = [
    key_paths, short_key_paths, observers_of_one_place, places_that_end, leased_places, documents,
    flat_documents, small_values, changed_values, timers, timers_with_modes, repeating_timers,
    queued_with_modes, asks, intervals, targets, coalesced,
]
