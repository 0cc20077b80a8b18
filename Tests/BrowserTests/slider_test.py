"""The slider: windows share a value, a window that is killed disappears, a conflict is shown."""

import os
import pathlib
import re
import statistics
import subprocess

from playwright.sync_api import Error, expect

import support
from support import check, eventually, request

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "Examples" / "Slider"

MOVES = 50
"""Moves of the slider whose way to the other window is measured."""

WAY_LIMIT = 50.0
"""Milliseconds from a move in one window until the other one shows it, at the median."""

CLOCK = "performance.timeOrigin + performance.now()"

WATCH = f"""() => {{
  window.arrivals = {{}};
  const volume = document.getElementById("volume");
  const shown = document.getElementById("shown");
  new MutationObserver(() => {{
    if (shown.value === volume.value) window.arrivals[volume.value] = {CLOCK};
  }}).observe(shown, {{ childList: true, characterData: true, subtree: true }});
}}"""

MOVE = f"""(value) => {{
  const volume = document.getElementById("volume");
  volume.value = value;
  const began = {CLOCK};
  volume.dispatchEvent(new Event("input", {{ bubbles: true }}));
  return began;
}}"""


def value(url, key_path):
    status, content = request(f"{url}/v1/values/slider/{key_path}")
    return content if status == 200 else None


def opened(shown, page):
    shown.goto(page)
    expect(shown.locator("#state")).to_contain_text("Shared")


def test_volume(first, second, url):
    first.locator("#volume").fill("30")
    expect(second.locator("#shown")).to_have_text("30")
    expect(second.locator("#volume")).to_have_value("30")
    check(value(url, "volume") == 30, "the slider of one window moves the other, and the value")
    second.locator("#volume").fill("45")
    expect(first.locator("#volume")).to_have_value("45")
    check(True, "it goes both ways")
    request(f"{url}/v1/values/slider/volume", method="PUT", body=70)
    for shown in (first, second):
        expect(shown.locator("#volume")).to_have_value("70")
    check(True, "a request moves both")


def test_speed(first, second):
    second.evaluate(WATCH)
    ways = []
    for move in range(MOVES):
        began = first.evaluate(MOVE, str(move))
        second.wait_for_function("(value) => value in window.arrivals", arg=str(move))
        ways.append(second.evaluate("(value) => window.arrivals[value]", str(move)) - began)
    median = statistics.median(ways)
    print(f"     {MOVES} moves: median {median:.1f} ms, longest {max(ways):.1f} ms")
    check(median <= WAY_LIMIT, f"the second window shows a move within {WAY_LIMIT:g} ms", median)


def test_presence(running, page, first, url):
    expect(first.locator("#who li")).to_have_count(2)
    context = running.new_context()
    third = context.new_page()
    opened(third, page)
    third.locator("#name").fill("Ann")
    expect(first.locator("#who")).to_contain_text("Ann")
    try:
        third.goto("chrome://crash")
    except Error:
        pass
    expect(first.locator("#who li")).to_have_count(2)
    expect(first.locator("#who")).not_to_contain_text("Ann")
    eventually(lambda: len(value(url, "who")) == 2, "a window that is killed disappears")
    context.close()


def test_conflict(first, second, url):
    for shown, text in ((first, "Mine"), (second, "Theirs")):
        shown.locator("#title").fill(text)
    second.get_by_role("button", name="Save", exact=True).click()
    expect(second.locator("#saved")).to_have_text("Saved.")
    first.get_by_role("button", name="Save", exact=True).click()
    expect(first.locator("#conflict")).to_contain_text("Theirs")
    check(value(url, "title") == "Theirs", "a title that was not seen is not overwritten")
    support.check_accessibility(first, "axe finds nothing while a conflict is shown")
    first.get_by_role("button", name="Take theirs").click()
    expect(first.locator("#title")).to_have_value("Theirs")
    first.locator("#title").fill("Ours")
    first.get_by_role("button", name="Save", exact=True).click()
    expect(second.locator("#title")).to_have_value("Ours")
    check(value(url, "title") == "Ours", "what was seen is saved, and shown in the other window")


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
                opened(first, page)
                opened(second, page)
                test_volume(first, second, url)
                test_speed(first, second)
                test_presence(running, page, first, url)
                test_conflict(first, second, url)
                support.check_width(first, "nothing makes the page scroll sideways")
    check(example.returncode == 0, "the example ends with exit code 0", example.returncode)


if __name__ == "__main__":
    main()
