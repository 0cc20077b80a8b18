#!/usr/bin/env python3
"""One principal, or one address, fills its share of each kind, and another one still finds room.

    shares.py PATH/TO/belfry      needs nothing but Python

It starts a broker with little memory and two keys. With the first it makes as much of each kind as the
broker lets it; after each kind the second key does the same thing once.
"""
import hashlib
import http.client
import json
import os
import socket
import sys
import tempfile

import access
from access import Broker, check, write

MEMORY = "64MiB"
MOST = 100_000


def key_file(*names):
    rows = [{"id": name, "hash": "sha256:" + hashlib.sha256(f"belfry_{name}".encode()).hexdigest(),
             "grants": [{"verbs": ["post", "observe", "inspect"]}]} for name in names]
    return json.dumps({"keys": rows})


class Caller:
    """Asks with a key, or as an address behind a proxy, on one connection."""

    def __init__(self, broker, key=None, address=None):
        self.broker = broker
        self.fields = {"Content-Type": "application/json"}
        if key:
            self.fields["Authorization"] = f"Bearer belfry_{key}"
        if address:
            self.fields["Forwarded"] = f"for={address}"
        self.connection = http.client.HTTPConnection(*broker.address, timeout=30)

    def ask(self, method, target, content=None, **fields):
        text = None if content is None else json.dumps(content)
        self.connection.request(method, target, text, {**self.fields, **fields})
        response = self.connection.getresponse()
        answer = response.read()
        return response.status, json.loads(answer) if answer else None


def fill(make):
    """Makes things until one is refused; tells how many there are, and the refusal."""
    for count in range(MOST):
        status, answer = make(count)
        if status >= 400:
            return count, status, answer
    raise AssertionError(f"{MOST} were made, and none was refused")


def refusable(name, make, status, option, first, second):
    """Makes all that the first caller may have of a kind; then the second caller makes one."""
    count, refused, answer = fill(lambda number: make(first, number))
    check(count > 3, f"{name}: only {count} were made")
    check(refused == status, f"{name}: refused with {refused}, {answer}")
    check(option in answer["detail"], f"{name}: the refusal does not name {option}: {answer}")
    made, answer = make(second, MOST)
    check(made < 400, f"{name}: the other one is refused with {made}, {answer}")
    print(f"{name}: {count}, then {refused}; another one has room")


def observer(caller, number):
    return caller.ask("POST", "/v1/observers", {"name": "n" * 200, "object": f"o{number}"})


def center(caller, number):
    return caller.ask("POST", f"/v1/centers/c{number}/channels/n", {})


def entry(caller, number):
    return caller.ask("POST", "/v1/notifications", {
        "name": f"n{number}", "style": "asap", "modes": ["never"], "userInfo": {"text": "x" * 2_000}})


def answers_to_keys(first, second):
    def post(caller, key):
        return caller.ask("POST", "/v1/channels/k", {}, **{"Idempotency-Key": f'"{key}"'})[1]["id"]

    before = post(second, "first")
    for number in range(6_000):
        post(first, f"{number}-{'k' * 200}")
    check(post(second, "first") == before, "keys: the answer of the other one is forgotten")
    print("keys: 6000 of one principal, and the other one's answer is remembered")


def held(first, second):
    def mailbox(caller):
        status, row = caller.ask("POST", "/v1/observers", {
            "name": "h", "suspensionBehavior": "hold", "holdLimit": 10_000})
        check(status == 201, f"held: no mailbox: {row}")
        return row["token"]

    def gaps(caller, token):
        return caller.ask("GET", f"/v1/observers/{token}/notifications?limit=1")[1]["gaps"]

    others = mailbox(second)
    mine = [mailbox(first) for _ in range(40)]
    # 100 notifications for 40 mailboxes are past a share; those of one mailbox are not.
    for _ in range(100):
        status, receipt = second.ask("POST", "/v1/channels/h", {"text": "x" * 1_000})
        check(status == 200, f"held: a post is refused: {receipt}")
    check(gaps(first, mine[0]), "held: the first one has lost nothing")
    check(not gaps(second, others), "held: the other one has lost something")
    print("held: 40 mailboxes of one principal lose their oldest, the other one's loses nothing")


def connections(broker):
    """Event streams of one key, which has a connection already, until one is refused."""
    def stream(key):
        opened = socket.create_connection(broker.address, timeout=30)
        opened.sendall(b"GET /v1/events?name=e HTTP/1.1\r\nHost: localhost\r\n"
                       + f"Authorization: Bearer belfry_{key}\r\n\r\n".encode())
        return opened, int(opened.recv(4096).split(b" ")[1])

    streams = []
    while len(streams) < 40 and (not streams or streams[-1][1] == 200):
        streams.append(stream("a"))
    check(streams[-1][1] == 429, f"connections: the last of {len(streams)} is {streams[-1][1]}")
    check(len(streams) == 10, f"connections: {len(streams) - 1} streams, and not 9")
    check(stream("b")[1] == 200, "connections: the other one is refused")
    print("connections: 10 of 40, then 429; another one has room")


def main(binary):
    with tempfile.TemporaryDirectory() as directory:
        keys = os.path.join(directory, "keys.json")
        write(keys, key_file("a", "b"))
        options = ["--keys", keys, "--memory-limit", MEMORY, "--max-connections", "40"]
        broker = Broker(binary, *options)
        try:
            first, second = Caller(broker, "a"), Caller(broker, "b")
            pair = (first, second)
            refusable("observers", observer, 503, "--principal-share", *pair)
            refusable("centers", center, 503, "--principal-share", *pair)
            refusable("queue", entry, 503, "--principal-share", *pair)
            answers_to_keys(*pair)
        finally:
            broker.process.kill()
        broker = Broker(binary, *options)
        try:
            pair = Caller(broker, "a"), Caller(broker, "b")
            held(*pair)
            connections(broker)
        finally:
            broker.process.kill()
    broker = Broker(
        binary, "--trust-proxy", "127.0.0.1", "--memory-limit", MEMORY,
        "--anonymous-grants", "post,observe,inspect,modes")
    try:
        pair = Caller(broker, address="192.0.2.1"), Caller(broker, address="192.0.2.2")
        for name, make in (("observers", observer), ("centers", center), ("queue", entry)):
            refusable(f"{name} of an address", make, 503, "--address-share", *pair)
    finally:
        broker.process.kill()
    print(f"{access.passed} checks passed")


if __name__ == "__main__":
    main(sys.argv[1])
