"""The chat: lines of before, earlier ones, who is here, and a broker that is killed with -9."""

import os
import pathlib
import re
import subprocess

from playwright.sync_api import expect

import support
from support import check, request

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "Examples" / "Chat"


def press_enter(example, sentence):
    """Kills the broker, or starts it again; the example says when that is done."""
    example.stdin.write("\n")
    example.stdin.flush()
    check(example.stdout.readline().strip() == sentence, "")


def post(url, text):
    status, receipt = request(
        f"{url}/v1/channels/Chat", method="POST", body={"who": "curl", "text": text},
        Content_Type="application/json")
    check(status == 200 and receipt.get("kept") is True, "", (status, receipt))
    return receipt


def lines(shown):
    """The texts of the lines, the oldest first."""
    return [line.split(": ", 1)[-1] for line in shown.locator("#lines li").all_inner_texts()]


def opened(shown, page, name):
    shown.goto(page)
    expect(shown.locator("#state")).to_contain_text("Live")
    shown.locator("#name").fill(name)
    return shown


def test_before(first, page, url):
    for number in range(70):
        post(url, f"line {number}")
    opened(first, page, "Ann")
    expect(first.locator("#lines li")).to_have_count(50)
    check(lines(first) == [f"line {n}" for n in range(20, 70)], "a page has the last fifty lines")
    first.get_by_role("button", name="Earlier lines").click()
    expect(first.locator("#lines li")).to_have_count(70)
    check(lines(first) == [f"line {n}" for n in range(70)], "and earlier ones on demand")
    expect(first.get_by_role("button", name="Earlier lines")).to_be_disabled()


def test_talk(first, second, page):
    opened(second, page, "Bob")
    expect(first.locator("#who")).to_have_text("Ann, Bob")
    second.locator("#text").fill("Hello")
    second.locator("#text").press("Enter")
    for shown in (first, second):
        expect(shown.locator("#lines li").last).to_contain_text("Bob: Hello")
    expect(second.locator("#text")).to_have_value("")
    check(True, "each window has the line, and who is here")


def test_restart(first, second, example, url):
    press_enter(example, "The broker is gone.")
    for shown in (first, second):
        expect(shown.locator("#state")).to_contain_text("Away")
    press_enter(example, "The broker is back.")
    post(url, "after")
    for shown in (first, second):
        expect(shown.locator("#lines li").last).to_contain_text("curl: after", timeout=30_000)
        texts = lines(shown)
        check(len(texts) == len(set(texts)) and "Lines are missing here." not in texts,
              "a restart loses nothing, and a line comes once", texts[-5:])
    expect(first.locator("#who")).to_have_text("Ann, Bob", timeout=30_000)
    check(True, "and all are still here")


def test_forgotten(first, url):
    status, page = request(f"{url}/v1/notifications?name=Chat&last=1")
    newest = page["notifications"][0]["id"]
    status, answer = request(
        f"{url}/v1/notifications?name=Chat&id={newest}", method="DELETE")
    check((status, answer) == (200, {"removed": 1}), "", (status, answer))
    first.reload()
    expect(first.locator("#lines li")).to_have_count(50)
    check("after" not in lines(first), "a line that is removed is gone")


def main():
    options = support.arguments(__doc__)
    environment = {**os.environ, "BELFRY": options.belfry}
    with support.process(
        EXAMPLE / "run", env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as example:
        line = example.stdout.readline()
        found = re.search(r"chat is at (\S+broker=(\S+))", line)
        check(found is not None, "the example says where its page is", line)
        page, url = found.groups()
        example.stdout.readline()
        example.stdout.readline()
        with support.browser(options) as running:
            # Their consoles report each attempt to connect while there is no broker.
            first, second = (running.new_context(locale="en-US").new_page() for _ in range(2))
            test_before(first, page, url)
            test_talk(first, second, page)
            test_restart(first, second, example, url)
            test_forgotten(first, url)
            for width in (360, 1440):
                for scheme in ("light", "dark"):
                    first.set_viewport_size({"width": width, "height": 700})
                    first.emulate_media(color_scheme=scheme)
                    support.check_accessibility(first, f"axe finds nothing, {scheme}, {width} pixels")
                    support.check_width(first, "nothing makes the page scroll sideways")
                    support.picture(options, first, f"chat-{scheme}-{width}")
    check(example.returncode == 0, "the example ends with exit code 0", example.returncode)


if __name__ == "__main__":
    main()
