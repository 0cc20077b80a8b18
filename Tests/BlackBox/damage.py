#!/usr/bin/env python3
"""A store whose files were damaged: is it found, is nothing changed, and does the rest start when asked?

    Tests/BlackBox/damage.py BELFRY [--variants 30] [--seed 1]

Two stores are filled with the same: one broker is killed, so that its log has everything, the other one is stopped.
Then bytes are flipped, pages zeroed, filled with garbage or exchanged, and files cut, each in a copy. For each:

- `belfry serve` ends with exit code 1, says by name what is damaged, and no byte of the files has changed, or
- it starts, and everything is as it was;
- with `--accept-damage` it starts in any case. If it was refused before, the log says what is lost, and what is left
  is a part of what was there, byte by byte.

Exit code 0 when that holds for all; the seed makes the damage the same.
"""

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from broker_log import BrokerLog  # noqa: E402
from crashing import Connection, Violation  # noqa: E402

PAGE = 4096
FRAME = PAGE + 24
HEADER = 32
POSTS = 400


class Broker:
    """A broker that may refuse its store; crash.Broker takes that for a failure."""

    def __init__(self, path, data, *options):
        self.log = BrokerLog()
        self.process = subprocess.Popen(
            [path, "serve", "--listen", "127.0.0.1:0", "--data", data, "--log-format", "text",
             *options],
            stdout=subprocess.DEVNULL, stderr=self.log)
        self.port = None
        deadline = time.monotonic() + 60
        while self.port is None and self.process.poll() is None:
            found = re.search(r"listening.*?127\.0\.0\.1:(\d+)", self.text())
            if found:
                self.port = int(found.group(1))
            if time.monotonic() > deadline:
                self.end()
                raise Violation("it neither starts nor ends:\n" + self.text())
            time.sleep(0.005)

    def text(self):
        return self.log.text()

    def end(self):
        self.process.kill()
        self.process.wait()


def fill(path, data, stops):
    """Fills a store with something of everything; gives the mailbox."""
    broker = Broker(path, data)
    connection = Connection(broker.port)
    ask = connection.ask
    mailbox = ask("POST", "/v1/observers", {"name": "Held", "holdLimit": 10_000})[1]["token"]
    for number in range(50):
        ask("POST", "/v1/observers", {"name": f"Name{number}", "object": f"o{number}"})
    for number in range(10):
        token = ask("POST", "/v1/observers", {"name": "Short"})[1]["token"]
        ask("DELETE", f"/v1/observers/{token}")
    for number in range(POSTS):
        status, receipt, _ = ask(
            "POST", "/v1/channels/Held", {"n": number, "more": "x" * (number % 700)},
            {"Idempotency-Key": f'"{number}"'} if number % 4 == 0 else None)
        if status != 200 or receipt["held"] != 1:
            raise Violation(f"a post was answered {status} {receipt}")
    for number in range(30):
        ask("POST", "/v1/notifications",
            {"name": f"Queued{number}", "style": "asap", "modes": ["nobody"], "userInfo": {"n": number}})
    if stops:
        broker.process.terminate()
        if broker.process.wait(60) != 0:
            raise Violation("a clean stop failed:\n" + broker.text())
    else:
        broker.end()
    return mailbox


def content(port, mailbox):
    """What a broker has, as far as a restart does not change it."""
    ask = Connection(port).ask
    status, page, _ = ask("GET", f"/v1/observers/{mailbox}/notifications?limit=1000")
    notes = {}
    if status == 200:
        notes = {
            note["id"]: json.dumps([note["seq"], note["name"], note["userInfo"]])
            for note in page["notifications"]}
    rows = ask("GET", "/v1/observers?limit=1000")[1]["observers"]
    kept = ["name", "object", "suspensionBehavior", "holdLimit"]
    observers = {row["id"] if "id" in row else row["token"]: json.dumps(
        [row.get(key) for key in kept]) for row in rows}
    entries = ask("GET", "/v1/queue?limit=1000")[1]["entries"]
    queue = {entry["id"]: json.dumps([entry["name"], entry.get("userInfo")]) for entry in entries}
    return {"notes": notes, "observers": observers, "queue": queue}


def damage_log(data, generator):
    with open(os.path.join(data, "belfry.db-wal"), "rb") as file:
        log = bytearray(file.read())
    used = HEADER + (len(log) - HEADER) // FRAME * FRAME
    frames = (used - HEADER) // FRAME
    at = HEADER + generator.randrange(frames) * FRAME
    kind = generator.choice(
        ["flip", "flip", "zeros", "cut", "cut between frames", "garbage", "swap", "zeroed start",
         "gone"])
    if kind == "flip":
        at = generator.randrange(used)
        log[at] ^= 1 << generator.randrange(8)
    elif kind == "zeros":
        log[at:at + FRAME] = bytes(FRAME)
    elif kind == "cut":
        at = generator.randrange(used)
        del log[at:]
    elif kind == "cut between frames":
        del log[at:]
    elif kind == "garbage":
        length = generator.randrange(1, 2_000)
        log[at:at + length] = generator.randbytes(length)
    elif kind == "swap":
        other = HEADER + generator.randrange(frames) * FRAME
        log[at:at + FRAME], log[other:other + FRAME] = (
            log[other:other + FRAME], log[at:at + FRAME])
    elif kind == "zeroed start":
        at = generator.choice([32, 512, 4096, 65_536])
        log[:at] = bytes(at)
    path = os.path.join(data, "belfry.db-wal")
    if kind == "gone":
        os.remove(path)
    else:
        with open(path, "r+b") as file:
            file.write(log)
            file.truncate()
    return f"log: {kind} at {at}"


def damage_main(data, generator):
    path = os.path.join(data, "belfry.db")
    with open(path, "rb") as file:
        main = bytearray(file.read())
    pages = len(main) // PAGE
    at = generator.randrange(pages) * PAGE
    kind = generator.choice(["flip", "flip", "flip", "zeros", "cut", "garbage", "swap"])
    if kind == "flip":
        at = generator.randrange(len(main))
        main[at] ^= 1 << generator.randrange(8)
    elif kind == "zeros":
        main[at:at + PAGE] = bytes(PAGE)
    elif kind == "cut":
        at = generator.randrange(100, len(main))
        del main[at:]
    elif kind == "garbage":
        length = generator.randrange(1, PAGE)
        main[at:at + length] = generator.randbytes(length)
    else:
        other = generator.randrange(pages) * PAGE
        main[at:at + PAGE], main[other:other + PAGE] = main[other:other + PAGE], main[at:at + PAGE]
    with open(path, "r+b") as file:
        file.write(main)
        file.truncate()
    return f"main file: {kind} at {at}"


def digests(data):
    """The files; SQLite leaves an empty log beside a file whose pages it had to look at."""
    found = {}
    for name in sorted(os.listdir(data)):
        with open(os.path.join(data, name), "rb") as file:
            bytes_ = file.read()
        if bytes_ or name != "belfry.db-wal":
            found[name] = hashlib.sha256(bytes_).hexdigest()
    return found


def try_variant(path, data, what, sound, mailbox):
    """Starts a broker on damaged files; tells what became of it."""
    before = digests(data)
    broker = Broker(path, data)
    if broker.port:
        found = content(broker.port, mailbox)
        broker.end()
        if found != sound:
            parts = {part: (len(sound[part]), len(found[part])) for part in sound}
            raise Violation(f"{what}: it starts with something else: {parts}\n{broker.text()}")
        return "equal", ""
    text = broker.text()
    if broker.process.returncode != 1:
        raise Violation(f"{what}: exit code {broker.process.returncode}\n{text}")
    if "changed" not in text:
        raise Violation(f"{what}: the error does not say that nothing was changed:\n{text}")
    if digests(data) != before:
        raise Violation(f"{what}: it was refused, and its files changed")
    broker = Broker(path, data, "--accept-damage")
    if not broker.port:
        raise Violation(f"{what}: --accept-damage does not start:\n{broker.text()}")
    found = content(broker.port, mailbox)
    broker.end()
    for part, rows in found.items():
        for key, row in rows.items():
            # What was removed later may be there again: a log without its end is an earlier state.
            if sound[part].get(key) != row and '"Short"' not in row:
                raise Violation(f"{what}: --accept-damage has what never was: {part} {row}")
    log = broker.text()
    if found != sound and "lost" not in log:
        raise Violation(f"{what}: it lost something, and the log does not say so:\n{log}")
    lost = {part: len(sound[part]) - len(found[part]) for part in sound}
    return "refused", f"{text.strip().splitlines()[-1]} | without {lost}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("broker")
    parser.add_argument("--variants", type=int, default=30, help="of each file")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    directory = tempfile.mkdtemp(prefix="belfry-damage.")
    counts = {"refused": 0, "equal": 0}
    try:
        for stops, damage in [(False, damage_log), (True, damage_main)]:
            data = os.path.join(directory, "stopped" if stops else "killed")
            mailbox = fill(options.broker, data, stops)
            copy = os.path.join(directory, "copy")
            shutil.copytree(data, copy)
            broker = Broker(options.broker, copy)
            if not broker.port:
                raise Violation("a sound copy does not start:\n" + broker.text())
            sound = content(broker.port, mailbox)
            broker.end()
            shutil.rmtree(copy)
            if len(sound["notes"]) != POSTS or len(sound["queue"]) != 30:
                raise Violation(f"a sound copy has {len(sound['notes'])} of {POSTS} posts")
            for _ in range(options.variants):
                shutil.copytree(data, copy)
                what = damage(copy, generator)
                outcome, text = try_variant(options.broker, copy, what, sound, mailbox)
                counts[outcome] += 1
                print(f"{what}: {outcome} {text}", flush=True)
                shutil.rmtree(copy)
    except Violation as fault:
        print(f"FAILED (files in {directory}): {fault}", file=sys.stderr)
        return 1
    shutil.rmtree(directory)
    print(f"{counts['refused']} were refused and nothing was changed, {counts['equal']} are as they were")
    return 0


if __name__ == "__main__":
    sys.exit(main())
