"""Attacks on connections: slow, silent, too many, deaf."""

import os
import select
import socket
import struct
import time

from .clients import (
    ENDING_BAR_SECONDS, TIMEOUT_SECONDS, Ended, connect_many, dribble, expect, send_by_halves,
    support, until_closed,
)


def slow_heads(port):
    return dribble(port, 800, b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ", b"a")


def slow_bodies(port):
    head = (b"POST /v1/channels/Slow HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{")
    return dribble(port, 800, head, b" ")


def slow_chunks(port):
    head = (b"POST /v1/channels/Slow HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    return dribble(port, 800, head, b"1\r\n \r\n")


def silence(port):
    return dribble(port, 900, b"", b"")


def too_many(port):
    """More connections than there may be: those past it are told so, and let go at once."""
    clients = connect_many(port, 1_500)
    start = time.monotonic()
    ended = Ended(clients)
    while time.monotonic() < start + ENDING_BAR_SECONDS:
        ended.read(0.1)
    gone = len(ended.times)
    refused = sum(answer.startswith(b"HTTP/1.1 503") for answer in ended.bytes.values())
    ended.close()
    expect(gone >= 500 and refused >= 500, f"{gone} gone, {refused} of them told 503")
    return f"{gone} gone, {refused} with 503"


def resets(port):
    """Connections that are reset with half a request on its way."""
    linger = struct.pack("ii", 1, 0)
    for number in range(8_000):
        client = socket.create_connection(("127.0.0.1", port))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        if number % 2:
            client.send(b"POST /v1/channels/Reset HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le")
        client.close()
    return "8,000 resets"


def ask_without_reading(port, count, request):
    """Many connections that pipeline requests and read nothing, until the broker ends them all."""
    clients = [support.connect(port, receive_buffer=4_096) for _ in range(count)]
    for client in clients:
        client.setblocking(False)
        try:
            client.send(request * 2_000)
        except OSError:
            pass
    start = time.monotonic()
    poll = select.epoll()
    open_ = {client.fileno(): client for client in clients}
    for number in open_:
        # The end shows as a failure or a hang-up, without a read.
        poll.register(number, select.EPOLLRDHUP)
    # The time runs from the last piece that the socket took, of which there are some.
    while open_ and time.monotonic() < start + 2 * TIMEOUT_SECONDS + ENDING_BAR_SECONDS:
        for number, _ in poll.poll(0.1):
            poll.unregister(number)
            open_.pop(number).close()
    poll.close()
    for client in clients:
        client.close()
    expect(not open_, f"{len(open_)} of {count} still open after 5 s")
    return f"{count} closed after {time.monotonic() - start:.1f} s"


def slow_readers(port):
    """Large answers that nobody reads."""
    return ask_without_reading(
        port, 50, b"GET /openapi.yaml HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")


def many_slow_readers(port):
    """The same on nearly as many connections as there may be."""
    return ask_without_reading(
        port, 900, b"GET /openapi.yaml HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")


def slow_readers_of_metrics(port):
    """Answers that are made for each, and that nobody reads."""
    return ask_without_reading(port, 900, b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")


def pipeliners(port):
    """Connections that post as fast as they can."""
    clients = [support.connect(port) for _ in range(200)]
    request = support.post_request(support.user_info(280)) * 200
    for client in clients:
        client.setblocking(False)
    start, count = time.monotonic(), 0
    while time.monotonic() < start + 3:
        for client in clients:
            try:
                count += client.send(request)
            except OSError:
                pass
            try:
                client.recv(1 << 18)
            except OSError:
                pass
    for client in clients:
        client.close()
    return f"{count >> 20} MiB of posts on 200 connections"


def half_bodies(port):
    """Nearly all of the largest content that there may be, on 900 connections."""
    head = (b"POST /v1/channels/Half HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Type: application/json\r\nContent-Length: 1048576\r\n\r\n")
    return send_by_halves(connect_many(port, 900), head + b" " * 1_000_000)


def half_heads(port):
    """Nearly all of the largest head that there may be, on 900 connections."""
    lines = b"".join(b"X-%02d: %s\r\n" % (n, b"a" * 7_900) for n in range(8))
    return send_by_halves(
        connect_many(port, 900), b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n" + lines)


def half_handshakes(port):
    """The first bytes of a TLS handshake, and then one at a time."""
    hello = bytes.fromhex("16030100c4010000c00303") + b"\x11" * 21
    return dribble(port, 400, hello, b"\x11")


def broken_handshakes(port):
    """TLS handshakes that end in garbage, and resets in the middle of them."""
    for number in range(2_000):
        client = socket.create_connection(("127.0.0.1", port))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.send(b"\x16\x03\x01\x02\x00\x01" + os.urandom(200 + number % 400))
        client.close()
    return "2,000 broken"


half_handshakes.needs_tls = broken_handshakes.needs_tls = True


def deaf_streams(port):
    """Event streams that are not read, and a poster that goes on."""
    clients = []
    for _ in range(20):
        client = support.connect(port, receive_buffer=4_096)
        client.sendall(b"GET /v1/events?name=Deaf HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        expect(client.recv(100).startswith(b"HTTP/1.1 200"), "no stream")
        clients.append(client)
    post_for(port, TIMEOUT_SECONDS + 1.5)
    ended = Ended(clients)
    ended.wait(time.monotonic() + 3)
    ended.close()
    return f"ended within {TIMEOUT_SECONDS + 1.5} s"


def post_for(port, seconds):
    poster = support.HTTPClient(port)
    request = support.post_request(support.user_info(4_096), "/v1/channels/Deaf")
    start = time.monotonic()
    while time.monotonic() < start + seconds:
        poster.send(request * 16)
        poster.responses(16)
    poster.close()


def deaf_observers(port):
    """Observers that do not read, and a poster that goes on."""
    clients = []
    for _ in range(20):
        client = support.WebSocketClient(port, receive_buffer=4_096)
        client.observe("Deaf")
        clients.append(client)
    post_for(port, TIMEOUT_SECONDS + 1.5)
    codes = {until_closed(client) for client in clients}
    for client in clients:
        client.close()
    expect(codes <= {4008, None}, f"closed with {codes}")
    return f"4008 within {TIMEOUT_SECONDS + 1.5} s"


ATTACKS = [
    slow_heads, slow_bodies, slow_chunks, silence, half_heads, half_bodies, too_many, resets,
    half_handshakes, broken_handshakes, pipeliners, slow_readers, many_slow_readers,
    slow_readers_of_metrics, deaf_observers, deaf_streams,
]
