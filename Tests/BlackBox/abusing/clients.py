"""What attacks share: clients, waiting for ends, and the bars."""

import multiprocessing
import os
import select
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../Benchmarks"))
import support  # noqa: E402

ENDING_BAR_SECONDS = 1.0
TIMEOUT_SECONDS = 2


class Failure(Exception):
    """The broker did not do what is documented."""


def expect(holds, what):
    if not holds:
        raise Failure(what)


def ping_forever(port, pipe):
    """Pings until it is told to stop, then tells the latencies in seconds."""
    client = support.WebSocketClient(port, "/v1/ws")
    client.next_frame()  # The welcome.
    latencies = []
    pipe.send("ready")
    # Also after a short attack there is something to judge by.
    while not pipe.poll(0.02) or len(latencies) < 20:
        start = time.monotonic()
        client.socket.sendall(support.text_frame(b"x", opcode=9))
        client.socket.settimeout(10)
        try:
            while client.next_frame()[0] != 10:
                pass
        except (OSError, ConnectionError) as error:
            pipe.send(f"the other client's connection ended: {error}")
            return
        latencies.append(time.monotonic() - start)
    pipe.send(latencies)


class OtherClient:
    def __init__(self, port):
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=ping_forever, args=(port, theirs))
        self.process.start()
        expect(self.pipe.poll(10) and self.pipe.recv() == "ready", "the other client cannot connect")

    def stop(self):
        """The latencies in seconds."""
        self.pipe.send("stop")
        told = self.pipe.recv() if self.pipe.poll(15) else "the other client got no pong in 10 s"
        self.process.join()
        expect(not isinstance(told, str), told)
        return told


def connect_many(port, count):
    """So many connections, except for those that the broker refuses."""
    clients = []
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", port))
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.setblocking(False)
        clients.append(client)
    return clients


class Ended:
    """When each connection ended, and the first bytes that it got."""

    def __init__(self, clients):
        self.poll = select.epoll()
        self.clients = {client.fileno(): client for client in clients}
        self.bytes = {client.fileno(): b"" for client in clients}
        self.times = {}
        for number in self.clients:
            self.poll.register(number, select.EPOLLIN)

    def read(self, seconds):
        """Reads what has come; waits so long at most."""
        for number, _ in self.poll.poll(seconds):
            try:
                more = self.clients[number].recv(65_536)
            except OSError:
                more = b""
            if len(self.bytes[number]) < 4_096:
                self.bytes[number] += more
            if not more:
                self.times[number] = time.monotonic()
                self.poll.unregister(number)
                self.clients[number].close()

    @property
    def is_over(self):
        return len(self.times) == len(self.clients)

    def wait(self, deadline):
        while not self.is_over and time.monotonic() < deadline:
            self.read(0.1)
        expect(self.is_over, f"{len(self.clients) - len(self.times)} of {len(self.clients)} still "
               "open 1 s after their limit")

    def close(self):
        for client in self.clients.values():
            client.close()
        self.poll.close()


def dribble(port, count, head, piece, pause=0.4):
    """Sends a piece at a time on many connections, and waits until the broker ends them all.

    The time of a limit runs from the first byte of each, which are all sent within a moment.
    """
    # Of those that send nothing it runs from their accept.
    start = time.monotonic()
    clients = connect_many(port, count)
    for client in clients:
        client.send(head)
    sent = time.monotonic()
    ended = Ended(clients)
    while not ended.is_over and time.monotonic() < start + TIMEOUT_SECONDS + 5:
        ended.read(pause)
        for number, client in ended.clients.items():
            if number not in ended.times:
                try:
                    client.send(piece)
                except OSError:
                    pass
    expect(ended.is_over, f"{len(clients) - len(ended.times)} connections still open")
    last = max(ended.times.values()) - sent
    first = min(ended.times.values()) - start
    statuses = {answer[9:12].decode() for answer in ended.bytes.values()}
    ended.close()
    expect(first >= TIMEOUT_SECONDS - 0.1, f"ended after {first:.2f} s, before the limit")
    expect(last <= TIMEOUT_SECONDS + ENDING_BAR_SECONDS + pause, f"ended after {last:.2f} s")
    expect(statuses <= {"408", ""}, f"statuses {statuses}")
    return f"{'/'.join(sorted(s or 'closed' for s in statuses))} after {last:.1f} s"


def send_by_halves(clients, bytes_):
    """Sends what is never finished on many connections, and waits until the broker ends them all."""
    ended = Ended(clients)
    rest = {client.fileno(): bytes_ for client in clients}
    start = time.monotonic()
    deadline = start + 2 * TIMEOUT_SECONDS + ENDING_BAR_SECONDS + 5
    while not ended.is_over and time.monotonic() < deadline:
        for number, client in ended.clients.items():
            if number in ended.times or not rest[number]:
                continue
            try:
                rest[number] = rest[number][client.send(rest[number][:65_536]):]
            except BlockingIOError:
                pass
            except OSError:
                rest[number] = b""
        ended.read(0.01)
    statuses = sorted({answer[9:12].decode() or "closed" for answer in ended.bytes.values()})
    last = max(ended.times.values(), default=start) - start
    expect(ended.is_over, f"{len(clients) - len(ended.times)} connections still open")
    ended.close()
    expect(set(statuses) <= {"408", "503", "closed"}, f"statuses {statuses}")
    return f"{'/'.join(statuses)} after {last:.1f} s"


def until_closed(client, seconds=ENDING_BAR_SECONDS + 0.5):
    """The code of the Close frame that comes; None where the connection just ends."""
    client.socket.settimeout(seconds)
    try:
        while True:
            opcode, payload = client.next_frame()
            if opcode == 8:
                return int.from_bytes(payload[:2], "big")
    except (ConnectionError, TimeoutError) as error:
        expect(not isinstance(error, TimeoutError), "the connection did not end")
        return None


def expect_close(client, code, seconds=ENDING_BAR_SECONDS + 0.5):
    start = time.monotonic()
    told = until_closed(client, seconds)
    client.close()
    expect(told == code, f"closed with {told} instead of {code}")
    return f"{code} after {time.monotonic() - start:.2f} s"


def send_until_blocked(client, bytes_, seconds):
    """Sends without reading; tells how many bytes left, and whether the broker ended it."""
    client.settimeout(0.2)
    sent = 0
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            sent += client.send(bytes_)
        except TimeoutError:
            continue
        except OSError:
            return sent, True
    return sent, False


def ask(port, content, path="/v1/notifications", fields="", method="POST"):
    """The status of one request."""
    client = socket.create_connection(("127.0.0.1", port), timeout=10)
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Connection: close\r\nContent-Length: {len(content)}\r\n{fields}\r\n"
    )
    try:
        client.sendall(head.encode() + content)
    except OSError:
        pass  # The answer came first.
    answer = b""
    try:
        while more := client.recv(65_536):
            answer += more
    except OSError:
        pass
    client.close()
    return answer[9:12].decode()


def pipeline(port, requests, depth=64):
    """The statuses of many requests on one connection, counted."""
    client = support.HTTPClient(port)
    counts = {}
    for start in range(0, len(requests), depth):
        batch = requests[start : start + depth]
        client.send(b"".join(batch))
        for _ in batch:
            status, _content = client.responses(1)
            counts[status] = counts.get(status, 0) + 1
    client.close()
    return counts
