"""belfry.js: lines that are dead, limits of calls, pages that are hidden, and the ways a call is made."""

import signal
import time

import library
import support
from library import NAME, ours, post
from support import check, eventually, request

OPEN = """async ([name, options]) => {
  const { NotificationCenter } = await import("/belfry.js");
  const kept = { got: [], states: [], gaps: [] };
  const center = new NotificationCenter(undefined, options);
  center.addEventListener("state", ({ detail }) =>
    kept.states.push([detail.state, detail.error?.message ?? null]));
  center.addEventListener("belfry.gap", ({ detail }) => kept.gaps.push(detail.reason));
  const keep = ({ userInfo }) => kept.got.push(userInfo.k);
  const observer = await center.addObserver(name, keep);
  Object.assign(window, { center, kept, observer });
}"""

FAILURE = """(call) => call.then(() => null, ({ name, reason = null, code = null, problem, message }) =>
  ({ name, reason, code, status: problem?.status ?? null, message }))"""


def failure(shown, call):
    """What a call fails with; the text is an expression, or statements, of JavaScript."""
    body = call if ";" in call else f"await {call}"
    return shown.evaluate(f"async () => ({FAILURE})((async () => {{ {body} }})())")


def test_calls(shown, url):
    post(url, 1)
    eventually(lambda: shown.evaluate("kept.got") == [1], "a text alone is the name of an observer")
    for call, word in [
        ("center.addObserver({ name: 'a' }, 'notify:')", "handler"),
        ("center.addObserver({ name: 'a', onNotification: () => {} })", "onNotification"),
        ("center.addObserver({ name: 'a', onGap: 7 })", "onGap"),
        ("center.respond('a', { start: true })", "start"),
        ("new NotificationCenter('ftp://localhost')", "ftp"),
        ("new NotificationCenter(undefined, { shared: true, resume: true })", "shared"),
    ]:
        found = failure(shown, call.replace("new Noti", "new (await import('/belfry.js')).Noti"))
        is_told = found["reason"] == "misuse" and word in found["message"]
        check(is_told, f"a call that cannot be meant so is refused: {word}", found)
    requests = []
    shown.on("request", lambda made: requests.append(made.method))
    shown.evaluate("observer.remove()")
    eventually(lambda: not ours(url), "an observer is removed")
    check(requests == [], "over the socket, while it is open", requests)
    near = shown.evaluate("(name) => center.explain({ name })", NAME.lower() + "x")
    check(near == {"observers": []} | near, "explain tells who would get a post", near)


def test_limits(shown, url, proxy):
    proxy.flows.clear()
    found = failure(shown, "center.post('a', { timeout: 0.2 })")
    check(
        (found["reason"], found["code"]) == ("timeout", None), "a call has a time of its own", found)
    found = failure(
        shown, "const end = new AbortController(); setTimeout(() => end.abort(), 50);"
               "await center.post('a', { signal: end.signal })")
    check(found["name"] == "AbortError", "and is given up by its signal", found)
    found = failure(
        shown, "const end = new AbortController(); end.abort();"
               "await center.value('o', '', { signal: end.signal })")
    check(found["name"] == "AbortError", "also before it begins", found)
    calls = {
        "addObserver": "center.addObserver({ name: 'late', timeout: 0.2 })",
        "respond": "center.respond('late', {}, { timeout: 0.2 })",
        "ask": "center.ask('late', 'a', null, { timeout: 0.2 })",
        "setValue": "center.setValue('late', 'a', 1, { timeout: 0.2 })",
        "removeValue": "center.removeValue('late', '', { timeout: 0.2 })",
        "value": "center.value('late', '', { timeout: 0.2 })",
        "dequeue": "center.dequeue({ name: 'late', timeout: 0.2 })",
        "enterMode": "center.enterMode('late', { timeout: 0.2 })",
        "setSuspended": "center.setSuspended(false, { timeout: 0.2 })",
    }
    for name, call in calls.items():
        found = failure(shown, call)
        check(found and found["reason"] == "timeout", f"so it is with {name}", found)
    proxy.flows.set()
    shown.evaluate("center.post('a')")
    late = [row for row in support.observers(url) if "late" in (row["name"], row["object"])]
    check(late == [], "an observer that came too late is taken back", late)
    found = shown.evaluate(
        """async (name) => {
          const end = new AbortController();
          const observer = await center.addObserver({ name, signal: end.signal });
          end.abort();
          await center.post("a");
          return observer.isRemoved;
        }""",
        NAME,
    )
    check(found and not ours(url), "the signal of an observer removes it later")


def test_leaving(shown, proxy):
    """A loop over notifications is left without an error, whatever becomes of the removal."""
    shown.evaluate(
        """async (name) => {
          window.left = [];
          const observer = await center.addObserver(name);
          (async () => {
            try {
              for await (const each of observer) break;
              left.push("end");
            } catch (error) {
              left.push(String(error));
            }
          })();
        }""",
        NAME,
    )
    shown.evaluate("(name) => center.post(name)", NAME)
    eventually(lambda: shown.evaluate("left") == ["end"], "a loop is left")
    shown.evaluate(
        """async (name) => {
          const observer = await center.addObserver(name);
          (async () => {
            try {
              for await (const each of observer) await new Promise((resolve) => { window.leave = resolve; });
            } catch (error) {
              left.push(String(error));
            }
          })();
          await center.post(name);
          window.loop = observer;
        }""",
        NAME,
    )
    eventually(lambda: shown.evaluate("'leave' in window"), "another one is inside")
    proxy.cut()
    shown.evaluate("loop[Symbol.asyncIterator]().return().then(() => left.push('cut'))")
    eventually(lambda: shown.evaluate("left") == ["end", "cut"], "also without a connection")
    proxy.mend()


def test_events_of_the_page(shown, proxy):
    proxy.cut()
    for kind, target in (("online", "window"), ("pageshow", "window"), ("visibilitychange", "document")):
        eventually(lambda: shown.evaluate("center.state") == "waiting", "a cut connection waits")
        # The next attempt by itself would be seconds away.
        shown.evaluate("Math.random = () => 1")
        proxy.mend()
        began = time.monotonic()
        shown.evaluate(f"{target}.dispatchEvent(new Event('{kind}'))")
        eventually(lambda: shown.evaluate("center.state") == "open", f"{kind} is a reason to look")
        check(time.monotonic() - began < 0.4, "at once")
        proxy.cut()
    proxy.mend()
    eventually(lambda: shown.evaluate("center.state") == "open", "and it is open again")


def test_hidden(shown, url):
    shown.evaluate(
        """(hidden) => {
          Object.defineProperty(document, "visibilityState", { get: () => window.visibility });
          window.visibility = "visible";
          window.show = (visibility) => {
            window.visibility = visibility;
            document.dispatchEvent(new Event("visibilitychange"));
          };
        }"""
    )
    shown.evaluate(OPEN, [NAME, {"suspendWhenHidden": True}])

    def states():
        return [row["state"] for row in support.observers(url) if row["name"] == NAME]

    shown.evaluate("show('hidden')")
    eventually(lambda: states() == ["asked"], "a page that is hidden is suspended")
    post(url, 1)
    post(url, 2)
    shown.evaluate("show('visible')")
    eventually(lambda: shown.evaluate("kept.got") == [2], "and has the last one when it is back")
    eventually(lambda: states() == ["live"], "where it is live")
    shown.evaluate("center.setSuspended(true)")
    shown.evaluate("show('hidden'); show('visible');")
    shown.evaluate("center.post('a')")
    check(states() == ["asked"], "what the program has suspended stays so", states())
    shown.evaluate("center.setSuspended(false)")
    shown.evaluate("center.close()")


def test_dead(shown, url, running, proxy):
    """A broker that is stopped is noticed within one and a half intervals."""
    shown.evaluate(OPEN, [NAME, {}])
    running.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    try:
        shown.evaluate("center.post('a').catch((error) => { window.pending = error.reason; }) && null")
        eventually(lambda: shown.evaluate("center.state") == "waiting", "a dead line is noticed")
        took = time.monotonic() - began
        check(took < 1.5 * INTERVAL + 0.5, "within one and a half intervals", took)
        check(shown.evaluate("pending") == "lost", "calls without an answer end")
    finally:
        running.send_signal(signal.SIGCONT)
    eventually(lambda: shown.evaluate("center.state") == "open", "and the line is opened anew")
    post(url, 3)
    eventually(lambda: shown.evaluate("kept.got.at(-1)") == 3, "with its observers")
    check(shown.evaluate("kept.gaps") == [], "and no gap")
    shown.evaluate("kept.states.length = 0")
    time.sleep(2.5 * INTERVAL)
    check(shown.evaluate("kept.states") == [], "a line on which nothing happens stays")
    running.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    try:
        shown.evaluate("dispatchEvent(new Event('online'))")
        eventually(lambda: shown.evaluate("center.state") == "waiting", "a page that wakes up asks")
        check(time.monotonic() - began < 0.5 * INTERVAL + 0.5, "at once")
    finally:
        running.send_signal(signal.SIGCONT)
    shown.evaluate("center.close()")


INTERVAL = 1.0
"""Seconds of the broker's ping interval."""


def main():
    options = support.arguments(__doc__)
    with library.page(options) as (shown, url, proxy):
        shown.evaluate(OPEN, [NAME, {}])
        test_calls(shown, url)
        test_limits(shown, url, proxy)
        test_leaving(shown, proxy)
        test_events_of_the_page(shown, proxy)
        shown.evaluate("center.close()")
        test_hidden(shown, url)
    interval = f"{int(INTERVAL * 1000)}ms"
    with support.started_broker(options, "--in-memory", "--ping-interval", interval) as (url, running):
        with library.page_of(options, url) as (shown, _, proxy):
            test_dead(shown, url, running, proxy)


if __name__ == "__main__":
    main()
