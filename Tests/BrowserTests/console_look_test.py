"""What the console shows at a first look: what is its own, what exists, and how words break."""

import re
import time

from playwright.sync_api import expect

import console
import support
from support import check

DESKTOP = {"width": 1440, "height": 900}

SPAN = 16
"""Seconds for which rates are watched: the broker keeps a point each 4 s; a rate has three."""

REPORTS = 20_000
"""Milliseconds in which the overview has new reports; it asks for them each 10 s."""

BROKEN_WORDS = """() => {
  const broken = [];
  const words = [...document.querySelectorAll("main .words")];
  for (const part of words.flatMap((one) => [...one.childNodes])) {
    if (part.nodeType !== Node.TEXT_NODE || !part.parentElement.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(part);
    const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
    if (lines.size > 1) broken.push(part.data);
  }
  return { broken, count: words.length };
}"""
"""The words of names that are on two lines."""


def deliveries(url):
    """What the broker has delivered since its start."""
    lines = support.text(f"{url}/metrics").splitlines()
    counts = [one for one in lines if one.startswith("belfry_deliveries_")]
    return sum(float(one.rsplit(" ", 1)[1]) for one in counts)


def nav_count(shown, name):
    return shown.locator(".rail nav a", has_text=name).locator(".c")


def test_own(shown, url):
    """On an empty broker everything is the page's own: it is marked, and counted nowhere."""
    console.open_console(shown, url)
    expect(shown.locator("main h1")).to_have_text("Your first notification")
    rows = shown.locator("#rows tr")
    for place, heading in (("observers", "Observers"), ("channels", "Channels")):
        console.go(shown, place, heading)
        expect(rows.first).to_be_visible()
        expect(rows.filter(has_not_text="this page")).to_have_count(0)
        expect(shown.locator(".facets [aria-pressed=true]")).to_have_text("All 0")
        expect(shown.locator("main footer")).to_contain_text(f"({rows.count()} of this page)")
    console.go(shown, "clients", "Clients")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("this page")
    expect(shown.locator(".facets [aria-pressed=true]")).to_have_text("All 0")
    for name in ("Observers", "Clients"):
        expect(nav_count(shown, name)).to_have_text("0")
    check(True, "what is the page's own is marked, and no sum has it")
    console.go(shown, "overview", "Your first notification")
    check(True, "nor does it end the first start")

    console.send(url, "POST", "observers", {"name": "Order.placed"})
    expect(shown.locator("main h1")).to_have_text("Healthy")
    expect(nav_count(shown, "Observers")).to_have_text("1")
    expect(nav_count(shown, "Clients")).to_have_text("1")
    console.go(shown, "observers", "Observers")
    expect(rows.filter(has_not_text="this page")).to_have_count(1)
    expect(shown.locator(".facets [aria-pressed=true]")).to_have_text("All 1")
    check(True, "what is another one's is counted")


def test_own_deliveries(shown, url):
    """The page hears of clients that come, and its tail of posts: neither is drawn."""
    console.go(shown, "tail", "Live tail")
    expect(shown.locator("main")).to_contain_text("Nothing yet.")
    before = deliveries(url)
    for number in range(30):
        console.send(url, "POST", "observers", {"name": f"Come.{number}"})
        console.send(url, "POST", "channels/Unobserved", {"n": number})
    expect(shown.locator("main footer")).to_contain_text("30 so far")
    console.go(shown, "overview", "Healthy")
    check(deliveries(url) >= before + 60, "the broker counts what it delivers to the page")
    tile = shown.locator(".tile", has_text="Deliveries").locator(".v")
    seen, end = set(), time.monotonic() + SPAN
    while time.monotonic() < end:
        seen.add(tile.inner_text())
        shown.wait_for_timeout(500)
    check("0" in seen and seen <= {"0", "–"}, "and the page draws none of it", seen)
    posts = shown.locator(".plots svg path.deliv").get_attribute("d")
    heights = {float(one) for one in re.findall(r" (\d+\.\d)", posts)}
    check(len(heights) == 1, "nor does the plot", heights)


def test_plot(shown):
    texts = shown.locator(".plots svg text").all_text_contents()
    check(texts and not [one for one in texts if re.search("[a-z]", one)], "the plot has no names")
    names = shown.locator(".key li").all_inner_texts()
    check(len(names) == 3, "which are in its key", names)


def test_navigation(shown):
    items = shown.locator(".rail nav li")
    check(items.count() > 5, "the navigation has the views")
    check(items.locator("a").count() == items.count(), "each is a link")
    for address in items.locator("a").evaluate_all("all => all.map((one) => one.hash.slice(1))"):
        console.go(shown, address)
        expect(shown.locator(".rail [aria-current=page]")).to_have_attribute("href", f"#{address}")
        expect(shown.locator("main h1")).not_to_have_text("Unknown address")
    for address in ("bogus", "bogus/o1?sort=name", "observer", "value/", "constructor"):
        console.go(shown, address, "Unknown address")
        expect(shown.locator("main")).to_contain_text(f"#{address}")
    check(True, "an address that leads nowhere says so")
    console.go(shown, "clients", "Clients")
    shown.locator("#skip").focus()
    shown.keyboard.press("Enter")
    expect(shown.locator("main")).to_be_focused()
    expect(shown.locator("main h1")).to_have_text("Clients")
    check(shown.url.endswith("#clients"), "the skip link leaves the address", shown.url)


def test_selectors(shown, url):
    desk = {"object": "deploy", "implements": ["run", "didFinish"]}
    console.send(url, "POST", "observers", desk)
    console.send(url, "POST", "observers", {"name": "running"})
    console.go(shown, "channels?contains=run", "Channels")
    expect(shown.locator("#rows tr")).to_have_count(1)
    expect(shown.locator("#rows tr")).to_contain_text("running")
    words = "Rows 1 to 1 of 1 that match, sorted by posts; 1 selector of responders not listed"
    expect(shown.locator("main footer")).to_contain_text(words)
    shown.locator("#q").fill("run")
    expect(shown.locator("#found")).to_contain_text("running")
    expect(shown.locator("#found li", has_text="channel")).to_have_count(1)
    shown.keyboard.press("Escape")
    console.send(url, "POST", "channels/didFinish", {})
    console.go(shown, "channels?contains=didFinish", "Channels")
    expect(shown.locator("#rows tr")).to_have_count(1)
    check(True, "a selector is no channel, unless it is posted")


def test_breaks(shown, url):
    name = "ButtonChange.inTheLower.partOfAKeypad"
    for one in (name, "buttonchange", "x" * 200):
        console.send(url, "POST", f"channels/{one}", {})
    console.resize(shown, 360)
    for place, heading in (
        ("overview", "Healthy"),
        ("channels", "Channels"),
        ("unheard", "Posts without observers"),
        ("observers", "Observers"),
    ):
        console.go(shown, place, heading)
        expect(shown.locator("main .words").first).to_be_visible(timeout=REPORTS)
        found = shown.evaluate(BROKEN_WORDS)
        check(found["count"] > 0 and not found["broken"], f"{place}: no word is broken", found)
        console.check_layout(shown, f"{place}: a long name has its place at 360 pixels")
    for width in (768, 1440):
        console.resize(shown, width)
        found = shown.evaluate(BROKEN_WORDS)
        check(not found["broken"], f"observers: no word is broken at {width} pixels", found)
        console.check_layout(shown, f"observers: all has its place at {width} pixels")


def test_commands(shown):
    for place, heading in (("help", "Help and keys"), ("post", "Post"), ("ask", "Ask")):
        console.go(shown, place, heading)
        commands = shown.locator(".cmd pre").all_inner_texts()
        check(commands, f"{place} has a command")
        for command in commands:
            first, *others = command.split("\n")
            check(re.match(r"curl \S+ ", first), "", command)
            check(not [one for one in others if one.startswith(" ")], "", command)
    check(True, "no line of a command begins with blanks, or is empty")


def test_height(shown):
    for place, heading in (("me", "Your access"), ("values", "Values"), ("ask", "Ask")):
        console.go(shown, place, heading)
        height = shown.evaluate("document.documentElement.scrollHeight")
        check(height == DESKTOP["height"], f"{place} needs no scroll bar", height)


def test_fields(shown):
    console.go(shown, "values", "Values")
    expect(shown.get_by_label("New or existing object")).to_be_visible()
    expect(shown.locator("label[for=value-object]")).to_be_visible()
    filters = shown.locator("main").get_by_role("searchbox")
    expect(filters).to_have_count(1)
    expect(filters).to_have_attribute("placeholder", "Filter: exact object")
    check(True, "the field that opens a value says so, and the filter says that it is one")
    console.go(shown, "post", "Post a notification")
    styles = shown.locator(".seg b").all_inner_texts()
    check(styles == ["none", "now", "asap", "idle"], "the styles are called as they are", styles)


def main():
    options = support.arguments(__doc__)
    with support.broker(options) as url, support.browser(options) as running:
        with console.page(running, viewport=DESKTOP) as shown:
            test_own(shown, url)
            test_own_deliveries(shown, url)
            test_plot(shown)
            test_navigation(shown)
            test_selectors(shown, url)
            test_breaks(shown, url)
            test_commands(shown)
            test_height(shown)
            test_fields(shown)


if __name__ == "__main__":
    main()
