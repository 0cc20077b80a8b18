"""The dashboard: its broker is killed with -9 and started again with the same data, or without."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from playwright.sync_api import expect

import support
from support import check, request

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "Examples" / "Dashboard"

LIMIT = 20
"""Notes that the broker keeps for a page that is away: `limit` of the page."""


def press_enter(example, sentence):
    """Kills the broker, or starts it again; the example says when that is done."""
    example.stdin.write("\n")
    example.stdin.flush()
    check(example.stdout.readline().strip() == sentence, "")


def report(url, name, figure):
    status, _ = request(f"{url}/v1/values/shop/{name}", method="PUT", body=figure)
    check(status in (200, 201), "", status)


def note(url, text):
    status, _ = request(
        f"{url}/v1/channels/ShopNote", method="POST", body={"text": text},
        Content_Type="application/json",
    )
    check(status == 200, "", status)


def figures(shown):
    return dict(zip(shown.locator("dt").all_inner_texts(), shown.locator("dd").all_inner_texts()))


def texts(shown):
    """The notes that are shown, newest first."""
    rows = shown.locator("#notes li")
    return rows.evaluate_all("(all) => all.map((item) => item.lastChild.data)")


def test_open(options, shown, example, url):
    """A page that is open while the broker is killed."""
    expect(shown.locator("#none")).to_be_visible()
    report(url, "orders", 12)
    report(url, "visitors", 1480)
    note(url, "before")
    expect(shown.locator("#notes li")).to_have_count(1)
    check(figures(shown) == {"orders": "12", "visitors": "1,480"}, "figures and notes are shown")
    press_enter(example, "The broker is gone.")
    expect(shown.locator("#state")).to_contain_text("Away since")
    expect(shown.locator("#lost")).to_be_hidden()
    check(figures(shown)["orders"] == "12", "the page says since when it is away, with its figures")
    support.check_accessibility(shown, "axe finds nothing while it is away")
    support.picture(options, shown, "dashboard-away")
    press_enter(example, "The broker is back.")
    report(url, "orders", 13)
    note(url, "after")
    expect(shown.locator("#state")).to_contain_text("s away", timeout=support.DEADLINE * 1000)
    expect(shown.locator("dd").first).to_have_text("13")
    expect(shown.locator("#notes li")).to_have_count(2)
    _, kept = request(f"{url}/v1/values/shop")
    check(kept == {"orders": 13, "visitors": 1480}, "the new broker has the figures", kept)
    check(figures(shown) == {"orders": "13", "visitors": "1,480"}, "and the page shows them")
    check(texts(shown) == ["after", "before"], "a note comes once", texts(shown))
    expect(shown.locator("#lost")).to_have_text("Nothing was lost.")
    check(True, "nothing was lost, and it says so")


def test_closed(options, shown, page, example, url):
    """A page that was left before the broker is killed, with more notes than are kept for it."""
    shown.goto("about:blank")
    support.eventually(
        lambda: request(f"{url}/v1/overview")[1]["connections"]["open"] <= 1, "the page is closed")
    for number in range(LIMIT + 3):
        note(url, f"note {number}")
    press_enter(example, "The broker is gone.")
    press_enter(example, "The broker is back.")
    shown.goto(page)
    expect(shown.locator("#lost")).to_contain_text("3 notes were lost.")
    expect(shown.locator("#notes li")).to_have_count(LIMIT)
    expected = [f"note {number}" for number in reversed(range(3, LIMIT + 3))]
    check(texts(shown) == expected, "what was kept before the kill comes after it", texts(shown))
    check(figures(shown)["orders"] == "13", "with the figures, and what was lost is told")
    support.check_accessibility(shown, "axe finds nothing while a loss is shown")
    support.picture(options, shown, "dashboard-lost")


def test_without_data(shown, example, data):
    """A broker that has lost its data."""
    shown.reload()
    expect(shown.locator("#state")).to_contain_text("Live")
    expect(shown.locator("#lost")).to_have_text("Nothing was lost.")
    check(True, "a loss is told once")
    press_enter(example, "The broker is gone.")
    expect(shown.locator("#state")).to_contain_text("Away since")
    shutil.rmtree(data)
    press_enter(example, "The broker is back.")
    expect(shown.locator("#lost")).to_contain_text("nobody knows", timeout=support.DEADLINE * 1000)
    expect(shown.locator("#none")).to_be_visible()
    check(figures(shown) == {}, "a broker without data has no figures, and the page shows none")


def test_looks(options, running, page, url):
    report(url, "orders", 13)
    report(url, "revenue", 48210.5)
    for scheme in ("light", "dark"):
        for width in (360, 1440):
            size = {"width": width, "height": 800}
            with support.page(running, color_scheme=scheme, viewport=size) as shown:
                shown.goto(page)
                expect(shown.locator("dd")).to_have_count(2)
                expect(shown.locator("#state")).to_contain_text("Live")
                note(url, f"Opened at {width} pixels")
                expect(shown.locator("#notes li")).to_have_count(1)
                support.check_accessibility(shown, f"axe finds nothing, {scheme} at {width}")
                support.check_width(shown, f"and nothing scrolls sideways, {scheme} at {width}")
                support.picture(options, shown, f"dashboard-{scheme}-{width}")


def main():
    options = support.arguments(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/data"
        environment = {**os.environ, "BELFRY": options.belfry, "DATA": data}
        with support.process(
            EXAMPLE / "run", env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        ) as example:
            line = example.stdout.readline()
            found = re.search(r"dashboard is at (\S+broker=(\S+))", line)
            check(found is not None, "the example says where its page is", line)
            page, url = found.groups()
            example.stdout.readline()
            example.stdout.readline()
            with support.browser(options) as running:
                # Its console reports each attempt to connect while there is no broker.
                shown = running.new_context(locale="en-US").new_page()
                shown.goto(page)
                expect(shown.locator("#state")).to_contain_text("Live")
                test_open(options, shown, example, url)
                test_closed(options, shown, page, example, url)
                test_without_data(shown, example, data)
                test_looks(options, running, page, url)
        check(example.returncode == 0, "the example ends with exit code 0", example.returncode)


if __name__ == "__main__":
    main()
