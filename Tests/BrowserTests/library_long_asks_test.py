"""belfry.js: asks that wait for long while the broker is killed, stopped and started again, asks
that fail closed, and work that several share."""

import contextlib
import json
import tempfile
import time

import library
import support
from support import check, eventually, request

OPEN = """async (options) => {
  const { NotificationCenter } = await import("/belfry.js");
  window.center = new NotificationCenter(undefined, options ?? {});
  window.results = {};
  window.waitFor = (key, asking) => asking.then(
    (answer) => { results[key] = answer; },
    (error) => { results[key] = error.slug ?? error.reason ?? error.name; });
}"""

DESK = """async () => {
  const { NotificationCenter } = await import("/belfry.js");
  window.desk = new NotificationCenter(undefined, { resume: true });
  window.asked = {};
  window.over = [];
  const confirm = (userInfo, ask) => new Promise((resolve) => {
    asked[ask.id] = { userInfo, present: ask.present, answer: (value, reason) =>
      resolve(reason === undefined ? value : ask.answer(value, { reason })) };
    ask.signal.onabort = () => over.push(ask.id);
  });
  await desk.respond("deploy", { confirm }, { suspensionBehavior: "hold" });
}"""


ANSWERED = """performance.getEntriesByType("resource")
  .filter(({ name }) => name.includes("/v1/responders/")).length"""


class Setting:
    """A page that asks and one that answers, at a broker that can be killed and started."""

    def __init__(self, options, running, *kept):
        self.options, self.kept = options, kept
        self.brokers = contextlib.ExitStack()
        self.start()
        self.proxy = library.Proxy(self.url)
        self.made = running.new_context()
        self.asker, self.answerer = self.made.new_page(), self.made.new_page()
        for shown in (self.asker, self.answerer):
            shown.goto(f"{self.proxy.url}/livez")
        self.answerer.evaluate(DESK)

    def start(self):
        begun = support.started_broker(self.options, *self.kept)
        self.url, self.process = self.brokers.enter_context(begun)

    def restart(self, end):
        end(self.process)
        self.process.wait(support.DEADLINE)
        time.sleep(0.5)
        self.start()
        self.proxy.target = library.address(self.url)

    def close(self):
        self.made.close()
        self.proxy.listener.close()
        self.brokers.close()

    def open_asks(self):
        return request(f"{self.url}/v1/asks")[1]["asks"]

    def until_asked(self, sentence, count=1):
        return eventually(lambda: len(ids := self.asked()) == count and ids, sentence)

    def asked(self):
        return self.answerer.evaluate("Object.keys(asked)")

    def answer(self, number, *words):
        call = "([id, words]) => asked[id].answer(...words)"
        self.answerer.evaluate(call, [number, list(words)])

    def result(self, key, sentence):
        return eventually(lambda: self.asker.evaluate("(key) => results[key]", key), sentence)


@contextlib.contextmanager
def setting(options, running, *kept):
    made = Setting(options, running, *kept)
    try:
        yield made
    finally:
        made.close()


def test_long(options, running):
    with tempfile.TemporaryDirectory() as folder, setting(
            options, running, "--data", f"{folder}/data") as at:
        at.asker.evaluate(OPEN)
        at.asker.evaluate(
            """() => void waitFor("long", center.ask("deploy", "confirm", { sha: "4f2c" }, {
              wait: 4 * 3600, present: { title: "Deploy?" } }))""")
        [number] = at.until_asked("an ask of four hours is asked")
        present = at.answerer.evaluate("(id) => asked[id].present", number)
        check(present == {"title": "Deploy?"}, "with what it presents", present)
        at.proxy.cut()
        time.sleep(0.3)
        at.proxy.mend()
        at.restart(lambda process: process.kill())
        at.restart(lambda process: process.terminate())
        eventually(lambda: at.answerer.evaluate("desk.state") == "open", "the responder is back")
        check(at.asked() == [number], "it is the same ask after a kill and a stop", at.asked())
        at.answer(number, True, "The tests have passed.")
        answer = at.result("long", "and is answered")
        wanted = {"id": number, "answer": True, "by": "responder", "answeredBy": None,
                  "reason": "The tests have passed.", "observer": answer.get("observer"),
                  "path": ["deploy"]}
        check(answer == wanted, "with the reason of its responder", answer)
        check(at.open_asks() == [], "and nothing is left open")
        found = at.asker.evaluate("(id) => center.fate(id)", number)
        check(found == answer, "its fate says the same", found)

        at.asker.evaluate(
            """() => {
              window.giveUp = new AbortController();
              void waitFor("given up", center.ask("deploy", "confirm", null, {
                wait: 3600, signal: giveUp.signal }));
              window.leave = new AbortController();
              void waitFor("left", center.ask("deploy", "confirm", { k: 1 }, {
                wait: 3600, keep: true, signal: leave.signal }));
            }""")
        at.until_asked("two more are asked", 3)
        kept = at.answerer.evaluate(
            "Object.entries(asked).find(([, { userInfo }]) => userInfo?.k === 1)[0]")
        at.process.kill()
        at.process.wait()
        at.asker.evaluate("giveUp.abort(), leave.abort()")
        check(at.result("given up", "one is given up while the broker is dead") == "AbortError"
              and at.result("left", "and one is left") == "AbortError", "both say so")
        at.start()
        at.proxy.target = library.address(at.url)
        eventually(lambda: [row["id"] for row in at.open_asks()] == [kept],
                   "the broker that is back is told to withdraw the first, and keeps the other")
        at.asker.evaluate("(id) => void waitFor('fate', center.fate(id, { wait: 3600 }))", kept)
        open_fate = at.asker.evaluate("(id) => center.fate(id)", kept)
        check(open_fate["outcome"] == "asked", "its fate says that it is open", open_fate)
        eventually(lambda: at.answerer.evaluate("desk.state") == "open", "the responder is back")
        at.answer(kept, {"by": "ann"})
        check(at.result("fate", "who waits for the fate is told")["answer"] == {"by": "ann"}, "")

        found = at.asker.evaluate(
            """async () => {
              const asked = await center.ask("deploy", "confirm", null, { ttl: 60, wait: 0.5 });
              await center.withdraw(asked);
              const told = (error) => [error.slug, error.problem.status];
              const withdrawn = await center.fate(asked.id, { wait: 5 }).catch(told);
              const { id } = await center.post("Note");
              const none = await center.fate(id.replace(/.$/, "0")).catch(told);
              const late = await center.ask("deploy", "confirm", null, {
                wait: 16, ttl: 0.5, default: "none" });
              return [asked.outcome, withdrawn, none[1], late.answer, late.by, late.reason];
            }""")
        check(found == ["asked", ["already-settled", 409], 404, "none", "default", "no-answer"],
              "an ask may outlive its wait, be withdrawn, be unknown, or end before", found)
        at.asker.evaluate(
            """() => void waitFor("closed", center.ask("deploy", "confirm", null, { wait: 60 }))""")
        eventually(lambda: len(at.open_asks()) == 1, "another one is open")
        at.asker.evaluate("center.close()")
        check(at.result("closed", "a center that is closed ends its ask") == "closed", "")
        eventually(lambda: at.open_asks() == [], "and withdraws it")


def test_forgotten(options, running):
    with setting(options, running, "--in-memory") as at:
        at.asker.evaluate(OPEN)
        at.asker.evaluate(
            """() => {
              const ask = (terms) => center.ask("deploy", "confirm", null, {
                wait: 60, ifNobody: "wait", ...terms });
              void waitFor("again", ask({}));
              void waitFor("once", ask({ once: true }));
            }""")
        first = at.until_asked("two asks are at a broker without a store", 2)
        eventually(lambda: at.asker.evaluate(ANSWERED) == 2, "which has told their ids")
        at.restart(lambda process: process.kill())
        check(at.result("once", "the one that is shown once ends") == "not-found", "as unknown")
        third = at.until_asked("the other one is asked anew", 3)
        [again] = set(third) - set(first)
        at.answer(again, "yes")
        check(at.result("again", "and answered")["answer"] == "yes", "")


STRANGERS = [
    ("401 Unauthorized", "application/problem+json", "credentials-missing"),
    ("403 Forbidden", "application/problem+json", "forbidden"),
    ("429 Too Many Requests", "application/problem+json", "rate-limited"),
    ("500 Internal Server Error", "application/problem+json", "internal"),
    ("503 Service Unavailable", "application/problem+json", "overloaded"),
    ("401 Unauthorized", "text/html", "<form>Log in</form>"),
    ("500 Internal Server Error", "text/plain", "no"),
    ("503 Service Unavailable", "text/html", "<h1>Back soon</h1>"),
    ("200 OK", "text/html", "<form>Log in</form>"),
    ("204 No Content", "text/plain", ""),
    ("200 OK", "application/json", "{"),
    ("200 OK", "application/json", "true"),
    ("200 OK", "application/json", '{"answer":true}'),
    ("200 OK", "application/json", '{"id":"a","answer":true}'),
    ("200 OK", "application/json", '{"id":"a","answer":true,"by":"default"}'),
    ("200 OK", "application/json", '{"id":"a","by":"responder"}'),
]

CLOSED = """async (options) => {
  const begin = performance.now();
  const answer = await center.ask("door", "mayOpen", { who: "ann" }, {
    wait: 1, default: false, failClosed: true, ...options }).catch((error) => String(error));
  return [answer, (performance.now() - begin) / 1000];
}"""


def check_closed(shown, title, options=None, reason=""):
    answer, took = shown.evaluate(CLOSED, options or {})
    is_closed = isinstance(answer, dict) and answer["answer"] is False and answer["by"] == "asker"
    told = answer.get("reason") if is_closed else ""
    is_told = isinstance(told, str) and told and reason in told
    check(is_told and took < 1.5, f"{title}: closed, because of {told!r}", (answer, took))


def test_closed(shown, url, proxy):
    shown.evaluate(OPEN)
    shown.evaluate(
        """async () => {
          await center.respond("door", {
            mayOpen: ({ who }) => who === "ann",
            silent: () => new Promise(() => {}),
            refuse: () => { throw new Error("no"); },
          });
        }""")
    answer, _ = shown.evaluate(CLOSED, {})
    check((answer["answer"], answer["by"]) == (True, "responder"), "a responder opens", answer)
    answer, _ = shown.evaluate(CLOSED, {"wait": 20})
    check((answer["answer"], answer["by"]) == (True, "responder"), "also after a long wait", answer)
    found = shown.evaluate(
        """async () => {
          const ask = (selector, terms = {}) => center.ask("door", selector, null, {
            wait: 1, default: false, failClosed: true, ...terms });
          const reasons = [];
          for (const selector of ["silent", "refuse", "other"]) {
            reasons.push(await ask(selector).then(({ by, reason }) => [by, reason]));
          }
          const misuse = await ask("silent", { default: undefined }).catch(({ reason }) => reason);
          const signal = AbortSignal.timeout(100);
          const aborted = await ask("silent", { signal }).catch(({ name }) => name);
          const whys = reasons.slice(1).map(([, why]) => why);
          return [reasons.map(([by]) => by), whys, misuse, aborted];
        }""")
    whys = ["responder-refused", "selector-not-implemented"]
    wanted = [["asker"] * 3, whys, "misuse", "TimeoutError"]
    check(found == wanted, "silence and refusals close; only misuse and a signal throw", found)
    shown.evaluate("center.close()")
    check_closed(shown, "a center that is closed", reason="closed")
    for status, kind, content in STRANGERS:
        shown.evaluate(OPEN)
        eventually(lambda: shown.evaluate("center.state") == "open", "")
        if kind == "application/problem+json":
            slug, number = content, int(status[:3])
            content = json.dumps({"type": f"https://belfry.dev/problems/{slug}", "status": number,
                                  "title": slug})
        proxy.stranger = (status, kind, content)
        proxy.cut()
        proxy.mend()
        check_closed(shown, f"{status} {content[:40]}")
        proxy.stranger = None
        shown.evaluate("center.close()")
    for title, fault, mend in (
            ("a broker that is dead", proxy.cut, proxy.mend),
            ("a broker that hangs", proxy.flows.clear, proxy.flows.set)):
        shown.evaluate(OPEN)
        eventually(lambda: shown.evaluate("center.state") == "open", "")
        fault()
        check_closed(shown, title)
        check_closed(shown, f"{title}, of a stored ask", {"ttl": 60})
        mend()
        shown.evaluate("center.close()")


def test_work(running, url, proxy):
    made = running.new_context()
    pages = [made.new_page() for _ in range(3)]
    for shown in pages:
        shown.goto(f"{proxy.url}/livez")
        shown.evaluate(OPEN, {"resume": True})
    asker, *workers = pages
    asker.evaluate(
        """async () => {
          const ask = (page) => center.ask("pages", "render", { page }, {
            ttl: 60, wait: 20, ifNobody: "wait" });
          window.made = Promise.all([1, 2, 3, 4, 5, 6].map(ask));
          made.catch(() => {});
        }""")
    eventually(lambda: len(request(f"{url}/v1/asks")[1]["asks"]) == 6, "work waits for a worker")
    for shown in workers:
        shown.evaluate(
            """async () => {
              window.atWork = 0;
              window.most = 0;
              window.mayEnd = new Promise((resolve) => { window.end = resolve; });
              await center.work("pages", "render", async ({ page }) => {
                most = Math.max(most, ++atWork);
                await mayEnd;
                atWork -= 1;
                return page;
              }, { concurrency: 2, lease: 60 });
            }""")
    eventually(lambda: all(shown.evaluate("atWork") == 2 for shown in workers), "both have two")
    workers[0].close(run_before_unload=False)
    workers[1].evaluate("end()")
    answers = asker.evaluate("made.then((all) => all.map(({ answer }) => answer))")
    check(answers == [1, 2, 3, 4, 5, 6], "the work of one that dies goes to the other", answers)
    check(workers[1].evaluate("most") == 2, "which has never more than it wants")
    made.close()


def test_reason_over_requests(shown):
    shown.evaluate(OPEN, {"transport": "events"})
    found = shown.evaluate(
        """async () => {
          const told = [];
          await center.respond("events", {
            confirm: (userInfo, ask) => {
              told.push(ask.present);
              return ask.answer(null, { reason: "Ä" });
            },
            plain: (userInfo, ask) => ask.answer([1]),
          });
          const present = { title: "Deploy?", choices: [{ label: "Yes", value: true }] };
          const asked = [
            await center.ask("events", "confirm", null, { present, wait: 10 }),
            await center.ask("events", "plain"),
            await center.ask("events", "confirm", null, { present, wait: 20, ifNobody: "wait" }),
          ];
          center.close();
          return [asked.map(({ answer, reason = "-" }) => [answer, reason]),
            told.map(({ title, choices }) => [title, choices[0].value])];
        }""")
    wanted = [[[None, "Ä"], [[1], "-"], [None, "Ä"]], [["Deploy?", True]] * 2]
    check(found == wanted, "by requests an answer has its reason, and an ask its page", found)


def main():
    options = support.arguments(__doc__)
    with support.browser(options) as running:
        test_long(options, running)
        test_forgotten(options, running)
    with support.broker(options) as url, library.browsing(options, url) as (running, proxy):
        test_work(running, url, proxy)
        made = running.new_context()
        shown = made.new_page()
        shown.goto(f"{proxy.url}/livez")
        test_reason_over_requests(shown)
        test_closed(shown, url, proxy)
        made.close()


if __name__ == "__main__":
    main()
