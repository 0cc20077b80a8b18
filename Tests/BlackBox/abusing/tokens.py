"""Loads of credentials: tokens whose signatures must be verified, and keys and tokens that nobody has."""

import base64
import functools
import hashlib
import hmac
import json
import os
import subprocess
import tempfile
import time

from .clients import expect, support
from .sending import add, told

SECRET = b"0123456789abcdef0123456789abcdef"
KEYS = {
    "RS256": (["RSA", "-pkeyopt", "rsa_keygen_bits:4096"], 512),
    "ES256": (["EC", "-pkeyopt", "ec_paramgen_curve:P-256"], 64),
    "EdDSA": (["ed25519"], 64),
}
FOLDER = tempfile.TemporaryDirectory(prefix="belfry-abuse-")


def encoded(bytes_):
    return base64.urlsafe_b64encode(bytes_).rstrip(b"=")


@functools.cache
def key_options():
    """The options of a broker with a key of each kind."""
    rows = [{"kid": "HS256", "alg": "HS256", "secret": encoded(SECRET).decode()}]
    for name, (kind, _) in KEYS.items():
        private = subprocess.run(
            ["openssl", "genpkey", "-algorithm", *kind], check=True, capture_output=True).stdout
        public = subprocess.run(
            ["openssl", "pkey", "-pubout"], input=private, check=True, capture_output=True).stdout
        rows.append({"kid": name, "alg": name, "pem": public.decode()})
    path = os.path.join(FOLDER.name, "keys.json")
    with open(path, "w") as file:
        json.dump({"jwt": rows}, file)
    os.chmod(path, 0o600)
    return ["--keys", path]


def token(algorithm, number):
    """A token that is good but for its signature; of HS256 that is good too."""
    claims = {"sub": f"s{number}", "exp": int(time.time()) + 600,
              "belfry": {"grants": [{"verbs": ["post"]}]}}
    text = b".".join(
        encoded(json.dumps(part).encode()) for part in ({"alg": algorithm, "kid": algorithm}, claims))
    if algorithm == "HS256":
        signature = hmac.new(SECRET, text, hashlib.sha256).digest()
    else:
        signature = hashlib.shake_128(text).digest(KEYS[algorithm][1])
    return text + b"." + encoded(signature)


def flood(target, tokens, connections=20):
    """Sends a post with each token, over several connections at once."""
    requests = [
        b"POST /v1/channels/T HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
        b"Content-Length: 2\r\n\r\n{}" % text for text in tokens]
    clients = [support.HTTPClient(target.port) for _ in range(connections)]
    target.begin()
    for number, client in enumerate(clients):
        client.socket.settimeout(60)
        client.send(b"".join(requests[number::connections]))
    counts = {}
    for number, client in enumerate(clients):
        for _ in requests[number::connections]:
            status, _content = client.responses(1)
            add(counts, {status: 1})
    return told(counts)


def load(algorithm, count):
    def tokens(target):
        return flood(target, [token(algorithm, n) for n in range(target.count(count))])
    tokens.__name__ = f"{count:,} tokens, {algorithm}"
    tokens.make_options = key_options
    return tokens


def unknown_keys(target):
    """Secrets of keys that nobody has."""
    return flood(target, [
        b"belfry_" + encoded(hashlib.sha256(b"%d" % n).digest()) for n in range(target.count(5_000))])


def tickets(target):
    """One caller asks for 20,000 tickets."""
    good = token("HS256", 0)
    request = (b"POST /v1/tickets HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
               b"Content-Length: 0\r\n\r\n" % good)
    client, counts = support.HTTPClient(target.port), {}
    client.socket.settimeout(60)
    target.begin()
    for _ in range(target.count(200)):
        client.send(request * 100)
        for _ in range(100):
            add(counts, {client.responses(1)[0]: 1})
    expect(set(counts) <= {200, 201, 429, 503}, told(counts))
    return told(counts)


unknown_keys.make_options = tickets.make_options = key_options
LOADS = [
    load("HS256", 5_000), load("RS256", 5_000), load("ES256", 5_000), load("EdDSA", 5_000), unknown_keys, tickets,
]
