"""Attacks on the time of a turn: one request, or one moment, that asks for very much work."""

import json
import time

from .clients import ask, expect, pipeline, support

OBSERVERS = 10_000


def call(client, method, **params):
    """The answer to one call; notifications before it are thrown away."""
    client.send_text(json.dumps(
        {"jsonrpc": "2.0", "id": "call", "method": method, "params": params}))
    while True:
        opcode, payload = client.next_frame()
        if opcode == 1 and payload.startswith(b"{"):
            answer = json.loads(payload)
            if answer.get("id") == "call":
                return answer


def client_with_observers(port, count=OBSERVERS, **terms):
    """A client with so many observers, which are registered a hundred at a time."""
    client = support.WebSocketClient(port)
    welcome = json.loads(client.next_frame()[1])["params"]
    client.socket.settimeout(60)
    for start in range(0, count, 100):
        batch = [
            {"jsonrpc": "2.0", "id": number, "method": "addObserver", "params": terms}
            for number in range(start, min(start + 100, count))
        ]
        client.send_text(json.dumps(batch))
        opcode, payload = client.next_frame()
        while opcode != 1 or not payload.startswith(b"["):
            opcode, payload = client.next_frame()
        expect(b'"error"' not in payload, payload[:300])
    return client, welcome


def mode_is_left(port, observers, entries=9_999):
    """Asap entries that all leave when their mode is left, for observers that are suspended."""
    client, _ = client_with_observers(
        port, observers, name="Snapshot", suspensionBehavior="drop")
    call(client, "setSuspended", suspended=True)
    token = call(client, "enterMode", mode="attack")["result"]["token"]
    request = support.post_request(b"{}", "/v1/channels/Snapshot?style=asap&coalesce=none")
    counts = pipeline(port, [request] * entries)
    expect(counts == {202: entries}, f"statuses {counts}")
    start = time.monotonic()
    client.send_text(json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "leaveMode", "params": {"token": token}}))
    while ask(port, b"", "/v1/queue?limit=1", method="GET") != "200":
        pass
    probe = support.HTTPClient(port)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        probe.send(b"GET /v1/queue?limit=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        _, content = probe.responses(1)
        if b'"entries":[]' in content.replace(b" ", b""):
            break
        time.sleep(0.02)
    else:
        expect(False, "the queue does not become empty")
    seconds = time.monotonic() - start
    client.close()
    return f"{entries:,} x {observers:,} in {seconds:.1f} s"


def asap_for_a_thousand(port):
    return mode_is_left(port, 1_000)


def asap_for_ten_thousand(port):
    return mode_is_left(port, 10_000)


def batches_for_many(port):
    """The largest batches: each is delivered nearly 100,000 times."""
    client, _ = client_with_observers(port, name="Batch", suspensionBehavior="drop")
    call(client, "setSuspended", suspended=True)
    batch = json.dumps([{"name": "Batch"}] * 9).encode()
    for _ in range(50):
        expect(ask(port, batch) == "200", "a batch is refused")
    client.close()
    return "50 x 90,000"


def looks_at_many(port):
    """Listings, explain and reports over 10,000 observers, as many as fit into a message."""
    client, _ = client_with_observers(port, name="Look", suspensionBehavior="drop")
    for method, params in (
            ("observers", {"limit": 1_000}), ("explain", {"name": "look"}),
            ("observers", {"name": "none"})):
        batch = [
            {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            for number in range(200)
        ]
        client.send_text(json.dumps(batch))
        opcode, payload = client.next_frame()
        while opcode != 1 or not payload.startswith(b"["):
            opcode, payload = client.next_frame()
    client.close()
    for path in ("/v1/reports/unmatched", "/v1/reports/leaks"):
        for _ in range(20):
            ask(port, b"", path, method="GET")
    return "600 looks, 40 reports"


def resume_with_many_held(port):
    """A client with 10,000 observers and 10,000 notifications that it is held comes back."""
    client, welcome = client_with_observers(port, name="Held", suspensionBehavior="hold")
    session = welcome["session"]
    client.close()
    time.sleep(0.2)
    expect(ask(port, b"{}", "/v1/channels/Held") == "200", "the post is refused")
    for _ in range(3):
        newcomer = support.WebSocketClient(port)
        newcomer.next_frame()
        newcomer.socket.settimeout(60)
        answer = call(newcomer, "resume", session=session)
        expect("result" in answer, f"{answer}")
        newcomer.close()
        time.sleep(0.2)
    return "3 x 10,000 held"


def many_are_removed(port):
    """A client with 10,000 observers goes, and each of its observers with it."""
    for _ in range(3):
        client, welcome = client_with_observers(port, name="Gone")
        token = welcome["session"]
        status = ask(
            port, b"", f"/v1/clients/{welcome['client']}", method="DELETE",
            fields=f"Belfry-Session: {token}\r\n")
        expect(status == "204", f"status {status}")
        client.close()
    return "3 x 10,000 removed"


def many_leases_end(port):
    """10,000 leases that end at the same moment."""
    client, _ = client_with_observers(port, name="Lease", lease=1)
    client.close()
    time.sleep(2.5)
    answer = ask(port, b"", "/v1/observers?name=Lease&limit=1", method="GET")
    expect(answer == "200", answer)
    return "10,000 ended"


ATTACKS = [
    asap_for_a_thousand, asap_for_ten_thousand, batches_for_many, looks_at_many,
    resume_with_many_held, many_are_removed, many_leases_end,
]
