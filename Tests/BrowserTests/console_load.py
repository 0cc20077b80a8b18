"""What the console costs the browser under load, which no other test tells; it is run by hand.

    python3 Tests/BrowserTests/console_load.py --belfry .build/release/belfry --minutes 10

10,000 observers of 1,000 channels, and 5,000 posts a second. For each view: the processor time of
the page's process as a share of one core, and its heap after a collection at begin and end.
"""

import json
import random
import threading
import time
import urllib.request

import console
import support

OBSERVERS, CHANNELS, RATE = 10_000, 1_000, 5_000
BATCH = 250
VIEWS = ("overview", "observers?sort=-held", "channels", "clients", "tail")


def register(url):
    """The observers belong to a hundred mailboxes, which coalesce what nobody looks at."""
    sessions = {}
    for number in range(OBSERVERS):
        body = {"name": f"channel.{number % CHANNELS}", "suspensionBehavior": "coalesce"}
        mailbox = number % 100
        if mailbox in sessions:
            body["session"] = sessions[mailbox]
        sessions[mailbox] = console.send(url, "POST", "observers", body)["session"]


def flood(url, over, sent):
    """Posts at an even rate until it is over."""
    began, count = time.monotonic(), 0
    while not over.is_set():
        posts = [
            {
                "name": f"channel.{random.randrange(CHANNELS)}",
                "object": f"thing-{number % 50}",
                "userInfo": {"n": count + number, "price": 1999},
            }
            for number in range(BATCH)
        ]
        made = urllib.request.Request(
            f"{url}/v1/notifications",
            json.dumps(posts).encode(),
            {"Content-Type": "application/json", "Prefer": "return=minimal"},
            method="POST",
        )
        urllib.request.urlopen(made, timeout=30).read()
        count += BATCH
        sent.append((time.monotonic(), BATCH))
        time.sleep(max(began + count / RATE - time.monotonic(), 0))


def processor_time(browser):
    session = browser.new_browser_cdp_session()
    rows = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return sum(row["cpuTime"] for row in rows if row["type"] == "renderer")


def heap(session):
    session.send("HeapProfiler.collectGarbage")
    return session.send("Runtime.getHeapUsage")["usedSize"] / 2**20


def main():
    options = support.arguments(__doc__, extra=("minutes", 10))
    over, sent = threading.Event(), []
    with support.broker(options) as url, support.browser(options) as running:
        register(url)
        poster = threading.Thread(target=flood, args=(url, over, sent), daemon=True)
        poster.start()
        try:
            with console.page(running, viewport={"width": 1440, "height": 900}) as shown:
                console.open_console(shown, url)
                session = shown.context.new_cdp_session(shown)
                for view in VIEWS:
                    console.go(shown, view)
                    shown.wait_for_timeout(5000)
                    first, began = heap(session), time.monotonic()
                    before, posted = processor_time(running), len(sent)
                    shown.wait_for_timeout(options.minutes * 60_000 / len(VIEWS))
                    passed = time.monotonic() - began
                    share = (processor_time(running) - before) / passed
                    rate = sum(count for _, count in sent[posted:]) / passed
                    last = heap(session)
                    print(
                        f"{view:24} {100 * share:5.1f} % of a core   heap {first:5.1f} to {last:5.1f} MiB"
                        f"   {rate:6.0f} posts a second",
                        flush=True,
                    )
        finally:
            over.set()
            poster.join()


if __name__ == "__main__":
    main()
