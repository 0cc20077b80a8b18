"""The build monitor: builds in shell and `curl` on a page; one fails, and two are killed."""

import os
import pathlib
import re
import signal
import subprocess

from playwright.sync_api import expect

import support
from support import check, request

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "Examples" / "BuildMonitor"


def start(url, project, *command):
    """A build in a session of its own, whose exit code is that of the command."""
    return subprocess.Popen(
        (EXAMPLE / "build", project, *command), env={**os.environ, "BROKER": url},
        start_new_session=True, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )


def card(shown, project):
    heading = shown.get_by_role("heading", name=project, exact=True)
    return shown.locator("#builds li").filter(has=heading)


def test_ends(shown, url):
    expect(shown.locator("#none")).to_be_visible()
    # It builds until its standard input ends.
    site = start(url, "site", "cat")
    expect(card(shown, "site")).to_contain_text("Running")
    expect(shown.locator("#none")).to_be_hidden()
    check(True, "a build that runs is on the wall")
    site.communicate(timeout=support.DEADLINE)
    expect(card(shown, "site")).to_contain_text("Passed")
    expect(shown.locator("#last")).to_contain_text("site has passed")
    check(site.returncode == 0, "a build that ends well has passed")
    app = start(url, "app", "sh", "-c", "exit 3")
    app.communicate(timeout=support.DEADLINE)
    expect(card(shown, "app")).to_contain_text("exit code 3")
    expect(shown.locator("#last")).to_contain_text("app has failed")
    check(app.returncode == 3, "one that fails has failed, with its exit code", app.returncode)


def test_later(running, page):
    with support.page(running) as later:
        later.goto(page)
        expect(later.locator("#builds li")).to_have_count(2)
        expect(card(later, "app")).to_contain_text("Failed")
        check(True, "a page that is opened later has all of it")


def broken_off(shown):
    expect(card(shown, "nightly")).to_contain_text("Broke off", timeout=support.DEADLINE * 1000)


def test_killed(shown, url):
    lost = start(url, "nightly", "cat")
    expect(card(shown, "nightly")).to_contain_text("Running")
    os.killpg(lost.pid, signal.SIGKILL)
    lost.communicate()
    broken_off(shown)
    check(True, "one that is killed with all its processes has broken off")
    again = start(url, "nightly", "cat")
    expect(card(shown, "nightly")).to_contain_text("Running")
    again.kill()
    again.wait()
    broken_off(shown)
    again.communicate()
    check(True, "and one of which the script alone was killed, too")


def test_stream(url):
    """What the README says of `curl` without a page."""
    stream = subprocess.Popen(
        ("curl", "-sN", "--max-time", "20", f"{url}/v1/events?name=BuildDidEnd&object=site"),
        stdout=subprocess.PIPE, text=True,
    )
    # The first line comes when it is open.
    lines = [stream.stdout.readline()]
    start(url, "other", "true").communicate(timeout=support.DEADLINE)
    start(url, "site", "false").communicate(timeout=support.DEADLINE)
    while not lines[-1].startswith("data:"):
        lines.append(stream.stdout.readline())
        check(lines[-1], "", lines)
    stream.kill()
    stream.communicate()
    is_next = '"object":"site"' in lines[-1] and '"failed"' in lines[-1]
    check(is_next, "curl is told the next end of a project", lines)
    status, _ = request(f"{url}/v1/values/builds/other", method="DELETE")
    check(status in (200, 204), "a project is taken off the wall", status)


def test_alone():
    made = start("http://127.0.0.1:1", "site", "sh", "-c", "exit 4")
    _, told = made.communicate(timeout=support.DEADLINE)
    goes_on = made.returncode == 4 and "does not know" in told
    check(goes_on, "a build goes on without a broker", told)
    refused = start("http://127.0.0.1:1", "a.b", "true")
    _, told = refused.communicate(timeout=support.DEADLINE)
    check(refused.returncode == 2, "a project that is no key is refused", told)


def test_looks(options, running, page):
    for scheme in ("light", "dark"):
        for width in (360, 1440):
            size = {"width": width, "height": 800}
            with support.page(running, color_scheme=scheme, viewport=size) as shown:
                shown.goto(page)
                expect(shown.locator("#builds li")).to_have_count(3)
                support.check_accessibility(shown, f"axe finds nothing, {scheme} at {width}")
                support.check_width(shown, f"and nothing scrolls sideways, {scheme} at {width}")
                support.picture(options, shown, f"build-monitor-{scheme}-{width}")


def main():
    options = support.arguments(__doc__)
    environment = {**os.environ, "BELFRY": options.belfry}
    with support.process(
        EXAMPLE / "run", env=environment, stdout=subprocess.PIPE, text=True
    ) as example:
        line = example.stdout.readline()
        found = re.search(r"monitor is at (\S+broker=(\S+))", line)
        check(found is not None, "the example says where its page is", line)
        page, url = found.groups()
        with support.browser(options) as running:
            with support.page(running) as shown:
                shown.goto(page)
                expect(shown.locator("#state")).to_have_text("Live")
                test_ends(shown, url)
                test_later(running, page)
                test_killed(shown, url)
                test_stream(url)
                expect(shown.locator("#builds li")).to_have_count(3)
            test_looks(options, running, page)
        test_alone()
    check(example.returncode == 0, "the example ends with exit code 0", example.returncode)


if __name__ == "__main__":
    main()
