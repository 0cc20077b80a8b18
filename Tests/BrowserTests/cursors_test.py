"""The board of cursors: each window shows the pointers of all, also while one of them floods.

The flood is 10,000 posts a second on one name and sender, each a message of its own, asap with
coalescing, from a process of its own; the page observes with a `minInterval` of 0.01.
"""

import json
import multiprocessing
import os
import pathlib
import re
import statistics
import subprocess
import time

from playwright.sync_api import Error, expect
from websockets.sync.client import connect

import support
from support import check

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "Examples" / "Cursors"

RATE = 10_000
"""Posts a second of the flood."""

SECONDS = 5
"""How long it floods."""

LAST_LIMIT = 100.0
"""Milliseconds from the last post of the flood until the page has it."""

FRAME_LIMIT = 110
"""Frames that the page may get of any second, with a `minInterval` of 0.01.

A second is one of the times at which the broker posted: a browser that had to wait for a processor
gets what came meanwhile at once."""

WATCH = """
  window.arrivals = [];
  window.WebSocket = class extends WebSocket {
    constructor(...all) {
      super(...all);
      this.addEventListener("message", ({ data }) => {
        const now = performance.timeOrigin + performance.now();
        const { object, postedAt, userInfo } = JSON.parse(data).params ?? {};
        if (object !== "flood") return;
        arrivals.push([now, userInfo.number, userInfo.sentAt, Date.parse(postedAt)]);
      });
    }
  };
"""


def move(number, total, call=None):
    """The post of one move; without a call it wants no receipt."""
    user_info = {
        "x": 0.7 * number / total, "y": 0.3, "name": "flood",
        "number": number, "sentAt": time.time() * 1000,
    }
    params = {
        "name": "CursorMoved", "object": "flood", "userInfo": user_info,
        "style": "asap", "coalesce": ["name", "sender"], "keep": "latest",
    }
    post = {"jsonrpc": "2.0", "method": "post", "params": params}
    return json.dumps(post if call is None else {**post, "id": call})


def flood(url, told):
    """Posts at an even rate, and tells when the last one went, the time of all, and its receipt."""
    total = RATE * SECONDS
    with connect(url.replace("http", "ws") + "/v1/ws", compression=None) as socket:
        socket.recv()
        began = time.monotonic()
        for number in range(1, total):
            socket.send(move(number, total))
            if number % 20 == 0:
                time.sleep(max(began + number / RATE - time.monotonic(), 0))
        last = time.time() * 1000
        socket.send(move(total, total, call=1))
        took = time.monotonic() - began
        told.put((last, took, json.loads(socket.recv())))


def busiest(times):
    """The most of these times that lie in one second."""
    most = first = 0
    for index, moment in enumerate(times):
        while moment - times[first] >= 1000:
            first += 1
        most = max(most, index - first + 1)
    return most


def opened(shown, page):
    shown.goto(page)
    expect(shown.locator("#state")).to_contain_text("Shared")


def point(shown, x, y):
    box = shown.locator("#board").bounding_box()
    shown.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])


def cursor(shown, name):
    return shown.locator(".cursor", has_text=name)


def test_moves(first, second):
    first.locator("#name").fill("Ann")
    second.locator("#name").fill("Bob")
    expect(cursor(second, "Ann")).to_have_count(1)
    point(first, 0.25, 0.75)
    here = re.compile(r"left: 2[45].*top: 7[45]")
    expect(cursor(second, "Ann")).to_have_attribute("style", here)
    check(True, "a pointer of one window moves in the other")
    point(second, 0.5, 0.5)
    second.locator("#board").focus()
    second.keyboard.press("ArrowRight")
    here = re.compile(r"left: 5[12].*top: (50|49)")
    expect(cursor(first, "Bob")).to_have_attribute("style", here)
    check(True, "the arrow keys move it too")


def test_newcomer(running, page, first):
    context = running.new_context()
    third = context.new_page()
    opened(third, page)
    expect(cursor(third, "Ann")).to_have_count(1)
    expect(cursor(third, "Bob")).to_have_count(1)
    check(True, "who comes later sees those that do not move")
    third.locator("#name").fill("Carl")
    expect(cursor(first, "Carl")).to_have_count(1)
    try:
        third.goto("chrome://crash")
    except Error:
        pass
    expect(cursor(first, "Carl")).to_have_count(0)
    check(True, "a window that is killed takes its cursor along")
    context.close()


def test_flood(first, url):
    first.evaluate("arrivals.length = 0")
    told = multiprocessing.get_context("spawn").Queue()
    poster = multiprocessing.get_context("spawn").Process(target=flood, args=(url, told))
    poster.start()
    last, took, receipt = told.get(timeout=SECONDS * 6)
    poster.join()
    total = RATE * SECONDS
    check("result" in receipt, "the broker takes the flood", receipt)
    first.wait_for_function("(total) => arrivals.at(-1)?.[1] === total", arg=total)
    frames = first.evaluate("arrivals")
    times, numbers, sent, posted = zip(*frames)
    ages = sorted(arrival - began for arrival, began in zip(times, sent))
    late, most = times[-1] - last, busiest(posted)
    print(
        f"     {total / took:.0f} posts a second for {took:.1f} s: {len(frames)} frames,"
        f" {most} of the busiest second, {busiest(times)} in one as they came;"
        f" the last place after {late:.1f} ms;"
        f" age of a place at its arrival: median {statistics.median(ages):.1f} ms,"
        f" 99 % {ages[len(ages) * 99 // 100]:.1f} ms, longest {ages[-1]:.1f} ms"
    )
    check(total / took >= 0.9 * RATE, f"it floods with {RATE} posts a second", total / took)
    check(late <= LAST_LIMIT, f"the page has the last place within {LAST_LIMIT:g} ms", late)
    check(most <= FRAME_LIMIT, f"no second has more than {FRAME_LIMIT} frames", most)
    check(list(numbers) == sorted(set(numbers)), "no place comes twice, or after a later one")
    expect(cursor(first, "flood")).to_have_attribute("style", re.compile("left: 70%"))
    check(True, "the board shows the last place")


def test_slow(first, second, url):
    """One window looks once a second, while the other is told of each move."""
    second.locator("#interval").select_option("1")
    support.eventually(
        lambda: any(row["minInterval"] == 1 for row in support.observers(url)),
        "a window looks once a second",
    )
    point(first, 0.1, 0.1)
    expect(cursor(second, "Ann")).to_have_attribute("style", re.compile(r"left: (10|9\.)"))
    before = int(second.locator("#count").text_content())
    for step in range(1, 101):
        point(first, step / 200, step / 200)
    expect(cursor(second, "Ann")).to_have_attribute("style", re.compile(r"left: (50|49)"))
    came = int(second.locator("#count").text_content()) - before
    check(came <= 10, "a window that looks seldom gets few moves, and the last place", came)


def main():
    options = support.arguments(__doc__)
    environment = {**os.environ, "BELFRY": options.belfry}
    with support.process(
        EXAMPLE / "run", env=environment, stdout=subprocess.PIPE, text=True
    ) as example:
        line = example.stdout.readline()
        found = re.search(r"windows: (\S+broker=(\S+))", line)
        check(found is not None, "the example says where its page is", line)
        page, url = found.groups()
        with support.browser(options) as running:
            with support.page(running) as first, support.page(running) as second:
                first.add_init_script(WATCH)
                opened(first, page)
                opened(second, page)
                test_moves(first, second)
                test_newcomer(running, page, first)
                test_slow(first, second, url)
                test_flood(first, url)
                point(first, 0.2, 0.7)
                for width in (360, 1440):
                    for scheme in ("light", "dark"):
                        first.set_viewport_size({"width": width, "height": 900})
                        first.emulate_media(color_scheme=scheme)
                        support.check_accessibility(
                            first, f"axe finds nothing, {scheme}, {width} pixels")
                        support.check_width(first, "nothing makes the page scroll sideways")
                        support.picture(options, first, f"cursors-{scheme}-{width}")
    check(example.returncode == 0, "the example ends with exit code 0", example.returncode)


if __name__ == "__main__":
    main()
