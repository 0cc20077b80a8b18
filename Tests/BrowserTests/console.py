"""What the tests of the console share: the page, what it is tested with, checks of its layout."""

import contextlib
import json

from playwright.sync_api import expect

import support
from support import check, request

KIND = {"Content_Type": "application/json"}

NETWORK = ("Failed to load resource", "WebSocket connection to")
"""What the browser logs of refusals and lost connections, which are under test."""

LAYOUT = """() => {
  const faults = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) faults.push("the page scrolls sideways");
  for (const one of document.querySelectorAll("body *")) {
    if (one.closest(".hidden, .skip, svg, option") || !one.checkVisibility()) continue;
    const { left, right } = one.getBoundingClientRect();
    const name = `${one.localName}.${one.className} "${one.textContent.slice(0, 30)}"`;
    if (right > width + 0.5 || left < -0.5) faults.push(`past the edge: ${name}`);
    const { overflowX, overflowY } = getComputedStyle(one);
    const scrolls = /auto|scroll/.test(overflowX + overflowY)
      && (one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1);
    if (scrolls && !one.matches("textarea, input")) faults.push(`a scroll in the scroll: ${name}`);
    if (one.matches("button, .btn") && one.scrollWidth > one.clientWidth + 1) {
      faults.push(`a cut button: ${name}`);
    }
  }
  return faults.slice(0, 10);
}"""
"""No sideways scroll, nothing past the edge, no scroll in a scroll, no cut button."""

WIDTHS = (320, 360, 768, 1025, 1440)


@contextlib.contextmanager
def page(running, **context):
    """A page that may be refused something, which the browser logs, and must not fail otherwise."""
    made = running.new_context(reduced_motion="reduce", **context)
    shown = made.new_page()
    shown.set_default_timeout(support.DEADLINE * 1000)
    faults = []

    def heard(entry):
        if entry.type == "error" and not entry.text.startswith(NETWORK):
            faults.append(entry.text)

    shown.on("pageerror", lambda error: faults.append(str(error)))
    shown.on("console", heard)
    try:
        yield shown
        check(not faults, "the page reports no error", faults)
    finally:
        made.close()


def send(url, method, path, body=None, **fields):
    """A request that has to be answered well; its content."""
    status, answer = request(f"{url}/v1/{path}", method=method, body=body, **KIND, **fields)
    assert status < 300, (method, path, status, answer)
    return answer


def populate(url):
    """Gives a broker something of each kind. Answers the ids that views are opened with."""
    observers = [
        send(url, "POST", "observers", {"name": name, "object": thing})
        for name, thing in (
            ("Order.placed", None),
            ("Order.placed", "shop-7"),
            ("Price.changed", "sku-118"),
            ("Cart.changed", None),
            ("Stock.low", "shop-7"),
            ("Holiday.sale", None),
        )
    ]
    desk = {"object": "deploy", "implements": ["shouldStart", "didStart"], "next": "team"}
    send(url, "POST", "observers", desk)
    send(url, "POST", "observers", {"object": "settings", "keyPath": "ui"})
    send(url, "PUT", "values/settings", {"ui": {"theme": "dark", "size": 14}, "volume": 7})
    send(url, "POST", "responders/deploy/shouldStart", {"sha": "4f2c"}, Prefer="respond-async")
    for later in ({"after": 3600, "every": 86400}, {"at": "2027-01-01T00:00:00Z", "object": "ann"}):
        send(url, "POST", "notifications", {"name": "Night.report", **later})
    lease = send(url, "POST", "modes", {"mode": "held", "lease": 3600})
    for thing in ("window-1", "window-2", "window-1"):
        send(url, "POST", "notifications", {"name": "Redraw", "object": thing, "style": "asap"})
    for name in ("Order.placed", "order.placed", "order.placed", "Cart.chnaged", "Price.changed"):
        send(url, "POST", f"channels/{name}?object=shop-7", {"total": 45.9})
    gone = send(url, "POST", "observers", {"name": "Order.placed"})
    request(f"{url}/v1/observers/{gone['token']}", method="DELETE")
    return {
        "observer": observers[0]["id"],
        "client": observers[0]["client"],
        "gone": gone["id"],
        "mode": lease,
    }


def views(made):
    """The address of each view, and its heading."""
    return {
        "overview": "Healthy",
        "tail": "Live tail",
        "channels": "Channels",
        "channel/Order.placed": "Order.placed",
        "unheard": "Posts without observers",
        "observers": "Observers",
        f"observer/{made['observer']}": f"{made['observer']} observes",
        f"observer/{made['gone']}": "was removed",
        "forgotten": "Observers that look abandoned",
        "clients": "Clients",
        f"client/{made['client']}": made["client"],
        "client/c9999": "No client c9999",
        "queue": "Queue and modes",
        "timers": "Timers",
        "responders": "Responders and asks",
        "values": "Values",
        "value/settings": "settings",
        "archives": "Archives",
        "history": "History",
        "history?name=Order.placed": "History",
        "explain": "Explain",
        "explain?name=order.placed": "Explain",
        "explain?name=Order.placed&object=shop-7": "Explain",
        "post": "Post a notification",
        "ask": "Ask",
        "me": "Your access",
        "help": "Help and keys",
    }


def go(shown, place, heading=None):
    """Opens a view by its address, and waits until it is there."""
    shown.evaluate("(place) => { location.hash = place; }", place)
    if heading is not None:
        expect(shown.locator("main h1")).to_contain_text(heading)


def open_console(shown, url, place="overview", token=None):
    """Opens the page; its policy is strict."""
    if token is not None:
        shown.add_init_script(f"sessionStorage.setItem('belfry token', {json.dumps(token)})")
    answer = shown.goto(f"{url}/#{place}")
    policy = answer.headers.get("content-security-policy", "")
    is_strict = "default-src 'none'" in policy and "unsafe" not in policy
    check(is_strict, "the page has a strict Content-Security-Policy", policy)


def check_layout(shown, sentence):
    faults = shown.evaluate(LAYOUT)
    check(not faults, sentence, faults)


def resize(shown, width, height=900):
    shown.set_viewport_size({"width": width, "height": height})
    # The page draws its plots anew after the frame in which it was told.
    shown.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def picture(options, shown, place, *facts):
    name = "-".join(["console", *(str(fact) for fact in facts), place])
    support.picture(options, shown, "".join(c if c.isalnum() or c in "-." else "-" for c in name))
