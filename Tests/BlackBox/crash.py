#!/usr/bin/env python3
"""kill -9 at random moments under load, and after each restart: is everything there that was promised?

    Tests/BlackBox/crash.py BELFRY [--rounds 500] [--seed 1] [--durability process]

Each round starts the broker on the same data directory, looks whether all that the earlier rounds were
answered is there, posts under load from several connections, and kills the broker at a random
moment. What is checked is the table of the section "What a receipt promises" of the protocol:

- what was held for a mailbox is in it, in order, once; what was acknowledged stays gone;
- what an acknowledging observer was sent and did not answer comes again, marked as redelivered;
- what was enqueued for a mode that nobody is in still waits;
- a request with an idempotency key has its effect once, however often it is repeated;
- tokens of registered observers work, removed observers have their tombstone;
- sequence numbers rise over all lives, and no identifier comes twice;
- stored asks, wherever they wait: see `crashing_asks.py`;
- values, what ends of them, and what their observers have: see `crashing_values.py`;
- timers, once, repeating, replaced and of clients that go: see `crashing_timers.py`;
- what archives keep: see `crashing_archives.py`.

Exit code 0 when nothing was missing, doubled or repeated; the seed makes the moments and the load
the same, but not the machine.
"""

import argparse
import collections
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from broker_log import BrokerLog
from crashing import CUT, TIMEOUT, Connection, Session, Violation
from crashing_archives import OPTION, Archives
from crashing_asks import Asks
from crashing_timers import Timers
from crashing_values import Values


class Broker:
    def __init__(self, path, data, durability):
        self.log = BrokerLog()
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [path, "serve", "--listen", "127.0.0.1:0", "--data", data, "--durability", durability,
             "--archives", OPTION, "--log-format", "text"],
            stdout=subprocess.DEVNULL, stderr=self.log)
        self.port = self._port()
        self.ready_after = time.monotonic() - self.started

    def text(self):
        return self.log.text()

    def _port(self):
        while time.monotonic() - self.started < TIMEOUT:
            found = re.search(r"listening.*?127\.0\.0\.1:(\d+)", self.text())
            if found:
                return int(found.group(1))
            if self.process.poll() is not None:
                break
            time.sleep(0.005)
        raise Violation("the broker did not start:\n" + self.text())

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()


class Expectations:
    """What the broker has promised so far; the lock keeps the threads of a round apart."""

    def __init__(self):
        self.lock = threading.Lock()
        self.highest_seq = 0
        self.ids = set()
        self.held = collections.OrderedDict()  # id -> text, answered and not yet read
        self.maybe_held = set()  # texts whose answer never came
        self.parked = {}  # id -> text
        self.keyed = {}  # key -> [text, first answer or None]
        self.acknowledging = {}  # id -> text, answered and not known to be acknowledged
        self.acknowledged = set()  # ids that were answered by the observer
        self.sent_before = set()  # ids that the acknowledging observer has seen
        self.tokens = {}
        self.removed = {}
        self.maybe_removed = set()
        self.held_through = self.keyed_through = 0
        self.counter = 0

    def text(self):
        with self.lock:
            self.counter += 1
            return f"n{self.counter}"

    def note_receipt(self, receipt):
        """Sequence numbers of answered posts rise in the order in which they were dispatched."""
        with self.lock:
            if receipt["id"] in self.ids:
                raise Violation(f"the identifier {receipt['id']} came twice")
            self.ids.add(receipt["id"])
            self.highest_seq = max(self.highest_seq, receipt.get("seq", 0))


class Round:
    def __init__(self, broker, expected, generator, session):
        self.broker = broker
        self.expected = expected
        self.generator = generator
        self.session = session
        self.faults = []
        self.isOver = threading.Event()

    def run(self, work):
        """Runs one poster until the broker is gone."""
        def loop():
            connection = Connection(self.broker.port)
            while not self.isOver.is_set():
                work(connection)

        return self.start(loop)

    def start(self, work, *arguments):
        """Does this in a thread until the broker is gone."""
        def loop():
            try:
                work(*arguments)
            except CUT:
                pass
            except Exception as fault:
                self.faults.append(fault)

        thread = threading.Thread(target=loop)
        thread.start()
        return thread

    def post_held(self, connection):
        text = self.expected.text()
        with self.expected.lock:
            self.expected.maybe_held.add(text)
        status, receipt, _ = connection.ask("POST", "/v1/channels/Held", {"t": text})
        if status != 200 or receipt["held"] + receipt["coalesced"] + receipt["delivered"] < 1:
            raise Violation(f"a post that is held was answered {status} {receipt}")
        self.expected.note_receipt(receipt)
        with self.expected.lock:
            self.expected.maybe_held.discard(text)
            self.expected.held[receipt["id"]] = text

    def post_parked(self, connection):
        text = self.expected.text()
        status, answer, _ = connection.ask(
            "POST", "/v1/channels/Parked?style=asap&coalesce=none&modes=later", {"t": text})
        if status == 503:
            time.sleep(0.001)
            return
        if status != 202:
            raise Violation(f"an asap post was answered {status} {answer}")
        with self.expected.lock:
            self.expected.parked[answer["id"]] = text

    def post_keyed(self, connection):
        with self.expected.lock:
            open_keys = [k for k, v in self.expected.keyed.items() if v[1] is None]
        if open_keys:
            key = open_keys[0]
            text = self.expected.keyed[key][0]
        else:
            text = self.expected.text()
            key = f"key-{text}"
            with self.expected.lock:
                self.expected.keyed[key] = [text, None]
        status, receipt, _ = connection.ask(
            "POST", "/v1/channels/Keyed", {"t": text}, {"Idempotency-Key": key})
        if status != 200:
            raise Violation(f"a keyed post was answered {status} {receipt}")
        with self.expected.lock:
            self.expected.keyed[key][1] = receipt["id"]

    def post_work(self, connection):
        text = self.expected.text()
        status, receipt, _ = connection.ask(
            "POST", "/v1/channels/Work", {"t": text}, {"Prefer": "respond-async"})
        if status != 200 or receipt["matched"] != 1:
            raise Violation(f"a post to an acknowledging observer was answered {status} {receipt}")
        self.expected.note_receipt(receipt)
        with self.expected.lock:
            if receipt["id"] not in self.expected.acknowledged:
                self.expected.acknowledging[receipt["id"]] = text

    def register(self, connection):
        """Registers observers and removes some: tokens work for as long as they should."""
        status, observer, _ = connection.ask("POST", "/v1/observers", {"name": "Other"})
        if status != 201:
            raise Violation(f"a registration was answered {status} {observer}")
        with self.expected.lock:
            self.expected.tokens[observer["token"]] = observer["id"]
            chosen = None
            if len(self.expected.tokens) > 20:
                chosen = self.generator.choice(list(self.expected.tokens))
                self.expected.tokens.pop(chosen)
                self.expected.maybe_removed.add(chosen)
        if chosen:
            status, answer, _ = connection.ask("DELETE", f"/v1/observers/{chosen}")
            if status not in (204, 410):
                raise Violation(f"a removal was answered {status} {answer}")
            with self.expected.lock:
                self.expected.maybe_removed.discard(chosen)
                self.expected.removed[chosen] = True
        time.sleep(0.002)

    def work(self):
        """The acknowledging observer: comes back, answers most of what it is sent."""
        session = Session(self.broker.port, self.session)
        while not self.isOver.is_set():
            frame = session.next()
            if frame.get("method") != "notify":
                continue
            note = frame["params"]
            with self.expected.lock:
                if note["id"] in self.expected.sent_before and not note.get("redelivered"):
                    raise Violation(f"{note['id']} came twice and is not marked: {note}")
                self.expected.sent_before.add(note["id"])
                answers = self.generator.random() < 0.9
                if answers:
                    # From here on it may be forgotten, or come once more.
                    self.expected.acknowledged.add(note["id"])
                    self.expected.acknowledging.pop(note["id"], None)
            if answers:
                session.answer(frame, None)


def check(broker, expected, parts, mailboxes, session):
    """Everything that was promised before the last kill is there."""
    connection = Connection(broker.port)
    check_mailbox(connection, expected, mailboxes["held"])
    check_keys(connection, expected, mailboxes["keyed"])
    check_queue(connection, expected)
    check_tokens(connection, expected)
    check_work(broker, expected, session)
    for part in parts:
        part.check(broker.port, connection)
    probe = connection.ask("POST", "/v1/channels/Probe", {})[1]
    if probe["seq"] <= expected.highest_seq:
        raise Violation(f"the sequence went back: {probe['seq']} after {expected.highest_seq}")
    expected.note_receipt(probe)


def check_mailbox(connection, expected, token):
    notes, gaps, after = connection.read_all(token, expected.held_through)
    if gaps:
        raise Violation(f"a mailbox with room has gaps: {gaps}")
    seen = collections.Counter(note["id"] for note in notes)
    doubled = [id_ for id_, count in seen.items() if count > 1]
    if doubled:
        raise Violation(f"in the mailbox twice: {doubled[:3]}")
    seqs = [note["seq"] for note in notes]
    if seqs != sorted(set(seqs)):
        raise Violation("a mailbox is not in order")
    missing = [id_ for id_ in expected.held if id_ not in seen]
    if missing:
        raise Violation(f"{len(missing)} held notifications are missing, such as {missing[0]}")
    for note in notes:
        text = note["userInfo"]["t"]
        if note["id"] not in expected.held and text not in expected.maybe_held:
            raise Violation(f"nobody posted {note}")
    expected.highest_seq = max([expected.highest_seq, *seqs])
    expected.held.clear()
    expected.maybe_held.clear()
    expected.held_through = after


def check_keys(connection, expected, token):
    # Repeat what was not answered, twice, and compare with what was answered.
    for key, (text, answered) in list(expected.keyed.items()):
        for _ in range(2):
            status, receipt, response = connection.ask(
                "POST", "/v1/channels/Keyed", {"t": text}, {"Idempotency-Key": key})
            if status != 200:
                raise Violation(f"a repeated keyed post was answered {status} {receipt}")
            if answered and receipt["id"] != answered:
                raise Violation(f"{key} was answered {answered}, and now {receipt['id']}")
            if answered and response.getheader("Idempotency-Replayed") != "true":
                raise Violation(f"{key} was answered before, and is not marked as a replay")
            answered = receipt["id"]
        expected.keyed[key][1] = answered
    notes, _, after = connection.read_all(token, expected.keyed_through)
    count = collections.Counter(note["userInfo"]["t"] for note in notes)
    for key, (text, answered) in expected.keyed.items():
        if count[text] != 1:
            raise Violation(f"the effect of {key} is there {count[text]} times")
    expected.keyed.clear()
    expected.keyed_through = after


def check_queue(connection, expected):
    waiting = connection.queue("&waiting=false")
    missing = [id_ for id_ in expected.parked if id_ not in waiting]
    if missing:
        raise Violation(f"{len(missing)} queue entries are missing, such as {missing[0]}")
    if len(waiting) > 5_000:
        connection.ask("DELETE", "/v1/queue?name=Parked")
        expected.parked.clear()


def check_tokens(connection, expected):
    for token in list(expected.tokens):
        status, row, _ = connection.ask("GET", f"/v1/observers/{token}")
        if status != 200:
            raise Violation(f"a token of a registered observer was answered {status} {row}")
    for token in list(expected.removed)[-30:]:
        status, row, _ = connection.ask("GET", f"/v1/observers/{token}")
        if status != 410:
            raise Violation(f"a token of a removed observer was answered {status} {row}")
    for token in list(expected.maybe_removed):
        status, _, _ = connection.ask("GET", f"/v1/observers/{token}")
        if status not in (200, 410):
            raise Violation(f"a token whose removal was cut was answered {status}")
    expected.maybe_removed.clear()


def check_work(broker, expected, session):
    """What was not acknowledged comes again, marked, after the session is resumed."""
    client = Session(broker.port, session)
    left = client.resumed["held"]
    missing = dict(expected.acknowledging)
    last_seq = 0

    def take(frame):
        nonlocal left, last_seq
        if frame.get("method") == "belfry.gap":
            raise Violation(f"an acknowledging observer lost something: {frame}")
        if frame.get("method") != "notify":
            return
        note = frame["params"]
        if not note.get("redelivered"):
            raise Violation(f"it was kept over a restart and is not marked: {note}")
        if note["seq"] <= last_seq:
            raise Violation("what was kept comes in a wrong order")
        last_seq = note["seq"]
        missing.pop(note["id"], None)
        expected.sent_before.add(note["id"])
        expected.acknowledged.add(note["id"])
        expected.acknowledging.pop(note["id"], None)
        client.answer(frame, None)
        left -= 1

    while left > 0:
        take(client.next())
    client.result("observers", take, limit=1)
    if missing:
        raise Violation(f"{len(missing)} deliveries were not answered and did not come again")
    client.close()


def prepare(broker):
    """The observers that outlive all rounds."""
    connection = Connection(broker.port)
    mailboxes = {
        name: connection.mailbox({"name": channel, "holdLimit": 10_000})
        for name, channel in (("held", "Held"), ("keyed", "Keyed"))}
    client = Session(broker.port)
    client.result("addObserver", name="Work", acknowledge=True, holdLimit=10_000)
    client.close()
    return mailboxes, client.session


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("broker")
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--durability", default="process")
    options = parser.parse_args()
    generator = random.Random(options.seed)
    data = tempfile.mkdtemp(prefix="belfry-crash.")
    expected = Expectations()
    asks, values, timers, archives = Asks(generator), Values(generator), Timers(generator), Archives()
    parts = asks, values, timers, archives
    starts = []
    answered = 0
    broker = None
    try:
        broker = Broker(options.broker, data, options.durability)
        mailboxes, session = prepare(broker)
        for part in parts:
            part.prepare(broker.port, Connection(broker.port))
        for number in range(options.rounds):
            this = Round(broker, expected, generator, session)
            threads = [this.run(work) for work in (
                this.post_held, this.post_held, this.post_parked, this.post_keyed,
                this.post_work, this.register)]
            threads.append(this.start(this.work))
            for part in parts:
                threads += [this.run(work) for work in part.posters()]
                threads += [this.start(work, broker.port) for work in part.clients()]
            time.sleep(generator.uniform(0.005, 0.15))
            broker.kill()
            this.isOver.set()
            for thread in threads:
                thread.join()
            if this.faults:
                raise this.faults[0]
            answered += len(expected.held) + len(expected.keyed) + len(expected.acknowledging)
            broker = Broker(options.broker, data, options.durability)
            starts.append(broker.ready_after)
            check(broker, expected, parts, mailboxes, session)
            if number % 50 == 49:
                print(f"{number + 1} rounds, {expected.counter} posts, {asks.promised} asks, {values.count} writes, "
                      f"{timers.promised} timers, {archives.promised} kept, slowest start {max(starts) * 1000:.0f} ms", flush=True)
        timers.finish(Connection(broker.port))
    except Violation as fault:
        print(f"FAILED (seed {options.seed}, data in {data}): {fault}", file=sys.stderr)
        return 1
    finally:
        if broker and broker.process.poll() is None:
            broker.kill()
    print(f"{options.rounds} kills, {expected.counter} posts, {answered} promises checked, "
          f"{asks.promised} asks, of which {asks.redelivered} came again, "
          f"{values.count} writes of values, {timers.promised} timers, {timers.posted} posts of them, of which "
          f"{timers.redelivered} came again and marked, {archives.promised} kept in archives, {timers.undone} farewells after a close that was not stored, "
          f"slowest start {max(starts) * 1000:.0f} ms: nothing missing, nothing doubled")
    shutil.rmtree(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
