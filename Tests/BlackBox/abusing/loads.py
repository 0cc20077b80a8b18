"""Loads: functions that attack a broker from a process of their own."""

import multiprocessing
import os
import resource
import time

from .clients import Failure


class Target:
    """What a load attacks, and with how much."""

    def __init__(self, port, tls_port=None, scale=1.0, seconds=20):
        self.port = port
        self.tls_port = tls_port
        self.scale = scale
        # A load begins nothing more when it has gone on for so long.
        self.seconds = seconds
        self.kept = []
        self.pipe = None
        self.deadline = None

    def count(self, count, least=1):
        """So many at the scale of this run."""
        return max(least, int(count * self.scale))

    @property
    def is_over(self):
        return time.monotonic() > self.deadline

    def keep(self, *things):
        """Keeps connections open until all loads of the attack have done their work."""
        self.kept.extend(things)

    def begin(self):
        """The preparations are over: what others feel counts from here."""
        self.pipe.send(None)
        self.pipe.recv()

    def run(self, load, pipe):
        # The processors are for the broker and for those that it serves.
        os.nice(5)
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        self.pipe = pipe
        self.deadline = time.monotonic() + self.seconds
        try:
            told = load(self)
        except (Failure, OSError, ConnectionError) as failure:
            told = failure if isinstance(failure, Failure) else Failure(f"{type(failure).__name__} {failure}")
        pipe.send(told)
        pipe.recv()


class Load:
    """One that goes on; what it opened is closed with its process."""

    def __init__(self, load, target):
        self.pipe, theirs = multiprocessing.Pipe()
        self.name = name_of(load)
        self.process = multiprocessing.Process(target=target.run, args=(load, theirs), daemon=True)
        self.process.start()

    def wait(self, seconds, begin=lambda: None):
        """Waits until it has done its work; returns what it tells."""
        deadline = time.monotonic() + seconds
        while self.pipe.poll(max(0, deadline - time.monotonic())):
            try:
                told = self.pipe.recv()
            except EOFError:
                raise Failure(f"{self.name} ended without a word") from None
            if told is None:
                begin()
                self.pipe.send("go on")
            elif isinstance(told, Failure):
                raise told
            else:
                return told
        raise Failure(f"{self.name} does not end")

    def end(self):
        self.process.kill()
        self.process.join()


def name_of(load):
    return load.__name__.replace("_", " ")
