"""Loads of handshakes: connections are opened first, then a whole ClientHello is sent on each at once."""

import time

from .flooding import client_hello, ended, open_many


def handshakes(target, count):
    hello = client_hello()
    clients = open_many(target, target.tls_port, target.count(count))
    target.begin()
    for client in clients:
        try:
            client.send(hello)
        except OSError:
            pass
    answered, waiting, deadline = 0, set(clients), time.monotonic() + target.seconds
    while waiting and time.monotonic() < deadline:
        for client in list(waiting):
            try:
                answered += bool(client.recv(16_384))
            except BlockingIOError:
                continue
            except OSError:
                pass
            waiting.discard(client)
        time.sleep(0.01)
    return f"{answered:,} of {len(clients):,} hellos answered, {ended(clients):,} connections ended"


def load(kind, count):
    """The load of so many handshakes with one kind of key."""
    def hellos(target):
        return handshakes(target, count)
    hellos.__name__ = f"{count:,} handshakes, {kind}"
    hellos.key_kind = kind
    return hellos


LOADS = [
    load("ECDSA P-256", 3_000), load("ECDSA P-384", 3_000), load("Ed25519", 3_000), load("RSA 2048", 1_500),
    load("RSA 4096", 600), load("RSA 4096", 3_000),
]
