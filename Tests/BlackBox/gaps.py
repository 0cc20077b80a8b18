#!/usr/bin/env python3
"""What clients are told after a broker was killed: what was lost, and nothing else (law 3, decision 91).

    Tests/BlackBox/gaps.py [BINARY]

A client that has seen all that was posted under its names is told no gap, whatever else was posted; one that has
not is told what is missing of its name, and no more. Kills amid posts lose nothing in silence. In memory nothing is
left: the session is gone, and a registration with `since: 0` has all that the new broker has.
"""

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import crashing
from broker_log import BrokerLog
from crashing import CUT, Connection

BINARY = sys.argv[1] if len(sys.argv) > 1 else ".build/debug/belfry"
PATIENCE = 60
ROUNDS = 12
faults = []


def check(name, holds, told=""):
    print("ok  " if holds else "FAIL", name, "" if holds else told, flush=True)
    if not holds:
        faults.append(name)


class Broker:
    """A broker on a port of its own, which is killed and started again on the same data."""

    def __init__(self, *options):
        self.options = options
        self.start()

    def start(self):
        self.log = BrokerLog()
        self.process = subprocess.Popen(
            [BINARY, "serve", "--listen", "127.0.0.1:0", *self.options],
            stdout=subprocess.DEVNULL, stderr=self.log)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = re.search(r'"listening".*?127\.0\.0\.1:(\d+)', self.log.text())
            if found:
                self.port = int(found.group(1))
                return
            time.sleep(0.01)
        sys.exit("the broker did not start")

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait(PATIENCE)

    def again(self, number=signal.SIGKILL):
        self.end(number)
        self.start()

    def post(self, *names):
        """Posts, and returns the numbers."""
        connection = Connection(self.port)
        return [connection.ask("POST", f"/v1/channels/{name}", {})[1]["seq"] for name in names]


class Session(crashing.Session):
    """A WebSocket that keeps what comes before an answer."""

    def __init__(self, *arguments):
        self.early = []
        super().__init__(*arguments)


def fenced(broker, session):
    """The numbers and the gaps that come before a notification that is posted now, and its number."""
    numbers, gaps = [], []
    fence = broker.post("fence")[0]
    while True:
        # A gap comes before the answer to the registration that it is about.
        frame = session.early.pop(0) if session.early else session.next()
        if frame.get("method") == "belfry.gap":
            gap = frame["params"]
            gaps.append((gap["reason"], gap["firstSeq"], gap["lastSeq"]))
        elif "method" in frame:
            if frame["params"]["seq"] == fence:
                return numbers, gaps, fence
            numbers.append(frame["params"]["seq"])


def heard(broker, session):
    """The same without its number."""
    return fenced(broker, session)[:2]


def observer(session, name, behavior="hold", **terms):
    session.result(
        "addObserver", session.early.append, name=name, selector=name or "any",
        suspensionBehavior=behavior, **terms)


def client(broker, *names, behavior="hold"):
    session = Session(broker.port)
    for name in names:
        observer(session, name, behavior)
    observer(session, "fence")
    return session


def back(broker, session, after):
    return Session(broker.port, session.session, after)


def told(title, broker, session, after, expected):
    session.close()
    numbers, gaps = heard(broker, back(broker, session, after))
    check(title, (numbers, gaps) == ([], expected), f"{numbers} {gaps}")


def with_data(data):
    for number, way in ((signal.SIGKILL, "a kill"), (signal.SIGTERM, "a stop")):
        for behavior in ("hold", "drop", "coalesce"):
            broker = Broker("--data", data)
            session = client(broker, "a", behavior=behavior)
            broker.post("a", "b", "a")
            _, _, fence = fenced(broker, session)
            broker.post("b", "c")
            broker.again(number)
            told(f"{way}: who has seen all of its names is told nothing ({behavior})",
                 broker, session, fence, [])
            broker.end(signal.SIGTERM)
    broker = Broker("--data", data)
    session = client(broker, "a")
    _, _, fence = fenced(broker, session)
    numbers = broker.post("a", "b", "a", "b")
    broker.again()
    told("a kill: who has not is told what is missing of its name",
         broker, session, fence, [("unknown", fence + 1, numbers[2])])
    session = client(broker, None)
    _, _, fence = fenced(broker, session)
    numbers = broker.post("a", "b")
    broker.again()
    session.close()
    _, gaps = heard(broker, back(broker, session, fence))
    check("a kill: an observer of all names may miss any of them",
          ("unknown", fence + 1, numbers[1]) in gaps, f"{gaps}")
    numbers = broker.post("a", "b")
    broker.again()
    session = Session(broker.port)
    observer(session, "fence")
    observer(session, "a", since=numbers[0])
    told_then = heard(broker, session)
    check("a kill: `since` the last of a name tells nothing", told_then == ([], []), told_then)
    broker.again()
    session = Session(broker.port)
    observer(session, "fence")
    observer(session, "a", since=numbers[0] - 1)
    _, gaps = heard(broker, session)
    check("two kills: `since` before the last of a name tells that",
          gaps == [("unknown", numbers[0], numbers[0])], f"{gaps}")
    session = client(broker, "a")
    _, _, fence = fenced(broker, session)
    broker.end(signal.SIGKILL)
    file = os.stat(os.path.join(data, "belfry.lock"))
    os.remove(f"/dev/shm/belfry-{file.st_dev:x}-{file.st_ino:x}")
    broker.start()
    session.close()
    _, gaps = heard(broker, back(broker, session, fence))
    check("where nothing is left in memory all may be missing",
          all(first <= fence + 1 and last > fence + 1_000 for _, first, last in gaps)
          and len(gaps) == 2, f"{gaps}")
    broker.end(signal.SIGTERM)


def amid(data):
    """Kills amid posts: what was answered was heard, comes again, or is told."""
    broker = Broker("--data", data)
    silent, surplus = 0, 0
    for _ in range(ROUNDS):
        session = client(broker, "a")
        answered, numbers = [], []

        def post():
            connection = Connection(broker.port)
            try:
                while True:
                    for name in ("a", "b"):
                        number = connection.ask("POST", f"/v1/channels/{name}", {})[1]["seq"]
                        if name == "a":
                            answered.append(number)
            except CUT:
                pass

        def read():
            try:
                while True:
                    frame = session.next()
                    if "method" in frame:
                        numbers.append(frame["params"]["seq"])
            except CUT:
                pass

        threads = [threading.Thread(target=work) for work in (post, read)]
        for thread in threads:
            thread.start()
        time.sleep(random.uniform(0.02, 0.15))
        broker.end(signal.SIGKILL)
        for thread in threads:
            thread.join()
        broker.start()
        if not numbers:
            continue
        more, gaps = heard(broker, back(broker, session, numbers[-1]))
        missing = set(answered) - set(numbers) - set(more)
        missing_told = {n for n in missing for _, first, last in gaps if first <= n <= last}
        silent += len(missing - missing_told)
        surplus += sum(last > max(answered, default=0) + 2 for _, _, last in gaps)
    check(f"{ROUNDS} kills amid posts lose nothing in silence", silent == 0, f"{silent}")
    check("no gap goes past what was posted", surplus == 0, f"{surplus}")
    broker.end(signal.SIGTERM)


def in_memory():
    broker = Broker("--in-memory")
    session = client(broker, "a")
    heard(broker, session)
    broker.again()
    session.close()
    newcomer = Session(broker.port)
    reply = newcomer.reply("resume", session=session.session, after=1)
    check("in memory: the session is gone", reply["error"]["data"]["status"] == 404, f"{reply}")
    numbers = broker.post("a", "a")
    observer(newcomer, "fence")
    observer(newcomer, "a", since=0)
    check("in memory: `since: 0` has all that the new broker has, and tells no gap",
          heard(broker, newcomer) == (numbers, []))
    broker.end(signal.SIGTERM)


with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
    with_data(first)
    amid(second)
in_memory()
sys.exit(f"{len(faults)} faults" if faults else 0)
