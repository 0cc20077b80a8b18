#!/usr/bin/env python3
"""Checks wsload itself: a tiny hub that misbehaves on purpose, one fault at a time.

    selftest.py [PATH/TO/wsload]

wsload must end with exit code 0 when the hub behaves well, and name the fault when it does not.
It needs openssl for the certificates of the TLS modes.
"""

import asyncio
import base64
import hashlib
import json
import os
import ssl
import subprocess
import sys
import tempfile
import zlib

WSLOAD = os.path.abspath(
    sys.argv[1] if len(sys.argv) > 1
    else os.path.join(os.path.dirname(os.path.abspath(__file__)), "wsload"))

# What wsload must say of each mode: 0 is nothing; a name is a count above 0; None is that it cannot
# even connect, with the words that it says.
MODES = {
    "ok": 0, "envelope": 0, "batch": 0, "frag": 0, "dribble": 0, "chunked": 0, "nocontent": 0,
    "deflate": 0, "tls": 0, "tls-frag": 0, "ping": 0, "state": 0, "state-skip": 0,
    "drop": "lost", "tail": "lost", "dup": "doubled", "reorder": "misordered",
    "corrupt": "corrupt", "wrongchan": "wrong_channel", "masked": "proto_err", "rsv": "proto_err",
    "badop": "proto_err", "status": "bad_status", "close": "dead", "tls-corrupt": "corrupt",
    "noping": "dead", "state-back": "misordered", "state-tail": "lost", "state-split": "lost",
    "badaccept": b"Accept", "tls-stranger": b"certificate",
}


def frame(opcode, content, fin=True, rsv1=False, mask=False):
    head = bytes([(0x80 if fin else 0) | (0x40 if rsv1 else 0) | opcode])
    size, bit = len(content), 0x80 if mask else 0
    if size < 126:
        head += bytes([bit | size])
    elif size < 65536:
        head += bytes([bit | 126]) + size.to_bytes(2, "big")
    else:
        head += bytes([bit | 127]) + size.to_bytes(8, "big")
    if mask:
        key = os.urandom(4)
        return head + key + bytes(x ^ key[i & 3] for i, x in enumerate(content))
    return head + content


class Hub:
    """GET /sub/NAME subscribes by WebSocket, POST /pub/NAME publishes; `mode` is its fault."""

    def __init__(self, mode):
        self.mode = mode
        self.subscribers = {}
        self.count = 0
        self.held = None
        self.last = None
        self.turn = asyncio.Lock()

    def variants(self, channel, body):
        """The channel and the bodies that go out for one that came in."""
        every50 = self.count % 50 == 0
        mode = self.mode.removeprefix("tls-")
        if mode == "drop" and every50 or mode == "tail" and self.count > 40:
            return channel, []
        if mode == "dup" and every50:
            return channel, [body, body]
        if mode == "corrupt" and every50:
            return channel, [body[:-1] + b"!"]
        if mode == "wrongchan" and every50:
            return ("ch1" if channel == "ch0" else "ch0"), [body]
        if mode == "reorder":
            if every50 and self.held is None:
                self.held = (channel, body)
                return channel, []
            if self.held is not None and self.held[0] == channel:
                held, self.held = self.held[1], None
                return channel, [body, held]
        if mode == "state-skip":
            self.held = body if self.count % 7 else None
            return channel, [] if self.count % 7 else [body]
        if mode == "state-back" and self.count % 50 == 20:
            self.held = body
        if mode == "state-back" and every50:
            return channel, [body, self.held]
        if mode == "state-tail" and self.count > 40:
            return channel, []
        return channel, [body]

    async def broadcast(self, channel, body):
        self.count += 1
        number = self.count
        channel, bodies = self.variants(channel, body)
        for index, (writer, deflates) in enumerate(list(self.subscribers.get(channel, ()))):
            if self.mode == "state-split" and index == 0 and number > 40:
                continue
            for each in bodies:
                await self.send(writer, each, deflates, number)
            if self.mode == "close" and number == 60:
                writer.write(frame(8, (1001).to_bytes(2, "big")))

    async def send(self, writer, body, deflates, number):
        mode = self.mode.removeprefix("tls-")
        every50 = number % 50 == 0
        if mode == "envelope":
            body = b'{"name":"x~w","userInfo":{"p":"' + body + b'"}}'
        elif mode == "batch":
            body = body + b"," + body.replace(b"~wl", b"~w_")
        if mode == "frag":
            third = len(body) // 3
            out = (
                frame(1, body[:third], fin=False) + frame(9, b"hi")
                + frame(0, body[third:2 * third], fin=False) + frame(0, body[2 * third:]))
        elif mode == "masked" and every50:
            out = frame(1, body, mask=True)
        elif mode == "rsv" and every50:
            out = frame(1, body, rsv1=True)
        elif mode == "badop" and every50:
            out = frame(3, body)
        elif deflates:
            packer = zlib.compressobj(6, zlib.DEFLATED, -15)
            packed = packer.compress(body) + packer.flush(zlib.Z_SYNC_FLUSH)
            out = frame(1, packed[:-4], rsv1=True)
        else:
            out = frame(1, body)
        if mode == "dribble":
            for place in range(0, len(out), 7):
                writer.write(out[place:place + 7])
                await asyncio.sleep(0)
        else:
            writer.write(out)

    async def flush_state(self, channel):
        """What was skipped last goes out when nothing has come for a while."""
        await asyncio.sleep(0.05)
        async with self.turn:
            if self.held is not None:
                body, self.held = self.held, None
                for writer, _ in self.subscribers.get(channel, ()):
                    writer.write(frame(1, body))

    def open(self, fields, channel, writer):
        key = fields["sec-websocket-key"]
        assert len(base64.b64decode(key)) == 16
        digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        accept = base64.b64encode(digest).decode()
        if self.mode == "badaccept":
            accept = "A" + accept[1:]
        offer = fields.get("sec-websocket-extensions", "")
        deflates = self.mode == "deflate" and "permessage-deflate" in offer
        extensions = (
            "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; "
            "client_no_context_takeover\r\n" if deflates else "")
        writer.write(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"{extensions}Sec-WebSocket-Accept: {accept}\r\n\r\n".encode())
        self.subscribers.setdefault(channel, []).append((writer, deflates))

    async def listen(self, reader, writer):
        """What a subscriber says: pings, and answers to pings."""
        while True:
            head = await reader.readexactly(2)
            size = head[1] & 127
            assert head[1] & 128, "client frame not masked"
            if size == 126:
                size = int.from_bytes(await reader.readexactly(2), "big")
            key = await reader.readexactly(4)
            content = bytes(
                x ^ key[i & 3] for i, x in enumerate(await reader.readexactly(size)))
            if head[0] & 15 == 10:
                assert content == b"hi", content
            elif head[0] & 15 == 9 and self.mode != "noping":
                writer.write(frame(10, content))

    async def client(self, reader, writer):
        try:
            while True:
                lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                channel = lines[0].split(" ")[1].rsplit("/", 1)[1]
                fields = {
                    name.lower(): value.strip()
                    for name, value in (line.split(":", 1) for line in lines[1:] if ":" in line)}
                if "sec-websocket-key" in fields:
                    self.open(fields, channel, writer)
                    await self.listen(reader, writer)
                body = await reader.readexactly(int(fields.get("content-length", "0")))
                async with self.turn:
                    await self.broadcast(channel, body)
                if self.mode == "state-skip":
                    asyncio.ensure_future(self.flush_state(channel))
                writer.write(self.answer())
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, OSError):
            pass
        finally:
            for each in self.subscribers.values():
                each[:] = [pair for pair in each if pair[0] is not writer]
            writer.close()

    def answer(self):
        if self.mode == "status" and self.count % 50 == 0:
            return b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
        if self.mode == "chunked":
            return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        if self.mode == "nocontent":
            return b"HTTP/1.1 204 No Content\r\n\r\n"
        return b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


def make_certificate(folder):
    """A certificate for 127.0.0.1 that is its own authority."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=wsload", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", os.path.join(folder, "key.pem"), "-out", os.path.join(folder, "cert.pem")],
        check=True, capture_output=True)


def options(mode, port, authority):
    chosen = [
        WSLOAD, "--port", str(port), "--subs", "6", "--pubs", "2", "--depth", "4", "--window", "8",
        "--size", "900" if mode.endswith("frag") else "200", "--warmup", "0.1",
        "--duration", "0.6", "--drain", "0.5", "--settle", "50"]
    chosen += ["--state"] if mode.startswith("state") else ["--chans", "2"]
    if mode == "deflate":
        chosen.append("--deflate")
    if mode.startswith("tls"):
        chosen += ["--tls", authority]
    if mode.endswith("ping"):
        chosen += ["--ping-rate", "50"]
    return chosen


def is_right(mode, want, code, report, errors):
    if isinstance(want, bytes):
        return code == 1 and want in errors
    if want != 0:
        return code == 2 and report[want] > 0 and not report["clean"]
    return (
        code == 0 and report["clean"] and report["delivered_per_s"] > 0
        and report["e2e_us"]["n"] > 0
        and (mode != "deflate" or report["deflated_frames"] > 0)
        and (not mode.endswith("frag") or report["pings"] > 0)
        and (mode != "ping" or report["ping_us"]["n"] > 10)
        and (mode != "state-skip" or report["skipped_per_s"] > 0))


async def check(mode, want, folder):
    hub = Hub(mode)
    context, authority = None, os.path.join(folder, "cert.pem")
    if mode.startswith("tls"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority, os.path.join(folder, "key.pem"))
        if mode == "tls-stranger":
            authority = os.path.join(folder, "stranger", "cert.pem")
    server = await asyncio.start_server(hub.client, "127.0.0.1", 0, limit=1 << 20, ssl=context)
    port = server.sockets[0].getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *options(mode, port, authority), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output, errors = await process.communicate()
    server.close()
    report = json.loads(output) if output.strip() else {}
    right = is_right(mode, want, process.returncode, report, errors)
    said = {
        name: report[name] for name in (
            "lost", "doubled", "misordered", "corrupt", "wrong_channel", "proto_err", "bad_status",
            "dead") if report[name]
    } if report else errors.decode().strip().splitlines()[-2:]
    print(f"{'ok  ' if right else 'FAIL'} {mode:12} exit code {process.returncode} {said}",
          flush=True)
    return right


async def main():
    with tempfile.TemporaryDirectory(prefix="wsload.") as folder:
        os.mkdir(os.path.join(folder, "stranger"))
        make_certificate(folder)
        make_certificate(os.path.join(folder, "stranger"))
        outcomes = [await check(mode, want, folder) for mode, want in MODES.items()]
    print(f"{sum(outcomes)} passed, {outcomes.count(False)} failed", flush=True)
    # Connections that are still open would be waited for.
    os._exit(0 if all(outcomes) else 1)


if __name__ == "__main__":
    asyncio.run(main())
