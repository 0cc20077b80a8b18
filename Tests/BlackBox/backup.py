#!/usr/bin/env python3
"""Backups of a broker under load: does each start, does it have what was promised, and what do posts feel?

    Tests/BlackBox/backup.py BELFRY [--backups 20] [--rate 2000]

A broker with `--durability power` gets so many posts a second, each of which is held in a mailbox. Meanwhile
`belfry backup FILE` makes copies, one after another with pauses. Then each copy is put into an empty
data directory as `belfry.db` and a broker is started with it, without `--accept-damage`: every post that was
answered before its backup began must be in its mailbox, in order, once.

The time of each post runs from when it was due, so what waits for a slow answer counts too. The p99 of posts
during the backups is told beside that of the posts before and after them, in the same run.

After that the broker is killed in the middle of a backup, and a backup is put over the files of a broker that
was killed. Exit code 0 when nothing was missing; times are told and not judged.
"""

import argparse
import collections
import heapq
import os
import select
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import crash  # noqa: E402
from crashing import Connection, Violation  # noqa: E402

# A mailbox holds 10,000.
POSTS_OF_MAILBOX = 8_000
CONNECTIONS = 64
COPY = "belfry.db.backup"


class Load(threading.Thread):
    """Posts at a steady rate over many connections, whatever the answers do."""

    def __init__(self, port, rate, mailboxes):
        super().__init__()
        self.port = port
        self.rate = rate
        self.mailboxes = mailboxes
        self.samples = []  # (due, seconds)
        self.answered = []  # (time of the answer, number of the post)
        self.late = 0
        self.fault = None
        self.isOver = threading.Event()

    def run(self):
        try:
            self.post()
        except (OSError, Violation) as fault:
            self.fault = fault

    def request(self, number):
        body = b'{"t":"n%d","filler":"%s"}' % (number, b"x" * 100)
        return (b"POST /v1/channels/Held%d HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                % (number // POSTS_OF_MAILBOX % self.mailboxes, len(body), body))

    def post(self):
        poll = select.epoll()
        # The one that is free for longest is next: an unused one would be closed.
        sockets, waiting, partial, free = {}, {}, {}, collections.deque()
        for _ in range(CONNECTIONS):
            one = socket.create_connection(("127.0.0.1", self.port))
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            one.setblocking(False)
            sockets[one.fileno()] = one
            partial[one.fileno()] = b""
            free.append(one.fileno())
            poll.register(one.fileno(), select.EPOLLIN)
        started = time.monotonic()
        number, due = 0, collections.deque()
        while not (self.isOver.is_set() and not waiting):
            now = time.monotonic()
            while not self.isOver.is_set() and started + number / self.rate <= now:
                due.append((started + number / self.rate, number))
                number += 1
            while due and free:
                when, which = due.popleft()
                if now - when > 0.005:
                    self.late += 1
                place = free.popleft()
                waiting[place] = (when, which)
                sockets[place].send(self.request(which))
            next_due = started + number / self.rate - time.monotonic()
            for place, _ in poll.poll(max(0.0002, next_due)):
                self.read(sockets[place], partial, waiting, free)
            if self.isOver.is_set():
                due.clear()

    def read(self, one, partial, waiting, free):
        place = one.fileno()
        received = one.recv(65_536)
        if not received:
            raise Violation("the broker closed a connection")
        text = partial[place] + received
        head, separator, body = text.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or -1)
        if not separator or len(body) < length:
            partial[place] = text
            return
        partial[place] = b""
        if not head.startswith(b"HTTP/1.1 200") or b'"held":1' not in body:
            raise Violation(f"a post that is held was answered {text[:300]}")
        when, which = waiting.pop(place)
        now = time.monotonic()
        self.samples.append((when, now - when))
        self.answered.append((now, which))
        free.append(place)


def register(connection, count):
    tokens = []
    for number in range(count):
        status, observer, _ = connection.ask(
            "POST", "/v1/observers", {"name": f"Held{number}", "holdLimit": 10_000})
        if status != 201:
            raise Violation(f"a mailbox was answered {status} {observer}")
        tokens.append(observer["token"])
    return tokens


def back_up(path, port, file):
    run = subprocess.run(
        [path, "backup", "--url", f"http://127.0.0.1:{port}", file],
        capture_output=True, text=True, timeout=600, check=False)
    if run.returncode != 0:
        raise Violation(f"belfry backup ended with {run.returncode}: {run.stderr}")


def check_copy(path, file, tokens, promised, data):
    """Starts a broker with a copy, and compares what it has."""
    os.mkdir(data, 0o700)
    shutil.copyfile(file, os.path.join(data, "belfry.db"))
    check(crash.Broker(path, data, "power"), tokens, promised)
    shutil.rmtree(data)


def check(broker, tokens, promised):
    connection = Connection(broker.port)
    wanted = collections.defaultdict(set)
    for number in promised:
        wanted[number // POSTS_OF_MAILBOX % len(tokens)].add(number)
    found_count = 0
    for place, token in enumerate(tokens):
        notes, gaps, _ = connection.read_all(token)
        numbers = [int(note["userInfo"]["t"][1:]) for note in notes]
        found_count += len(numbers)
        missing = wanted[place] - set(numbers)
        if missing:
            raise Violation(f"{len(missing)} of {len(wanted[place])} are missing, such as n{min(missing)}")
        seqs = [note["seq"] for note in notes]
        if seqs != sorted(set(seqs)) or gaps:
            raise Violation(f"a mailbox is not in order, or has gaps: {gaps}")
        if not wanted[place] and not numbers:
            break
    broker.process.terminate()
    code = broker.process.wait(60)
    if code != 0:
        raise Violation(f"a clean stop ended with {code}:\n{broker.text()}")
    if "damage" in broker.text() or "restored from a backup" not in broker.text():
        raise Violation(f"it does not start as a copy:\n{broker.text()}")
    return found_count


def percentile(values, part):
    if not values:
        return float("nan")
    return heapq.nlargest(max(1, int(len(values) * (1 - part))), values)[-1] * 1000


def under_load(path, directory, count, rate):
    data = os.path.join(directory, "data")
    broker = crash.Broker(path, data, "power")
    tokens = register(Connection(broker.port), 64)
    load = Load(broker.port, rate, len(tokens))
    load.start()
    backups = []  # (file, begun, ended)
    try:
        time.sleep(3)
        for number in range(count):
            file = os.path.join(directory, f"copy{number}.db")
            begun = time.monotonic()
            back_up(path, broker.port, file)
            backups.append((file, begun, time.monotonic()))
            if stat.S_IMODE(os.stat(file).st_mode) != 0o600:
                raise Violation("a copy can be read by others")
            time.sleep(1.5)
            if load.fault:
                raise load.fault
    finally:
        load.isOver.set()
        load.join()
    if load.fault:
        raise load.fault
    report(load, backups, rate)
    broker.kill()
    for number, (file, begun, _) in enumerate(backups):
        promised = [which for when, which in load.answered if when < begun]
        check_copy(path, file, tokens, promised, os.path.join(directory, f"restored{number}"))
        if number + 1 < len(backups):
            os.remove(file)
    print(f"{len(backups)} of {count} copies start and have every post answered before their backup began")
    put_over(path, data, backups[-1], tokens, load)


def report(load, backups, rate):
    def is_meanwhile(due):
        return any(begun <= due <= ended for _, begun, ended in backups)

    first = load.samples[0][0] + 2
    during = [took for due, took in load.samples if is_meanwhile(due)]
    beside = [took for due, took in load.samples if due > first and not is_meanwhile(due)]
    took = sorted(ended - begun for _, begun, ended in backups)
    sizes = [os.path.getsize(file) for file, _, _ in backups]
    print(f"{len(load.samples)} posts at {rate}/s, {load.late} sent over 5 ms late; "
          f"backups of {min(sizes) >> 20} to {max(sizes) >> 20} MiB "
          f"in {took[0]:.2f} to {took[-1]:.2f} s, median {took[len(took) // 2]:.2f} s")
    for part in (0.5, 0.99, 0.999):
        one, other = percentile(during, part), percentile(beside, part)
        print(f"p{part * 100:g}: {one:.2f} ms during backups ({len(during)}), "
              f"{other:.2f} ms beside them ({len(beside)}): {one / other:.2f} times")


def put_over(path, data, backup, tokens, load):
    """A backup over the main file of a broker that was killed, with its log and its lock file."""
    file, begun, _ = backup
    shutil.copyfile(file, os.path.join(data, "belfry.db"))
    if os.path.getsize(os.path.join(data, "belfry.db-wal")) == 0:
        raise Violation("the broker that was killed has no log")
    check(crash.Broker(path, data, "power"), tokens,
          [which for when, which in load.answered if when < begun])
    os.remove(file)
    print("a backup put over the files of a broker that was killed starts too")


def killed(path, directory):
    """kill -9 in the middle of a backup: the next start removes what it left, and has everything."""
    data = os.path.join(directory, "killed")
    broker = crash.Broker(path, data, "process")
    connection = Connection(broker.port)
    token = register(connection, 1)[0]
    texts = [{"name": "Held0", "userInfo": {"t": f"n{number}", "more": "x" * 1500}} for number in range(8_000)]
    for start in range(0, len(texts), 500):
        status, answer, _ = connection.ask("POST", "/v1/notifications", texts[start:start + 500])
        if status != 200:
            raise Violation(f"a batch was answered {status} {answer}")
    asking = socket.create_connection(("127.0.0.1", broker.port))
    asking.sendall(b"POST /v1/backup HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
    deadline = time.monotonic() + 20
    while not os.path.exists(os.path.join(data, COPY)):
        if time.monotonic() > deadline:
            raise Violation("there is no copy")
    broker.kill()
    if not os.path.exists(os.path.join(data, COPY)):
        raise Violation("the copy was over before the kill")
    broker = crash.Broker(path, data, "process")
    left = [name for name in os.listdir(data) if name.startswith(COPY)]
    notes, gaps, _ = Connection(broker.port).read_all(token)
    if left or gaps or len(notes) != len(texts):
        raise Violation(f"after a kill in a backup: {left} {gaps} {len(notes)} of {len(texts)}")
    refuse(path, broker.port, directory)
    broker.kill()
    print("killed in the middle of a backup: nothing is left of it, and nothing is missing")


def refuse(path, port, directory):
    """The command takes nobody's file, and says why."""
    taken = os.path.join(directory, "taken")
    with open(taken, "w", encoding="ascii") as file:
        file.write("mine")
    run = subprocess.run(
        [path, "backup", "--url", f"http://127.0.0.1:{port}", taken],
        capture_output=True, text=True, timeout=60, check=False)
    with open(taken, encoding="ascii") as file:
        if run.returncode != 1 or file.read() != "mine" or taken not in run.stderr:
            raise Violation(f"a file that is there: {run.returncode} {run.stderr}")
    run = subprocess.run(
        [path, "backup", "--url", f"http://127.0.0.1:{port}", "-"],
        capture_output=True, timeout=60, check=False)
    if run.returncode != 0 or not run.stdout.startswith(b"SQLite format 3\0"):
        raise Violation(f"to standard output: {run.returncode} {run.stderr}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("broker")
    parser.add_argument("--backups", type=int, default=20)
    parser.add_argument("--rate", type=int, default=2_000)
    options = parser.parse_args()
    # Callers without credentials may not do this by default.
    os.environ["BELFRY_ANONYMOUS_GRANTS"] = "post,observe,inspect,admin"
    directory = tempfile.mkdtemp(prefix="belfry-backup.")
    try:
        killed(options.broker, directory)
        under_load(options.broker, directory, options.backups, options.rate)
    except Violation as fault:
        print(f"FAILED (files in {directory}): {fault}", file=sys.stderr)
        return 1
    shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
