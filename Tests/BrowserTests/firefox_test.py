"""belfry.js in Firefox, over WebDriver BiDi: observers, values, a token that is wrong, tabs, a shared
connection, event streams, and a broker that is stopped. Not part of Scripts/browsers: Firefox is large.

    python3 Tests/BrowserTests/firefox_test.py --belfry .build/release/belfry

It needs firefox-esr, and websockets from PyPI.
"""

import contextlib
import itertools
import json
import re
import shutil
import signal
import subprocess
import tempfile

import library
import support
from library import NAME, post
from support import check, eventually
from websockets.sync.client import connect


class Firefox:
    """A browser without a window, and the line over which it is told what to do."""

    def __init__(self, line):
        self.line = line
        self.numbers = itertools.count(1)
        self.send("session.new", capabilities={})

    def send(self, method, **params):
        number = next(self.numbers)
        self.line.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            answer = json.loads(self.line.recv(support.DEADLINE * 2))
            if answer.get("id") == number:
                assert answer["type"] == "success", answer
                return answer["result"]

    def page(self, url):
        made = self.send("browsingContext.create", type="tab")["context"]
        return Page(self, made, url)


class Page:
    def __init__(self, browser, context, url):
        self.browser, self.context = browser, context
        self.goto(url)

    def goto(self, url):
        self.browser.send("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def evaluate(self, text, argument=None):
        """The value of an expression, or of a function with the argument."""
        is_function = text.lstrip().startswith(("async (", "("))
        call = f"({text})({json.dumps(argument)})" if is_function else text
        result = self.browser.send(
            "script.evaluate", expression=f"(async () => JSON.stringify(await ({call})))()",
            target={"context": self.context}, awaitPromise=True)
        assert result["type"] == "success", result["exceptionDetails"]["text"]
        value = result["result"].get("value")
        return None if value is None else json.loads(value)

    def close(self):
        self.browser.send("browsingContext.close", context=self.context)


@contextlib.contextmanager
def firefox():
    with tempfile.TemporaryDirectory() as profile:
        command = (shutil.which("firefox-esr") or shutil.which("firefox"), "--headless", "--no-remote",
                   "--remote-debugging-port", "0", "--profile", profile)
        running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            for line in running.stderr:
                if found := re.search(r"WebDriver BiDi listening on (ws://\S+)", line):
                    break
            with connect(f"{found[1]}/session", max_size=None) as line:
                yield Firefox(line)
        finally:
            running.kill()
            running.wait()


BEGIN = """async ([name, options]) => {
  const { NotificationCenter } = await import("/belfry.js");
  const storage = options.storage ? localStorage : null;
  const center = new NotificationCenter(undefined, { ...options, storage });
  const kept = { got: [], values: [] };
  const observer = await center.addObserver(name, ({ userInfo }) => kept.got.push(userInfo.k));
  await center.addObserver({ object: "o", keyPath: "" }, (value) => kept.values.push(value ?? null));
  Object.assign(window, { center, kept, observer });
  return center.transport;
}"""


def test_page(browser, url, options, transport, broker):
    shown = browser.page(f"{url}/livez")
    found = shown.evaluate(BEGIN, [NAME, options])
    check(found == transport, f"a page has the line {transport}", found)
    post(broker, 1)
    eventually(lambda: shown.evaluate("kept.got") == [1], "it observes")
    shown.evaluate("center.setValue('o', 'a', 1).then(() => null)")
    eventually(lambda: shown.evaluate("kept.values.at(-1)") == {"a": 1}, "and shares values")
    answer = shown.evaluate(
        """async () => {
          await center.respond("desk", { double: ({ k }) => 2 * k });
          return (await center.ask("desk", "double", { k: 3 })).answer;
        }""")
    check(answer == 6, "and asks and answers", answer)
    return shown


def test_dead(shown, running):
    running.send_signal(signal.SIGSTOP)
    try:
        eventually(lambda: shown.evaluate("center.state") == "waiting", "a dead line is noticed")
    finally:
        running.send_signal(signal.SIGCONT)
    eventually(lambda: shown.evaluate("center.state") == "open", "and opened anew")


def test_tabs(browser, url, broker):
    pages = [browser.page(f"{url}/livez") for _ in range(2)]
    for shown in pages:
        shown.evaluate(BEGIN, [f"{NAME}.Tabs", {"resume": True, "storage": True}])
    ids = [shown.evaluate("observer.id") for shown in pages]
    check(ids[0] != ids[1], "two tabs have a session each", ids)
    states = [shown.evaluate("center.state") for shown in pages]
    check(states == ["open", "open"], "and stay open", states)
    pages[0].goto(f"{url}/livez")
    pages[0].evaluate(BEGIN, [f"{NAME}.Tabs", {"resume": True, "storage": True}])
    check(pages[0].evaluate("observer.id") == ids[0], "one that is loaded again goes on with its own")
    for shown in pages:
        shown.evaluate("center.close()")
        shown.close()


def test_refusal(browser, options, folder):
    path = f"{folder}/keys.json"
    made = subprocess.run(
        [options.belfry, "gen-token", "a", "--grants", "post"], check=True, capture_output=True, text=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"keys":[' + made.stdout.strip().split("\n")[1] + "]}")
    with support.broker(options, "--keys", path, "--anonymous-grants", "") as url:
        shown = browser.page(f"{url}/livez")
        for token in (None, "wrong"):
            status = shown.evaluate(
                """async (token) => {
                  const { NotificationCenter } = await import("/belfry.js");
                  const center = new NotificationCenter(undefined, { token });
                  const status = await center.post("a").catch(({ problem }) => problem.status);
                  return [status, center.state];
                }""",
                token)
            check(status == [401, "closed"], f"a token that is {token or 'missing'} is told", status)


def main():
    options = support.arguments(__doc__)
    more = ("--in-memory", "--ping-interval", "1s")
    with support.started_broker(options, *more) as (url, running), firefox() as browser:
        shown = test_page(browser, url, {}, "websocket", url)
        test_dead(shown, running)
        shown.evaluate("center.close()")
        for page in [test_page(browser, url, {"shared": True}, "shared", url) for _ in range(2)]:
            page.evaluate("center.close()")
        proxy = library.Proxy(url, lets_sockets_through=False)
        test_page(browser, proxy.url, {}, "events", url).close()
        test_tabs(browser, url, url)
        with tempfile.TemporaryDirectory() as folder:
            test_refusal(browser, options, folder)


if __name__ == "__main__":
    main()
