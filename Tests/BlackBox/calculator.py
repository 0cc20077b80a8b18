#!/usr/bin/env python3
"""Starts the calculator as its README says, presses keys, and ends it: nothing is left.

    Tests/BlackBox/calculator.py BINARY MODEL1
"""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 60


def start(*arguments, **environment):
    programs = {"BELFRY": sys.argv[1], "MODEL1": sys.argv[2], **environment}
    return subprocess.Popen(
        [ROOT / "Examples/Calculator/run", *arguments], env={**os.environ, **programs}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def press(broker, key):
    query = urllib.parse.urlencode({"object": key})
    request = urllib.request.Request(f"{broker}/v1/channels/BUTTONCHANGE?{query}", method="POST")
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        assert json.load(answer)["matched"] == 2, "both models observe"


def displays(broker, count):
    """What the two displays show, from the first event on to this count of presses."""
    shown = {}
    url = f"{broker}/v1/events?name=ACCUMULATORCHANGE&name=COUNTCHANGE"
    with urllib.request.urlopen(url, timeout=PATIENCE) as stream:
        for key in "7*6=":
            press(broker, key)
        for line in stream:
            if line.startswith(b"data: "):
                notification = json.loads(line[6:])
                shown[notification["name"]] = notification["object"]
                if shown == {"ACCUMULATORCHANGE": "42", "COUNTCHANGE": str(count)}:
                    return


def refuses(told, *arguments, **environment):
    """The example fails with this, and ends."""
    output, errors = start(*arguments, **environment).communicate(timeout=PATIENCE)
    assert "Ctrl-C" not in output and told in errors, errors
    print("ok   it says:", told)


def main():
    # A shell takes no trap for a signal that it found ignored, as what runs in the background does.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder
        example = start()
        found = re.search(r"http://[\d.:]+(?=/\?broker=(\S+))", example.stdout.readline())
        assert found, example.communicate(timeout=PATIENCE)
        with urllib.request.urlopen(found.group(0), timeout=PATIENCE) as page:
            assert b"Calculator" in page.read(), "the page is the calculator's"
        displays(found.group(1), 4)
        print("ok   7 * 6 = shows 42 and 4 presses")
        example.send_signal(signal.SIGINT)
        example.communicate(timeout=PATIENCE)
        assert example.returncode == 0, example.returncode
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = str(other.getsockname()[1])
            refuses("the page-server ended at once", port)
            refuses("the broker ended at once", "0", port)
        refuses("the first-model ended at once", MODEL1="/bin/false")
        assert os.listdir(folder) == [], os.listdir(folder)
        print("ok   nothing is left")


main()
