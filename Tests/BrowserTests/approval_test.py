"""The approval: a question outlives the page, moves to who takes over, and curl alone answers it."""

import os
import pathlib
import re
import subprocess

from playwright.sync_api import expect

import support
from support import check, eventually, request

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "Examples" / "Approval"


def deploy(url, sha):
    return subprocess.Popen(
        [EXAMPLE / "deploy", sha, url], stdout=subprocess.PIPE, text=True)


def ends(asking, code, told):
    """The script has ended so, and has said this."""
    output, _ = asking.communicate(timeout=support.DEADLINE)
    check(asking.returncode == code and told in output, f"the script says: {told}", output)


def asks(url):
    return request(f"{url}/v1/asks")[1]["asks"]


def holders(url):
    """The observers that hold the address; none where nobody does."""
    status, answer = request(f"{url}/v1/responders/deploy")
    return [row["id"] for row in answer["responders"]] if status == 200 else []


def test_page(running, page, url):
    with support.page(running) as first, support.page(running) as second:
        first.goto(page)
        expect(first.locator("#state")).to_contain_text("You decide")
        asking = deploy(url, "4f2c")
        question = first.locator("li")
        expect(question).to_contain_text("4f2c")
        support.check_accessibility(first, "axe finds nothing")
        support.check_width(first, "nothing makes the page scroll sideways")
        first.reload()
        expect(question).to_contain_text("4f2c")
        check(len(asks(url)) == 1, "the question is the same after the page was loaded again")
        second.goto(page)
        expect(second.locator("li")).to_contain_text("4f2c")
        expect(first.locator("#state")).to_have_text("Somebody else decides now.")
        expect(question).to_have_count(0)
        check(True, "a second approver takes over, with the open question")
        second.get_by_role("button", name="Yes").click()
        ends(asking, 0, "4f2c is deployed.")
        first.get_by_role("button", name="Decide here").click()
        expect(first.locator("#state")).to_contain_text("You decide")
        asking = deploy(url, "77aa")
        first.get_by_role("button", name="No").click()
        ends(asking, 1, '"answer":false,"by":"responder"')


def test_away(url):
    """All pages are closed: a question waits for one that comes back, here in vain."""
    check(len(holders(url)) == 1, "the responder outlives the closed page")
    status, answer = request(
        f"{url}/v1/responders/deploy/shouldStart?default=false", method="POST", body={},
        Prefer="wait=1", Content_Type="application/json")
    check((status, answer["reason"]) == (200, "no-answer"), "a question waits for its page", answer)


def test_curl(url):
    before = holders(url)
    with support.process(EXAMPLE / "approve", url):
        eventually(lambda: holders(url) not in ([], before), "a mailbox takes the address over")
        ends(deploy(url, "0123"), 0, "0123 is deployed.")
    ends(deploy(url, "0123"), 1, '"by":"default","reason":"no-responder"')


def main():
    options = support.arguments(__doc__)
    environment = {**os.environ, "BELFRY": options.belfry}
    with support.process(
        EXAMPLE / "run", env=environment, stdout=subprocess.PIPE, text=True
    ) as example:
        line = example.stdout.readline()
        found = re.search(r"opens (\S+broker=(\S+))", line)
        check(found is not None, "the example says where its page is", line)
        page, url = found.groups()
        with support.browser(options) as running:
            test_page(running, page, url)
        test_away(url)
        test_curl(url)
    check(example.returncode == 0, "the example ends with exit code 0", example.returncode)


if __name__ == "__main__":
    main()
