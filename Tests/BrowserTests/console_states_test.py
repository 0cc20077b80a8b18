"""What the console says when it may not look, when nobody answers, when all is new or full."""

import json
import re
import signal
import subprocess
import tempfile

from playwright.sync_api import expect

import console
import support
from support import check

LOOK = '[{"verbs":["inspect","observe"]}]'


def make_key(options, name, grants):
    """A token, and its row for the file of keys."""
    made = subprocess.run(
        [options.belfry, "gen-token", name, "--grants", grants],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    return made[0], json.loads(made[1])


def check_state(options, shown, name):
    for width in console.WIDTHS:
        console.resize(shown, width)
        console.check_layout(shown, f"{name} has its place at {width} pixels")
        if width in (360, 1440):
            for scheme in ("light", "dark"):
                shown.emulate_media(color_scheme=scheme)
                support.check_accessibility(
                    shown, f"axe finds nothing in {name}, {scheme}, {width}"
                )
                console.picture(options, shown, f"state-{name}", width, scheme)
    console.resize(shown, 1440)


def test_tokens(options, running):
    (look, look_row), (till, till_row) = (
        make_key(options, "ann", LOOK),
        make_key(options, "till", "post"),
    )
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"keys": [look_row, till_row]}, file)
        file.flush()
        more = ("--keys", file.name, "--anonymous-grants", "")
        with support.broker(options, *more) as url:
            with console.page(running) as shown:
                console.open_console(shown, url)
                heading = shown.locator("main h1")
                expect(heading).to_have_text("This broker requires a token")
                expect(shown.get_by_label("Token", exact=True)).to_be_focused()
                expect(shown.locator(".pill")).to_have_text("Token required")
                expect(shown.locator("nav")).to_have_count(0)
                check_state(options, shown, "no token")
                shown.get_by_label("Token", exact=True).fill("belfry_of_nobody")
                shown.get_by_role("button", name="Use this token").click()
                expect(shown.locator(".fault")).to_contain_text("does not know this token")
                expect(shown.get_by_label("Token", exact=True)).to_have_value("belfry_of_nobody")
                expect(shown.get_by_label("Token", exact=True)).to_be_focused()
                check_state(options, shown, "a wrong token")
                shown.get_by_label("Token", exact=True).fill(look)
                shown.keyboard.press("Enter")
                expect(heading).to_contain_text("Your first notification")
                expect(shown.locator(".states .btn")).to_contain_text("ann")
                check(True, "a good token lets the page in, and it says who one is")
                console.go(shown, "observers", "Observers")
                expect(shown.get_by_role("button", name="Remove")).to_have_count(0)
                check(True, "who may not remove is not offered it")
            with console.page(running) as shown:
                console.open_console(shown, url, token=till)
                expect(shown.locator("main h1")).to_have_text("You can post, but not inspect")
                expect(shown.locator("main")).to_contain_text(
                    "Your token belongs to till, and has: post"
                )
                check_state(options, shown, "forbidden")
                shown.get_by_role("link", name="Post a notification").click()
                shown.get_by_label("Name").fill("Sale")
                shown.get_by_role("button", name="Post", exact=False).first.click()
                expect(shown.locator("main")).to_contain_text("Posted. No observer matched.")
                check(True, "who may only post does so")


def test_away(options, running):
    """A broker that stands still, and one that comes back."""
    command = (options.belfry, "serve", "--listen", "127.0.0.1:0", "--in-memory")
    with support.process(
        *command, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True
    ) as broker:
        for line in broker.stdout:
            if found := re.search(r"127\.0\.0\.1:([1-9]\d*)", line):
                break
        url = f"http://127.0.0.1:{found[1]}"
        console.populate(url)
        with console.page(running, viewport={"width": 1440, "height": 900}) as shown:
            console.open_console(shown, url)
            expect(shown.locator("main h1")).to_contain_text("Healthy")
            broker.send_signal(signal.SIGSTOP)
            try:
                shown.locator(".banner").wait_for(timeout=20_000)
                expect(shown.locator(".pill")).to_have_text("Not responding")
                expect(shown.locator(".banner")).to_contain_text("No response from the broker since")
                expect(shown.locator("main h1")).to_contain_text("Last known healthy at")
                expect(shown.locator("#spoken")).to_have_text("The broker is not responding")
                check_state(options, shown, "away")
            finally:
                broker.send_signal(signal.SIGCONT)
            expect(shown.locator(".pill")).to_have_text("Live", timeout=20_000)
            expect(shown.locator(".banner")).to_have_count(0)
            check(True, "the page says that the broker is away, and finds it again by itself")
            broker.kill()
            broker.wait()
            expect(shown.locator(".pill")).to_have_text("Not responding", timeout=20_000)
            again = ("serve", "--listen", url.removeprefix("http://"), "--in-memory")
            with support.process(options.belfry, *again, stderr=subprocess.DEVNULL):
                expect(shown.locator(".pill")).to_have_text("Live", timeout=30_000)
                expect(shown.locator("main h1")).to_have_text("Your first notification")
                check(True, "after a restart the page shows the new broker, which counts from 0")


def test_center(options, running, url):
    with console.page(running) as shown:
        shown.goto(f"{url}/?center=nowhere#observers")
        expect(shown.locator("main h1")).to_have_text("There is no center nowhere")
        check_state(options, shown, "no center")
        console.go(shown, "overview", "There is no center nowhere")
        names = [one["name"] for one in console.send(url, "GET", "centers")["centers"]]
        check("nowhere" not in names, "a look makes no center", names)
        console.send(url, "POST", "centers/nowhere/channels/First", {"title": "7"})
        expect(shown.locator("main h1")).to_have_text("Healthy")
        expect(shown.locator("#rail-center")).to_have_value("nowhere")
        check(True, "the page goes on when the center is there")


def test_first_start(options, running):
    with support.broker(options) as url, console.page(running) as shown:
        console.open_console(shown, url)
        expect(shown.locator("main h1")).to_have_text("Your first notification")
        check_state(options, shown, "first start")
        console.send(url, "POST", "observers", {"name": "ButtonChange"})
        expect(shown.locator("main h1")).to_contain_text("Healthy")
        console.go(shown, "help", "Help and keys")
        expect(shown.locator(".steps .done")).to_have_count(1)
        console.send(url, "POST", "channels/ButtonChange", {"title": "7"})
        expect(shown.locator(".steps .done")).to_have_count(2)
        check(True, "each step is ticked when the broker sees it")


def told(shown, change):
    """Changes what the broker tells of itself, for states that take long to come about."""

    def answer(route):
        reading = route.fetch().json()
        change(reading)
        route.fulfill(json=reading)

    shown.route("**/v1/overview*", answer)


def test_told_states(options, running, url):
    def full(reading):
        reading["connections"] = {"open": 9000, "limit": 9000}

    def near(reading):
        reading["held"] |= {"bytes": 85 << 20, "limitBytes": 100 << 20}
        reading["certificate"] = {"notAfter": reading["asOf"][:4] + "-12-31T00:00:00.000Z"}

    def stopping(reading):
        reading |= {"draining": True, "ready": False}

    def refusing(reading):
        reading["store"] = {"accepts": False, "commits": 5, "failures": 2, "waiting": 7}

    states = {
        "full": (
            full,
            "Not healthy: limit reached for connections",
            "Connections: limit reached (9,000 of 9,000).",
        ),
        "near a limit": (near, "Healthy, ", "Held notifications: 85 % of the limit"),
        "stopping": (stopping, "Shutting down (requested)", "The broker is shutting down."),
        "refusing": (
            refusing,
            "Not healthy: the store refuses writes",
            "The store refuses writes.",
        ),
    }
    for name, (change, heading, sentence) in states.items():
        with console.page(running) as shown:
            told(shown, change)
            console.open_console(shown, url)
            expect(shown.locator("main h1")).to_contain_text(heading)
            expect(shown.locator("main")).to_contain_text(sentence)
            check(True, f"the first screen says: {heading}")
            check_state(options, shown, name)
            shown.unroute_all(behavior="ignoreErrors")


def main():
    options = support.arguments(__doc__)
    with support.browser(options) as running:
        test_first_start(options, running)
        test_tokens(options, running)
        test_away(options, running)
        with support.broker(options) as url:
            console.populate(url)
            test_told_states(options, running, url)
            test_center(options, running, url)


if __name__ == "__main__":
    main()
