"""The victim: a client that posts and observes all the while, and measures how long that takes."""

import multiprocessing
import os
import time
import typing

from .clients import expect, support

PAUSE_SECONDS = 0.004
PATIENCE_SECONDS = 30


class Wait(typing.NamedTuple):
    """From a post until its answer and its notification have come; all in seconds."""

    seconds: float
    # How long the broker's loop ran meanwhile, and how long it waited for a processor.
    ran: float
    queued: float


class Waits(typing.NamedTuple):
    """What the victim felt of some time."""

    all: list
    # By status.
    refusals: dict
    fault: str

    @property
    def worst(self):
        return max(self.all, default=Wait(float("nan"), 0, 0))

    @property
    def refused(self):
        return ", ".join(f"{count} x {status}" for status, count in self.refusals.items())


class LoopClock:
    """The processor time of a broker's first thread, which is that of its first loop."""

    def __init__(self, pid):
        self.file = os.open(f"/proc/{pid}/task/{pid}/schedstat", os.O_RDONLY)

    def read(self):
        """How long it has run and how long it has waited for a processor, in seconds."""
        ran, queued, _ = os.pread(self.file, 100, 0).split()
        return int(ran) / 1e9, int(queued) / 1e9


class Living:
    """The victim's own side."""

    def __init__(self, port, pid):
        self.clock = LoopClock(pid)
        self.observer = support.WebSocketClient(port)
        self.observer.observe("Victim")
        self.poster = support.HTTPClient(port)
        for client in (self.observer, self.poster):
            client.socket.settimeout(PATIENCE_SECONDS)
        self.request = support.post_request(b"{}", "/v1/channels/Victim")
        self.forget()

    def forget(self):
        self.waits, self.refusals, self.fault = [], {}, None

    def take(self):
        waits = Waits(self.waits, self.refusals, self.fault)
        self.forget()
        return waits

    def post(self):
        ran, queued = self.clock.read()
        start = time.monotonic()
        self.poster.send(self.request)
        status, _ = self.poster.responses(1)
        if status != 200:
            self.refusals[status] = self.refusals.get(status, 0) + 1
            return
        while True:
            opcode, payload = self.observer.next_frame()
            if opcode == 9:
                self.observer.socket.sendall(support.text_frame(payload, opcode=10))
            elif opcode == 1:
                break
        seconds = time.monotonic() - start
        ran_after, queued_after = self.clock.read()
        self.waits.append(Wait(seconds, ran_after - ran, queued_after - queued))


def live(port, pid, pipe):
    """Posts until it is told to stop; tells its waits when it is asked for them."""
    living = Living(port, pid)
    pipe.send("ready")
    while True:
        if pipe.poll(PAUSE_SECONDS):
            if pipe.recv() == "stop":
                return
            pipe.send(living.take())
        if living.fault:
            continue
        try:
            living.post()
        except (OSError, ConnectionError, ValueError) as error:
            living.fault = f"the victim: {error or type(error).__name__}"


class Victim:
    """The same in a process of its own."""

    def __init__(self, broker):
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=live, args=(broker.port, broker.pid, theirs), daemon=True)
        self.process.start()
        expect(self.pipe.poll(20) and self.pipe.recv() == "ready", "the victim cannot connect")

    def take(self):
        """What it felt since it was asked last."""
        self.pipe.send("take")
        if not self.pipe.poll(PATIENCE_SECONDS + 5):
            return Waits([], {}, "the victim does not answer")
        return self.pipe.recv()

    def baseline(self, seconds=1.5):
        """What it feels while nothing else goes on."""
        self.take()
        time.sleep(seconds)
        return self.take()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.pipe.send("stop")
        except OSError:
            pass
        self.process.join(2)
        self.process.kill()
        self.process.join()
