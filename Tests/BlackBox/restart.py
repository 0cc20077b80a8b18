#!/usr/bin/env python3
"""How brokers start beside each other, and follow each other on one data directory.

    Tests/BlackBox/restart.py [BINARY]

A second broker on an address is refused, with one loop and with two; two loops get as many connections; a
new process waits for the data of the old one, and has all that was answered; with a drain delay the broker
works on and is not ready; an idle connection does not hold up the end.
"""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

from broker_log import BrokerLog

BINARY = sys.argv[1] if len(sys.argv) > 1 else ".build/debug/belfry"
PATIENCE = 60
faults = []


class Broker:
    def __init__(self, *options, listen="127.0.0.1:0"):
        self.log = BrokerLog()
        self.process = subprocess.Popen(
            [BINARY, "serve", "--listen", listen, *options], stdout=subprocess.DEVNULL,
            stderr=self.log)

    def text(self):
        return self.log.text()

    def wait_for(self, pattern):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = re.search(pattern, self.text())
            if found:
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        sys.exit(f"nothing like {pattern} in:\n{self.text()}")

    def port(self):
        return int(self.wait_for(r'"listening".*?127\.0\.0\.1:(\d+)').group(1))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)

    def code(self):
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None


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


def sockets_of_loops(pid):
    """How many descriptors each epoll of the process watches."""
    counts = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            if "eventpoll" in os.readlink(f"/proc/{pid}/fd/{name}"):
                with open(f"/proc/{pid}/fdinfo/{name}") as file:
                    counts.append(sum(line.startswith("tfd:") for line in file))
        except OSError:
            continue
    return sorted(counts)


def ports():
    for loops in ("1", "2"):
        first = Broker("--in-memory", "--loops", loops)
        port = first.port()
        second = Broker("--in-memory", "--loops", loops, listen=f"127.0.0.1:{port}")
        code = second.code()
        told = second.text()
        check(f"a second broker is refused with --loops {loops}",
              code == 1 and "Address already in use" in told and str(port) in told, told)
        if loops == "2":
            before = sockets_of_loops(first.process.pid)
            clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
            # Each has an answer, so each has its loop.
            for client in clients:
                client.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
                client.recv(4096)
            after = sockets_of_loops(first.process.pid)
            grown = [b - a for a, b in zip(before, after)]
            check("each of two loops gets half of the connections", grown == [50, 50], grown)
            for client in clients:
                client.close()
        first.stop()
        check("it ends in order", first.code() == 0, first.text())


def limits():
    broker = Broker("--in-memory", "--max-connections", "8000000")
    code = broker.code()
    check("more connections than descriptors are refused",
          code == 1 and "--max-connections 8000000 needs" in broker.text(), broker.text())


def restart(data):
    first = Broker("--data", data)
    port = first.port()
    _, made = ask(port, "POST", "/v1/observers", {"name": "Mail", "lease": 3600})
    token = json.loads(made)["token"]
    other = Broker("--data", data)
    check("a directory that another process has is refused",
          other.code() == 1 and "another broker" in other.text(), other.text())
    second = Broker("--data", data, "--wait-for-data", "60s", listen=f"127.0.0.1:{port}")
    second.wait_for("waiting for the data directory")
    status, receipt = ask(port, "POST", "/v1/channels/Mail", {"n": 1})
    check("the old one answers meanwhile", status == 200, receipt)
    idle = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    ask(port, "GET", "/livez", connection=idle)
    first.stop()
    second.port()
    status, page = ask(port, "GET", f"/v1/observers/{token}/notifications")
    held = json.loads(page).get("notifications", [])
    check("the new one has what the old one answered", len(held) == 1, (status, page))
    begun = time.monotonic()
    check("the old one ends though a connection is idle", first.code() == 0, first.text())
    print(f"     {time.monotonic() - begun:.2f} s after the new one was ready")
    second.stop()
    check("the new one ends in order", second.code() == 0, second.text())
    waiting_for = Broker("--data", data)
    waiting_for.port()
    waiter = Broker("--data", data, "--wait-for-data", "60s")
    waiter.wait_for("waiting for the data directory")
    waiter.stop()
    check("a process that waits can be stopped", waiter.code() == 0, waiter.text())
    waiting_for.stop()
    waiting_for.code()


def delay():
    broker = Broker("--in-memory", "--drain-delay", "1s")
    port = broker.port()
    check("ready before", ask(port, "GET", "/readyz")[0] == 200)
    broker.stop()
    broker.wait_for("not ready any more")
    check("not ready in the delay", ask(port, "GET", "/readyz?verbose")[0] == 503)
    check("posts are taken in the delay", ask(port, "POST", "/v1/channels/a")[0] == 200)
    check("it ends after the delay", broker.code() == 0, broker.text())


def main():
    ports()
    limits()
    with tempfile.TemporaryDirectory(prefix="belfry-restart.") as data:
        restart(data)
    delay()
    print(f"{len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
