"""The departure board: a page that opens late, and a broker that is killed with -9 and started again."""

import os
import pathlib
import re
import subprocess

from playwright.sync_api import expect

import support
from support import check, request

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "Examples" / "Board"


def press_enter(example, sentence):
    """Kills the broker, or starts it again; the example says when that is done."""
    example.stdin.write("\n")
    example.stdin.flush()
    check(example.stdout.readline().strip() == sentence, "")


def change(url, what, flight, **fields):
    status, receipt = request(
        f"{url}/v1/channels/Board.{what}?object={flight}", method="POST", body=fields,
        Content_Type="application/json")
    check(status == 200 and receipt.get("kept") is True, "", (status, receipt))
    return receipt


def rows(shown):
    return [row.split("\t") for row in shown.locator("#flights tr").all_inner_texts()]


def test_late(shown, page, url):
    for flight, gate in (("LH12", "A1"), ("AF7", "C2"), ("LH12", "B7")):
        change(url, "Gate", flight, gate=gate)
    receipt = change(url, "Status", "LH12", status="boarding")
    check(receipt["matched"] == 0, "the archive keeps what nobody observes", receipt)
    shown.goto(page)
    expect(shown.locator("#state")).to_contain_text("Live")
    expect(shown.locator("#flights tr")).to_have_count(2)
    expect(shown.locator("#flights")).to_contain_text("boarding")
    expected = [["AF7", "C2", ""], ["LH12", "B7", "boarding"]]
    check(rows(shown) == expected, "a page that opens late has the whole board", rows(shown))
    change(url, "Gate", "KL4", gate="D1")
    expect(shown.locator("#flights tr")).to_have_count(3)
    check(True, "and what comes then")


def test_restart(shown, example, url):
    press_enter(example, "The broker is gone.")
    expect(shown.locator("#state")).to_contain_text("Away")
    check(len(rows(shown)) == 3, "without a broker the page has what was known")
    press_enter(example, "The broker is back.")
    change(url, "Gate", "AF7", gate="E9")
    change(url, "Status", "KL4", status="closed")
    expect(shown.locator("#flights")).to_contain_text("E9", timeout=30_000)
    expect(shown.locator("#flights")).to_contain_text("closed")
    expect(shown.locator("#state")).to_contain_text("Live")
    expected = [["AF7", "E9", ""], ["KL4", "D1", "closed"], ["LH12", "B7", "boarding"]]
    check(rows(shown) == expected, "a restart loses nothing", rows(shown))
    shown.reload()
    expect(shown.locator("#flights tr")).to_have_count(3)
    expect(shown.locator("#flights")).to_contain_text("closed")
    check(rows(shown) == expected, "a page that opens then has the same board", rows(shown))


def main():
    options = support.arguments(__doc__)
    environment = {**os.environ, "BELFRY": options.belfry}
    with support.process(
        EXAMPLE / "run", env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as example:
        line = example.stdout.readline()
        found = re.search(r"board is at (\S+broker=(\S+))", line)
        check(found is not None, "the example says where its page is", line)
        page, url = found.groups()
        example.stdout.readline()
        example.stdout.readline()
        with support.browser(options) as running:
            # Its console reports each attempt to connect while there is no broker.
            shown = running.new_context(locale="en-US").new_page()
            test_late(shown, page, url)
            test_restart(shown, example, url)
            for width in (360, 1440):
                for scheme in ("light", "dark"):
                    shown.set_viewport_size({"width": width, "height": 700})
                    shown.emulate_media(color_scheme=scheme)
                    support.check_accessibility(shown, f"axe finds nothing, {scheme}, {width} pixels")
                    support.check_width(shown, "nothing makes the page scroll sideways")
                    support.picture(options, shown, f"board-{scheme}-{width}")
    check(example.returncode == 0, "the example ends with exit code 0", example.returncode)


if __name__ == "__main__":
    main()
