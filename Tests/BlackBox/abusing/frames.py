"""Attacks by frames."""

import json
import time
import zlib

from .clients import ask, expect, expect_close, send_until_blocked, support, until_closed


def frame(opcode, payload=b"", fin=True, rsv1=False, length=None):
    head = bytes([(0x80 if fin else 0) | (0x40 if rsv1 else 0) | opcode])
    size = len(payload) if length is None else length
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 65_536:
        head += b"\xfe" + size.to_bytes(2, "big")
    else:
        head += b"\xff" + size.to_bytes(8, "big")
    return head + b"\0\0\0\0" + payload


def endless_message(port):
    client = support.WebSocketClient(port)
    client.socket.sendall(frame(1, b"a" * 1_000, fin=False))
    send_until_blocked(client.socket, frame(0, b"a" * 1_000, fin=False) * 64, 1)
    return expect_close(client, 1009)


def empty_fragments(port):
    client = support.WebSocketClient(port)
    client.socket.sendall(frame(1, fin=False))
    send_until_blocked(client.socket, frame(0, fin=False) * 4_096, 1)
    return expect_close(client, 1009)


def half_messages(port):
    """Nearly all of the largest message that there may be, on 400 connections."""
    clients = [support.WebSocketClient(port) for _ in range(400)]
    for client in clients:
        client.next_frame()
        client.socket.setblocking(False)
    half = frame(1, b" " * 1_000_000, length=1 << 20)
    rest = {client: half for client in clients}
    start = time.monotonic()
    while any(rest.values()) and time.monotonic() < start + 8:
        for client in clients:
            if not rest[client]:
                continue
            try:
                rest[client] = rest[client][client.socket.send(rest[client][:65_536]):]
            except BlockingIOError:
                pass
            except OSError:
                rest[client] = b""
    codes = {}
    for client in clients:
        client.socket.setblocking(False)
        try:
            while True:
                opcode, payload = client.next_frame()
                if opcode == 8:
                    codes[int.from_bytes(payload[:2], "big")] = (
                        codes.get(int.from_bytes(payload[:2], "big"), 0) + 1)
                    break
        except (BlockingIOError, OSError, ConnectionError):
            pass
        client.close()
    expect(codes.get(1013, 0) > 300, f"closed with {codes}")
    return f"{codes[1013]} with 1013"


def costly_calls(port):
    """Batches of calls that look through 10,000 observers."""
    holder = support.WebSocketClient(port)
    holder.next_frame()
    holder.socket.settimeout(20)
    for start in range(0, 10_000, 1_000):
        holder.send_text(json.dumps([
            {"jsonrpc": "2.0", "id": n, "method": "addObserver",
             "params": {"name": f"Costly{n}", "lifetime": "connection"}}
            for n in range(start, start + 1_000)]))
        while not holder.next_frame()[1].startswith(b"["):
            pass
    clients = [support.WebSocketClient(port) for _ in range(10)]
    for method in ("explain", "observers"):
        params = {"name": "costly1"} if method == "explain" else {"name": "None"}
        text = json.dumps([{"jsonrpc": "2.0", "id": n, "method": method, "params": params}
                           for n in range(1_000)])
        for client in clients:
            client.send_text(text)
    for client in clients:
        client.socket.settimeout(30)
        answers = 0
        while answers < 2:
            answers += client.next_frame()[1].startswith(b"[")
        client.close()
    holder.close()
    return "20 x 1,000 calls"


def amplified_batch(port):
    """A batch of the most notifications for a client with the most observers of them."""
    client = support.WebSocketClient(port, receive_buffer=4_096)
    client.socket.settimeout(20)
    for start in range(0, 10_000, 1_000):
        client.send_text(json.dumps([
            {"jsonrpc": "2.0", "id": n, "method": "addObserver",
             "params": {"name": "Amplified", "lifetime": "connection"}}
            for n in range(start, start + 1_000)]))
        while not client.next_frame()[1].startswith(b"["):
            pass
    content = json.dumps([{"name": "Amplified", "userInfo": {"n": n}} for n in range(1_000)])
    batch = ask(port, content.encode())
    # One notification must be posted, but its frames for one connection are too much.
    one = ask(port, support.user_info(250_000), "/v1/channels/Amplified")
    expect((batch, one) == ("413", "200"), f"statuses {batch} and {one}")
    expect(until_closed(client) is None, "a Close frame came through a full socket")
    client.close()
    return "413, and the connection is cut"


def huge_frame(port):
    client = support.WebSocketClient(port)
    client.socket.sendall(frame(1, b"a", length=1 << 62))
    return expect_close(client, 1009)


def frame_past_63_bits(port):
    client = support.WebSocketClient(port)
    client.socket.sendall(frame(1, b"a", length=(1 << 64) - 1))
    return expect_close(client, 1002)


def ping_flood(port):
    clients = [support.WebSocketClient(port, receive_buffer=4_096) for _ in range(20)]
    pings = frame(9, b"p" * 125) * 512
    for client in clients:
        client.socket.setblocking(False)
    sent, start = 0, time.monotonic()
    while time.monotonic() < start + 2:
        for client in clients:
            try:
                sent += client.socket.send(pings)
            except OSError:
                pass
    for client in clients:
        client.close()
    return f"{sent >> 20} MiB of pings taken"


def bomb(port):
    """A message that inflates to a thousand times its size."""
    client = support.WebSocketClient(port, extensions="permessage-deflate")
    if b"permessage-deflate" not in client.opening:
        client.close()
        return "not offered"
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(b" " * (64 << 20)) + packer.flush(zlib.Z_SYNC_FLUSH)
    try:
        client.socket.sendall(frame(1, packed[:-4], rsv1=True))
    except OSError:
        pass
    return expect_close(client, 1009)


ATTACKS = [
    endless_message, empty_fragments, half_messages, huge_frame, frame_past_63_bits, ping_flood, bomb,
    costly_calls, amplified_batch,
]
