"""What the browser tests share: a broker to test against, a browser, and requests to the API.

The tests need chromium, and playwright and axe-playwright-python from PyPI. Each script is a test
of its own and exits with 0 when all its checks held.

    python3 Tests/BrowserTests/console_views_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/console_states_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/console_acts_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/console_look_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/desk_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/library_observing_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/approval_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/remote_control_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/slider_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/cursors_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/presence_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/tutorial_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/build_monitor_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/dashboard_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/board_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/chat_test.py --belfry .build/release/belfry
    python3 Tests/BrowserTests/calculator_test.py --belfry .build/release/belfry \\
        --model1 .build/release/calculator-model1
    python3 Tests/BrowserTests/table_test.py --belfry .build/release/belfry \\
        --source .build/release/table-source
"""

import argparse
import contextlib
import json
import re
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

DEADLINE = 10.0
"""Seconds after which something that is awaited counts as missing."""


def arguments(description, program=None, extra=None):
    """What a test is told; `program` is the option that names another program that it needs, and
    `extra` a number with its default."""
    parser = argparse.ArgumentParser(description=description)
    broker = parser.add_mutually_exclusive_group(required=True)
    broker.add_argument("--url", help="a broker that runs, such as http://127.0.0.1:8080")
    broker.add_argument("--belfry", help="the belfry program, to start a broker of its own")
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="the browser")
    parser.add_argument("--screenshots", metavar="DIR", help="keep pictures of the pages there")
    if program:
        parser.add_argument(f"--{program}", required=True, help="the program of that name")
    if extra:
        name, default = extra
        parser.add_argument(f"--{name}", type=float, default=default)
    return parser.parse_args()


@contextlib.contextmanager
def process(*command, **options):
    """Runs a program, and ends it with SIGTERM; a program that has to be killed is a failure."""
    running = subprocess.Popen(command, **options)
    try:
        yield running
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGTERM)
        try:
            running.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
            raise AssertionError(f"{command[0]} did not end on SIGTERM") from None


@contextlib.contextmanager
def broker(options, *more, scheme="http"):
    """The URL of the broker: the one that was named, or one on a port of its own choice."""
    if options.url:
        yield options.url.rstrip("/")
        return
    with started_broker(options, "--in-memory", *more, scheme=scheme) as (url, _):
        yield url


@contextlib.contextmanager
def started_broker(options, *more, scheme="http"):
    """The URL of a broker on a port of its own choice, and its process."""
    command = (options.belfry, "serve", "--listen", "127.0.0.1:0", *more)
    with process(*command, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True) as running:
        for line in running.stdout:
            # It logs each of its addresses, that of TLS with its scheme.
            prefix = "https://" if scheme == "https" else ""
            if found := re.search(prefix + r"127\.0\.0\.1:([1-9]\d*)", line):
                break
        else:
            raise AssertionError("the broker ended before it logged its address")
        # Its later lines are read and dropped: a full pipe would stop it.
        with process("cat", stdin=running.stdout, stdout=subprocess.DEVNULL):
            yield f"{scheme}://127.0.0.1:{found[1]}", running


@contextlib.contextmanager
def browser(options, *more):
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=options.chromium, args=["--no-sandbox", "--disable-gpu", *more]
        )
        try:
            yield running
        finally:
            running.close()


@contextlib.contextmanager
def page(running, **context):
    """A page of its own context; anything that its console reports as an error is a failure."""
    made = running.new_context(reduced_motion="reduce", **context)
    shown = made.new_page()
    shown.set_default_timeout(DEADLINE * 1000)
    faults = []
    shown.on("pageerror", lambda error: faults.append(str(error)))
    shown.on("console", lambda entry: entry.type == "error" and faults.append(entry.text))
    try:
        yield shown
        check(not faults, "the page reports no error", faults)
    finally:
        made.close()


def check(holds, sentence, facts=None):
    if not holds:
        raise AssertionError(sentence if facts is None else f"{sentence}: {facts}")
    if sentence:
        print(f"ok   {sentence}")


def check_accessibility(shown, sentence):
    violations = Axe().run(shown).response["violations"]
    facts = [f"{item['id']}: {node['html']}" for item in violations for node in item["nodes"]]
    check(not facts, sentence, "\n".join(facts))


def check_width(shown, sentence):
    widths = shown.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    check(widths[0] <= widths[1], sentence, widths)


def request(url, *, method="GET", body=None, **fields):
    """A request to the API: its status, and its content as JSON if there is any."""
    data = None if body is None else json.dumps(body).encode()
    headers = {name.replace("_", "-"): value for name, value in fields.items()}
    made = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(made, timeout=DEADLINE) as answer:
            status, content = answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        status, content = refusal.code, refusal.read()
    return status, json.loads(content) if content else None


def text(url):
    """What a GET answers, as text."""
    with urllib.request.urlopen(url, timeout=DEADLINE) as answer:
        return answer.read().decode()


def observers(url):
    """All observers of the default center, page by page."""
    rows, query = [], ""
    while True:
        status, listing = request(f"{url}/v1/observers?limit=1000{query}")
        assert status == 200, (status, listing)
        rows += listing["observers"]
        if listing.get("next") is None:
            return rows
        query = f"&cursor={listing['next']}"


def eventually(condition, sentence):
    """Waits for something that another process does, and returns what it was."""
    end = time.monotonic() + DEADLINE
    while True:
        result = condition()
        if result:
            check(True, sentence)
            return result
        if time.monotonic() > end:
            raise AssertionError(f"not within {DEADLINE:g} s: {sentence}")
        time.sleep(0.02)


def picture(options, shown, name):
    if options.screenshots:
        shown.screenshot(path=f"{options.screenshots}/{name}.png", full_page=True)
