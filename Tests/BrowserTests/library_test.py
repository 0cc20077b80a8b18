"""belfry.js: delivery, removal, refusals, a connection that is cut, a page that is left; sessions
that go on, acknowledgement, suspension and the queue; responders, asks and actions; values and
bindings."""

import contextlib
import socket
import threading

import support
from support import check, eventually, observers, request

NAME = "LibraryTest.Changed"


class Proxy:
    """A TCP connection between page and broker that the test can cut, and keep cut."""

    def __init__(self, url):
        self.target = url.removeprefix("http://").split(":")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.is_cut = False
        self.connections = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                if self.is_cut:
                    near.close()
                    continue
                far = socket.create_connection((self.target[0], int(self.target[1])))
                self.connections += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self.copy, args=pair, daemon=True).start()

    @staticmethod
    def copy(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def cut(self):
        self.is_cut = True
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        self.connections = []

    def mend(self):
        self.is_cut = False


SETUP = """async (name) => {
  const { NotificationCenter } = await import("/belfry.js");
  const got = { first: [], second: [], other: [], gaps: [], removed: [] };
  const center = new NotificationCenter();
  const keep = (place) => (notification) => got[place].push(notification);
  center.addEventListener("belfry.gap", ({ detail }) => got.gaps.push(detail.reason));
  center.addEventListener("belfry.removed", ({ detail }) => got.removed.push(detail.reason));
  const first = await center.addObserver({ name, selector: "changed" }, keep("first"));
  const filter = { name, object: "a", selector: "changed" };
  const second = await center.addObserver(filter, keep("second"));
  const other = await center.addObserver({ name: name + ".Other" }, keep("other"));
  Object.assign(window, { center, got, first, second, other });
}"""


RESUMING = """async (name) => {
  const { NotificationCenter } = await import("/belfry.js");
  const kept = { got: [], gaps: [], acted: [] };
  const center = new NotificationCenter(undefined, { resume: true, storage: sessionStorage });
  const onGap = ({ reason, lost }) => kept.gaps.push([reason, lost]);
  const options = { name: name + ".Kept", suspensionBehavior: "hold", onGap };
  const observer = await center.addObserver(options, (notification) => kept.got.push(notification));
  const terms = { suspensionBehavior: "hold" };
  const work = async ({ k }, ask) => {
    if (ask.answerBy === undefined) kept.acted.push([ask.target, k]);
    return 2 * k;
  };
  const desk = await center.respond("page", { work }, terms);
  const wire = { name: name + ".Pressed", target: "page", selector: "work" };
  const wired = await center.addObserver(wire);
  Object.assign(window, { keeping: center, kept, keeper: observer, desk, wired });
}"""


def received(shown, place):
    return shown.evaluate(
        "(place) => window.got[place].map(({ userInfo }) => userInfo?.k ?? 0)", place
    )


def post(url, number, obj="a"):
    status, receipt = request(
        f"{url}/v1/channels/{NAME}?object={obj}", method="POST", body={"k": number},
        Content_Type="application/json",
    )
    assert status == 200, (status, receipt)
    return receipt


def test_delivery(shown):
    receipts = shown.evaluate(
        """async (name) => [
          await center.post(name, { object: "a", userInfo: { k: 1 } }),
          await center.post(name, { object: "b", userInfo: { k: 2 } }),
          await center.post(name + ".Other"),
        ].map(({ matched }) => matched)""",
        NAME,
    )
    check(receipts == [2, 1, 1], "the receipts tell who matched", receipts)
    found = [received(shown, place) for place in ("first", "second", "other")]
    check(found == [[1, 2], [1], [0]], "two observers of one selector get what is theirs", found)


def test_refusal(shown):
    refused = shown.evaluate(
        """() => center.post("belfry.welcome").then(() => null, ({ name, code, problem }) =>
          ({ name, code, status: problem?.status }))"""
    )
    wanted = {"name": "BelfryError", "code": -32000, "status": 403}
    check(refused == wanted, "a refused post throws the problem", refused)


def test_sequence(shown, url):
    shown.evaluate(
        """async (name) => {
          window.loop = [];
          const observer = await center.addObserver({ name });
          (async () => {
            for await (const { userInfo } of observer) {
              loop.push(userInfo.k);
              if (loop.length === 3) break;
            }
            loop.push("end");
          })();
        }""",
        NAME,
    )
    for number in (3, 4, 5, 6):
        post(url, number)
    eventually(
        lambda: shown.evaluate("window.loop") == [3, 4, 5, "end"],
        "an observer without a handler is an async sequence, and leaving its loop removes it",
    )
    check(len(ours(url)) == 3, "the broker lists the three others", ours(url))


def test_cut(shown, url, proxy):
    before = received(shown, "first")
    identifiers = shown.evaluate("[first.id, second.id]")
    proxy.cut()
    eventually(lambda: shown.evaluate("center.state") == "waiting", "the center waits after a cut")
    eventually(lambda: not ours(url), "the broker removed the observers of the lost connection")
    for number in (7, 8):
        post(url, number)
    proxy.mend()
    eventually(lambda: shown.evaluate("center.state") == "open", "it connects again by itself")
    post(url, 9)
    eventually(lambda: received(shown, "first")[-1] == 9, "its observers are registered again")
    found = received(shown, "first")
    check(found == [*before, 7, 8, 9], "what was missed came once, and in order", found)
    marked = shown.evaluate("got.first.slice(-3).map(({ redelivered }) => redelivered ?? false)")
    check(marked == [True, True, False], "and is marked as redelivered", marked)
    check(received(shown, "second")[-3:] == [7, 8, 9], "the second of one selector has it too")
    check(shown.evaluate("got.gaps") == [], "nothing was lost, so no gap is told")
    check(identifiers != shown.evaluate("[first.id, second.id]"), "the ids are those of now")


def test_removal(shown, url):
    shown.evaluate("other.remove()")
    eventually(lambda: len(ours(url)) == 2, "remove() removes at the broker")
    token = shown.evaluate("second.token")
    status, _ = request(f"{url}/v1/observers/{token}", method="DELETE")
    check(status == 204, "somebody else removes with the token", status)
    eventually(lambda: shown.evaluate("got.removed") == ["removed"], "the page is told of it")
    check(shown.evaluate("[second.isRemoved, first.isRemoved]") == [True, False], "and knows which")


def kept(shown):
    return shown.evaluate(
        "kept.got.map(({ userInfo, redelivered }) => [userInfo.k, redelivered ?? false])"
    )


def post_kept(url, *numbers):
    outcomes = []
    for number in numbers:
        status, receipt = request(
            f"{url}/v1/channels/{NAME}.Kept", method="POST", body={"k": number},
            Content_Type="application/json",
        )
        assert status == 200, (status, receipt)
        outcomes.append((receipt["delivered"], receipt["held"]))
    return outcomes


def keepers(url):
    return [row for row in observers(url) if row["name"] == f"{NAME}.Kept"]


def test_resume(shown, url, proxy):
    shown.evaluate(RESUMING, NAME)
    [before] = keepers(url)
    check(before["lifetime"] == "token", "a center that resumes has observers that last", before)
    post_kept(url, 1)
    eventually(lambda: kept(shown) == [[1, False]], "it gets what is posted")
    token = shown.evaluate("keeper.token")
    proxy.cut()
    eventually(
        lambda: keepers(url)[0]["state"] == "disconnected", "a lost connection leaves it there")
    outcomes = post_kept(url, 2, 3)
    check(outcomes == [(0, 1), (0, 1)], "what is posted meanwhile is held for it", outcomes)
    proxy.mend()
    eventually(
        lambda: kept(shown) == [[1, False], [2, False], [3, False]],
        "it comes when the connection is back, and is no redelivery",
    )
    [after] = keepers(url)
    same = (after["id"], after["state"], shown.evaluate("keeper.token"))
    check(same == (before["id"], "live", token), "id and token are those of before", same)


def press(url, number):
    status, receipt = request(
        f"{url}/v1/channels/{NAME}.Pressed?report=observers", method="POST", body={"k": number},
        Content_Type="application/json",
    )
    assert status == 200, (status, receipt)
    return [(row["id"], row["outcome"], row["target"]) for row in receipt["observers"]]


def test_reload(shown, url, proxy):
    [before] = keepers(url)
    wired = shown.evaluate("wired.id")
    check(press(url, 3) == [(wired, "delivered", "page")], "an observer with a target lasts, too")
    eventually(lambda: shown.evaluate("kept.acted") == [["page", 3]], "its actions come here")
    shown.goto("about:blank")
    eventually(
        lambda: keepers(url)[0]["state"] == "disconnected", "with storage it outlives the page")
    post_kept(url, 4)
    rows = press(url, 4)
    check(rows == [(wired, "held", "page")], "it fires without its page, and is held", rows)
    status, asked = request(
        f"{url}/v1/responders/page/work?ttl=60", method="POST", body={"k": 4},
        Content_Type="application/json", Prefer="respond-async",
    )
    assert status == 202, (status, asked)
    shown.goto(f"{proxy.url}/livez")
    shown.evaluate(RESUMING, NAME)
    _, fate = request(f"{url}/v1/notifications/{asked['id']}", Prefer="wait=10")
    check(fate.get("answer") == 8, "a page that comes back answers what it was asked", fate)
    holders = request(f"{url}/v1/responders/page")[1]["responders"]
    ids = [row["id"] for row in holders]
    check(ids == [fate["observer"]] == [shown.evaluate("desk.id")], "as the same responder", ids)
    eventually(lambda: kept(shown) == [[4, False]], "the page that comes back gets what was held")
    ids = [row["id"] for row in keepers(url)]
    check(ids == [before["id"]], "through the same observer", ids)
    eventually(lambda: shown.evaluate("kept.acted") == [["page", 4]], "and the held action")
    check(shown.evaluate("wired.id") == wired, "of the observer that has the target")
    post_kept(url, 5)
    eventually(lambda: kept(shown)[-1] == [5, False], "which goes on")


def test_lost_session(shown, url):
    [row] = keepers(url)
    session = shown.evaluate(
        "JSON.parse(sessionStorage.getItem(Object.keys(sessionStorage)[0])).session")
    shown.evaluate(
        "() => keeping.addEventListener('state', ({ detail }) => { window.lastState = detail; })")
    status, _ = request(
        f"{url}/v1/clients/{row['client']}", method="DELETE", Belfry_Session=session)
    check(status == 204, "the session removes its client", status)
    eventually(lambda: shown.evaluate("keeping.state") == "closed", "whose page is told so")
    code = shown.evaluate("lastState.code")
    check(code == 4002, "and does not connect again", code)
    check(shown.evaluate("sessionStorage.length") == 0, "nor does a page after it")


def test_close(shown, url):
    shown.evaluate(RESUMING, NAME)
    check(len(keepers(url)) == 1, "a new center has a new session")
    shown.evaluate("keeping.close()")
    eventually(lambda: not keepers(url), "closing removes what would have lasted")
    check(shown.evaluate("sessionStorage.length") == 0, "and nothing of it is stored")


def test_acknowledgement(shown):
    receipt = shown.evaluate(
        """async (name) => {
          const options = { name: name + ".Asked", acknowledge: true };
          const slow = (notification) => new Promise((resolve) => setTimeout(resolve, 20));
          const good = await center.addObserver(options, slow);
          const fail = async () => { throw new Error("no paper"); };
          const bad = await center.addObserver(options, fail);
          const each = await center.addObserver(options);
          (async () => { for await (const { seq } of each) window.asked = seq; })();
          const receipt = await center.post(name + ".Asked", { report: "observers", wait: 5 });
          for (const observer of [good, bad, each]) await observer.remove();
          return receipt;
        }""",
        NAME,
    )
    counts = [receipt[key] for key in ("delivered", "acknowledged", "refused", "pending")]
    check(counts == [3, 2, 1, 0], "the promise of a handler is its answer", receipt)
    check(
        receipt["observers"][1]["error"] == {"code": 1, "message": "no paper"},
        "the poster reads why a handler refused", receipt["observers"],
    )


def test_suspension(shown):
    found = shown.evaluate(
        """async (name) => {
          const arrived = [];
          const options = { name: name + ".Rest", suspensionBehavior: "hold" };
          const keep = ({ userInfo }) => arrived.push(userInfo.k);
          const observer = await center.addObserver(options, keep);
          await center.setSuspended(true);
          const { held } = await center.post(name + ".Rest", { userInfo: { k: 1 } });
          const before = [...arrived];
          await center.setSuspended(false);
          await center.post(name + ".Rest", { userInfo: { k: 2 } });
          await observer.remove();
          return { held, before, arrived };
        }""",
        NAME,
    )
    wanted = {"held": 1, "before": [], "arrived": [1, 2]}
    check(found == wanted, "a suspended page gets what was held when it goes on", found)


def test_queue(shown):
    found = shown.evaluate(
        """async (name) => {
          const lease = await center.enterMode("test");
          const options = { style: "asap", coalesce: ["name"], keep: "latest" };
          const first = await center.post(name + ".Queued", options);
          const second = await center.post(name + ".Queued", options);
          const third = await center.post(name + ".Queued", { style: "idle", coalesce: "none" });
          const removed = [await center.dequeue({ id: third.id })];
          removed.push(await center.dequeue({ name: name + ".Queued" }));
          await center.leaveMode(lease);
          return { outcomes: [first, second].map(({ outcome }) => outcome), removed,
            isInto: second.into === first.id };
        }""",
        NAME,
    )
    wanted = {"outcomes": ["queued", "coalesced"], "removed": [1, 1], "isInto": True}
    check(found == wanted, "posts wait in the queue, coalesce, and are taken out", found)


def test_asks(shown):
    found = shown.evaluate(
        """async () => {
          const circle = [];
          circle.push(circle);
          const posts = [];
          const desk = await center.respond("deploy", {
            start: async (userInfo, ask) => [userInfo, ask.object, ask.target, typeof ask.answerBy],
            none: () => {},
            falsehood: () => false,
            refuse: async () => { throw new Error("no paper"); },
            circle: () => circle,
            handOn: (userInfo, ask) => ask.pass(),
            didMove: (userInfo, { seq, answerBy }) => posts.push([userInfo.k, answerBy ?? null]),
          }, { next: "team", suspensionBehavior: "hold" });
          const team = await center.respond("team", { handOn: (userInfo, ask) => ask.target });
          const asked = [];
          for (const selector of ["start", "none", "falsehood", "handOn"]) {
            const { answer, by, observer, path } = await center.ask("deploy", selector, { n: 1 });
            asked.push([answer, by, observer === (path.length > 1 ? team : desk).id, path]);
          }
          const refused = [];
          for (const selector of ["refuse", "circle", "other"]) {
            const { problem } = await center.ask("deploy", selector).catch((error) => error);
            refused.push([problem.status, problem.type.split("/").pop(), problem.error?.message]);
          }
          const { answer, by, reason } = await center.ask("nobody", "start", null, { default: null });
          for (const k of [1, 2]) await center.post("didMove", { object: "deploy", userInfo: { k } });
          await center.post("didMove", { object: "other", userInfo: { k: 3 } });
          const barrier = await center.ask("deploy", "falsehood");
          const kept = [desk.object, desk.name, desk.isRemoved];
          await desk.remove();
          const gone = await center.ask("deploy", "start", {}, { default: 0 });
          await team.remove();
          return { asked, refused, fallback: [answer, by, reason], posts, kept, gone: gone.reason };
        }"""
    )
    asked = [
        [[{"n": 1}, "deploy", "deploy", "string"], "responder", True, ["deploy"]],
        [None, "responder", True, ["deploy"]],
        [False, "responder", True, ["deploy"]],
        ["team", "responder", True, ["deploy", "team"]],
    ]
    check(found["asked"] == asked, "a responder answers any JSON, or hands on", found["asked"])
    statuses = [row[:2] for row in found["refused"]]
    wanted = [[502, "responder-refused"], [502, "responder-refused"], [501, "selector-not-implemented"]]
    check(statuses == wanted, "an ask without an answer throws the problem", found["refused"])
    check(found["refused"][0][2] == "no paper", "which says why a handler refused")
    check(found["fallback"] == [None, "default", "no-responder"], "a default may be null")
    check(found["posts"] == [[1, None], [2, None]], "posts with its object come too", found["posts"])
    check(found["kept"] == ["deploy", None, False], "the token tells the address", found["kept"])
    check(found["gone"] == "no-responder", "remove() gives the address up", found["gone"])


def test_actions(shown):
    found = shown.evaluate(
        """async () => {
          const seen = [];
          const see = (userInfo, { name, object, target, selector }) => {
            seen.push([name, object, target, selector, userInfo?.k]);
            return `${target}.${selector}`;
          };
          const handOn = (userInfo, ask) => ask.pass();
          const fail = async () => { throw new Error("no bulb"); };
          const lamp = await center.respond("lamp", { toggle: see, dim: see, handOn, fail },
            { next: "hall" });
          const fan = await center.respond("fan", { toggle: see });
          const hall = await center.respond("hall", { handOn: see });
          const wire = (target, selector, acknowledge = false) => center.addObserver(
            { name: "touchUp", object: "s1", target, selector, acknowledge });
          const press = async () => {
            const options = { object: "s1", userInfo: { k: 1 }, wait: 5, report: "observers" };
            const { observers } = await center.post("touchUp", options);
            return observers.map(({ outcome, observer, result, error, reason, path }) =>
              [outcome, observer ?? null, result ?? error?.message ?? reason ?? null, path ?? null]);
          };
          const plain = [];
          const watching = await center.addObserver(
            { name: "touchUp", selector: "toggle" }, ({ name }) => plain.push(name));
          // What one post makes at one client: two actions of one address, and one of another.
          const silent = [await wire("lamp", "toggle"), await wire("lamp", "dim"),
            await wire("fan", "toggle"), await wire("attic", "toggle")];
          const first = await press();
          await center.ask("lamp", "toggle"); // Frames before its answer have come.
          for (const observer of silent) await observer.remove();
          const unanswered = seen.splice(0);
          const answered = [];
          for (const pair of [["lamp", "toggle"], ["fan", "toggle"], ["lamp", "dim"],
            ["lamp", "handOn"], ["lamp", "fail"]]) answered.push(await wire(...pair, true));
          const second = await press();
          const own = [silent[0].target, silent[0].selector, silent[0].isRemoved, watching.target];
          for (const each of [watching, ...answered, lamp, fan, hall]) await each.remove();
          return { first, unanswered, second, plain, own,
            ids: { lamp: lamp.id, fan: fan.id, hall: hall.id } };
        }"""
    )
    ids = found["ids"]
    wanted = [["delivered", ids["lamp"], None, None], ["delivered", ids["lamp"], None, None],
              ["delivered", ids["fan"], None, None], ["unhandled", None, "no-responder", ["attic"]]]
    rows = [row for row in found["first"] if row != ["delivered", None, None, None]]
    check(rows == wanted, "the rows tell where each action went", found["first"])
    wanted = [["touchUp", "s1", "lamp", "toggle", 1], ["touchUp", "s1", "lamp", "dim", 1],
              ["touchUp", "s1", "fan", "toggle", 1], ["toggle", "lamp", "lamp", "toggle", None]]
    check(found["unanswered"] == wanted, "each comes to its handler once", found["unanswered"])
    check(found["plain"] == ["touchUp"] * 2, "and a namesake observes posts only", found["plain"])
    wanted = [["acknowledged", ids["lamp"], "lamp.toggle", None],
              ["acknowledged", ids["fan"], "fan.toggle", None],
              ["acknowledged", ids["lamp"], "lamp.dim", None],
              ["acknowledged", ids["hall"], "hall.handOn", ["lamp", "hall"]],
              ["refused", ids["lamp"], "no bulb", None]]
    rows = [row for row in found["second"] if row != ["delivered", None, None, None]]
    check(rows == wanted, "those that are answered get each its own answer", found["second"])
    check(found["own"] == ["lamp", "toggle", True, None], "the token tells its target", found["own"])


def test_withdrawal(shown):
    found = shown.evaluate(
        """async () => {
          let begin;
          let end;
          const begun = new Promise((resolve) => { begin = resolve; });
          const ended = new Promise((resolve) => { end = resolve; });
          const desk = await center.respond("slow", {
            work: (userInfo, ask) => new Promise((resolve, reject) => {
              ask.signal.onabort = () => { end(ask.id); reject(ask.signal.reason); };
              begin(ask.id);
            }),
            echo: (userInfo) => userInfo,
          });
          const abort = new AbortController();
          const options = { wait: 60, default: "a b", signal: abort.signal };
          const asking = center.ask("slow", "work", null, options).catch(({ name }) => name);
          const id = await begun;
          abort.abort();
          const name = await asking;
          const isSame = await ended === id;
          const { answer } = await center.ask("slow", "echo", { "ä b": [1] }, {
            ...options, signal: new AbortController().signal, idempotencyKey: "key",
          });
          const { problem } = await center.ask("none", "work", null, {
            once: true, signal: new AbortController().signal,
          }).catch((error) => error);
          const later = await center.ask("slow", "work", null, { ttl: 60 });
          await center.withdraw(later);
          const [, status] = await Promise.all([
            desk.remove(), center.withdraw(later).catch((error) => error.problem.status)]);
          return { name, isSame, answer, status: problem.status, later: later.outcome, twice: status };
        }"""
    )
    wanted = {
        "name": "AbortError", "isSame": True, "answer": {"ä b": [1]}, "status": 503,
        "later": "asked", "twice": 409,
    }
    check(found == wanted, "an ask is withdrawn by its signal, and ask.signal tells", found)


def test_lost_ask(shown, url, proxy):
    shown.evaluate(
        """async (url) => {
          const { NotificationCenter } = await import("/belfry.js");
          const far = new NotificationCenter(url);
          const lost = { begun: [], ended: [], results: {} };
          const work = (userInfo, ask) => new Promise((resolve) => {
            lost.begun.push(userInfo.k);
            ask.signal.onabort = () => lost.ended.push(userInfo.k);
            if (lost.begun.length > 2) resolve(userInfo.k);
          });
          await far.respond("far", { work });
          const note = (k) => ({ answer, code }) => { lost.results[k] = answer ?? String(code); };
          center.ask("far", "work", { k: 1 }, { wait: 60 }).then(note(1), note(1));
          const options = { wait: 60, idempotencyKey: "lost" };
          center.ask("far", "work", { k: 2 }, options).then(note(2), note(2));
          Object.assign(window, { far, lost });
        }""",
        url,
    )
    eventually(lambda: shown.evaluate("lost.begun.length") == 2, "two asks are at their responder")
    proxy.cut()
    eventually(
        lambda: shown.evaluate("lost.results") == {"1": "null"},
        "an ask whose connection is lost fails with the code null",
    )
    eventually(
        lambda: sorted(shown.evaluate("lost.ended")) == [1, 2], "and is withdrawn, as the other one")
    proxy.mend()
    eventually(
        lambda: shown.evaluate("lost.results") == {"1": "null", "2": 2},
        "one with an idempotency key is asked again",
    )
    shown.evaluate("far.close()")


def test_kept_responder(shown, url, proxy):
    shown.evaluate(
        """async () => {
          const { NotificationCenter } = await import("/belfry.js");
          const kept = { handled: [], answer: null };
          const staying = new NotificationCenter(undefined, { resume: true });
          const work = ({ k }) => new Promise((resolve) => {
            kept.handled.push(k);
            kept.answer = () => resolve(k);
          });
          const desk = await staying.respond("kept", { work }, { suspensionBehavior: "hold" });
          Object.assign(window, { staying, keeping: kept, desk });
        }"""
    )
    before = shown.evaluate("desk.id")
    status, asked = request(
        f"{url}/v1/responders/kept/work?ttl=60", method="POST", body={"k": 1},
        Content_Type="application/json", Prefer="respond-async",
    )
    assert status == 202, (status, asked)

    def states():
        return [row["state"] for row in request(f"{url}/v1/asks?object=kept")[1]["asks"]]

    eventually(lambda: shown.evaluate("keeping.handled") == [1], "an ask is at work")
    proxy.cut()
    eventually(lambda: states() == ["held"], "a responder that is cut off holds it")
    proxy.mend()
    eventually(lambda: states() == ["delivered"], "it comes again when the responder is back")
    shown.evaluate("keeping.answer()")
    status, fate = request(f"{url}/v1/notifications/{asked['id']}", Prefer="wait=10")
    check((status, fate.get("answer")) == (200, 1), "the handler that was at work answers it", fate)
    check(shown.evaluate("keeping.handled") == [1], "and no second one was started")
    check(shown.evaluate("desk.id") == before, "the responder is the same")
    shown.evaluate("staying.close()")


def value(url, path):
    status, content = request(f"{url}/v1/values/{path}")
    return content if status == 200 else None


def test_values(shown, url):
    found = shown.evaluate(
        """async () => {
          const told = { whole: [], place: [] };
          const keep = (list) => (value, { kind, initial = false, old }) =>
            list.push([kind, initial, JSON.stringify(value) ?? null, old ?? null]);
          const observers = [
            await center.addObserver({ object: "o", keyPath: "" }, keep(told.whole)),
            await center.addObserver({ object: "o", keyPath: "a.b", old: true }, keep(told.place)),
          ];
          const absent = await center.value("o");
          const first = await center.setValue("o", "a.b", { x: 1 });
          const patch = { a: { b: { y: [1, null] }, c: 3 }, ["__proto__"]: 4 };
          await center.mergeValue("o", "", patch);
          const same = await center.setValue("o", "a.b.x", 1);
          await center.removeValue("o", "a.b.x");
          await center.setValue("o", "", { a: { b: "dark" } });
          const { value, etag } = await center.value("o", "a.b");
          const conflict = await center.setValue("o", "a.b", 1, { ifMatch: first.etag })
            .catch((error) => error.problem.status);
          const created = await center.setValue("o", "a.b", 1, { ifNoneMatch: "*" })
            .catch((error) => error.problem.status);
          await center.setValue("o", "a.b", "light", { ifMatch: etag });
          await center.removeValue("o");
          for (const observer of observers) await observer.remove();
          const drop = await center
            .addObserver({ object: "o", keyPath: "", suspensionBehavior: "drop" })
            .catch(({ message }) => message);
          const ends = [];
          const sequence = await center.addObserver({ object: "o", keyPath: "a" });
          for await (const { value, change } of sequence) {
            ends.push([change.kind, value ?? null]);
            if (ends.length === 2) break;
            await center.setValue("o", "a", false);
          }
          await center.removeValue("o");
          const paths = observers.map(({ keyPath, object, name }) => [keyPath, object, name]);
          return { told, absent, value, changed: [first.changed, same.changed], conflict, created,
                   drop, ends, paths };
        }"""
    )
    check(found["absent"] is None and found["value"] == "dark", "a value is there, or is not", found)
    check(found["changed"] == [True, False], "a write that changes nothing says so")
    check((found["conflict"], found["created"]) == (412, 412), "a condition that fails is a refusal")
    whole = [
        ["removed", True, None, None],
        ["set", False, '{"a":{"b":{"x":1}}}', None],
        ["merge", False, '{"a":{"b":{"x":1,"y":[1,null]},"c":3},"__proto__":4}', None],
        ["merge", False, '{"a":{"b":{"y":[1,null]},"c":3},"__proto__":4}', None],
        ["merge", False, '{"a":{"b":"dark"}}', None],
        ["merge", False, '{"a":{"b":"light"}}', None],
        ["removed", False, None, None],
    ]
    told = found["told"]["whole"]
    check(told == whole, "each change has the whole value", told)
    place = [
        ["removed", True, None, None],
        ["set", False, '{"x":1}', None],
        ["merge", False, '{"x":1,"y":[1,null]}', {"y": None}],
        ["merge", False, '{"y":[1,null]}', {"x": 1}],
        ["set", False, '"dark"', {"y": [1, None]}],
        ["set", False, '"light"', "dark"],
        ["removed", False, None, "light"],
    ]
    told = found["told"]["place"]
    check(told == place, "and so has a place in it", told)
    check("drop" in found["drop"], "a value is not observed with holes", found["drop"])
    check(found["ends"] == [["removed", None], ["set", False]], "without a handler it is a sequence")
    check(found["paths"] == [["", "o", None], ["a.b", "o", None]], "an observer has its place")


def test_own(shown, url):
    """Changes of one's own are left out, and the value is whole all the same."""
    shown.evaluate(
        """async () => {
          window.own = [];
          await center.addObserver(
            { object: "own", keyPath: "", own: false }, (value) => own.push(value ?? null));
          await center.setValue("own", "mine", 1);
        }"""
    )
    request(f"{url}/v1/values/own/theirs", method="PUT", body=2, Content_Type="application/json")
    eventually(
        lambda: shown.evaluate("own") == [None, {"mine": 1, "theirs": 2}],
        "a change of somebody else is told with what was set here",
    )


def test_value_cut(shown, url, proxy):
    shown.evaluate(
        """async () => {
          const { NotificationCenter } = await import("/belfry.js");
          window.sharing = new NotificationCenter();
          window.kept = [];
          await sharing.setValue("kept", "", { a: 1 });
          await sharing.addObserver({ object: "kept", keyPath: "" }, (value, { initial = false }) =>
            kept.push([initial, value]));
        }"""
    )
    proxy.cut()
    proxy.mend()
    eventually(lambda: shown.evaluate("sharing.state") == "open", "a cut connection comes back")
    check(shown.evaluate("kept") == [[True, {"a": 1}]], "a value that is the same is not told again")
    proxy.cut()
    request(f"{url}/v1/values/kept/b", method="PUT", body=2, Content_Type="application/json")
    proxy.mend()
    eventually(
        lambda: shown.evaluate("kept.length") == 2, "one that has changed meanwhile is told")
    check(shown.evaluate("kept[1]") == [True, {"a": 1, "b": 2}], "as it is")
    request(f"{url}/v1/values/kept/a", method="DELETE")
    eventually(
        lambda: shown.evaluate("kept.at(-1)") == [False, {"b": 2}], "and its changes go on from there")


def test_binding(shown, url, proxy):
    shown.evaluate(
        """async () => {
          const make = (tag, type) => {
            const made = document.body.appendChild(document.createElement(tag));
            if (type) made.type = type;
            return made;
          };
          const bound = {
            range: make("input", "range"), box: make("input", "checkbox"), text: make("input"),
            choice: make("select"), shown: make("p"), faults: [], told: [],
          };
          for (const name of ["a", "b"]) bound.choice.append(new Option(name, name));
          bound.text.value = "kept";
          const onError = ({ problem }) => bound.faults.push(problem?.status ?? null);
          bound.bindings = {};
          for (const part of ["range", "box", "text", "choice", "shown"]) {
            bound.bindings[part] = await sharing.bind(bound[part], "form", part, { onError });
          }
          bound.put = (part, content) => {
            Object.assign(bound[part], content);
            bound[part].dispatchEvent(new Event("input"));
          };
          await sharing.addObserver({ object: "form", keyPath: "" }, (value) => bound.told.push(value));
          window.bound = bound;
        }"""
    )
    check(shown.evaluate("bound.text.value") == "kept", "an input without a value keeps its own")
    shown.evaluate(
        """bound.put("range", { value: 30 }); bound.put("box", { checked: true });
           bound.put("text", { value: "Ann" }); bound.put("choice", { value: "b" });"""
    )
    wanted = {"range": 30, "box": True, "text": "Ann", "choice": "b"}
    eventually(lambda: value(url, "form") == wanted, "inputs set numbers, truth and text")
    request(f"{url}/v1/values/form", method="PATCH", Content_Type="application/json",
            body={"range": 7, "box": False, "text": "Bob", "choice": "a", "shown": {"n": 1}})
    eventually(
        lambda: shown.evaluate(
            "[bound.range.value, bound.box.checked, bound.text.value, bound.choice.value,"
            " bound.shown.textContent]") == ["7", False, "Bob", "a", '{"n":1}'],
        "and show what others set",
    )
    shown.evaluate("bound.told.length = 0; for (let n = 1; n < 101; n++) bound.put('range', { value: n })")
    eventually(lambda: value(url, "form/range") == 100, "of many moves the last one wins")
    count = shown.evaluate("bound.told.length")
    check(count <= 3, "and those that were overtaken are not sent", count)
    check(shown.evaluate("bound.range.value") == "100", "nothing comes back")

    shown.evaluate("bound.put('text', { value: 'x'.repeat(262145) })")
    eventually(lambda: shown.evaluate("bound.faults") == [413], "what is refused is told")
    check(shown.evaluate("bound.text.value") == "Bob", "and the input shows the value as it is")
    proxy.cut()
    shown.evaluate("bound.put('range', { value: 55 })")
    request(f"{url}/v1/values/form/range", method="PUT", body=44, Content_Type="application/json")
    proxy.mend()
    eventually(lambda: value(url, "form/range") == 55, "what was set without a connection is set then")
    check(shown.evaluate("bound.range.value") == "55", "and stands, as the last write")
    shown.evaluate("bound.faults.length = 0; bound.put('text', { value: 'x'.repeat(2 << 20) })")
    eventually(
        lambda: shown.evaluate("[bound.faults.length, bound.text.value]") == [1, "Bob"],
        "a message that is too long ends the connection, and is given up",
    )
    eventually(lambda: shown.evaluate("sharing.state") == "waiting", "the next attempt is put off")
    shown.evaluate("dispatchEvent(new Event('online'))")
    shown.evaluate("bound.bindings.range.remove()")
    request(f"{url}/v1/values/form", method="PATCH", Content_Type="application/json",
            body={"range": 1, "text": "end"})
    eventually(lambda: shown.evaluate("bound.text.value") == "end", "a binding goes on")
    check(shown.evaluate("bound.range.value") == "55", "until it is removed")
    shown.evaluate("for (const part of ['box', 'text', 'choice', 'shown']) bound.bindings[part].remove()")


def ours(url):
    return [row["id"] for row in observers(url) if (row["name"] or "").startswith(NAME)]


def main():
    options = support.arguments(__doc__)
    with support.broker(options) as url, support.browser(options) as running:
        proxy = Proxy(url)
        made = running.new_context()
        shown = made.new_page()
        # Any document of the broker will do that has no script of its own.
        shown.goto(f"{proxy.url}/livez")
        shown.evaluate(SETUP, NAME)
        test_delivery(shown)
        test_refusal(shown)
        test_sequence(shown, url)
        test_acknowledgement(shown)
        test_suspension(shown)
        test_queue(shown)
        test_asks(shown)
        test_actions(shown)
        test_withdrawal(shown)
        test_lost_ask(shown, url, proxy)
        test_kept_responder(shown, url, proxy)
        test_values(shown, url)
        test_own(shown, url)
        test_cut(shown, url, proxy)
        test_removal(shown, url)
        test_value_cut(shown, url, proxy)
        test_binding(shown, url, proxy)
        shown.goto("about:blank")
        eventually(lambda: not ours(url), "a page that is left takes its observers along")
        shown.goto(f"{proxy.url}/livez")
        test_resume(shown, url, proxy)
        test_reload(shown, url, proxy)
        test_lost_session(shown, url)
        test_close(shown, url)
        proxy.listener.close()
        made.close()


if __name__ == "__main__":
    main()
