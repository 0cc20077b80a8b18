"""Timers of crash.py: what was answered before a kill, and what must be after it.

- One-shot timers, by `after` and `at`: each that was answered is posted once under the id of its answer, not before its
  time, or still listed.
- Debounces with `replaces`: what an answer has taken out is not posted any more.
- Repeating timers: never early, each firing once under an id of its own; `fired` and `missed` grow as the grid does,
  and `fired` is what has come. One that was taken out makes no firing any more.
- Farewells: one of a client that was there when the broker died is listed after the restart; one whose client has gone
  without a word is posted once; one whose client has closed its connection with code 1000 never comes.

A mailbox tells what was posted. A look, and an observer over a WebSocket, see also what was posted and is not stored yet:
what comes a second time after a kill is `redelivered` and has the same id.

The Close frame of the broker does not wait for the store. A farewell whose client closed its connection just before a
kill, so that no answer to a write came behind it, may be listed once more: it is counted, told at the end, and taken out.
"""

import datetime
import threading
import time

from crashing import TIMEOUT, Connection, Session, Violation, milliseconds

# The shortest delay of a farewell after a start.
LEAST_FAREWELL_SECONDS = 30
PERIODS = (0.1, 0.15, 0.25)
CHANNEL = "/v1/channels/Timed?style=asap&coalesce=none"


class Timer:
    """A timer that was answered 202."""

    def __init__(self, answer, kind, period=0, due_at=None):
        self.id = answer["id"]
        self.kind = kind
        self.period = period
        self.due_at = due_at if due_at else milliseconds(answer["dueAt"]) if "dueAt" in answer else None
        self.fired = 0
        # Of these, how many were read in this life of the broker, and in the one before.
        self.recent = self.previous = 0


class Timers:
    """What the broker has promised of timers so far."""

    def __init__(self, generator):
        self.generator = generator
        self.lock = threading.Lock()
        self.count = self.promised = self.posted = self.redelivered = self.undone = 0
        self.waiting = {}  # id -> a timer that fires once and has not been seen
        self.repeating = {}
        self.ended = {}  # id -> when its end was answered
        self.replaced = set()  # ids that were taken out
        self.unsure = set()  # ids whose end, or that of their client, was cut
        self.closed = set()  # farewells whose client has closed its connection
        self.life = 0
        self.seen = {}  # id -> the life in which the mailbox had it last
        self.seen_live = set()
        self.debounced = {}  # object -> the id that waits there
        self.box = self.session = None
        self.through = 0

    def posters(self):
        """What is done again and again over a connection under load."""
        return [self.set_once, self.debounce, self.repeat]

    def clients(self):
        """What is done once under load, until the broker is gone."""
        return [self.watch, self.say_farewell]

    def prepare(self, port, connection):
        """Registers the observers, which outlive all rounds."""
        self.box = connection.mailbox({"name": "Timed", "holdLimit": 10_000, "lease": 86_400})
        session = Session(port)
        session.result("addObserver", name="Timed", lease=86_400, holdLimit=10_000, suspensionBehavior="hold")
        self.session = session.session
        session.close()

    def text(self):
        with self.lock:
            self.count += 1
            return f"t{self.count}"

    # --- Under load ------------------------------------------------------------------------------

    def post(self, connection, query, kind):
        """Sets a timer; nothing where there is no room at the moment."""
        status, answer, _ = connection.ask("POST", f"{CHANNEL}&{query}", {"t": self.text()})
        if status == 503:
            time.sleep(0.001)
            return None
        if status != 202 or answer["outcome"] != "queued":
            raise Violation(f"a timer was answered {status} {answer}")
        with self.lock:
            self.promised += 1
        return Timer(answer, kind), answer

    def set_once(self, connection):
        delay = self.generator.choice((0, 0.02, 0.1, 0.3, 2))
        query = f"after={delay}"
        earliest = time.time() + delay
        if self.generator.random() < 0.3:
            moment = datetime.datetime.fromtimestamp(earliest, datetime.timezone.utc)
            query = f"at={moment.strftime('%Y-%m-%dT%H:%M:%S.%f')}Z"
        if not (made := self.post(connection, query, "once")):
            return
        timer, _ = made
        if timer.due_at < int(earliest * 1000):
            raise Violation(f"a timer with {query} that was set at {earliest - delay} is due at {timer.due_at}")
        with self.lock:
            self.waiting[timer.id] = timer
        time.sleep(0.001)

    def debounce(self, connection):
        object_ = f"doc-{self.generator.randrange(4)}"
        last = self.debounced.pop(object_, None)
        if last:
            # Until the answer nobody knows whether it is there.
            with self.lock:
                self.unsure.add(last)
        made = self.post(connection, f"object={object_}&after=0.05&replaces=true", "once")
        with self.lock:
            if last:
                self.unsure.discard(last)
            if not made:
                return
            timer, answer = made
            if answer.get("dequeued", 0) and last:
                self.waiting.pop(last, None)
                self.replaced.add(last)
            self.waiting[timer.id] = timer
            self.debounced[object_] = timer.id
        time.sleep(0.002)

    def repeat(self, connection):
        """Sets repeating timers, and ends the oldest ones."""
        if len(self.repeating) < 6:
            period = self.generator.choice(PERIODS)
            if made := self.post(connection, f"every={period}", "repeating"):
                made[0].period = round(period * 1000)
                with self.lock:
                    self.repeating[made[0].id] = made[0]
        elif self.generator.random() < 0.1:
            id_ = next(iter(self.repeating))
            with self.lock:
                self.repeating.pop(id_)
                self.unsure.add(id_)
            status, answer, _ = connection.ask("DELETE", f"/v1/queue/{id_}")
            if status != 204:
                raise Violation(f"the end of a repeating timer was answered {status} {answer}")
            with self.lock:
                self.unsure.discard(id_)
                self.ended[id_] = time.time() * 1000
        time.sleep(0.01)

    def say_farewell(self, port):
        """Clients leave a farewell behind, and stay, go without a word, or close their connection."""
        connection = Connection(port)
        staying = []
        while True:
            session = Session(port)
            answer = session.result("post", name="Timed", userInfo={"t": self.text()}, coalesce="none",
                                    style="asap", onDisconnect=True)
            timer = Timer(answer, "farewell")
            self.promised += 1
            if len(staying) < 10 and self.generator.random() < 0.5:
                staying.append(session)
                with self.lock:
                    self.waiting[timer.id] = timer
            elif self.generator.random() < 0.5:
                with self.lock:
                    self.waiting[timer.id] = timer
                session.close()
            else:
                # Until the broker has answered nobody knows whether it comes.
                with self.lock:
                    self.unsure.add(timer.id)
                session.leave()
                with self.lock:
                    self.closed.add(timer.id)
                # A write that is answered has all behind it that was before.
                connection.ask("PUT", "/v1/values/farewells/behind", timer.id)
                with self.lock:
                    self.unsure.discard(timer.id)

    def watch(self, port):
        """Sees what is posted, until the broker is gone."""
        session = Session(port, self.session)
        while True:
            frame = session.next()
            if frame.get("method") == "notify":
                self.note_live(frame["params"])

    def note_live(self, note):
        now = time.time() * 1000
        if note["id"] in self.seen_live:
            if not note.get("redelivered"):
                raise Violation(f"a timer was posted twice and is not marked: {note}")
            self.redelivered += 1
        self.seen_live.add(note["id"])
        timer = self.waiting.get(note["id"])
        if timer and timer.due_at and now + 1 < timer.due_at:
            raise Violation(f"a timer of {timer.due_at} came at {now}: {note}")

    # --- After a restart -------------------------------------------------------------------------

    def check(self, port, connection):
        """Each timer that was answered has been posted once, or waits."""
        self.life += 1
        for timer in self.repeating.values():
            timer.previous, timer.recent = timer.recent, 0
        for id_ in self.unsure:
            self.waiting.pop(id_, None)
        self.check_waiting(connection, self.promised_now(connection))
        self.check_repeating(connection)
        for id_ in list(self.unsure - self.closed):
            connection.ask("DELETE", f"/v1/queue/{id_}")
        self.unsure.clear()
        self.debounced.clear()
        if len(self.waiting) > 500:
            # What waits long is taken out.
            for id_, timer in list(self.waiting.items()):
                status = connection.ask("DELETE", f"/v1/queue/{id_}")[0]
                if status == 204:
                    del self.waiting[id_]
                    self.ended[id_] = time.time() * 1000

    def promised_now(self, connection):
        """The timers that are listed; then, what is in the mailbox has been read."""
        listed = connection.queue("&waiting=true")
        known = self.closed - self.unsure
        for id_ in self.closed & listed.keys():
            if id_ in known:
                raise Violation(f"a client closed its connection, and its farewell waits: {listed[id_]}")
            self.undone += 1
            if connection.ask("DELETE", f"/v1/queue/{id_}")[0] != 204:
                raise Violation(f"a farewell that waits cannot be taken out: {listed[id_]}")
        self.read_box(connection)
        return listed

    def check_waiting(self, connection, listed):
        """What is not listed and not in the mailbox becomes so soon: it was due."""
        end = time.monotonic() + TIMEOUT
        while missing := [timer for id_, timer in self.waiting.items() if id_ not in listed]:
            if time.monotonic() > end:
                raise Violation(f"{len(missing)} timers are missing, such as {vars(missing[0])}")
            time.sleep(0.002)
            listed = connection.queue() | connection.queue("&waiting=true")
            self.read_box(connection)
        for id_, timer in self.waiting.items():
            row = listed[id_]
            if timer.kind == "once" and milliseconds(row.get("dueAt", row["enqueuedAt"])) < timer.due_at - 1:
                raise Violation(f"a timer was due at {timer.due_at}, and is now: {row}")

    def read_box(self, connection):
        notes, gaps, self.through = connection.read_all(self.box, self.through)
        if gaps:
            raise Violation(f"the mailbox of the timers has gaps: {gaps}")
        for note in notes:
            self.note_posted(note)

    def note_posted(self, note):
        id_, posted_at = note["id"], milliseconds(note["postedAt"])
        last = self.seen.get(id_)
        if last is not None:
            if last != self.life - 1 or not note.get("redelivered"):
                raise Violation(f"a timer was posted twice: {note}")
            self.seen[id_] = self.life
            self.redelivered += 1
            return
        if id_ in self.replaced or id_ in self.ended or id_ in self.closed:
            raise Violation(f"a timer that was taken out was posted: {note}")
        self.seen[id_] = self.life
        self.posted += 1
        cause = note.get("causedBy")
        if timer := self.waiting.pop(id_, None):
            if timer.due_at and posted_at < timer.due_at:
                raise Violation(f"a timer of {timer.due_at} was posted early: {note}")
        elif timer := self.repeating.get(cause):
            self.note_firing(timer, note, posted_at)
        elif cause in self.ended and posted_at > self.ended[cause] + 1:
            raise Violation(f"a timer that has ended fires: {note}")

    def note_firing(self, timer, note, posted_at):
        timer.fired += 1
        timer.recent += 1
        # Firings stand on a grid that begins with the first.
        if posted_at < timer.due_at + (timer.fired - 1) * timer.period:
            raise Violation(f"firing {timer.fired} of {vars(timer)} was posted early: {note}")

    def check_repeating(self, connection):
        for id_, timer in list(self.repeating.items()):
            end = time.monotonic() + TIMEOUT
            while True:
                self.read_box(connection)
                before = timer.fired
                begun = time.time() * 1000
                row = connection.queue("&waiting=true").get(id_)
                self.read_box(connection)
                if not row:
                    raise Violation(f"a repeating timer is missing: {vars(timer)}")
                if before <= row["fired"] <= timer.fired:
                    break
                # A firing is counted when it is made, and comes at the end of the turn.
                lost = before - row["fired"]
                if 0 < lost <= timer.previous:
                    timer.fired -= lost
                    timer.previous -= lost
                elif lost > 0 or time.monotonic() > end:
                    raise Violation(f"{before} to {timer.fired} firings have come: {row}")
            # Of all that were due before the look, each was made or missed; some may have become due since.
            due = max(0, int((begun - timer.due_at) // timer.period) + 1)
            now = max(0, int((time.time() * 1000 - timer.due_at) // timer.period) + 1)
            if not due - 1 <= row["fired"] + row["missed"] <= now:
                raise Violation(f"{due} to {now} firings were due: {row}")

    def finish(self, connection):
        """In a last, long life every farewell is said, once."""
        end = time.monotonic() + LEAST_FAREWELL_SECONDS + TIMEOUT
        while left := [timer for timer in self.waiting.values() if timer.kind == "farewell"]:
            if time.monotonic() > end:
                raise Violation(f"{len(left)} farewells were never said, such as {vars(left[0])}")
            time.sleep(0.05)
            self.read_box(connection)
        self.check_repeating(connection)
