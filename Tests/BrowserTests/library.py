"""What the tests of belfry.js share: pages that have it, a line that can be cut, and posts."""

import contextlib
import socket
import threading

import support
from support import observers, request

NAME = "LibraryTest.Changed"


class Proxy:
    """What stands between page and broker: connections that the test can cut, freeze and keep cut, that
    let no WebSocket through if so wanted, and whose paths may have a prefix."""

    def __init__(self, url, *, lets_sockets_through=True, prefix=""):
        self.target = address(url)
        self.prefix = prefix.encode()
        self.lets_sockets_through = lets_sockets_through
        # How many of the next WebSockets do not get through.
        self.sockets_to_refuse = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}{prefix}"
        self.is_cut = False
        # What is answered to each request in the place of the broker.
        self.stranger = None
        self.flows = threading.Event()
        self.flows.set()
        self.connections = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                if self.is_cut:
                    near.close()
                    continue
                if (stranger := self.stranger) is not None:
                    given = (near, *stranger)
                    threading.Thread(target=self.answer, args=given, daemon=True).start()
                    continue
                try:
                    far = socket.create_connection(self.target)
                except ConnectionRefusedError:
                    near.close()
                    continue
                threading.Thread(target=self.carry, args=(near, far), daemon=True).start()

    def answer(self, near, status, kind, content):
        """Says what a stranger says."""
        with contextlib.suppress(OSError), near:
            near.recv(65536)
            near.sendall(
                f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n"
                f"Content-Length: {len(content)}\r\n\r\n{content}".encode())

    def carry(self, near, far):
        """Both directions of a connection, until both have ended."""
        pair = [near, far]
        self.connections.append(pair)
        back = threading.Thread(target=self.copy, args=(far, near), daemon=True)
        back.start()
        self.copy(near, far)
        back.join()
        for each in pair:
            each.close()
        with contextlib.suppress(ValueError):
            self.connections.remove(pair)

    def copy(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self.flows.wait()
                if b"Upgrade: websocket" in data and self.refuses_socket():
                    source.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                    break
                if self.prefix:
                    data = data.replace(b" " + self.prefix, b" ", 1)
                sink.sendall(data)
        # Also after the reset of a broker that was killed.
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def refuses_socket(self):
        if self.sockets_to_refuse > 0:
            self.sockets_to_refuse -= 1
            return True
        return not self.lets_sockets_through

    def cut(self):
        self.is_cut = True
        pairs, self.connections = self.connections, []
        for connection in [each for pair in pairs for each in pair]:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def mend(self):
        self.is_cut = False


def address(url):
    host, port = url.removeprefix("http://").split(":")
    return host, int(port)


@contextlib.contextmanager
def browsing(options, url, *more):
    """A browser, and a proxy before the broker; `more` are arguments of the browser."""
    with support.browser(options, *more) as running:
        proxy = Proxy(url)
        yield running, proxy
        proxy.listener.close()


@contextlib.contextmanager
def page_of(options, url):
    """A page behind a proxy, with the URL of its broker and the proxy."""
    with browsing(options, url) as (running, proxy):
        made = running.new_context()
        shown = made.new_page()
        # Any document of the broker will do that has no script of its own.
        shown.goto(f"{proxy.url}/livez")
        yield shown, url, proxy
        made.close()


@contextlib.contextmanager
def page(options, *more):
    """The same with a broker of its own."""
    with support.broker(options, *more) as url, page_of(options, url) as given:
        yield given


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


def ours(url):
    return [row["id"] for row in observers(url) if (row["name"] or "").startswith(NAME)]


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
