"""The table: a page scrolls through 100,000 rows of a data source that it asks, which two programs share."""

import os
import pathlib
import re
import subprocess

from playwright.sync_api import expect

import support
from support import check, eventually, request

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "Examples" / "Table"


def holders(url):
    """Who holds the address, with how many asks each was shown."""
    return request(f"{url}/v1/responders/people")[1]["responders"]


def test_page(running, page, url):
    with support.page(running) as first, support.page(running) as second:
        first.goto(page)
        expect(first.locator("#state")).to_contain_text("Rows 0 to ")
        expect(first.locator("li").first).to_contain_text("Row 0: 0")
        height = first.evaluate("document.getElementById('rows').offsetHeight")
        check(height == 100_000 * 48, "the list is as high as all rows", height)
        check(first.locator("li").count() < 100, "and has those that can be seen")
        support.check_accessibility(first, "axe finds nothing")
        support.check_width(first, "nothing makes the page scroll sideways")
        first.evaluate("document.getElementById('view').scrollTop = 50000 * 48")
        row = first.get_by_text("Row 50000: 0", exact=True)
        expect(row).to_be_visible()
        first.evaluate("document.getElementById('view').scrollTop = 1e9")
        expect(first.get_by_text("Row 99999: 0", exact=True)).to_be_visible()
        check(True, "it scrolls to the middle and to the end")
        second.goto(page)
        expect(second.locator("li").first).to_contain_text("Row 0: 0")
        second.get_by_role("button", name="Touch Row 3", exact=True).click()
        expect(second.get_by_text("Row 3: 1", exact=True)).to_be_visible()
        first.evaluate("document.getElementById('view').scrollTop = 0")
        expect(first.get_by_text("Row 3: 1", exact=True)).to_be_visible()
        check(True, "a row that is touched in one page has changed in both")
        status, _ = request(
            f"{url}/v1/channels/touch?object=people", method="POST", body={"row": 4},
            Content_Type="application/json")
        expect(first.get_by_text("Row 4: 1", exact=True)).to_be_visible()
        check(status == 200, "didChange makes the page ask again", status)


def test_sharing(url):
    for first in range(20):
        status, answer = request(
            f"{url}/v1/responders/people/rows", method="POST", body={"first": first, "count": 2},
            Content_Type="application/json")
        check(status == 200 and answer["answer"]["rows"][0]["n"] == first, f"row {first}", answer)
    asked = [row["asked"] for row in holders(url)]
    check(len(asked) == 2 and min(asked) > 9, "both sources are asked", asked)


def main():
    options = support.arguments(__doc__, "source")
    environment = {**os.environ, "BELFRY": options.belfry, "SOURCE": options.source}
    with support.process(
        EXAMPLE / "run", env=environment, stdout=subprocess.PIPE, text=True
    ) as example:
        line = example.stdout.readline()
        found = re.search(r"is at (http\S+/\?broker=(\S+))", line)
        check(found is not None, "the example says where its page is", line)
        page, url = found.groups()
        eventually(lambda: len(holders(url)) == 2, "two programs share the address")
        with support.browser(options) as running:
            test_page(running, page, url)
        test_sharing(url)
    check(example.returncode == 0, "the example ends with exit code 0", example.returncode)


if __name__ == "__main__":
    main()
