#!/usr/bin/env python3
"""Keys, tokens and their rotation, against a broker of its own.

    access.py PATH/TO/belfry      needs nothing but Python

It starts the broker with a key file and a key set, asks with good and bad credentials, changes the
files, sends SIGHUP, and looks what became of streams and requests.
"""
import base64
import hashlib
import hmac
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

passed = 0


def check(condition, text):
    global passed
    assert condition, text
    passed += 1


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwt(kid, secret, claims, algorithm="HS256"):
    head = base64url(json.dumps({"alg": algorithm, "kid": kid}).encode())
    signed = f"{head}.{base64url(json.dumps(claims).encode())}"
    return f"{signed}.{base64url(hmac.new(secret, signed.encode(), hashlib.sha256).digest())}"


def key_set(**secrets):
    rows = [{"kty": "oct", "alg": "HS256", "kid": kid, "k": base64url(secret)}
            for kid, secret in secrets.items()]
    return json.dumps({"keys": rows})


def write(path, text):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)


class Broker:
    def __init__(self, binary, *options):
        self.process = subprocess.Popen(
            [binary, "serve", "--listen", "127.0.0.1:0", "--in-memory", "--log-format", "json",
             *options], stderr=subprocess.PIPE, text=True)
        self.address = ("127.0.0.1", int(self.entry("listening")["addresses"].rsplit(":", 1)[1]))

    def entry(self, message):
        """The next entry of the log with this message."""
        for line in self.process.stderr:
            entry = json.loads(line)
            if entry["message"] == message:
                return entry
        raise AssertionError(f"the log ended before `{message}`")

    def post(self, token=None, target="/v1/channels/Sale"):
        """The status of a post."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.address[1]}{target}", data=b"{}", method="POST")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return response.status
        except urllib.error.HTTPError as error:
            return error.code

    def stream(self, token):
        """An event stream, read up to its first comment."""
        stream = socket.create_connection(self.address, timeout=10)
        stream.sendall(
            f"GET /v1/events?name=Sale HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode())
        head = stream.recv(4096)
        check(head.startswith(b"HTTP/1.1 200"), head)
        return stream

    def reload(self, message):
        self.process.send_signal(signal.SIGHUP)
        return self.entry(message)


def ends(stream):
    """Whether a stream ends by itself."""
    try:
        while stream.recv(4096):
            pass
        return True
    except TimeoutError:
        return False


def main(binary, folder):
    keys, jwks = os.path.join(folder, "keys.json"), os.path.join(folder, "jwks.json")
    token, row = subprocess.run(
        [binary, "gen-token", "till", "--grants", "post,observe"], check=True, text=True,
        capture_output=True).stdout.splitlines()
    check(re.fullmatch(r"belfry_[A-Za-z0-9_-]{43}", token), token)
    check(token not in row and json.loads(row)["id"] == "till", row)
    old, new = os.urandom(32), os.urandom(32)
    write(keys, json.dumps({"keys": [json.loads(row)]}))
    write(jwks, key_set(old=old))
    broker = Broker(
        binary, "--keys", keys, "--jwks", jwks, "--anonymous-grants", "", "--jwt-issuer", "us")
    try:
        grants = {"grants": [{"verbs": ["post", "observe"], "names": ["Sale*"]}]}
        claims = {"sub": "a", "iss": "us", "exp": time.time() + 600, "belfry": grants}
        good = jwt("old", old, claims)
        check(broker.post() == 401, "no credentials")
        check(broker.post(token) == 200, "the key")
        check(broker.post(token[:-1]) == 401, "a key that is cut")
        for _ in range(2):
            check(broker.post(good) == 200, "a token")
        check(broker.post(good, "/v1/channels/Door") == 403, "a name that is not granted")
        for name, bad in {
            "expired": jwt("old", old, claims | {"exp": time.time() - 1}),
            "not yet valid": jwt("old", old, claims | {"nbf": time.time() + 60}),
            "of another issuer": jwt("old", old, claims | {"iss": "them"}),
            "for somebody else": jwt("old", old, claims | {"aud": "them"}),
            "with the name of a key": jwt("old", old, claims | {"sub": "till"}),
            "of another key": jwt("old", new, claims),
            "of an unknown key": jwt("new", new, claims),
            "none": jwt("old", old, claims, "none"),
            "tampered": good[:-2] + ("AA" if good[-2:] != "AA" else "BB"),
            "oversized": jwt("old", old, claims | {"pad": "x" * 8_000}),
        }.items():
            check(broker.post(bad) in (401, 431), name)
        keyed, signed = broker.stream(token), broker.stream(good)
        brief = broker.stream(jwt("old", old, claims | {"exp": time.time() + 2}))
        check(ends(brief), "a stream outlived its token")

        write(jwks, "{")
        entry = broker.reload("the keys stay as they were")
        check("--jwks: line 1" in entry["reason"], entry)
        check(broker.post(good) == 200, "a broken file must change nothing")

        write(jwks, key_set(new=new))
        broker.reload("configuration reloaded")
        broker.entry("configuration reloaded")
        check(ends(signed), "the stream of a key that is gone")
        check(broker.post(good) == 401, "a token of a key that is gone")
        check(broker.post(jwt("new", new, claims)) == 200, "a token of the new key")
        check(broker.post(token) == 200, "a key that stayed")
        keyed.settimeout(0.5)
        check(not ends(keyed), "the stream of a key that stayed")
    finally:
        broker.process.terminate()
        broker.process.wait(30)
    check(broker.process.returncode == 0, "the broker did not stop cleanly")
    print(f"keys and tokens: {passed} passed, 0 failed")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="belfry-access-") as temporary:
        main(sys.argv[1], temporary)
