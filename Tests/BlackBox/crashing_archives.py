"""Archives of crash.py: what was answered as kept before a kill, and what must be there after it.

- Each post that was answered with `kept` is on a page, in the order of `seq`, once, with what was posted; nothing has a
  `seq` of an earlier life again, and no gap is told.
- An observer that begins behind what was seen before the kill gets the same, and then the present.
- An archive in memory alone has nothing of an earlier life, and an observer of before gets a gap.
"""

import threading

from crashing import Session, Violation

OPTION = '[{"name":"Kept"},{"name":"Remembered","stored":false}]'


class Archives:
    """What the broker has promised of archives so far."""

    def __init__(self):
        self.lock = threading.Lock()
        self.count = self.promised = 0
        self.fresh = {}  # seq -> the number that was posted, of the present life
        self.through = 0  # up to here all was looked at
        self.remembered = 0  # the last seq of the archive in memory

    def posters(self):
        return [self.post_kept, self.post_kept, self.post_remembered]

    def clients(self):
        return []

    def prepare(self, port, connection):
        pass

    def post(self, connection, channel):
        with self.lock:
            self.count += 1
            number = self.count
        status, receipt, _ = connection.ask("POST", f"/v1/channels/{channel}", {"n": number})
        if status != 200 or receipt.get("kept") is not True:
            raise Violation(f"a post to the archive {channel} was answered {status} {receipt}")
        return receipt["seq"], number

    def post_kept(self, connection):
        seq, number = self.post(connection, "Kept")
        with self.lock:
            self.fresh[seq] = number
            self.promised += 1

    def post_remembered(self, connection):
        seq, _ = self.post(connection, "Remembered")
        with self.lock:
            self.remembered = max(self.remembered, seq)

    def pages(self, connection, channel, after):
        """All that is kept of a channel above a number, and its gaps."""
        notes, gaps = [], []
        while after is not None:
            status, page, _ = connection.ask(
                "GET", f"/v1/notifications?name={channel}&after={after}&limit=1000")
            if status != 200:
                raise Violation(f"a page of the past was answered {status} {page}")
            notes += page["notifications"]
            gaps += page["gaps"]
            after = page["next"]
        return notes, gaps

    def check(self, port, connection):
        notes, gaps = self.pages(connection, "Kept", self.through)
        self.compare(notes, gaps, "a page")
        self.replay(port, notes)
        if notes:
            self.through = notes[-1]["seq"]
        self.fresh = {}
        notes, gaps = self.pages(connection, "Remembered", 0)
        if notes:
            raise Violation(f"an archive in memory has {notes[0]} of an earlier life")
        if self.remembered and not (gaps and gaps[-1]["lastSeq"] >= self.remembered):
            raise Violation(f"no gap tells that #{self.remembered} of an archive in memory is lost: {gaps}")

    def compare(self, notes, gaps, what):
        """Whether all that was answered is there, in its order and once, and no gap is told."""
        if gaps:
            raise Violation(f"{what} has the gaps {gaps}")
        seqs = [note["seq"] for note in notes]
        if seqs != sorted(set(seqs)) or seqs and seqs[0] <= self.through:
            raise Violation(f"{what} behind #{self.through} has no order: {seqs[:20]}")
        there = {note["seq"]: note["userInfo"]["n"] for note in notes}
        for seq, number in self.fresh.items():
            if there.get(seq) != number:
                raise Violation(f"{what} has {there.get(seq)} as #{seq}, where {number} was answered as kept")

    def replay(self, port, notes):
        """An observer that begins behind what was seen before gets what a page has."""
        session = Session(port)
        frames, gaps = [], []

        def take(frame):
            if frame["method"] == "belfry.gap":
                gaps.append(frame["params"])
            else:
                frames.append(frame["params"])

        session.result("addObserver", take, name="Kept", since=self.through, lifetime="connection")
        while len(frames) < len(notes) and not gaps:
            take(session.next())
        session.close()
        self.compare(frames, gaps, "a replay")
        if [frame["seq"] for frame in frames] != [note["seq"] for note in notes]:
            raise Violation(f"a replay has {len(frames)} where a page has {len(notes)}")
