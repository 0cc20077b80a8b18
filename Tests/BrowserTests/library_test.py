"""belfry.js: delivery, removal, refusals, a connection that is cut, a page that is left."""

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
        test_cut(shown, url, proxy)
        test_removal(shown, url)
        shown.goto("about:blank")
        eventually(lambda: not ours(url), "a page that is left takes its observers along")
        proxy.listener.close()
        made.close()


if __name__ == "__main__":
    main()
