#!/usr/bin/env python3
"""A disk that is full: is what was promised kept, is the rest refused, and does it heal by itself?

    Tests/BlackBox/full_disk.py BELFRY

The data directory lies on a tmpfs of 16 MiB, mounted in a namespace of its own (`unshare -rm`), which a
file fills. What is checked is decision 22:

- what must be stored is refused with 503, a problem document and Retry-After, and has no effect;
- a backup is refused with 503, and is made when there is room;
- posts that nobody holds go on with 200, and so do registrations that end with their connection;
- what was answered before is in the mailbox, in order, once, also after kill -9, after a clean stop on
  the full disk, and after a start on it, however few pages are free;
- when there is room again posts are accepted again, without a restart.

Exit code 0 when all of it holds, and when no tmpfs may be mounted here, which is said.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import crash  # noqa: E402
import support  # noqa: E402
from crashing import TIMEOUT, Connection, Violation  # noqa: E402

MEBIBYTE = 1 << 20
PAGE = 4096
DISK = 16 * MEBIBYTE
HEALING = 15
PATIENCE = 2


class Disk:
    """A small file system with a file that takes what is left of it."""

    def __init__(self, path):
        self.filler = os.path.join(path, "filler")
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", path], check=True)
        self.path = path

    def fill(self):
        """Writes until not a page more fits."""
        with open(self.filler, "ab", buffering=0) as file:
            for size in (MEBIBYTE, 4096):
                try:
                    while file.write(b"\0" * size) == size:
                        pass
                except OSError:
                    pass

    def shorten(self, byte_count):
        """Gives a little room back."""
        os.truncate(self.filler, os.path.getsize(self.filler) - byte_count)

    def free(self):
        os.remove(self.filler)


class Story:
    def __init__(self, path, disk):
        self.path = path
        self.disk = disk
        self.data = os.path.join(disk.path, "data")
        self.answered = []  # texts of held posts that were answered with 200, in order
        self.refused = 0
        self.counter = 0
        self.mailbox = None
        self.broker = None

    def begin(self):
        self.start()
        status, observer, _ = self.connection.ask(
            "POST", "/v1/observers", {"name": "Held", "holdLimit": 10_000})
        self.expect(status == 201, f"a mailbox was answered {status} {observer}")
        self.mailbox = observer["token"]
        status, answer, _ = self.connection.ask("PUT", "/v1/values/removed", {"a": 1})
        self.expect(status == 201, f"a value was answered {status} {answer}")

    def start(self):
        self.broker = None
        self.broker = crash.Broker(self.path, self.data, "power")
        self.connection = Connection(self.broker.port)

    @staticmethod
    def expect(holds, text):
        if not holds:
            raise Violation(text)

    def post_held(self):
        """Posts for the mailbox; tells whether it was accepted."""
        self.counter += 1
        text = f"n{self.counter}"
        status, answer, response = self.connection.ask(
            "POST", "/v1/channels/Held", {"t": text, "filler": "x" * 100})
        if status == 200:
            self.expect(answer["held"] == 1, f"it is not held: {answer}")
            self.answered.append(text)
            return True
        self.check_refusal("a post that is held", status, answer, response)
        self.refused += 1
        return False

    def check_refusal(self, what, status, answer, response):
        self.expect(status == 503, f"{what} was answered {status} {answer}")
        kind = response.getheader("Content-Type")
        self.expect(kind == "application/problem+json", f"{what}: content of type {kind}")
        self.expect(answer["type"].endswith("/store-unavailable"), f"{what}: {answer}")
        self.expect(answer["status"] == 503, f"{what}: {answer}")
        self.expect(int(response.getheader("Retry-After")) >= 1, f"{what}: no Retry-After")

    def fill(self):
        """Fills the disk, also the room that the broker kept free and gives up for what it owes.

        What it finds free when it looks again, each second, it keeps free again, and goes on.
        """
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            self.disk.fill()
            if self.post_held():
                continue
            self.disk.fill()
            time.sleep(2)
            if not self.post_held():
                return
        raise Violation("the disk is full, and posts are still promised")

    def check_full(self):
        """Who needs no disk goes on; who needs it is refused, and nothing of it was done."""
        ask = self.connection.ask
        refused = [
            ("an asap post", "POST", "/v1/channels/Free?style=asap", {}),
            ("an idle post in a batch", "POST", "/v1/notifications",
             [{"name": "Free"}, {"name": "Free", "style": "idle"}]),
            ("a mailbox", "POST", "/v1/observers", {"name": "Free"}),
        ]
        for number in range(300):
            status, receipt, _ = ask("POST", "/v1/channels/Free", {"n": number})
            self.expect(status == 200, f"a plain post was answered {status} {receipt}")
            if number == 0:
                seq = receipt["seq"]
            if number % 100 == 0:
                self.expect(not self.post_held(), "a full disk promises")
                for what, method, path, content in refused:
                    self.check_refusal(what, *ask(method, path, content))
        # The refused batch posted nothing: its plain half would have a number.
        self.expect(receipt["seq"] == seq + 299, f"a refused post got a number: {receipt}")
        self.check_connection_observer()
        rows = ask("GET", "/v1/observers?name=Free")[1]["observers"]
        self.expect(rows == [], f"a refused registration is there: {rows}")
        status, _, _ = ask("GET", "/v1/queue")
        self.expect(status == 200, f"the queue was answered {status}")

    def check_connection_observer(self):
        """An observer that ends with its connection is never stored, so it is taken."""
        client = support.WebSocketClient(self.broker.port)
        client.socket.settimeout(TIMEOUT)
        client.next_frame()
        client.send_text(json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "addObserver",
             "params": {"name": "Live", "lifetime": "connection"}}))
        reply = json.loads(client.next_frame()[1])
        self.expect("result" in reply, f"an observer of a connection was answered {reply}")
        status, receipt, _ = self.connection.ask("POST", "/v1/channels/Live", {})
        self.expect(status == 200 and receipt["delivered"] == 1, f"{status} {receipt}")
        frame = json.loads(client.next_frame()[1])
        self.expect(frame["method"] == "notify", f"no delivery: {frame}")
        client.close()

    def check_backup(self, has_room):
        """A copy that has no room is refused; one that has is whole."""
        self.connection.http.request("POST", "/v1/backup", b"")
        response = self.connection.http.getresponse()
        content = response.read()
        if has_room:
            whole = response.status == 200 and content.startswith(b"SQLite format 3\0")
            self.expect(whole, f"a backup was answered {response.status} {content[:300]}")
            return
        refused = response.status == 503 and b"/backup-failed" in content
        self.expect(refused, f"a backup without room was answered {response.status} {content[:300]}")
        left = [name for name in os.listdir(self.data) if "backup" in name]
        self.expect(not left, f"a backup without room left {left}")

    def begin_with_pages(self, count):
        """Kills the broker; what its ballast took is taken by somebody else; then it starts.

        So many pages are free: none, or enough for a part of a start.
        """
        self.broker.kill()
        ballast = os.path.join(self.data, "belfry.ballast")
        if os.path.exists(ballast):
            os.remove(ballast)
        self.disk.fill()
        self.disk.shorten(count * PAGE)
        self.start()

    def check_without_room(self):
        """Nothing is promised, who needs no disk goes on, and who removes something is answered."""
        # What the start has moved may have left some room.
        self.fill()
        status, receipt, _ = self.connection.ask("POST", "/v1/channels/Free", {})
        self.expect(status == 200, f"a plain post was answered {status} {receipt}")
        self.check_connection_observer()
        started = time.monotonic()
        status, answer, _ = self.connection.ask("DELETE", "/v1/values/removed")
        waited = time.monotonic() - started
        self.expect(status in (200, 503), f"a removal was answered {status} {answer}")
        self.expect(waited < PATIENCE + 1, f"a removal was answered after {waited:.1f} s")
        self.connection = Connection(self.broker.port)
        return status

    def wait_for_healing(self):
        """Posts are accepted again by themselves; tells how long that took."""
        started = time.monotonic()
        while not self.post_held():
            self.expect(time.monotonic() - started < HEALING, "it does not heal")
            time.sleep(0.05)
        return time.monotonic() - started

    def check_mailbox(self, when):
        """Everything that was answered is there, in order, once; nothing that was refused."""
        # One page: to ask for the next one would acknowledge it.
        status, page, _ = self.connection.ask(
            "GET", f"/v1/observers/{self.mailbox}/notifications?limit=1000")
        self.expect(status == 200 and not page["gaps"], f"{when}: {status} {page}")
        found = [note["userInfo"]["t"] for note in page["notifications"]]
        self.expect(
            found == self.answered,
            f"{when}: {len(self.answered)} were promised, {len(found)} are there; "
            f"first difference {[pair for pair in zip(self.answered, found) if len(set(pair)) > 1][:1]}")

    def stop(self):
        self.broker.process.terminate()
        code = self.broker.process.wait(60)
        self.expect(code == 0, f"a clean stop ended with {code}:\n{self.broker.text()}")


def tell(path):
    # Callers without credentials may make no backups by default.
    os.environ["BELFRY_ANONYMOUS_GRANTS"] = "post,observe,inspect,admin,set,read"
    os.environ["BELFRY_STORE_ANSWER_TIMEOUT"] = f"{PATIENCE}s"
    directory = tempfile.mkdtemp(prefix="belfry-disk.")
    disk = Disk(directory)
    story = Story(path, disk)
    try:
        story.begin()
        for _ in range(100):
            Story.expect(story.post_held(), "a disk with room refuses")
        story.fill()
        story.check_full()
        story.check_backup(has_room=False)
        story.check_mailbox("on the full disk")
        disk.free()
        healing = story.wait_for_healing()
        story.check_backup(has_room=True)
        for _ in range(100):
            Story.expect(story.post_held(), "a disk with room refuses")
        story.check_mailbox("after the healing")
        story.broker.kill()
        story.start()
        story.check_mailbox("after kill -9")
        story.fill()
        story.broker.kill()
        story.start()
        story.check_mailbox("after kill -9 on the full disk and a start on it")
        story.stop()
        story.start()
        story.check_mailbox("after a clean stop and a start on the full disk")
        story.fill()
        removals = []
        for when in ["once", "twice"]:
            story.begin_with_pages(0)
            story.check_mailbox(f"after a start without any room, {when}")
            removals.append(story.check_without_room())
        Story.expect(503 in removals, f"each removal found room: {removals}")
        for count in range(1, 9):
            story.begin_with_pages(count)
            story.check_mailbox(f"after a start with room for {count} pages")
        disk.free()
        story.wait_for_healing()
        story.check_mailbox("at the end")
        story.stop()
    except Violation as fault:
        log = story.broker.text() if story.broker else ""
        print(f"FAILED: {fault}\nthe log:\n{log}", file=sys.stderr)
        return 1
    finally:
        if story.broker and story.broker.process.poll() is None:
            story.broker.kill()
        subprocess.run(["umount", directory], check=False)
        os.rmdir(directory)
    print(f"{len(story.answered)} posts promised, {story.refused} refused, "
          f"healed after {healing:.1f} s: nothing missing")
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("broker")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return tell(options.broker)
    probe = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs none /mnt"]
    try:
        allowed = subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        print("SKIPPED: no tmpfs may be mounted here (unshare -rm)")
        return 0
    broker = os.path.abspath(options.broker)
    return subprocess.run(
        ["unshare", "-rm", sys.executable, os.path.abspath(__file__), broker, "--inside"],
        check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
