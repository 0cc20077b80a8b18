#!/usr/bin/env python3
"""How a broker starts that has much in its store, and more than its memory has room for.

    Tests/BlackBox/start.py [BINARY] [--observers 6000]

From the first moment on each question is answered: /livez with 200, the others with 503 `restoring`, and then
with what the broker has. No connection is refused or cut on the way from the porch to the loops. With less
memory than the observers need, a start comes up, refuses another one with the name of the option, and takes it
when leases have made room.
"""

import argparse
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from broker_log import BrokerLog

PATIENCE = 120
LEASE = 30
faults = []


class Broker:
    def __init__(self, *options):
        self.log = BrokerLog()
        self.process = subprocess.Popen(
            [BINARY, "serve", "--listen", "127.0.0.1:0", "--log-level", "debug", *options],
            stdout=subprocess.DEVNULL, stderr=self.log)

    def lines(self):
        return self.log.text().splitlines()

    def port(self, pattern="restoring|listening"):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for line in self.lines():
                found = re.search(rf'"({pattern})".*?127\.0\.0\.1:(\d+)', line)
                if found:
                    return int(found.group(2))
            if self.process.poll() is not None:
                break
            time.sleep(0.002)
        sys.exit("the broker did not start:\n" + "\n".join(self.lines()))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


def check(name, isGood, told=""):
    print("ok  " if isGood else "FAIL", name, "" if isGood else told, flush=True)
    if not isGood:
        faults.append(name)


def ask(port, method, path, content=None, connection=None):
    client = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    body = None if content is None else json.dumps(content)
    client.request(method, path, body, {"Content-Type": "application/json"} if body else {})
    answer = client.getresponse()
    return answer.status, answer.read()


def fill(port, count):
    """Registers mailboxes, each a client of its own, of which half hold an address; as many values and timers."""
    def some(first):
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        for number in range(first, count, 16):
            place = {"object": f"desk{number}", "implements": ["decide"]} if number % 2 else {"name": f"Mail{number}"}
            for method, path, content in (
                    ("POST", "/v1/observers", {**place, "lease": LEASE}),
                    ("PUT", f"/v1/values/object{number}", {"number": number, "note": "x" * 480}),
                    ("POST", "/v1/channels/Reminder?after=86400", {"number": number})):
                while (answer := ask(port, method, path, content, client))[0] == 503:
                    time.sleep(0.002)
                if answer[0] not in (201, 202):
                    sys.exit(f"{method} {path} was answered {answer}")

    threads = [threading.Thread(target=some, args=(first,)) for first in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def watch(data, count):
    """Asks without a pause from the moment in which the broker listens, until it is ready."""
    broker = Broker("--data", data, "--durability", "process")
    port = broker.port()
    # These connect to the porch, and ask when it has left.
    early = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
    told, fractions, cut = [], [], 0
    while not told or told[-1] != 200:
        try:
            live, _ = ask(port, "GET", "/livez")
            status, text = ask(port, "GET", "/readyz")
        except OSError as error:
            print(error)
            cut += 1
            break
        if live != 200:
            check("it lives", False, live)
        told.append(status)
        if status == 503:
            fractions.append(json.loads(text)["restored"])
    check("no connection was refused or cut", cut == 0, cut)
    check("it was 503 until it was 200", set(told[:-1]) == {503}, set(told))
    check("the fraction rises", fractions == sorted(fractions) and len(set(fractions)) > 2,
          sorted(set(fractions)))
    for client in early:
        client.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = client.recv(4096)
        check("who came before is answered", answer.startswith(b"HTTP/1.1 503 "), answer)
    _, page = ask(port, "GET", "/metrics")
    for what, wanted in (("observers", count), ("responders", count // 2), ("values", count), ("timers", count)):
        found = re.search(rf"\nbelfry_{what} (\d+)".encode(), page)
        check(f"all {what} are there", found and int(found.group(1)) == wanted, found)
    status, text = ask(port, "GET", f"/v1/values/object{count - 1}/number")
    check("a value is what it was", (status, text) == (200, str(count - 1).encode()), (status, text))
    seconds = sum('"restored":"' in line and '"restoring"' in line for line in broker.lines())
    print(f"     {len(told)} questions, {seconds} lines of progress")
    check("it ends in order", broker.stop() == 0)


def without_room(data, count):
    """A start whose observers need more memory than they may have: it leaves out the youngest, and says so."""
    broker = Broker("--data", data, "--durability", "process", "--observer-memory", "1MiB")
    port = broker.port("listening")
    check("the log names what was left out",
          any("does not fit into the memory" in line for line in broker.lines()), broker.lines()[-3:])
    _, page = ask(port, "GET", "/metrics")
    restored = int(re.search(rb"\nbelfry_observers (\d+)", page).group(1))
    accounted = int(re.search(rb'\nbelfry_memory_bytes{kind="observers"} (\d+)', page).group(1))
    check("a part of the observers is there", 0 < restored < count, restored)
    check("it is within its memory", accounted <= 1 << 20, accounted)
    for _ in range(count):
        status, text = ask(port, "POST", "/v1/observers", {"name": "one more", "lease": LEASE})
        if status != 201:
            break
    check("another observer is refused, with the option",
          status == 503 and b"--observer-memory" in text, (status, text))
    status, _ = ask(port, "POST", "/v1/channels/Mail1", {})
    check("a post is taken", status == 200, status)
    end = time.monotonic() + LEASE + PATIENCE
    while time.monotonic() < end:
        status, text = ask(port, "POST", "/v1/observers", {"name": "one more", "lease": LEASE})
        if status == 201:
            break
        time.sleep(0.2)
    check("leases have run, and made room", status == 201, (status, text))
    check("it ends in order", broker.stop() == 0)


def main():
    with tempfile.TemporaryDirectory(prefix="belfry-start.") as data:
        broker = Broker("--data", data, "--durability", "process")
        fill(broker.port("listening"), OPTIONS.observers)
        broker.stop()
        watch(data, OPTIONS.observers)
        without_room(data, OPTIONS.observers)
    return 1 if faults else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default=".build/debug/belfry")
    parser.add_argument("--observers", type=int, default=6_000)
    OPTIONS = parser.parse_args()
    BINARY = OPTIONS.binary
    sys.exit(main())
