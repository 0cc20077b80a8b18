"""The calculator: 7 * 6 = is 42 with 4 presses, and nobody is left when all have ended."""

import contextlib
import functools
import http.server
import pathlib
import threading

from playwright.sync_api import expect

import support
from support import check, eventually, observers

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "Examples" / "Calculator"
NAMES = {"BUTTONCHANGE", "ACCUMULATORCHANGE", "COUNTCHANGE"}


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def page_server():
    """Serves the page from an origin of its own, as `python3 -m http.server` does."""
    handler = functools.partial(QuietHandler, directory=EXAMPLE / "page")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def ours(url):
    return sorted(row["name"] for row in observers(url) if row["name"] in NAMES)


def press(shown, keys):
    for key in keys:
        shown.locator(f'button[data-key="{key}"]').click()


def test_page(shown, url, address, options):
    shown.goto(f"{address}/?broker={url}")
    eventually(
        lambda: ours(url) == sorted([*NAMES, "BUTTONCHANGE"]),
        "the two models and the page observe, four observers in all",
    )
    expect(shown.locator("#state")).to_contain_text("Connected")
    press(shown, "7*6=")
    expect(shown.locator("#accumulator")).to_have_text("42")
    expect(shown.locator("#count")).to_have_text("4")
    check(True, "7 * 6 = shows 42 and 4 presses")
    support.check_accessibility(shown, "axe finds nothing")
    support.picture(options, shown, "calculator")

    press(shown, "/0=")
    expect(shown.locator("#accumulator")).to_have_text("Error")
    press(shown, "R")
    expect(shown.locator("#accumulator")).to_have_text("0")
    expect(shown.locator("#count")).to_have_text("8")
    check(True, "a division by zero shows Error, R resets and is counted")
    shown.locator("h1").click()
    shown.keyboard.type("12+30")
    shown.keyboard.press("Enter")
    expect(shown.locator("#accumulator")).to_have_text("42")
    expect(shown.locator("#count")).to_have_text("14")
    check(True, "the keyboard presses the same keys")
    support.check_width(shown, "nothing makes the page scroll sideways")


def main():
    options = support.arguments(__doc__, "model1")
    with page_server() as address, support.broker(options, "--allow-origin", address) as url:
        with support.browser(options) as running:
            with support.process(options.model1, url), support.process(EXAMPLE / "model2", url):
                size = {"width": 360, "height": 800}
                with support.page(running, viewport=size) as shown:
                    test_page(shown, url, address, options)
        eventually(lambda: ours(url) == [], "after all have ended none of their observers is left")


if __name__ == "__main__":
    main()
