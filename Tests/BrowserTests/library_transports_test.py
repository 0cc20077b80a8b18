"""belfry.js: twenty pages with one connection, event streams where no WebSocket gets through, and
compressed messages over TLS."""

import subprocess
import tempfile

import library
import support
from library import NAME, post
from support import check, eventually, observers, request

PAGES = 20

BEGIN = """async ([name, options]) => {
  const { NotificationCenter } = await import("/belfry.js");
  const kept = { got: [], gaps: [], values: [], own: [] };
  const center = new NotificationCenter(undefined, options);
  const keep = ({ userInfo }) => kept.got.push(userInfo.k);
  const onGap = ({ reason }) => kept.gaps.push(reason);
  const observer = await center.addObserver({ name, onGap }, keep);
  await center.addObserver({ object: "shared", keyPath: "" }, (value) => kept.values.push(value ?? null));
  await center.addObserver(
    { object: "shared", keyPath: "", own: false }, (value) => kept.own.push(value ?? null));
  Object.assign(window, { center, kept, observer });
  return center.transport;
}"""


def sockets(url):
    rows = request(f"{url}/v1/clients?limit=1000")[1]["clients"]
    return [row["id"] for row in rows if row["transport"] == "websocket"]


def rows_of(url, name):
    return [row["id"] for row in observers(url) if row["name"] == name]


def test_shared(made, url, proxy):
    pages = []
    for _ in range(PAGES):
        shown = made.new_page()
        shown.goto(f"{proxy.url}/livez")
        pages.append(shown)
        transport = shown.evaluate(BEGIN, [NAME, {"shared": True}])
        assert transport == "shared", transport
    check(len(sockets(url)) == 1, f"{PAGES} pages share one connection", sockets(url))
    check(len(rows_of(url, NAME)) == PAGES, "in which each has its observers")
    post(url, 1)
    for shown in pages:
        eventually(lambda shown=shown: shown.evaluate("kept.got") == [1], "")
    check(True, "each gets what is posted once")
    pages[0].evaluate("center.setValue('shared', 'a', 1)")
    for shown in pages:
        eventually(lambda shown=shown: shown.evaluate("kept.values") == [None, {"a": 1}], "")
    check(True, "and the changes of a value")
    seen = [shown.evaluate("kept.own") for shown in pages[:2]]
    check(seen == [[None], [None, {"a": 1}]], "own changes are those of the page", seen)
    answer = pages[1].evaluate(
        """async () => {
          await center.respond("desk", { work: ({ k }) => 2 * k });
          return (await center.ask("desk", "work", { k: 3 })).answer;
        }""")
    check(answer == 6, "a page answers what it is asked", answer)
    receipt = pages[2].evaluate(
        """async (name) => {
          const end = await center.addObserver({ name: name + ".Ack", acknowledge: true }, async () => {});
          const { acknowledged } = await center.post(name + ".Ack");
          await end.remove();
          return acknowledged;
        }""",
        NAME)
    check(receipt == 1, "and acknowledges", receipt)
    pages[0].evaluate("observer.remove()")
    eventually(lambda: len(rows_of(url, NAME)) == PAGES - 1, "a page removes what is its own")
    pages[0].close()
    pages[1].goto("about:blank")
    eventually(
        lambda: len(rows_of(url, NAME)) == PAGES - 2, "a page that is left takes its observers along")
    check(pages[2].evaluate("center.state") == "open", "and leaves the others theirs")
    proxy.cut()
    eventually(lambda: pages[2].evaluate("center.state") == "waiting", "a cut is told to the pages")
    post(url, 2)
    # One opening that fails, where the broker can be reached, does not end the sharing.
    proxy.sockets_to_refuse = 1
    proxy.mend()
    for shown in pages[2:]:
        shown.evaluate("dispatchEvent(new Event('online'))")
    for shown in pages[2:]:
        eventually(lambda shown=shown: shown.evaluate("kept.got") == [1, 2], "")
    check(
        len(sockets(url)) == 1, "which come back with one connection, and what they missed", sockets(url))
    for shown in pages[2:]:
        shown.close()
    eventually(lambda: not sockets(url), "the last page takes the connection along")


def test_silent_worker(made, url):
    """A worker that says nothing is not waited for twice: the page has a line of its own."""
    with made.new_page() as shown:
        shown.clock.install()
        shown.goto(f"{url}/livez")
        shown.evaluate(
            """async () => {
              globalThis.SharedWorker = class { port = new MessageChannel().port1; };
              const { NotificationCenter } = await import("/belfry.js");
              globalThis.center = new NotificationCenter(undefined, { shared: true });
            }""")

        def has_own_line():
            shown.clock.run_for(1000)
            return shown.evaluate("center.state === 'open' && center.transport") == "websocket"

        eventually(has_own_line, "a page whose worker says nothing has a line of its own")


def test_events(shown, url, proxy):
    transport = shown.evaluate(BEGIN, [NAME, {}])
    check(transport == "events", "where no WebSocket gets through event streams stand in", transport)
    check(sockets(url) == [], "without a WebSocket")
    receipt = shown.evaluate("(name) => center.post(name, { userInfo: { k: 1 } })", NAME)
    check(receipt["delivered"] == 1, "a post has its receipt", receipt)
    eventually(lambda: shown.evaluate("kept.got") == [1], "and its notification comes")
    found = shown.evaluate(
        """async (name) => {
          const got = { exact: [], object: [], all: [] };
          const keep = (list) => ({ name, object = null }) => list.push([name, object]);
          const made = [
            await center.addObserver({ name, object: "a" }, keep(got.exact)),
            await center.addObserver({ object: "b" }, keep(got.object)),
            await center.addObserver({}, keep(got.all)),
          ];
          await center.post(name, { object: "a", userInfo: { k: 2 } });
          await center.post(name + ".Other", { object: "b" });
          const count = () => got.exact.length + got.object.length + got.all.length;
          for (let tries = 0; count() < 4 && tries < 500; tries++) {
            await new Promise((resolve) => setTimeout(resolve, 10));
          }
          for (const each of made) await each.remove();
          return got;
        }""",
        NAME)
    other = f"{NAME}.Other"
    wanted = {"exact": [[NAME, "a"]], "object": [[other, "b"]], "all": [[NAME, "a"], [other, "b"]]}
    check(found == wanted, "each observer gets what is its own", found)
    found = shown.evaluate(
        """async () => {
          const { etag } = await center.setValue("shared", "a.b", 1);
          const refused = await center.setValue("shared", "a.b", 2, { ifMatch: '"x"' })
            .catch(({ problem }) => problem.status);
          await center.mergeValue("shared", "a", { c: 2 });
          const { value, seq, etag: after } = await center.value("shared");
          const none = await center.value("shared", "x");
          await center.removeValue("shared", "a.b");
          return [refused, value, seq > 0, etag !== after, none];
        }""")
    check(found == [412, {"a": {"b": 1, "c": 2}}, True, True, None], "values are read and set", found)
    wanted = [None, {"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}]
    eventually(lambda: shown.evaluate("kept.values") == wanted, "and observed")
    check(shown.evaluate("kept.own") == [None], "without one's own changes, if so wanted", shown.evaluate("kept.own"))
    request(f"{url}/v1/values/shared/d", method="PUT", body=1, Content_Type="application/json")
    eventually(
        lambda: shown.evaluate("kept.own") == [None, {"a": {"c": 2}, "d": 1}], "but with others'")
    found = shown.evaluate(
        """async (name) => {
          const lease = await center.enterMode("test");
          const queued = await center.post(name, { style: "asap" });
          const first = await center.dequeue({ id: queued.id });
          await center.post(name, { style: "asap", object: "q" });
          const second = await center.dequeue({ name, object: "q" });
          await center.leaveMode(lease);
          const { problem } = await center.ask("nobody", "work").catch((error) => error);
          const { answer } = await center.ask("nobody", "work", { k: 1 }, { default: [1] });
          const { near } = await center.explain({ name: name.toLowerCase() });
          return [queued.outcome, first, second, problem.status, answer, near.length > 0];
        }""",
        NAME)
    check(found == ["queued", 1, 1, 503, [1], True], "queue, modes, asks and explain work", found)
    found = shown.evaluate(
        """async (name) => {
          const seen = [];
          const desk = await center.respond("desk", {
            double: ({ k }) => 2 * k,
            refuse: () => { throw new Error("no paper"); },
            handOn: (userInfo, ask) => ask.pass(),
            told: (userInfo, { name, object, answerBy }) => { seen.push([name, object, answerBy ?? null]); },
          }, { next: "team" });
          const wire = await center.addObserver({ name: "touchUp", target: "desk", selector: "told" });
          const { answer } = await center.ask("desk", "double", { k: 3 });
          const refused = await center.ask("desk", "refuse").catch(({ problem }) => problem.error.message);
          const handed = await center.ask("desk", "handOn").catch(({ problem }) => problem.status);
          await center.post("told", { object: "desk" });
          await center.post("touchUp", { object: "switch" });
          for (let tries = 0; seen.length < 2 && tries < 500; tries++) {
            await new Promise((resolve) => setTimeout(resolve, 10));
          }
          await wire.remove();
          await desk.remove();
          const gone = await center.ask("desk", "double", { k: 3 }, { default: 0 });
          const { message } = await center.addObserver({ name, acknowledge: true }).catch((error) => error);
          return [answer, refused, handed, seen, gone.reason, message.includes("WebSocket")];
        }""",
        NAME)
    seen = [["told", "desk", None], ["touchUp", "switch", None]]
    wanted = [6, "no paper", 501, seen, "no-responder", True]
    check(found == wanted, "responders and targets work, acknowledging is refused", found)
    before = shown.evaluate("kept.got.length")
    proxy.cut()
    eventually(lambda: shown.evaluate("center.state") == "waiting", "a cut is noticed")
    post(url, 7)
    proxy.mend()
    eventually(lambda: shown.evaluate("kept.got.at(-1)") == 7, "what was missed comes")
    post(url, 8)
    eventually(lambda: shown.evaluate("kept.got.at(-1)") == 8, "and it goes on")
    check(shown.evaluate("kept.got.length") == before + 2, "nothing comes twice")
    check(shown.evaluate("[center.transport, kept.gaps]") == ["events", []], "without a gap")
    proxy.lets_sockets_through = True
    proxy.cut()
    eventually(lambda: shown.evaluate("center.state") == "waiting", "after another cut")
    proxy.mend()
    shown.evaluate("dispatchEvent(new Event('online'))")
    eventually(
        lambda: shown.evaluate("center.transport") == "websocket", "a WebSocket is tried again")
    post(url, 9)
    eventually(lambda: shown.evaluate("kept.got.slice(-2)") == [8, 9], "and takes over")
    shown.evaluate("center.close()")


def test_restart_of_events(shown, options):
    """A broker that is killed and started again is noticed over event streams, too."""
    with support.started_broker(options, "--in-memory") as (url, running):
        proxy = library.Proxy(url, lets_sockets_through=False)
        shown.goto(f"{proxy.url}/livez")
        shown.evaluate(BEGIN, [NAME, {"transport": "events"}])
        for number in (1, 2, 3):
            post(url, number)
        eventually(lambda: shown.evaluate("kept.got") == [1, 2, 3], "notifications come")
        running.kill()
        running.wait()
        eventually(lambda: shown.evaluate("center.state") == "waiting", "the end is noticed")
    with support.started_broker(options, "--in-memory") as (url, _):
        post(url, 4)
        proxy.target = library.address(url)
        shown.evaluate("dispatchEvent(new Event('online'))")
        eventually(lambda: shown.evaluate("kept.got") == [1, 2, 3, 4], "what the next one has comes")
        check(shown.evaluate("kept.gaps") == ["unknown"], "and the gap is told, once")
        post(url, 5)
        eventually(lambda: shown.evaluate("kept.got.at(-1)") == 5, "and it goes on")
        shown.evaluate("center.close()")


def test_prefix(shown, url):
    """Behind a path prefix, by the URL of the file alone."""
    proxy = library.Proxy(url, prefix="/bell")
    shown.goto(f"{proxy.url}/livez")
    transport = shown.evaluate(BEGIN.replace("/belfry.js", "/bell/belfry.js"), [NAME, {}])
    check(transport == "websocket", "a path prefix is part of the broker's address", transport)
    post(url, 1)
    eventually(lambda: shown.evaluate("kept.got") == [1], "and notifications come")
    shown.evaluate("center.close()")


def test_worker(shown, url):
    """In a module worker."""
    shown.goto(f"{url}/livez")
    found = shown.evaluate(
        """async (name) => {
          const text = `
            import { NotificationCenter } from "${location.origin}/belfry.js";
            const center = new NotificationCenter();
            const observer = await center.addObserver("${name}");
            center.post("${name}", { userInfo: { k: 1 } });
            for await (const { userInfo } of observer) {
              postMessage([center.transport, userInfo]);
              break;
            }
            center.close();`;
          const source = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
          const worker = new Worker(source, { type: "module" });
          return await new Promise((resolve, reject) => {
            worker.onmessage = ({ data }) => resolve(data);
            worker.onerror = reject;
          });
        }""",
        NAME)
    check(found == ["websocket", {"k": 1}], "a module worker observes and posts", found)


def test_compression(options):
    """Over TLS, with messages that are compressed."""
    with tempfile.TemporaryDirectory() as folder:
        pair = ("-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", *pair],
            check=True, capture_output=True)
        more = ("--tls-listen", "127.0.0.1:0", "--tls-cert", f"{folder}/cert.pem", "--tls-key",
                f"{folder}/key.pem")
        with support.broker(options, *more, scheme="https") as url, support.browser(options) as running:
            made = running.new_context(ignore_https_errors=True)
            shown = made.new_page()
            seen = []
            tools = made.new_cdp_session(shown)
            tools.send("Network.enable")
            tools.on("Network.webSocketHandshakeResponseReceived", lambda event: seen.append(
                {key.lower(): value for key, value in event["response"]["headers"].items()}))
            shown.goto(f"{url}/livez")
            text = "compress me " * 5000
            found = shown.evaluate(
                """async ([name, text]) => {
                  const { NotificationCenter } = await import("/belfry.js");
                  const center = new NotificationCenter();
                  const observer = await center.addObserver(name);
                  center.post(name, { userInfo: { text } });
                  for await (const { userInfo } of observer) {
                    return [center.transport, userInfo.text === text];
                  }
                }""",
                [NAME, text])
            check(found == ["websocket", True], "a long notification comes over wss:", found)
            extensions = seen[0].get("sec-websocket-extensions", "")
            check("permessage-deflate" in extensions, "where messages are compressed", extensions)
            made.close()


def main():
    options = support.arguments(__doc__)
    with support.broker(options) as url, library.browsing(options, url) as (running, proxy):
        made = running.new_context()
        test_shared(made, url, proxy)
        test_silent_worker(made, url)
        shown = made.new_page()
        proxy.lets_sockets_through = False
        shown.goto(f"{proxy.url}/livez")
        request(f"{url}/v1/values/shared", method="DELETE")
        test_events(shown, url, proxy)
        test_prefix(shown, url)
        test_worker(shown, url)
        test_restart_of_events(shown, options)
        made.close()
    test_compression(options)


if __name__ == "__main__":
    main()
