#!/usr/bin/env python3
"""Starts the timers as their README says, tries what it says, and ends them: nothing is left.

    Tests/BlackBox/timers.py [BINARY]
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "Examples/Timers"
BINARY = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / ".build/debug/belfry")
PATIENCE = 60


def script(name, *arguments, **options):
    return subprocess.run(
        [EXAMPLE / name, *arguments], check=True, text=True, capture_output=True, timeout=PATIENCE,
        **options).stdout


def request(url, body=None, method=None, wait=None):
    headers = {"Content-Type": "application/json"}
    if wait is not None:
        headers["Prefer"] = f"wait={wait}"
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
        return json.load(answer)


class Mailbox:
    """Reads what is posted, across the deaths of the broker."""

    def __init__(self, broker):
        self.broker = broker
        self.token = request(f"{broker}/v1/observers", {})["token"]
        self.after = 0

    def next(self, name):
        """The next notification of a name; others are passed over."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                url = f"{self.broker}/v1/observers/{self.token}/notifications?limit=1&after={self.after}"
                page = request(url, wait=10)
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.05)
                continue
            self.after = page["next"]
            for notification in page["notifications"]:
                if notification["name"] == name:
                    return notification
        sys.exit(f"no {name} came")


def main():
    # A shell takes no trap for a signal that it found ignored, as what runs in the background does.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "BELFRY": BINARY, "TMPDIR": folder}
        example = subprocess.Popen(
            [EXAMPLE / "run"], env=environment, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        found = re.search(r"is (http://\S+), and its process (\d+)", example.stdout.readline())
        assert found, example.communicate(timeout=PATIENCE)
        broker, process = found.group(1), int(found.group(2))
        mailbox = Mailbox(broker)

        answer = json.loads(script("reminder", "tea", "0.5", broker))
        reminder = mailbox.next("Reminder")
        assert reminder["id"] == answer["id"] and reminder["userInfo"] == {"word": "tea"}
        assert reminder["postedAt"] >= answer["dueAt"], (reminder, answer)
        print("ok   a reminder comes, and not before its time")

        answers = script("type", "letter", broker, input="a\nb\nc\n").splitlines()
        assert [json.loads(line).get("dequeued") for line in answers] == [None, 1, 1], answers
        assert mailbox.next("Save")["id"] == json.loads(answers[-1])["id"]
        print("ok   of a burst the last is saved")

        ending = script("report", "0.3", broker)
        first = mailbox.next("Report")
        os.kill(process, signal.SIGKILL)
        later = [mailbox.next("Report") for _ in range(3)]
        assert {report["causedBy"] for report in later} == {first["causedBy"]}, later
        while "goes on as process" not in example.stdout.readline():
            pass
        subprocess.run(ending.split(), check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        print("ok   reports go on behind kill -9")

        def present(name):
            here = subprocess.Popen([EXAMPLE / "present", name, broker], text=True, stdout=subprocess.PIPE)
            assert here.stdout.readline() == f"{name} is here.\n"
            return here

        polite = present("bob")
        polite.send_signal(signal.SIGINT)
        assert polite.communicate(timeout=PATIENCE)[0] == "bob says goodbye.\n"
        gone = present("ann")
        gone.kill()
        gone.communicate(timeout=PATIENCE)
        # What bob had left behind would have come before.
        assert mailbox.next("Left")["object"] == "ann"
        print("ok   a farewell is posted for who went without a word, and for nobody else")

        assert request(f"{broker}/v1/queue")["entries"] == []
        example.send_signal(signal.SIGINT)
        example.communicate(timeout=PATIENCE)
        assert example.returncode == 0, example.returncode
        assert os.listdir(folder) == [], os.listdir(folder)
        print("ok   nothing is left")


main()
