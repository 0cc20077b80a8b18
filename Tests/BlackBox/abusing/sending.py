"""How loads send much: observers by the thousand, posts in batches, and what is refused of them."""

import json
import threading

from .clients import expect, support


def connect(port, **options):
    """A session whose welcome is read."""
    client = support.WebSocketClient(port, **options)
    client.socket.settimeout(60)
    client.welcome = json.loads(client.next_frame()[1])["params"]
    return client


def next_answer(client, start=b"["):
    """The next text that starts like this; notifications before it are thrown away, pings answered."""
    while True:
        opcode, payload = client.next_frame()
        if opcode == 9:
            client.socket.sendall(support.text_frame(payload, opcode=10))
        elif opcode == 8:
            raise ConnectionError(f"closed with {int.from_bytes(payload[:2], 'big')}")
        elif opcode == 1 and payload.startswith(start):
            return payload


def call(client, method, **params):
    """The answer to one call; notifications before it are thrown away."""
    client.send_text(json.dumps({"jsonrpc": "2.0", "id": "call", "method": method, "params": params}))
    while True:
        answer = json.loads(next_answer(client, b"{"))
        if answer.get("id") == "call":
            return answer


def call_often(client, calls):
    """The answers to some calls, which leave in one message, as they came."""
    client.send_text(json.dumps([
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(calls)], ensure_ascii=False))
    return next_answer(client)


def register(client, filters, size=1_000):
    """Registers an observer for each filter, so many a message, until one is refused; tells how many are."""
    for place in range(0, len(filters), size):
        part = filters[place:place + size]
        answers = call_often(client, [("addObserver", params) for params in part])
        refused = answers.count(b'"error"')
        if refused:
            return place + len(part) - refused
    return len(filters)


def register_all(client, filters, size=1_000):
    """Registers an observer for each filter; none may be refused."""
    count = register(client, filters, size)
    expect(count == len(filters), f"only {count} observers of {len(filters)}")


def client_with_observers(port, count=10_000, **terms):
    """A client with so many observers, which are registered a thousand at a time."""
    client = connect(port)
    register_all(client, [terms] * count)
    return client


def add(counts, more):
    for status, count in more.items():
        counts[status] = counts.get(status, 0) + count
    return counts


def told(counts):
    return ", ".join(f"{count} x {status}" for status, count in sorted(counts.items()))


def pipelined(client, requests, depth=8):
    """The statuses of requests on a connection, counted.

    They are sent while answers are read: who only sends is closed as one that does not read.
    """
    counts = {}
    for start in range(0, len(requests), depth):
        part = requests[start:start + depth]
        sender = threading.Thread(target=client.send, args=(b"".join(part),), daemon=True)
        sender.start()
        for _ in part:
            status, _content = client.responses(1)
            counts[status] = counts.get(status, 0) + 1
        sender.join()
    return counts


def batches(center, posts, size=1_000):
    """The requests that post these, so many at a time."""
    return [
        support.post_request(json.dumps(posts[n:n + size], ensure_ascii=False).encode(),
                             f"/v1/centers/{center}/notifications")
        for n in range(0, len(posts), size)]


def mailbox_request(**terms):
    return support.post_request(json.dumps(terms).encode(), "/v1/observers")
