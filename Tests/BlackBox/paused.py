#!/usr/bin/env python3
"""A pause of the broker ends no lease that its owner had no chance to renew: against a broker of its own.

    paused.py PATH/TO/belfry      needs nothing but Python

The process is stopped (SIGSTOP) for longer than all leases, and goes on (SIGCONT). Then a client that was away resumes,
a mailbox is read, a mode is still entered, and a connection whose pings could not be answered is open. When the
broker runs, the same leases end.
"""

import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../Benchmarks"))
import support  # noqa: E402
from abusing.sending import call, connect  # noqa: E402

LEASE_SECONDS = 5
PAUSE_SECONDS = 8
# A pause counts for two seconds at most (decision 63), and a lease may end a beat late.
SLACK_SECONDS = 4
OPTIONS = ["--in-memory", "--ping-interval", "1s", "--pong-timeout", "3s"]


def check(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


def ask(port, method, path, content=None):
    """The status and the JSON of an answer."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", json.dumps(content).encode() if content else None,
        {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            text = answer.read()
            return answer.status, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        return error.code, None


def is_open(client, seconds):
    """Whether a session lives for so long; it answers pings."""
    deadline = time.monotonic() + seconds
    client.socket.settimeout(0.1)
    while time.monotonic() < deadline:
        try:
            opcode, payload = client.next_frame()
        except TimeoutError:
            continue
        except (ConnectionError, OSError):
            return False
        if opcode == 9:
            client.socket.sendall(support.text_frame(payload, opcode=10))
        if opcode == 8:
            return False
    return True


def prepare(port):
    """A client that is away, a mailbox and a mode, each with the lease; and a session that stays."""
    away = connect(port)
    answer = call(away, "addObserver", name="Away", lease=LEASE_SECONDS)
    check("result" in answer, f"an observer is refused: {answer}")
    away.close()
    status, box = ask(port, "POST", "/v1/observers", {"name": "Box", "lease": LEASE_SECONDS})
    check(status == 201, f"a mailbox is answered with {status}")
    status, _ = ask(port, "POST", "/v1/modes", {"mode": "paused", "lease": LEASE_SECONDS})
    check(status == 201, f"a mode is answered with {status}")
    return away.welcome["session"], box["id"]


def modes(port):
    return b"paused" in json.dumps(ask(port, "GET", "/v1/modes")[1]).encode()


def living(port, box):
    """What is left of the three."""
    _, listing = ask(port, "GET", "/v1/observers?name=Away")
    return {
        "the client that is away": bool(listing["observers"]),
        "the mailbox": ask(port, "GET", f"/v1/observers/{box}")[0] == 200,
        "the mode": modes(port),
    }


def main(binary):
    with support.Broker(path=binary, options=OPTIONS) as broker:
        port = broker.port
        stays = connect(port)
        check(is_open(stays, 2), "a session ends before the pause")
        session, box = prepare(port)
        os.kill(broker.pid, signal.SIGSTOP)
        time.sleep(PAUSE_SECONDS)
        os.kill(broker.pid, signal.SIGCONT)
        # All that could happen at once has happened when a second look is answered.
        ask(port, "GET", "/v1/centers")
        left = living(port, box)
        for what, is_there in left.items():
            check(is_there, f"a pause of {PAUSE_SECONDS} s ended {what}")
        back = connect(port)
        answer = call(back, "resume", session=session)
        check("result" in answer, f"the client that was away cannot resume: {answer}")
        back.close()
        check(is_open(stays, 4), "the pause ended a session whose pings could not be answered")
        print(f"after a pause of {PAUSE_SECONDS} s all leases of {LEASE_SECONDS} s are there")

        # The last of them began again with the end of the connection that resumed.
        deadline = time.monotonic() + LEASE_SECONDS + SLACK_SECONDS
        while any(living(port, box).values()):
            check(time.monotonic() < deadline, f"leases do not end: {living(port, box)}")
            time.sleep(0.1)
        print("and they end when the broker runs")


if __name__ == "__main__":
    main(sys.argv[1])
