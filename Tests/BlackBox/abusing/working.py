"""Loads that ask for very much work in one request, or for one moment."""

import json
import socket
import struct
import time
import zlib

from .clients import ask, expect, support
from .frames import frame
from .sending import (
    call, call_often, client_with_observers, connect, mailbox_request, pipelined, register_all, told,
)

OBSERVERS = 10_000


def until(seconds, holds, what):
    """Waits until something holds."""
    deadline = time.monotonic() + seconds
    while not holds():
        expect(time.monotonic() < deadline, what)
        time.sleep(0.05)


def count_of(port, path, word):
    """How often a word stands in the answer to a look."""
    client = support.HTTPClient(port)
    client.send(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    status, content = client.responses(1)
    client.close()
    expect(status == 200, f"{path}: {status}")
    return content.count(word)


# --- Posting ------------------------------------------------------------------------------------


def mode_is_left(target, observers, entries=9_999):
    """Asap entries that all leave when their mode is left, for observers that are suspended."""
    client = client_with_observers(target.port, observers, name="Snapshot", suspensionBehavior="drop")
    call(client, "setSuspended", suspended=True)
    token = call(client, "enterMode", mode="attack")["result"]["token"]
    request = support.post_request(b"{}", "/v1/channels/Snapshot?style=asap&coalesce=none")
    poster = support.HTTPClient(target.port)
    counts = pipelined(poster, [request] * target.count(entries), depth=64)
    expect(set(counts) == {202}, told(counts))
    target.begin()
    start = time.monotonic()
    client.send_text(json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "leaveMode", "params": {"token": token}}))
    time.sleep(0.1)
    until(120, lambda: not count_of(target.port, "/v1/queue?limit=1", b'"style"'), "the queue stays")
    return f"{counts[202]:,} entries in {time.monotonic() - start:.1f} s"


def asap_for_a_thousand(target):
    return mode_is_left(target, 1_000)


def asap_for_ten_thousand(target):
    return mode_is_left(target, OBSERVERS)


def asap_read_by_ten_thousand(target):
    """The same, but each is delivered: by one client that reads."""
    client = client_with_observers(target.port, 1_000, name="Read")
    client.socket.setblocking(False)
    entries = [{"name": "Read", "style": "asap", "coalesce": [], "userInfo": {"n": n}} for n in range(100)]
    poster = support.HTTPClient(target.port)
    target.begin()
    counts = pipelined(poster, [support.post_request(json.dumps(entries).encode(), "/v1/notifications")] * 5)
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        try:
            client.socket.recv(1 << 20)
        except BlockingIOError:
            time.sleep(0.001)
        except OSError:
            break
    return told(counts)


def batches_for_many(target):
    """The largest batches: each is delivered nearly 100,000 times."""
    client = client_with_observers(target.port, name="Batch", suspensionBehavior="drop")
    call(client, "setSuspended", suspended=True)
    batch = json.dumps([{"name": "Batch"}] * 9).encode()
    poster = support.HTTPClient(target.port)
    target.begin()
    counts = pipelined(poster, [support.post_request(batch, "/v1/notifications")] * target.count(50))
    return f"{told(counts)}, 90,000 deliveries each"


def posts_for_many(target):
    """Posts for 10,000 observers of a client that reads."""
    client = client_with_observers(target.port, name="Many")
    client.socket.setblocking(False)
    poster = support.HTTPClient(target.port)
    poster.socket.settimeout(60)
    target.begin()
    for _ in range(target.count(20)):
        poster.send(support.post_request(b"{}", "/v1/channels/Many"))
        expect(poster.responses(1)[0] == 200, "a post is refused")
        try:
            while client.socket.recv(1 << 20):
                pass
        except BlockingIOError:
            pass
    return "20 posts"


def post_for_ten_clients(target):
    """Posts for 100,000 observers: 10,000 of each of ten clients; with `--scale 10` for a million."""
    return posts_for_a_crowd(target, "drop")


def post_held_by_ten_clients(target):
    """The same for observers that hold what comes."""
    return posts_for_a_crowd(target, "hold", posts=3)


def posts_for_a_crowd(target, behavior, posts=10):
    clients = [client_with_observers(target.port, name="Crowd", suspensionBehavior=behavior)
               for _ in range(target.count(10))]
    for client in clients:
        call(client, "setSuspended", suspended=True)
    target.begin()
    for _ in range(posts):
        expect(ask(target.port, b"{}", "/v1/channels/Crowd") == "200", "a post is refused")
    return f"{posts} posts for {len(clients) * OBSERVERS:,}"


def largest_batches(target):
    """Batches of 1,000 notifications, as many as fit into the line."""
    client = support.HTTPClient(target.port)
    batch = json.dumps([{"name": f"b{n}", "userInfo": {"n": n, "text": "x" * 800}} for n in range(1_000)])
    target.begin()
    return told(pipelined(client, [support.post_request(batch.encode(), "/v1/notifications")] * target.count(50)))


# --- Coming back --------------------------------------------------------------------------------


def resume(target, session, **more):
    newcomer = connect(target.port)
    answer = call(newcomer, "resume", session=session, **more)
    expect("result" in answer, f"{answer}"[:300])
    newcomer.close()
    time.sleep(0.3)


def resumes_with_many_held(target):
    """A client with 10,000 observers, for each of which one notification is held, comes back."""
    client = client_with_observers(target.port, name="Held", suspensionBehavior="hold")
    session = client.welcome["session"]
    client.close()
    time.sleep(0.3)
    expect(ask(target.port, b"{}", "/v1/channels/Held") == "200", "the post is refused")
    target.begin()
    for _ in range(3):
        resume(target, session)
    return "3 x 10,000 held"


def resumes_with_a_full_ring(target):
    """A client with 10,000 observers comes back and asks for all that the ring has."""
    client = client_with_observers(target.port, name="Ring", suspensionBehavior="drop")
    session = client.welcome["session"]
    client.close()
    time.sleep(0.3)
    batch = support.post_request(json.dumps([{"name": "Ring"}] * 9).encode(), "/v1/notifications")
    pipelined(support.HTTPClient(target.port), [batch] * 115)
    target.begin()
    for _ in range(3):
        resume(target, session, after=0)
    return "3 x 10,000 observers, `after: 0`"


def observers_since_the_ring(target):
    """Registrations that ask for all that the ring has, and match nothing of it."""
    return registrations_since(target, "Other")


def observers_of_the_ring(target):
    """Registrations that ask for all that the ring has, and get it."""
    return registrations_since(target, "Since")


def registrations_since(target, name):
    pipelined(support.HTTPClient(target.port), [support.post_request(
        json.dumps([{"name": "Since"}] * 1_000).encode(), "/v1/notifications")])
    client = connect(target.port)
    target.begin()
    answers = call_often(client, [("addObserver", {"name": name, "since": 0})] * target.count(1_000))
    return f"{answers.count(b'result'):,} registrations"


def mailbox_is_read(target):
    """A mailbox with 10,000 notifications is read, and all are acknowledged by one look."""
    client = support.HTTPClient(target.port)
    client.socket.settimeout(60)
    client.send(mailbox_request(name="Box", suspensionBehavior="hold", holdLimit=10_000))
    _, content = client.responses(1)
    token = json.loads(content)["token"]
    pipelined(client, [support.post_request(
        json.dumps([{"name": "Box", "userInfo": {"n": n}} for n in range(1_000)]).encode(),
        "/v1/notifications")] * 10)
    target.begin()
    path = f"/v1/observers/{token}/notifications"
    for query in ("?limit=1000", "?after=999999999"):
        client.send(f"GET {path}{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        status, content = client.responses(1)
        expect(status in (200, 204), f"{status} {content[:200]}")
    return "10,000 held, read and acknowledged"


# --- Going --------------------------------------------------------------------------------------


def clients_are_removed(target):
    """A client with 10,000 observers is removed, and each of its observers with it."""
    clients = [client_with_observers(target.port, name="Gone") for _ in range(3)]
    target.begin()
    for client in clients:
        status = ask(target.port, b"", f"/v1/clients/{client.welcome['client']}", method="DELETE",
                     fields=f"Belfry-Session: {client.welcome['session']}\r\n")
        expect(status in ("200", "204"), f"status {status}")
    return "3 x 10,000 observers"


def observers_are_removed(target):
    """One call removes 10,000 observers."""
    clients = [client_with_observers(target.port, name="Gone") for _ in range(3)]
    target.begin()
    for client in clients:
        answer = call(client, "removeObserver", name="Gone")
        expect(answer.get("result") == {"removed": OBSERVERS}, f"{answer}"[:300])
    return "3 x 10,000 observers"


def connections_end(target):
    """10,000 observers end with their connection."""
    clients = [client_with_observers(target.port, name="Gone", lifetime="connection") for _ in range(3)]
    target.begin()
    for client in clients:
        client.close()
        time.sleep(0.3)
    return "3 x 10,000 observers"


def connections_end_together(target):
    """100,000 observers end with the connections of ten clients, which end at the same moment."""
    clients = [client_with_observers(target.port, name="Gone", lifetime="connection")
               for _ in range(target.count(10))]
    target.begin()
    for client in clients:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    for client in clients:
        client.socket.close()
    time.sleep(1)
    return f"{len(clients) * OBSERVERS:,} observers"


def leases_end(target, clients):
    """Leases that end at the same moment, each of 10,000 observers of a client."""
    sessions = [client_with_observers(target.port, name="Lease", lease=2) for _ in range(clients)]
    target.begin()
    for client in sessions:
        client.close()
    time.sleep(1)
    until(60, lambda: not count_of(target.port, "/v1/observers?name=Lease&limit=1", b'"id"'), "leases stay")
    return f"{clients * OBSERVERS:,} observers"


def leases_of_a_client(target):
    return leases_end(target, 1)


def leases_of_many_clients(target):
    """With `--scale 10` these are a million."""
    return leases_end(target, target.count(10))


def entries_expire(target):
    """10,000 queue entries are too old at one moment."""
    return entries_are_due(target, ttl=2)


def entries_are_promoted(target):
    """10,000 idle entries may not wait any longer at one moment."""
    return entries_are_due(target, maxDelay=2)


def entries_are_due(target, **terms):
    entries = [{"name": "Due", "style": "idle", "coalesce": [], "modes": ["never"], **terms}] * 1_000
    if "maxDelay" in terms:
        for entry in entries:
            entry.pop("modes", None)
    request = support.post_request(json.dumps(entries).encode(), "/v1/notifications")
    counts = pipelined(support.HTTPClient(target.port), [request] * 10)
    target.begin()
    time.sleep(1)
    until(60, lambda: not count_of(target.port, "/v1/queue?limit=1", b'"style"'), "entries stay")
    return told(counts)


def entries_are_dequeued(target):
    """10,000 queue entries are taken out by one request."""
    entries = [{"name": "Out", "style": "asap", "coalesce": [], "modes": ["never"]}] * 1_000
    request = support.post_request(json.dumps(entries).encode(), "/v1/notifications")
    target.begin()
    for _ in range(3):
        counts = pipelined(support.HTTPClient(target.port), [request] * 10)
        expect(ask(target.port, b"", "/v1/queue?name=Out", method="DELETE") == "200", "no dequeue")
    return f"3 times {told(counts)}"


# --- Registering, compressing -------------------------------------------------------------------


def registrations(target):
    """Observers in messages of a mebibyte."""
    target.begin()
    for _ in range(3):
        client = connect(target.port)
        register_all(client, [{"name": f"n{n}"} for n in range(OBSERVERS)])
        client.close()
    return "30,000 observers"


def inflations(target):
    """20 clients with messages that become a mebibyte each."""
    clients = [support.WebSocketClient(target.port, extensions="permessage-deflate") for _ in range(20)]
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    text = b'{"jsonrpc":"2.0","method":"none","params":{"text":"' + b" " * 1_000_000 + b'"}}'
    packed = (packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]
    message = frame(1, packed, rsv1=True)
    target.begin()
    for client in clients:
        client.socket.sendall(message * target.count(100))
    for client in clients:
        client.socket.settimeout(60)
        client.socket.sendall(frame(9, b"end"))
        while client.next_frame()[0] != 10:
            pass
    return "20 x 100 messages"


def compressions(target):
    """Notifications of 250 KiB that are compressed for 20 observers."""
    clients = [support.WebSocketClient(target.port, extensions="permessage-deflate") for _ in range(20)]
    for client in clients:
        client.observe("Packed")
        client.socket.setblocking(False)
    text = "".join(f"{n * 2_654_435_761 % 4_294_967_296:x} " for n in range(28_000))
    request = support.post_request(json.dumps({"text": text}).encode(), "/v1/channels/Packed")
    poster = support.HTTPClient(target.port)
    target.begin()
    counts = {}
    for _ in range(target.count(10)):
        for status, count in pipelined(poster, [request] * 10, depth=10).items():
            counts[status] = counts.get(status, 0) + count
        for client in clients:
            try:
                while client.socket.recv(1 << 20):
                    pass
            except OSError:
                pass
    return told(counts)


LOADS = [
    asap_for_a_thousand, asap_for_ten_thousand, asap_read_by_ten_thousand, batches_for_many, largest_batches,
    posts_for_many, post_for_ten_clients, post_held_by_ten_clients, resumes_with_many_held, resumes_with_a_full_ring,
    observers_since_the_ring, observers_of_the_ring, mailbox_is_read, clients_are_removed, observers_are_removed,
    connections_end, connections_end_together,
    leases_of_a_client, leases_of_many_clients, entries_expire, entries_are_promoted, entries_are_dequeued,
    registrations, inflations, compressions,
]
