#!/usr/bin/env python3
"""What grants do not cover, from outside: is it neither seen nor taken away (decision 122)?

    covered.py PATH/TO/belfry      needs nothing but Python

It starts brokers with a key file and a data directory, and asks with narrow keys: tags and
conditions of values, responders of others, values below a leaf, the way of an ask, links to `/try`.
Tags must be the same after a restart, and others at another broker.
"""
import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from access import check, write

EVERYTHING = ["post", "observe", "inspect", "admin", "wildcard", "immediate", "acknowledge",
              "modes", "forever", "respond", "ask", "read", "set"]
GRANTS = {
    "all": [{"verbs": EVERYTHING}],
    "setter": [{"verbs": ["set"]}],
    "below": [{"verbs": ["set", "read"], "names": ["a.b*"]}],
    "f": [{"verbs": ["respond"], "names": ["f"]}],
    "g": [{"verbs": ["respond"], "names": ["g"]}],
    "looker": [{"verbs": ["inspect"], "objects": ["R"]}],
    "asker": [{"verbs": ["ask"], "objects": ["R"]}],
}


class Broker:
    def __init__(self, binary, folder, name):
        self.tokens, rows = {}, []
        for key, grants in GRANTS.items():
            token, row = subprocess.run(
                [binary, "gen-token", key, "--grants", "post"], check=True, text=True,
                capture_output=True).stdout.splitlines()
            self.tokens[key] = token
            rows.append(json.loads(row) | {"grants": grants})
        self.keys = os.path.join(folder, f"{name}.json")
        write(self.keys, json.dumps({"keys": rows}))
        self.binary, self.data = binary, os.path.join(folder, name)
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "serve", "--listen", "127.0.0.1:0", "--log-format", "json",
             "--data", self.data, "--keys", self.keys, "--anonymous-grants", "inspect"],
            stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            entry = json.loads(line)
            if entry["message"] == "listening":
                self.port = int(entry["addresses"].rsplit(":", 1)[1])
                return

    def stop(self):
        self.process.terminate()
        check(self.process.wait(30) == 0, "the broker did not stop cleanly")

    def ask(self, key, method, path, body=None, **fields):
        """Status, tag and content of an answer."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", method=method,
            data=None if body is None else json.dumps(body).encode())
        if key:
            request.add_header("Authorization", f"Bearer {self.tokens[key]}")
        request.add_header("Content-Type", "application/json")
        for name, value in fields.items():
            request.add_header(name.replace("_", "-"), value)
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                status, content, tag = response.status, response.read(), response.headers["ETag"]
        except urllib.error.HTTPError as error:
            status, content, tag = error.code, error.read(), error.headers["ETag"]
        try:
            return status, tag, json.loads(content or b"null")
        except ValueError:
            return status, tag, content.decode()


def tags(one, other):
    _, tag, _ = one.ask("all", "PUT", "/v1/values/safe/pin", "4711")
    _, foreign, _ = other.ask("all", "PUT", "/v1/values/safe/pin", "4711")
    check(tag and foreign and tag != foreign, "two brokers have one tag for one value")
    for method, body in [("PATCH", {}), ("PUT", "4711")]:
        status, seen, written = one.ask("setter", method, "/v1/values/safe/pin", body)
        check((status, seen) == (200, None) and "etag" not in written, (method, seen, written))
        for field in ["If_Match", "If_None_Match"]:
            for condition in [tag, '"0"', "*"]:
                status, seen, problem = one.ask(
                    "setter", method, "/v1/values/safe/pin", body, **{field: condition})
                check((status, seen) == (403, None) and "etag" not in problem, problem)
    one.stop()
    one.start()
    status, again, value = one.ask("all", "GET", "/v1/values/safe/pin")
    check((status, value) == (200, "4711") or value == {}, value)
    _, again, _ = one.ask("all", "PUT", "/v1/values/safe/pin", "4711")
    check(again == tag, "the tag is another one after a restart")


def responders(broker):
    status, _, held = broker.ask(
        "f", "POST", "/v1/observers", {"object": "held", "implements": ["f"]})
    check(status == 201, held)
    status, _, problem = broker.ask(
        "g", "POST", "/v1/observers", {"object": "held", "implements": ["g"]})
    check(status == 409 and problem["type"].endswith("/already-held"), problem)
    path = f"/v1/observers/{held['token']}"
    check(broker.ask(None, "GET", path)[0] == 200, "it was evicted")
    status, _, taken = broker.ask(
        "all", "POST", "/v1/observers", {"object": "held", "implements": ["g"]})
    check(status == 201, taken)
    check(broker.ask(None, "GET", f"{path}/notifications")[0] == 410, "it holds on")


def leaves(broker):
    broker.ask("all", "PUT", "/v1/values/tree", {"a": "text"})
    for method in ["PUT", "PATCH"]:
        status, _, problem = broker.ask("below", method, "/v1/values/tree/a.b", {"c": 1})
        check(status == 403 and problem["name"] == "a", problem)
    check(broker.ask("all", "GET", "/v1/values/tree")[2] == {"a": "text"}, "the leaf is gone")
    check(broker.ask("below", "PUT", "/v1/values/other/a.b", 1)[0] == 201, "nothing was there")


def ways(broker):
    for body in [{"object": "R", "implements": ["other"], "next": "S"},
                 {"object": "S", "implements": ["f"]}]:
        check(broker.ask("all", "POST", "/v1/observers", body)[0] == 201, body)
    look = "/v1/explain?object=R&selector=f"
    whole, part = (broker.ask(key, "GET", look)[2]["ask"] for key in ["all", "looker"])
    check(whole["path"] == ["R", "S"] and "observer" in whole and "partial" not in whole, whole)
    check(part["path"] == ["R"] and part["partial"] is True and "observer" not in part, part)
    ask = "/v1/responders/R/nope"
    whole, part = (broker.ask(key, "POST", ask, {})[2] for key in ["all", "asker"])
    check(whole["path"] == ["R", "S"] and "partial" not in whole, whole)
    check(part["path"] == ["R"] and part["partial"] is True, part)


def links(broker):
    status, _, page = broker.ask(None, "GET", "/try?center=made&name=n")
    check(status == 200 and "<button" in page, page)
    check(broker.ask("all", "GET", "/v1/centers/made/overview")[0] == 404, "a link made a center")


def main(binary, folder):
    one, other = Broker(binary, folder, "one"), Broker(binary, folder, "other")
    try:
        for part in [responders, leaves, ways, links]:
            part(one)
        tags(one, other)
    finally:
        for broker in [one, other]:
            broker.stop()
    print("what grants do not cover: all checks passed, 0 failed")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="belfry-covered-") as temporary:
        main(sys.argv[1], temporary)
