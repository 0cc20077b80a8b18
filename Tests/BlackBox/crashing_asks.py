"""Stored asks of crash.py: what was answered 202, shown and answered before a kill, and what must be after it.

Four addresses are asked, with and without `once`, `default` and an idempotency key. Their responders are

- *live*: a WebSocket that answers most of what it is shown,
- *away*: one that is shown asks, goes without an answer, and stays away,
- *held*: one that is suspended, so that everything waits for it,
- *box*: a mailbox, which answers by `PUT`.

After each restart every ask that was answered 202 is known; one that was shown comes `redelivered`, or with `once`
has ended; what somebody was told of its end still holds, and nothing is answered twice.
"""

import collections
import threading
import time

from crashing import Session, Violation

ADDRESSES = ("live", "away", "held", "box")


class Asked:
    """An ask that was answered 202, or whose answer was cut."""

    def __init__(self, text, address, once, default, key):
        self.text, self.address, self.once, self.default, self.key = text, address, once, default, key
        self.id = None

    @property
    def path(self):
        more = "&once=true" if self.once else ""
        more += "&default=%22none%22" if self.default else ""
        return f"/v1/responders/{self.address}/decide?ttl=3600{more}"


class Asks:
    """What the broker has promised of asks so far."""

    def __init__(self, generator):
        self.generator = generator
        self.lock = threading.Lock()
        self.count = 0
        self.life = 0
        self.by_id = {}
        self.by_text = {}
        self.cut = collections.deque()  # those with a key that must be repeated
        self.shown_in = {}  # id -> the life in which a responder saw it last
        self.answers = collections.defaultdict(set)  # id -> answers that were sent
        self.ends = {}  # id -> the end of which somebody was told
        self.ended_in = {}  # id -> the life before whose start it had ended
        self.promised = self.redelivered = 0
        self.sessions = {}
        self.box = None

    def prepare(self, port, connection):
        """Registers the responders, which outlive all rounds."""
        terms = {"implements": ["decide"], "suspensionBehavior": "hold", "lease": 86_400}
        for address in ADDRESSES[:3]:
            session = Session(port)
            session.result("addObserver", object=address, **terms)
            if address == "held":
                session.result("setSuspended", suspended=True)
            self.sessions[address] = session.session
            session.close()
        self.box = connection.mailbox({"object": "box", **terms})

    # --- Under load ------------------------------------------------------------------------------

    def posters(self):
        """What is done again and again over a connection under load."""
        return [self.ask, self.answer_box]

    def clients(self):
        """What is done once under load, until the broker is gone."""
        return [self.be_live, self.be_away]

    def ask(self, connection):
        with self.lock:
            asked = self.cut.popleft() if self.cut else None
        if asked is None:
            self.count += 1
            text = f"a{self.count}"
            chance = self.generator.random
            asked = Asked(
                text, self.generator.choice(ADDRESSES), once=chance() < 0.2, default=chance() < 0.2,
                key=f"ask-{text}" if chance() < 0.3 else None)
            with self.lock:
                self.by_text[text] = asked
        self.send(connection, asked)

    def send(self, connection, asked):
        """Asks, or asks again under the key; an ask that is cut is not forgotten."""
        fields = {"Prefer": "respond-async"}
        if asked.key:
            fields["Idempotency-Key"] = asked.key
        try:
            status, answer, _ = connection.ask("POST", asked.path, {"t": asked.text}, fields)
        except BaseException:
            if asked.key:
                with self.lock:
                    self.cut.append(asked)
            raise
        if status == 429:
            time.sleep(0.005)
            return
        if status != 202:
            raise Violation(f"an ask was answered {status} {answer}")
        with self.lock:
            if asked.id not in (None, answer["id"]):
                raise Violation(f"{asked.text} was {asked.id}, and now is {answer['id']}")
            asked.id = answer["id"]
            self.by_id.setdefault(asked.id, asked)
            self.promised += 1

    def note_shown(self, note, is_mailbox=False):
        """Judges an ask as a responder sees it; a look into a mailbox shows each open one."""
        with self.lock:
            asked = self.by_text.get(note["userInfo"]["t"])
            if asked is None or asked.address != note["object"]:
                raise Violation(f"nobody asked this: {note}")
            if asked.id not in (None, note["id"]):
                raise Violation(f"{asked.text} is {asked.id}, and this, too: {note}")
            last = self.shown_in.get(note["id"])
            is_again = last is not None and (not is_mailbox or last < self.life)
            if is_again and (asked.once or not note.get("redelivered")):
                raise Violation(f"an ask came again, has once or is not marked: {note}")
            if note["id"] in self.ends:
                raise Violation(f"an ask came that has ended so: {self.ends[note['id']]}: {note}")
            self.redelivered += is_again
            self.shown_in[note["id"]] = self.life

    def note_frame(self, frame):
        if frame.get("method") == "decide":
            self.note_shown(frame["params"])

    def choose_answer(self, note):
        """An answer, noted before it is sent: from there on it may be that of the ask."""
        answer = f"{note['id']} in life {self.life}"
        with self.lock:
            self.answers[note["id"]].add(answer)
        return answer

    def be_live(self, port):
        """Answers most of what it is shown, until the broker is gone."""
        responding = Session(port, self.sessions["live"])
        while True:
            frame = responding.next()
            if frame.get("method") == "decide":
                self.note_shown(frame["params"])
                if self.generator.random() < 0.7:
                    responding.answer(frame, self.choose_answer(frame["params"]))

    def be_away(self, port):
        """Is shown some asks, answers none, and goes."""
        responding = Session(port, self.sessions["away"])
        responding.reply("observers", self.note_frame, limit=1)
        responding.close()

    def answer_box(self, connection):
        """Looks into the mailbox, and answers some of what is there."""
        for note in self.look(connection)[:20]:
            self.note_shown(note, is_mailbox=True)
            if self.generator.random() < 0.5:
                self.put(connection, note)
        time.sleep(0.002)

    def look(self, connection):
        status, page, _ = connection.ask("GET", f"/v1/observers/{self.box}/notifications?limit=1000")
        if status != 200:
            raise Violation(f"the mailbox of a responder was answered {status} {page}")
        return page["notifications"]

    def put(self, connection, note):
        answer = self.choose_answer(note)
        status, problem, _ = connection.ask(
            "PUT", f"/v1/notifications/{note['id']}/answer", answer, {"Belfry-Token": self.box})
        if status != 204:
            raise Violation(f"an answer to an open ask was answered {status} {problem}")
        with self.lock:
            self.ends[note["id"]] = {"by": "responder", "answer": answer}

    # --- After a restart -------------------------------------------------------------------------

    def check(self, port, connection):
        """Everything that was promised holds; then all that is open is shown again, and most of it answered."""
        self.life += 1
        while self.cut:
            self.send(connection, self.cut.popleft())
        for id_ in list(self.by_id):
            if self.check_fate(connection, id_, self.by_id[id_]):
                self.ended_in.setdefault(id_, self.life)
                # A fate is not kept for ever.
                if self.life - self.ended_in[id_] > 3:
                    del self.by_id[id_]
        # What is asked again under its key is the same ask.
        keyed = [asked for asked in self.by_id.values() if asked.key]
        for asked in self.generator.sample(keyed, min(5, len(keyed))):
            self.send(connection, asked)
        for address in ADDRESSES[:3]:
            self.come_back(port, connection, address)
        notes = self.look(connection)
        if missing := self.open_at("box") - {note["id"] for note in notes}:
            raise Violation(f"{len(missing)} open asks are not in the mailbox, such as {missing.pop()}")
        for note in notes:
            self.note_shown(note, is_mailbox=True)
            if self.generator.random() < 0.8:
                self.put(connection, note)

    def check_fate(self, connection, id_, asked, wait=0):
        """An ask is known, and has not ended in another way than somebody was told."""
        status, fate, _ = connection.ask(
            "GET", f"/v1/notifications/{id_}", None, {"Prefer": f"wait={wait}"})
        if status != 200:
            raise Violation(f"the ask {id_} was answered 202, and now is {status} {fate}")
        told = self.ends.get(id_)
        if fate["state"] == "asked":
            if told:
                raise Violation(f"{id_} is open, and had ended so: {told}")
            return False
        if fate["state"] == "failed":
            end = {"slug": fate["problem"]["type"].rsplit("/", 1)[1]}
        else:
            end = {name: fate[name] for name in ("by", "answer", "reason") if name in fate}
        if told and any(end.get(name) != told[name] for name in told):
            raise Violation(f"{id_} had ended so: {told}, and now so: {end}")
        if end.get("by") == "responder":
            if end["answer"] not in self.answers[id_]:
                raise Violation(f"nobody has answered {id_} so: {end}")
        elif not asked.once or end.get("slug", end.get("reason")) != "responder-gone":
            raise Violation(f"{id_} of {asked.address} ended so: {end}")
        elif asked.default != (end.get("answer") == "none"):
            raise Violation(f"{id_} has a default, or has none, and ended so: {end}")
        self.ends[id_] = end
        return True

    def come_back(self, port, connection, address):
        """A responder is live again: what is open there comes, with rising numbers."""
        responding = Session(port, self.sessions[address])
        if address == "held":
            responding.call("setSuspended", suspended=False)
        seen = {}

        def take(frame):
            if frame.get("method") != "decide":
                return
            note = frame["params"]
            if seen and note["seq"] <= max(other["params"]["seq"] for other in seen.values()):
                raise Violation(f"an ask is shown with a number that is not higher: {note}")
            self.note_shown(note)
            seen[note["id"]] = frame

        missing = self.open_at(address)
        try:
            while missing - seen.keys():
                take(responding.next())
        except TimeoutError:
            missing -= seen.keys()
            raise Violation(
                f"{len(missing)} open asks do not come to {address}, such as {missing.pop()}") from None
        responding.reply("observers", take, limit=1)
        answered = [frame for frame in seen.values() if self.generator.random() < 0.8]
        for frame in answered:
            responding.answer(frame, self.choose_answer(frame["params"]))
        for frame in answered:
            note = frame["params"]
            if not self.check_fate(connection, note["id"], self.by_text[note["userInfo"]["t"]], wait=10):
                raise Violation(f"this was answered, and is open: {frame}")
        if address == "held":
            responding.result("setSuspended", suspended=True)
        responding.close()

    def open_at(self, address):
        return {id_ for id_, asked in self.by_id.items()
                if asked.address == address and id_ not in self.ends}
