"""Loads that fill the broker's memory by connections: silent ones, half sent ones, deaf ones."""

import select
import socket
import ssl
import time

from .clients import support
from .frames import frame


def client_hello():
    """A whole ClientHello, as Python's own client sends it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    outgoing = ssl.MemoryBIO()
    session = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    try:
        session.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def open_many(target, port, count, receive_buffer=None):
    """So many connections, from several addresses: one has too few ports for all attacks of a run."""
    clients = []
    for number in range(count):
        client = socket.socket()
        client.settimeout(10)
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.bind((f"127.0.{time.monotonic_ns() // 1_000_000_000 % 200 + 1}.{number // 4_000 + 1}", 0))
        try:
            client.connect(("127.0.0.1", port))
        except OSError:
            client.close()
            break
        client.setblocking(False)
        clients.append(client)
        if target.is_over:
            break
    target.keep(*clients)
    return clients


def ended(clients):
    """How many of these connections the other end has ended."""
    poll = select.poll()
    for client in clients:
        poll.register(client, select.POLLRDHUP)
    return len(poll.poll(0))


def send_all(target, clients, bytes_, seconds=8):
    """Sends the same on each connection as far as it is taken, in turn; tells what became of them."""
    rest = {client: memoryview(bytes_) for client in clients}
    deadline = time.monotonic() + seconds
    while rest and time.monotonic() < deadline:
        for client in list(rest):
            try:
                rest[client] = rest[client][client.send(rest[client][:65_536]):]
            except BlockingIOError:
                continue
            except OSError:
                rest[client] = b""
            if not rest[client]:
                del rest[client]
        if len(rest) < len(clients) // 4:
            time.sleep(0.01)
    return outcome(clients)


def outcome(clients, seconds=2.5):
    """What became of the connections after some time."""
    time.sleep(seconds)
    return f"{len(clients):,} connections, {ended(clients):,} ended"


def whole_hellos(target):
    """12,000 connections that send a whole ClientHello and then nothing."""
    hello = client_hello()
    return send_all(target, open_many(target, target.tls_port, target.count(12_000)), hello)


def most_hellos(target):
    """The same on 18,000 connections: as many as there may be where 20,000 descriptors are allowed."""
    hello = client_hello()
    return send_all(target, open_many(target, target.tls_port, target.count(18_000)), hello)


def short_hellos(target):
    """12,000 connections that send the head of a record of TLS and then nothing."""
    return send_all(
        target, open_many(target, target.tls_port, target.count(12_000)), b"\x16\x03\x01\x02\x00")


def renewed_hellos(target):
    """2,000 connections that send a whole ClientHello and are closed at once, again and again."""
    hello, count = client_hello(), 0
    while not target.is_over and count < target.count(20_000):
        clients = open_many(target, target.tls_port, 1_000)
        for client in clients:
            try:
                client.send(hello)
            except OSError:
                pass
            client.close()
        target.kept.clear()
        count += len(clients)
    return f"{count:,} connections"


def silent_connections(target):
    """18,000 connections that send nothing."""
    return outcome(open_many(target, target.port, target.count(18_000)))


def slow_readers(target):
    """3,000 connections that ask for much and read 20 bytes at a time."""
    clients = open_many(target, target.port, target.count(3_000), receive_buffer=4_096)
    request = b"GET /openapi.yaml HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20
    deadline = time.monotonic() + 6
    for client in clients:
        try:
            client.send(request)
        except OSError:
            pass
    while time.monotonic() < deadline:
        for client in clients:
            try:
                client.recv(20)
            except OSError:
                pass
    return outcome(clients, 0.1)


def deaf_observers(target):
    """1,500 observers that do not read, and 60 posts of 200 KiB for all of them."""
    clients = []
    try:
        for _ in range(target.count(1_500)):
            client = support.WebSocketClient(target.port, receive_buffer=4_096)
            client.observe("Deaf")
            clients.append(client)
    except (OSError, ConnectionError, ValueError):
        pass
    target.keep(*clients)
    poster = support.HTTPClient(target.port)
    poster.socket.settimeout(60)
    request = support.post_request(support.user_info(200_000), "/v1/channels/Deaf")
    for _ in range(60):
        poster.send(request)
        poster.responses(1)
    return outcome([client.socket for client in clients], 0.5)


def unfinished_heads(target):
    """3,000 heads of 60 KiB that do not end."""
    lines = b"".join(b"X-%02d: %s\r\n" % (n, b"a" * 7_900) for n in range(7))
    clients = open_many(target, target.port, target.count(3_000))
    return send_all(target, clients, b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n" + lines)


def unfinished_bodies(target):
    """2,000 contents of nearly a mebibyte that do not end."""
    head = (b"POST /v1/channels/Half HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Type: application/json\r\nContent-Length: 1048576\r\n\r\n")
    return send_all(target, open_many(target, target.port, target.count(2_000)), head + b" " * 1_000_000)


def small_unfinished_bodies(target):
    """6,000 contents of 16 KiB that do not end."""
    head = (b"POST /v1/channels/Half HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Type: application/json\r\nContent-Length: 16384\r\n\r\n")
    return send_all(target, open_many(target, target.port, target.count(6_000)), head + b" " * 16_000)


def unfinished_frames(target):
    """1,000 WebSocket messages of nearly a mebibyte that do not end."""
    clients = []
    try:
        for _ in range(target.count(1_000)):
            client = support.WebSocketClient(target.port)
            client.socket.setblocking(False)
            clients.append(client.socket)
    except (OSError, ConnectionError):
        pass
    target.keep(*clients)
    return send_all(target, clients, frame(1, b" " * 1_000_000, length=1 << 20))


LOADS = [
    whole_hellos, most_hellos, short_hellos, renewed_hellos, silent_connections, slow_readers, deaf_observers,
    unfinished_heads, unfinished_bodies, small_unfinished_bodies, unfinished_frames,
]
