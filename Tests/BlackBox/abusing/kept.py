"""Attacks on what the broker keeps."""

import json

from .clients import ask, expect, pipeline, support


def observers_for_ever(port):
    """One client registers observers until it may not, each with the longest name there is."""
    client = support.WebSocketClient(port)
    client.next_frame()
    client.socket.settimeout(10)
    refused = None
    for start in range(0, 10_240, 64):
        for number in range(start, start + 64):
            name = f"{number:05d}" + "\U0001f514" * 250
            client.send_text(json.dumps({
                "jsonrpc": "2.0", "id": number, "method": "addObserver",
                "params": {"name": name}}, ensure_ascii=False))
        for _ in range(64):
            answer = json.loads(client.next_frame()[1])
            if "error" in answer:
                refused = refused or (answer["id"], answer["error"]["data"]["status"])
    client.close()
    expect(refused == (10_000, 429), f"refused {refused}")
    return "429 at 10,001"


def observers_come_and_go(port):
    """Observers that are removed again: the tombstones of all of them."""
    requests = 0
    client = support.WebSocketClient(port)
    client.next_frame()
    client.socket.settimeout(10)
    for start in range(0, 40_000, 50):
        batch = []
        for number in range(start, start + 50):
            name = f"{number:05d}" + "x" * 250
            batch.append({"jsonrpc": "2.0", "id": number, "method": "addObserver",
                          "params": {"name": name}})
            batch.append({"jsonrpc": "2.0", "id": number, "method": "removeObserver",
                          "params": {"name": name}})
        client.send_text(json.dumps(batch))
        opcode, payload = client.next_frame()
        while opcode != 1 or not payload.startswith(b"["):
            opcode, payload = client.next_frame()
        expect(b'"error"' not in payload, payload[:300])
        requests += 50
    client.close()
    return f"{requests:,} removed"


def full_queue(port):
    """Entries for a mode that nobody enters."""
    request = support.post_request(
        support.user_info(280), "/v1/channels/Queue?style=asap&coalesce=none&modes=never")
    counts = pipeline(port, [request] * 12_000)
    expect(counts.get(503) == 2_000 and counts.get(202) == 10_000, f"statuses {counts}")
    expect(ask(port, b"", "/v1/queue?name=Queue", method="DELETE") == "200", "no dequeue")
    return "503 at 10,001"


def full_queue_of_large(port):
    """The largest userInfo, until all queues have as many bytes as they may."""
    request = support.post_request(
        support.user_info(262_144), "/v1/channels/Large?style=asap&coalesce=none&modes=never")
    counts = pipeline(port, [request] * 300, depth=4)
    expect(counts.get(503, 0) > 0 and counts.get(202, 0) > 0, f"statuses {counts}")
    expect(ask(port, b"", "/v1/queue?name=Large", method="DELETE") == "200", "no dequeue")
    return f"{counts[202]} taken, then 503"


def held_lists(port):
    """Mailboxes that hold and are never read, and a poster that fills them."""
    for number in range(8):
        content = b'{"name":"Held%d","suspensionBehavior":"hold","lease":5}' % number
        expect(ask(port, content, "/v1/observers") == "201", "no mailbox")
    for number in range(8):
        request = support.post_request(support.user_info(65_536), f"/v1/channels/Held{number}")
        counts = pipeline(port, [request] * 400, depth=8)
        expect(set(counts) == {200}, f"statuses {counts}")
    return "the oldest dropped"


# All queues may have 64 MiB and all held lists 256 MiB, which is more than the bar of memory: that
# the limit holds is shown at a lower one.
full_queue_of_large.options = ["--queue-limit", "10000,16MiB"]
held_lists.options = ["--hold-limit", "10000,16MiB"]


def new_names(port):
    """Posts in channels that nobody observes, each in another one."""
    requests = [
        support.post_request(b"{}", f"/v1/channels/{number:06d}{'x' * 240}")
        for number in range(120_000)
    ]
    counts = pipeline(port, requests)
    expect(set(counts) <= {200, 429}, f"statuses {counts}")
    return f"{counts}"


def new_centers(port):
    requests = [
        support.post_request(b"{}", f"/v1/centers/abuse-{number}/channels/A")
        for number in range(1_200)
    ]
    counts = pipeline(port, requests)
    expect(counts.get(503, 0) >= 200, f"statuses {counts}")
    return "503 past 1,000"


def idempotency_keys(port):
    requests = []
    for number in range(60_000):
        head = (f"POST /v1/channels/Key HTTP/1.1\r\nHost: 127.0.0.1\r\nIdempotency-Key: "
                f"{number:06d}{'k' * 200}\r\nContent-Length: 2\r\n\r\n{{}}")
        requests.append(head.encode())
    counts = pipeline(port, requests)
    expect(set(counts) <= {200, 429}, f"statuses {counts}")
    return f"{counts}"


def stolen_tokens(port):
    """Guesses at the tokens of observers."""
    requests = [
        f"DELETE /v1/observers/o{number % 100}.{number:026d} HTTP/1.1\r\n"
        "Host: 127.0.0.1\r\n\r\n".encode() for number in range(20_000)
    ]
    counts = pipeline(port, requests)
    expect(set(counts) <= {404, 429}, f"statuses {counts}")
    return f"{counts}"


ATTACKS = [
    observers_for_ever, observers_come_and_go, full_queue, full_queue_of_large, held_lists, new_names,
    new_centers, idempotency_keys, stolen_tokens,
]
