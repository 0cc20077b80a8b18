"""Presence: who is here, who is in the background, and who is gone without a word."""

import os
import pathlib
import re
import subprocess
import time

from playwright.sync_api import Error, expect

import support
from support import check, request

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "Examples" / "Presence"

GONE_LIMIT = 4.0
"""Seconds from the end of a window until the others miss it; its lease is 2."""


def opened(shown, page, name):
    shown.goto(page)
    expect(shown.locator("#state")).to_contain_text("Shared")
    shown.locator("#name").fill(name)
    return shown


def entries(url):
    status, content = request(f"{url}/v1/values/presence")
    assert status == 200, (status, content)
    return content


def named(shown, name):
    return shown.locator("#who li", has_text=name)


def test_presence(first, second, url):
    for shown in (first, second):
        expect(shown.locator("#who li")).to_have_count(2)
        expect(named(shown, "Ann")).to_contain_text("here, since")
        expect(named(shown, "Bob")).to_contain_text("here, since")
    expect(named(first, "Ann")).to_contain_text("(you)")
    expect(named(first, "Bob")).not_to_contain_text("(you)")
    check(True, "each window shows all of them, and which one it is")
    request(f"{url}/v1/values/presence/x", method="PUT", body=3)
    second.locator("#name").fill("Bobby")
    expect(named(first, "Bobby")).to_have_count(1)
    second.locator("#name").fill("Bob")
    expect(named(first, "Bobby")).to_have_count(0)
    expect(first.locator("#who li")).to_have_count(2)
    check(True, "an entry that is none is not shown")
    request(f"{url}/v1/values/presence/x", method="DELETE")


def test_background(first, second):
    hide = """(hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    second.evaluate(hide, True)
    expect(named(first, "Bob")).to_contain_text("in the background")
    second.evaluate(hide, False)
    expect(named(first, "Bob")).to_contain_text("here, since")
    check(True, "a window that is hidden is in the background")


def test_reload(first, second, url):
    before = entries(url)
    first.evaluate("""() => {
      const who = document.getElementById("who");
      window.wasMissed = false;
      new MutationObserver(() => {
        if (!who.textContent.includes("Bob")) window.wasMissed = true;
      }).observe(who, { childList: true });
    }""")
    second.reload()
    expect(second.locator("#name")).to_have_value("Bob")
    expect(named(second, "Bob")).to_contain_text("(you)")
    check(entries(url) == before, "a window that is loaded again is the one that it was")


def test_copy(second, first):
    with second.expect_popup() as opening:
        second.evaluate("window.open(location.href)")
    copy = opening.value
    expect(first.locator("#who li")).to_have_count(3)
    check(True, "a copy of a window is one of its own")
    copy.close()
    expect(first.locator("#who li")).to_have_count(2)
    check(True, "a window that is closed disappears")


def test_killed(running, page, first, url):
    context = running.new_context()
    third = opened(context.new_page(), page, "Carl")
    expect(named(first, "Carl")).to_have_count(1)
    began = time.monotonic()
    try:
        third.goto("chrome://crash")
    except Error:
        pass
    expect(named(first, "Carl")).to_have_count(0)
    took = time.monotonic() - began
    print(f"     it was missed after {took:.1f} s, with a lease of 2 s")
    check(took <= GONE_LIMIT, "a window that is killed disappears", took)
    check(len(entries(url)) == 2, "its entry is gone from the value", entries(url))
    context.close()
    # Its lease has ended after that of the connection that the second window had before.
    check(not first.evaluate("wasMissed"), "a window that was loaded again was never missed")


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
                opened(first, page, "Ann")
                opened(second, page, "Bob")
                test_presence(first, second, url)
                test_background(first, second)
                test_reload(first, second, url)
                test_copy(second, first)
                test_killed(running, page, first, url)
                for width in (360, 1440):
                    for scheme in ("light", "dark"):
                        first.set_viewport_size({"width": width, "height": 700})
                        first.emulate_media(color_scheme=scheme)
                        support.check_accessibility(
                            first, f"axe finds nothing, {scheme}, {width} pixels")
                        support.check_width(first, "nothing makes the page scroll sideways")
                        support.picture(options, first, f"presence-{scheme}-{width}")
    check(example.returncode == 0, "the example ends with exit code 0", example.returncode)


if __name__ == "__main__":
    main()
