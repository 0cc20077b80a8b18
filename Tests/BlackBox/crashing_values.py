"""Values of crash.py: what was answered before a kill, and what must be after it.

- Four writers raise a counter that they share, and one each of their own, with `If-Match`. Each step of a counter has
  one writer, and only steps that somebody sent are counted.
- Each of them puts, patches and deletes the keys of a document of its own. After a restart the document is what the
  answers say, with or without the one write whose answer was cut.
- What was put with `ttl` is there as long as that, over restarts, and not longer.
- What clients wrote with `lease` is there after a restart, and what has ended before does not come back.
- Observers resume their sessions. Applying their frames in the order in which they come gives the value, and `old`
  undoes each.
"""

import collections
import threading
import time

from crashing import TIMEOUT, Connection, Session, Violation

WRITERS = 4
# How long the broker may take to remove what has ended, on a busy machine.
LAG_SECONDS = 2


def read(connection, path):
    """A value with its tag, or nothing."""
    status, value, response = connection.ask("GET", path)
    if status not in (200, 404):
        raise Violation(f"{path} was answered {status} {value}")
    return (value, response.getheader("ETag")) if status == 200 else (None, None)


def merge(value, patch):
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(value) if isinstance(value, dict) else {}
    for key, part in patch.items():
        if part is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), part)
    return merged


class Counter:
    """A counter that is raised with `If-Match`; each step tells who made it."""

    def __init__(self, name, is_shared):
        self.path = f"/v1/values/counters/{name}"
        self.is_shared = is_shared
        self.lock = threading.Lock()
        self.answered = {}  # step -> the writer that was answered
        self.sent = collections.defaultdict(set)  # step -> writers that have no answer
        self.checked = 0

    def increase(self, connection, writer):
        found, tag = read(connection, self.path)
        step = found["n"] + 1 if found else 1
        condition = {"If-Match": tag} if found else {"If-None-Match": "*"}
        with self.lock:
            self.sent[step].add(writer)
        status, receipt, _ = connection.ask("PUT", self.path, {"n": step, "by": writer}, condition)
        with self.lock:
            self.sent[step].discard(writer)
            if status == 412 and self.is_shared or status == 503:
                return
            if status not in (200, 201):
                raise Violation(f"step {step} of {self.path} was answered {status} {receipt}")
            if step in self.answered:
                raise Violation(f"step {step} of {self.path} was made by {self.answered[step]} and by {writer}")
            self.answered[step] = writer

    def check(self, connection):
        found = read(connection, self.path)[0] or {"n": 0, "by": None}
        count, writer = found["n"], found["by"]
        if count < max(self.answered, default=self.checked):
            raise Violation(f"{self.path} is {found}, and {max(self.answered)} steps were answered")
        for step in range(self.checked + 1, count + 1):
            if step not in self.answered and not self.sent[step]:
                raise Violation(f"nobody made step {step} of {self.path}: {found}")
        if count > self.checked and writer != self.answered.get(count) and writer not in self.sent[count]:
            raise Violation(f"{self.path} is {found}, which nobody was told of, or who was refused")
        self.checked = count
        self.answered = {count: writer} if count else {}
        self.sent.clear()


class Document:
    """A value whose keys one writer puts, patches and deletes."""

    def __init__(self, number, generator):
        self.path = f"/v1/values/plain-{number}"
        self.generator = generator
        self.value = {}
        self.following = None  # what it is if the write that was cut has happened

    def write(self, connection, text):
        keys = self.generator.sample([f"k{number}" for number in range(20)], 3)
        content = text + "x" * self.generator.randrange(200)
        method = self.generator.choice(("PUT", "PUT", "PATCH", "DELETE"))
        path = self.path if method == "PATCH" else f"{self.path}/{keys[0]}"
        patch, allowed = {keys[0]: content}, (200, 201)
        if method == "DELETE":
            patch, content = {keys[0]: None}, None
            allowed = (200,) if keys[0] in self.value else (404,)
        elif method == "PATCH":
            patch = content = {keys[0]: content, keys[1]: {"a": text, text: 1}, keys[2]: None}
        self.following = merge(self.value, patch)
        status, receipt, _ = connection.ask(method, path, content)
        if status != 503:
            if status not in allowed:
                raise Violation(f"{method} {path} was answered {status} {receipt}")
            self.value = self.following
        self.following = None

    def check(self, connection):
        found = read(connection, self.path)[0] or {}
        if found != self.value and found != self.following:
            raise Violation(f"{self.path} is {found}, and not {self.value} or {self.following}")
        self.value, self.following = found, None


class Watcher:
    """An observer of a value, and what it has from its frames alone."""

    def __init__(self, number, object_, key_path, terms):
        self.selector = f"w{number}"
        self.place = {"object": object_, "keyPath": key_path}
        self.terms = terms
        self.value = None

    def take(self, frame):
        change, before = frame["params"]["change"], self.value
        kind = change["kind"]
        self.value = {"removed": lambda: None, "set": lambda: change["new"],
                      "merge": lambda: merge(before, change["new"])}[kind]()
        if not self.terms.get("old") or change.get("initial"):
            return
        undone = merge(self.value, change["old"]) if kind == "merge" else change.get("old")
        if undone != before:
            raise Violation(f"{self.place} was {before}, and its change undoes to {undone}: {frame}")


class Watching:
    """The session of some observers; with a position it resumes from there."""

    def __init__(self, has_position, watchers):
        self.has_position = has_position
        self.by_selector = {watcher.selector: watcher for watcher in watchers}
        self.session = None
        self.position = self.last = 0

    def prepare(self, port):
        session = Session(port)
        self.session = session.session
        for watcher in self.by_selector.values():
            session.result("addObserver", self.take, selector=watcher.selector, lease=86_400,
                           **watcher.place, **watcher.terms)
        session.close()

    def resume(self, port):
        self.last = 0
        return Session(port, self.session, self.position if self.has_position else None)

    def take(self, frame):
        watcher = self.by_selector.get(frame.get("method"))
        if not watcher:
            return
        sequence = frame["params"]["seq"]
        if sequence < self.last and not frame["params"].get("redelivered"):
            raise Violation(f"a change came behind number {self.last}: {frame}")
        self.last = sequence
        self.position = max(self.position, sequence)
        watcher.take(frame)

    def watch(self, port):
        session = self.resume(port)
        while True:
            self.take(session.next())

    def check(self, port):
        """Each observer comes to what the value is."""
        session = self.resume(port)
        end = time.monotonic() + TIMEOUT
        for watcher in self.by_selector.values():
            while True:
                reply = session.reply("value", self.take, **watcher.place)
                found = reply["result"]["value"] if "result" in reply else None
                if watcher.value == found:
                    break
                if time.monotonic() > end:
                    raise Violation(f"{watcher.place} is {found}, and from its frames {watcher.value}")
                time.sleep(0.002)
        session.close()


class Values:
    """What the broker has promised of values so far."""

    def __init__(self, generator):
        self.generator = generator
        self.lock = threading.Lock()
        self.count = 0
        self.shared = Counter("shared", is_shared=True)
        self.own = [Counter(f"own.w{number}", is_shared=False) for number in range(WRITERS)]
        self.documents = [Document(number, generator) for number in range(WRITERS)]
        self.ending = {}  # key -> the first and the last moment in which it may end
        self.present = set()  # keys whose lease has not run out
        self.left = set()  # keys whose removal was stored
        places = [
            ("counters", "", {"old": True}), ("counters", "shared.n", {"old": True}),
            ("counters", "shared", {"suspensionBehavior": "hold"}), ("plain-0", "", {"old": True}),
            ("plain-0", "k3", {}), ("plain-1", "", {"minInterval": 0.02}),
            ("plain-1", "k1.a", {"suspensionBehavior": "hold", "old": True}), ("ending", "", {}),
            ("presence", "who", {"old": True})]
        self.watching = [
            Watching(has_position, [Watcher(number, *place) for number, place in enumerate(places)])
            for has_position in (True, False)]

    def posters(self):
        """What is done again and again over a connection under load."""
        return [self.writer(number) for number in range(WRITERS)]

    def clients(self):
        """What is done once under load, until the broker is gone."""
        return [watching.watch for watching in self.watching] + [self.be_present]

    def prepare(self, port, connection):
        """Registers the observers, which outlive all rounds."""
        for watching in self.watching:
            watching.prepare(port)

    def text(self):
        with self.lock:
            self.count += 1
            return f"v{self.count}"

    # --- Under load ------------------------------------------------------------------------------

    def writer(self, number):
        def write(connection):
            chance = self.generator.random()
            if chance < 0.3:
                self.shared.increase(connection, self.text())
            elif chance < 0.5:
                self.own[number].increase(connection, self.text())
            elif chance < 0.9:
                self.documents[number].write(connection, self.text())
            else:
                self.put_ending(connection)
        return write

    def put_ending(self, connection):
        key, seconds = self.text(), self.generator.choice((0.05, 0.2, 0.5, 3600))
        first = time.time() + seconds
        status, receipt, _ = connection.ask("PUT", f"/v1/values/ending/{key}?ttl={seconds}", 1)
        if status == 503:
            return
        if status != 201:
            raise Violation(f"a value that ends was answered {status} {receipt}")
        with self.lock:
            self.ending[key] = first, time.time() + seconds

    def be_present(self, port):
        """Clients come and write what ends with them; some stay, some go."""
        connection = Connection(port)
        staying = []
        while True:
            session, key = Session(port), self.text()
            lease = self.generator.choice((0, 86_400))
            session.result("setValue", object="presence", keyPath=f"who.{key}", value=lease, lease=lease)
            if len(staying) < 30 and self.generator.random() < 0.5:
                staying.append(session)
                self.present.add(key)
                continue
            if lease == 0 and self.generator.random() < 0.5:
                session.close()
            else:
                session.leave()
            self.wait_for_end(connection, key)
            # A write that is answered has all behind it that was written before.
            if connection.ask("PUT", "/v1/values/presence/behind", key)[0] in (200, 201):
                self.left.add(key)

    def wait_for_end(self, connection, key):
        end = time.monotonic() + TIMEOUT
        while read(connection, f"/v1/values/presence/who.{key}")[0] is not None:
            if time.monotonic() > end:
                raise Violation(f"the client of who.{key} has left, and it is still there")
            time.sleep(0.002)

    # --- After a restart -------------------------------------------------------------------------

    def check(self, port, connection):
        """Everything that was answered is there; observers have it from their frames."""
        for counter in [self.shared, *self.own]:
            counter.check(connection)
        for document in self.documents:
            document.check(connection)
        self.check_ending(connection)
        for watching in self.watching:
            watching.check(port)
        self.check_presence(connection)

    def check_ending(self, connection):
        begun = time.time()
        found = read(connection, "/v1/values/ending")[0] or {}
        done = time.time()
        for key, (first, last) in list(self.ending.items()):
            if done < first and key not in found:
                raise Violation(f"ending/{key} is gone {first - done:.3f} s before its time")
            if begun > last + LAG_SECONDS and key in found:
                raise Violation(f"ending/{key} is there {begun - last:.3f} s behind its time")
            if key not in found:
                del self.ending[key]
        # At most 1,000 parts of a value may end.
        if len(found) > 300:
            connection.ask("DELETE", "/v1/values/ending")
            self.ending.clear()

    def check_presence(self, connection):
        found = read(connection, "/v1/values/presence/who")[0] or {}
        if missing := self.present - found.keys():
            raise Violation(f"{len(missing)} entries with a lease are missing, such as {missing.pop()}")
        if returned := self.left & found.keys():
            raise Violation(f"{len(returned)} entries have come back, such as {returned.pop()}")
        connection.ask("DELETE", "/v1/values/presence")
        self.present.clear()
        self.left.clear()
