"""belfry.js: tokens that are missing, wrong, small, expired and renewed; pages of foreign origins."""

import contextlib
import functools
import http.server
import json
import os
import signal
import subprocess
import tempfile
import threading

import library
import support
from library import NAME
from support import check, eventually

TELL = """async ([name, token, url]) => {
  const { NotificationCenter } = await import("/belfry.js");
  const told = { states: [], error: null, asked: 0 };
  const left = Array.isArray(token) ? [...token] : null;
  const next = async () => { told.asked += 1; return left.length > 1 ? left.shift() : left[0]; };
  const center = new NotificationCenter(url ?? undefined, { token: left ? next : token, timeout: 8 });
  center.addEventListener("state", ({ detail: { state } }) => told.states.push(state));
  const facts = ({ name, reason, code, problem, message }) =>
    ({ name, reason, code, status: problem?.status, type: problem?.type.split("/").pop(), message });
  await center.addObserver(name).then(() => {}, (error) => { told.error = facts(error); });
  told.later = await center.post(name).then(() => null, facts);
  Object.assign(window, { center, told });
  return { ...told, state: center.state };
}"""


class Keys:
    """A file of keys, and the tokens for them."""

    def __init__(self, options, folder):
        self.path = f"{folder}/keys.json"
        self.rows = {}
        self.program = options.belfry

    def make(self, name, grants):
        text = subprocess.run(
            [self.program, "gen-token", name, "--grants", grants],
            check=True, capture_output=True, text=True).stdout
        token, row = text.strip().split("\n")
        self.rows[name] = json.loads(row)
        self.write()
        return token

    def write(self):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({"keys": list(self.rows.values())}, file)
        os.chmod(self.path, 0o600)


def test_refusals(shown, good):
    for token, slug, sentence in [
        (None, "credentials-missing", "a broker that wants a token says so"),
        ("wrong", "credentials-invalid", "a wrong token is told as that"),
    ]:
        told = shown.evaluate(TELL, [NAME, token, None])
        facts = [told["error"][key] for key in ("name", "reason", "code", "status", "type")]
        check(facts == ["BelfryError", "refused", -32000, 401, slug], sentence, told)
        check(told["states"] == ["closed"] and told["state"] == "closed", "and is the end", told)
        later = [told["later"][key] for key in ("reason", "status", "type")]
        check(later == ["closed", 401, slug], "which every later call tells", told["later"])
    told = shown.evaluate(TELL, [NAME, good, None])
    check((told["error"], told["state"]) == (None, "open"), "a good token opens", told)
    shown.evaluate("center.close()")


def test_grants(shown, small):
    told = shown.evaluate(TELL, [NAME, small, None])
    check(told["state"] == "open", "a token with another grant opens, too", told)
    check((told["error"]["status"], told["later"]) == (403, None), "and is refused the rest", told)
    shown.evaluate("center.close()")


def test_renewal(shown, running, keys, good):
    told = shown.evaluate(TELL, [NAME, ["wrong", good], None])
    facts = (told["error"], told["state"], told["asked"])
    check(facts == (None, "open", 2), "a function is asked again after a refusal", told)
    fresh = keys.make("fresh", "post,observe")
    shown.evaluate(
        """([name, first, second]) => {
          center.close();
          window.renewing = import("/belfry.js").then(async ({ NotificationCenter }) => {
            const left = [first, second];
            window.center = new NotificationCenter(undefined, { token: () => left.shift() });
            window.got = [];
            await window.center.addObserver(name, ({ userInfo }) => got.push(userInfo.k));
            window.ending = new NotificationCenter(undefined, { token: first });
            await ending.addObserver(name, () => {});
          });
        }""",
        [NAME, good, fresh],
    )
    shown.evaluate("renewing")
    del keys.rows["good"]
    keys.write()
    shown.evaluate("ending.addEventListener('state', ({ detail }) => { window.ended = detail; })")
    shown.evaluate("center.addEventListener('state', ({ detail }) => { window.last = detail; })")
    running.send_signal(signal.SIGHUP)
    eventually(lambda: shown.evaluate("ending.state") == "closed", "a key that is gone ends the page")
    check(shown.evaluate("ended.code") == 4003, "that has no other")
    eventually(
        lambda: shown.evaluate("[center.state, window.last?.state]") == ["open", "open"],
        "and one with a function goes on with the next token")
    shown.evaluate("(name) => center.post(name, { userInfo: { k: 1 } })", NAME)
    eventually(lambda: shown.evaluate("got") == [1], "with its observers")


@contextlib.contextmanager
def site():
    """A server with the files of the library, for pages of other origins."""
    folder = os.path.join(os.path.dirname(__file__), "..", "..", "Web")

    class Files(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Files, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_foreign(options):
    allowed = ("--allow-origin", "http://app.example:*")
    names = "--host-resolver-rules=MAP *.example 127.0.0.1"
    with support.broker(options, *allowed) as url, site() as port, support.browser(options, names) as running:
        made = running.new_context()
        shown = made.new_page()
        warned = []
        shown.on("console", lambda told: told.type == "warning" and warned.append(told.text))
        shown.goto(f"http://evil.example:{port}/package.json")
        told = shown.evaluate(TELL, [NAME, None, url])
        # It cannot read who answers: that may be a proxy, while the broker is away.
        facts = [told["error"][key] for key in ("reason", "status")]
        check(facts == ["timeout", None], "a foreign origin is not let in", told)
        is_named = f"--allow-origin http://evil.example:{port}" in told["error"]["message"]
        check(is_named and told["state"] != "closed", "and told what to do", told)
        check(len(warned) == 1 and "--allow-origin" in warned[0], "once in the console", warned)
        shown.goto(f"http://app.example:{port}/package.json")
        told = shown.evaluate(TELL, [NAME, None, url])
        check((told["error"], told["state"]) == (None, "open"), "one that is allowed gets in", told)
        told = shown.evaluate(TELL, [NAME, None, url.replace("http", "ws")])
        check((told["error"], told["state"]) == (None, "open"), "by a ws: address, too", told)
        test_tabs_without_locks(made, port, url)
        made.close()


def test_tabs_without_locks(made, port, url):
    """Pages of an insecure origin have no locks, and do not take each other's session all the same."""
    begin = """async ([name, url]) => {
      const { NotificationCenter } = await import("/belfry.js");
      const options = { resume: true, storage: localStorage };
      window.center = new NotificationCenter(url, options);
      window.got = [];
      window.observer = await center.addObserver(
        { name, suspensionBehavior: "hold" }, ({ userInfo }) => got.push(userInfo.k));
      return [isSecureContext, observer.id];
    }"""
    pages = [made.new_page() for _ in range(2)]
    ids = []
    for shown in pages:
        shown.goto(f"http://app.example:{port}/package.json")
        is_secure, identifier = shown.evaluate(begin, [NAME, url])
        check(not is_secure, "a page of an insecure origin")
        ids.append(identifier)
    check(ids[0] != ids[1], "has a session of its own")
    library.post(url, 1)
    for shown in pages:
        eventually(lambda shown=shown: shown.evaluate("got") == [1], "in which it goes on")
    pages[0].reload()
    check(pages[0].evaluate(begin, [NAME, url])[1] == ids[0], "also when it is loaded again")


def main():
    options = support.arguments(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        keys = Keys(options, folder)
        good = keys.make("good", "post,observe")
        small = keys.make("small", "post")
        more = ("--in-memory", "--keys", keys.path, "--anonymous-grants", "")
        with support.started_broker(options, *more) as (url, running):
            with library.page_of(options, url) as (shown, _, _):
                test_refusals(shown, good)
                test_grants(shown, small)
                test_renewal(shown, running, keys, good)
    test_foreign(options)


if __name__ == "__main__":
    main()
