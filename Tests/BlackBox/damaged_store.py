#!/usr/bin/env python3
"""Main files that are not what this program left: is it refused by name, and are its bytes untouched?

    Tests/BlackBox/damaged_store.py BELFRY

The broker fills a store and stops; the file is changed as each case says, and `belfry serve` is started on
it. It must end with exit code 1, an error that names the fault, and every file as it was; with
the sound file back it must start and have everything.
"""

import argparse
import hashlib
import os
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import crash  # noqa: E402
from crashing import Connection, Violation  # noqa: E402

PAGE = 4096


def changed(sound, offset, new):
    return sound[:offset] + new + sound[offset + len(new):]


def cases(sound):
    """What becomes of the file, and words that the error must have."""
    version = struct.unpack(">I", sound[60:64])[0]
    newer = struct.pack(">I", version + 1)
    middle = (len(sound) // PAGE // 2) * PAGE
    return [
        ("a newer schema", changed(sound, 60, newer), ["later version", f"form {version + 1}", f"knows {version}"]),
        ("another program's database", changed(sound, 68, b"\0\0\0\1"), ["was not changed", "belongs to the application"]),
        ("a broken page", changed(sound, middle, bytes(range(256)) * (PAGE // 256)), ["was not changed"]),
        ("a file that was cut off", sound[:-PAGE], ["was not changed"]),
        ("no database at all", b"hello " * 1000, ["was not changed"]),
        ("an empty file", b"", ["was not changed"]),
    ]


def digests(data):
    """The files; SQLite leaves an empty log beside a file whose pages it had to look at."""
    found = {}
    for name in sorted(os.listdir(data)):
        with open(os.path.join(data, name), "rb") as file:
            content = file.read()
        if content or name != "belfry.db-wal":
            found[name] = hashlib.sha256(content).hexdigest()
    return found


def prepare(path, data):
    """A store with a mailbox and what it is held."""
    broker = crash.Broker(path, data, "power")
    connection = Connection(broker.port)
    status, observer, _ = connection.ask("POST", "/v1/observers", {"name": "Held"})
    if status != 201:
        raise Violation(f"a mailbox was answered {status} {observer}")
    for number in range(200):
        connection.ask("POST", "/v1/channels/Held", {"t": f"n{number}", "more": "x" * 400})
    for name in os.listdir(data):
        mode = stat.S_IMODE(os.stat(os.path.join(data, name)).st_mode)
        if mode != 0o600:
            raise Violation(f"{name} has the permissions {mode:o}")
    stop(broker)
    return observer["token"]


def stop(broker):
    broker.process.terminate()
    code = broker.process.wait(60)
    if code != 0:
        raise Violation(f"a clean stop ended with {code}:\n{broker.text()}")


def refuse(path, data, what, content, words):
    with open(os.path.join(data, "belfry.db"), "r+b") as file:
        file.write(content)
        file.truncate()
    before = digests(data)
    run = subprocess.run(
        [path, "serve", "--listen", "127.0.0.1:0", "--data", data],
        capture_output=True, text=True, timeout=60, check=False)
    text = run.stdout + run.stderr
    if run.returncode != 1:
        raise Violation(f"{what}: exit code {run.returncode}\n{text}")
    for word in words:
        if word not in text:
            raise Violation(f"{what}: the error does not say {word!r}:\n{text}")
    after = digests(data)
    if after != before:
        names = sorted(n for n in {**before, **after} if before.get(n) != after.get(n))
        raise Violation(f"{what}: changed, or new, or gone: {names}")
    print(f"{what}: {text.strip()}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("broker")
    options = parser.parse_args()
    os.umask(0)
    directory = tempfile.mkdtemp(prefix="belfry-damaged.")
    data = os.path.join(directory, "data")
    os.mkdir(data)
    try:
        token = prepare(options.broker, data)
        with open(os.path.join(data, "belfry.db"), "rb") as file:
            sound = file.read()
        for what, content, words in cases(sound):
            refuse(options.broker, data, what, content, words)
        with open(os.path.join(data, "belfry.db"), "r+b") as file:
            file.write(sound)
            file.truncate()
        broker = crash.Broker(options.broker, data, "power")
        notes, gaps, _ = Connection(broker.port).read_all(token)
        if len(notes) != 200 or gaps:
            raise Violation(f"the sound file has {len(notes)} of 200 notifications, gaps {gaps}")
        stop(broker)
    except Violation as fault:
        print(f"FAILED (data in {data}): {fault}", file=sys.stderr)
        return 1
    shutil.rmtree(directory)
    print("all refused, nothing changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
