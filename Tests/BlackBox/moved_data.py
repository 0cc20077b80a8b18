#!/usr/bin/env python3
"""A data directory that is moved or removed under the broker: is each request answered, and truly?

    Tests/BlackBox/moved_data.py BELFRY

What is checked is decision 113, with `--store-answer-timeout 2s`:

- what is under way when the directory goes is answered 504 `outcome-unknown` within 3 s; over a
  WebSocket with the same problem; what comes later is answered 503 at once;
- posts that nobody holds go on with 200;
- when the directory is moved back, the same idempotency key brings the answer of the first request,
  everything is taken again, and nothing that was answered with success is missing, also after kill -9;
- with a directory that is gone the broker ends within 2 s of SIGTERM, and answers who waits.

Exit code 0 when all of it holds.
"""

import json
import os
import shutil
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import crash  # noqa: E402
import support  # noqa: E402
from crashing import TIMEOUT, Connection, Violation  # noqa: E402

PATIENCE = 2
PROMISES = [
    ("POST", "/v1/channels/Held", {"t": "unknown"}, {"Idempotency-Key": "k"}),
    ("POST", "/v1/channels/Free?style=idle", {}, {}),
    ("POST", "/v1/channels/Free?after=60", {}, {}),
    ("POST", "/v1/observers", {"name": "Other"}, {}),
    ("PUT", "/v1/values/thermostat", {"degrees": 20}, {}),
]


def expect(holds, text):
    if not holds:
        raise Violation(text)


class Story:
    def __init__(self, path, directory):
        os.environ["BELFRY_STORE_ANSWER_TIMEOUT"] = f"{PATIENCE}s"
        self.path = path
        self.data = os.path.join(directory, "data")
        self.away = os.path.join(directory, "away")
        self.answered = []
        self.start()
        self.token = self.connection.mailbox({"name": "Held"})

    def start(self):
        self.broker = crash.Broker(self.path, self.data, "power")
        self.connection = Connection(self.broker.port)

    def post_held(self):
        """Posts for the mailbox; tells the status."""
        text = f"n{len(self.answered)}"
        status, answer, _ = Connection(self.broker.port).ask(
            "POST", "/v1/channels/Held", {"t": text})
        if status == 200:
            expect(answer["held"] == 1, f"it is not held: {answer}")
            self.answered.append(text)
        return status

    def ask_all(self):
        """Asks for every promise at once, each on a connection of its own; tells what came and when."""
        found = [None] * (len(PROMISES) + 1)

        def ask(place):
            method, path, content, fields = PROMISES[place]
            began = time.monotonic()
            try:
                status, answer, _ = Connection(self.broker.port).ask(method, path, content, fields)
            except OSError as error:
                status, answer = 0, {"type": repr(error)}
            found[place] = (status, answer or {}, time.monotonic() - began, path)

        def call():
            began = time.monotonic()
            client = support.WebSocketClient(self.broker.port)
            client.socket.settimeout(TIMEOUT)
            client.next_frame()
            client.send_text(json.dumps(
                {"jsonrpc": "2.0", "id": 1, "method": "addObserver", "params": {"name": "Call"}}))
            problem = json.loads(client.next_frame()[1]).get("error", {}).get("data", {})
            found[-1] = (problem.get("status"), problem, time.monotonic() - began, "a call")
            client.close()

        threads = [threading.Thread(target=ask, args=(place,)) for place in range(len(PROMISES))]
        threads.append(threading.Thread(target=call))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        return found

    def check_unkept(self):
        """The directory has just gone: nothing is promised, and everybody is answered in time."""
        unknown = 0
        for row in self.ask_all():
            expect(row is not None, "somebody was not answered at all")
            status, answer, seconds, what = row
            kind = answer.get("type", "").rsplit("/", 1)[-1]
            good = (status, kind) in [(504, "outcome-unknown"), (503, "store-unavailable")]
            expect(good, f"{what} was answered {status} {answer}")
            expect(seconds < PATIENCE + 1, f"{what} was answered after {seconds:.1f} s")
            unknown += status == 504
        expect(unknown > 0, "nothing was under way")
        began = time.monotonic()
        expect(self.post_held() == 503, "a store that is gone promises")
        expect(time.monotonic() - began < 1, "a refusal took long")
        status, receipt, _ = Connection(self.broker.port).ask("POST", "/v1/channels/Free", {})
        expect(status == 200, f"a plain post was answered {status} {receipt}")
        return unknown

    def check_back(self):
        """The directory is back: everything is taken again, and nothing is missing."""
        began = time.monotonic()
        while self.post_held() != 200:
            expect(time.monotonic() - began < 15, "it does not heal")
            time.sleep(0.05)
        healing = time.monotonic() - began
        method, path, content, fields = PROMISES[0]
        status, answer, _ = Connection(self.broker.port).ask(method, path, content, fields)
        expect(status == 200, f"the same key was answered {status} {answer}")
        for _ in range(10):
            expect(self.post_held() == 200, "it is back, and refuses")
        self.check_mailbox("after the directory came back")
        self.broker.kill()
        self.start()
        self.check_mailbox("after kill -9")
        return healing

    def check_mailbox(self, when):
        """What was answered is there in order, and of the rest no more than was told to be unknown."""
        status, page, _ = self.connection.ask(
            "GET", f"/v1/observers/{self.token}/notifications?limit=1000")
        expect(status == 200 and not page["gaps"], f"{when}: {status} {page}")
        found = [note["userInfo"]["t"] for note in page["notifications"]]
        known = [text for text in found if text != "unknown"]
        expect(known == self.answered, f"{when}: {self.answered} were promised, {known} are there")
        expect(found.count("unknown") == 1, f"{when}: what was posted with a key is there {found}")


def moved(path, directory):
    story = Story(path, directory)
    try:
        for _ in range(10):
            expect(story.post_held() == 200, "a store that is there refuses")
        os.rename(story.data, story.away)
        unknown = story.check_unkept()
        os.rename(story.away, story.data)
        healing = story.check_back()
        print(f"moved: {unknown} of {len(PROMISES) + 1} promises unknown, taken again after "
              f"{healing:.1f} s, {len(story.answered)} posts kept")
    except Violation:
        print(story.broker.text(), file=sys.stderr)
        raise
    finally:
        story.broker.kill()


def removed(path, directory):
    story = Story(path, directory)
    try:
        shutil.rmtree(story.data)
        waiting = []
        asking = threading.Thread(target=lambda: waiting.extend(story.ask_all()))
        asking.start()
        time.sleep(0.5)
        began = time.monotonic()
        story.broker.process.terminate()
        story.broker.process.wait(30)
        seconds = time.monotonic() - began
        asking.join(30)
        expect(seconds < 2, f"the broker ended after {seconds:.1f} s")
        for row in waiting:
            expect(row is not None and row[0] in (503, 504), f"somebody was answered {row}")
        print(f"removed: the broker ended after {seconds:.1f} s, and all were answered")
    except Violation:
        print(story.broker.text(), file=sys.stderr)
        raise
    finally:
        if story.broker.process.poll() is None:
            story.broker.kill()


def main():
    path = os.path.abspath(sys.argv[1])
    try:
        for tell in (moved, removed):
            directory = tempfile.mkdtemp(prefix="belfry-moved.")
            try:
                tell(path, directory)
            finally:
                shutil.rmtree(directory, ignore_errors=True)
    except Violation as fault:
        print(f"FAILED: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
