"""The tutorial from its first step to its last, with the console and the page in Chromium.

With `--screenshots Documentation/pictures` it makes the pictures of the tutorial.
"""

import pathlib
import sys
import tempfile

from playwright.sync_api import expect

import support
from support import check, eventually

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "BlackBox"))

import walk

PAGE = "Documentation/Tutorial.md"

WITH_PAGE = "with the page: "
"""What the notes of the blocks begin with that `walk.py` passes over."""

SHOWN_AFTER = {"open": "keypad: 8", "back": "keypad: 3"}
"""What the page shows last when the commands of a step were run."""

CHART_DEADLINE = 20.0
"""Seconds until the console has something to draw; the broker keeps a point each 4 s."""

PICTURES_LIMIT = 100_000
"""Bytes that all pictures of the tutorial have together at most."""


class Reader(walk.Walk):
    """Somebody who reads the tutorial, with a browser at hand."""

    def __init__(self, binary, folder, options, context):
        super().__init__(binary, folder)
        self.options, self.context, self.page = options, context, None
        self.faults, self.steps = [], []

    def take(self, note, kind, text):
        if not (note or "").startswith(WITH_PAGE):
            return super().take(note, kind, text)
        step, _, rest = note.removeprefix(WITH_PAGE).partition("; ")
        getattr(self, step)()
        self.steps.append(step)
        count = super().take(rest or None, kind, text)
        if step in SHOWN_AFTER:
            expect(self.page.locator("li").last).to_have_text(SHOWN_AFTER[step])
            check(True, f"the page shows what is posted while it is {step}")
        return count

    def opened(self, address):
        page = self.context.new_page()
        page.set_default_timeout(support.DEADLINE * 1000)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self.hear)
        page.goto(self.here(f"http://localhost:{address}"))
        return page

    def hear(self, said):
        # The tutorial's page has no icon, which a browser asks for.
        if said.type == "error" and not said.location["url"].endswith("/favicon.ico"):
            self.faults.append(said.text)

    def picture(self, page, name):
        if self.options.screenshots:
            page.screenshot(path=f"{self.options.screenshots}/{name}.png")

    # --- Steps ------------------------------------------------------------------------------------

    def pressed(self):
        self.look_at_console()
        tried = self.opened("8080/try?name=ButtonChange")
        expect(tried.locator("p")).to_have_text("Press the button to listen to ButtonChange.")
        check(self.heard_by("live"), "/try makes nothing before its reader presses the button")
        tried.get_by_role("button", name="Listen").click()
        eventually(lambda: self.heard_by("live", "live"), "/try observes")
        expect(tried.locator("p")).to_have_text("Listening to ButtonChange; post with:")
        expect(tried.locator("pre")).to_have_text(self.here(
            """curl -d '{"title":"7"}' 'http://localhost:8080/v1/channels/ButtonChange'"""))
        check(True, "/try says what it waits for before anything is posted")
        self.page = self.opened("8081/page.html")
        expect(self.page.locator("#state")).to_have_text("open")
        eventually(lambda: self.heard_by("live", "live", "live"), "the page observes")
        self.page.get_by_role("button", name="7").click()
        expect(self.page.locator("li")).to_have_text(["page: 7"])
        check(True, "the page shows what it has posted")
        expect(tried.locator("li")).to_contain_text(['"title":"7"'])
        check(True, "the page of /try shows it too")
        tried.goto(self.here(
            "http://localhost:8080/try?name=%27%3Bid%3B%27&object=%27&center=a%27"))
        tried.get_by_role("button", name="Listen").click()
        expect(tried.locator("pre")).to_have_text(self.here(
            """curl -d '{"title":"7"}' 'http://localhost:8080/v1/centers/a%27/channels/"""
            "%27%3Bid%3B%27?object=%27'"))
        check(True, "a quote in a name does not end the argument of the command")
        tried.close()
        eventually(lambda: self.heard_by("live", "live"), "a page of /try leaves nothing behind")

    def open(self):
        """The page is open already."""

    def closed(self):
        self.page.close()
        eventually(lambda: self.heard_by("live", "disconnected"), "a page that is closed is away")

    def back(self):
        self.page = self.opened("8081/page.html")
        expect(self.page.locator("li")).to_have_text(["keypad: 1", "keypad: 2"])
        check(True, "what was posted meanwhile is there, in order, when the page is opened again")
        self.page.set_viewport_size({"width": 480, "height": 340})
        self.picture(self.page, "page")
        for width in (360, 1440):
            self.page.set_viewport_size({"width": width, "height": 800})
            for scheme in ("light", "dark"):
                self.page.emulate_media(color_scheme=scheme)
                support.check_accessibility(self.page, f"axe finds nothing: {width} px, {scheme}")
            support.check_width(self.page, f"nothing scrolls sideways at {width} px")

    def look_at_console(self):
        console = self.opened("8080/")
        console.set_viewport_size({"width": 1025, "height": 560})
        expect(console.locator("main")).to_contain_text("buttonchange")
        check(True, "the console's first screen tells what nobody heard")
        if self.options.screenshots:
            chart = console.locator("main").get_by_text("the line starts with the second one")
            expect(chart).to_have_count(0, timeout=CHART_DEADLINE * 1000)
        self.picture(console, "console")
        console.close()

    def heard_by(self, *states):
        """Whether the observers of `ButtonChange` are in these states, in the order of registration."""
        rows = support.observers(self.environment["BELFRY_URL"])
        return [row["state"] for row in rows if row["name"] == "ButtonChange"] == list(states)


def main():
    options = support.arguments(__doc__)
    text = (walk.ROOT / PAGE).read_text()
    with support.browser(options) as running, tempfile.TemporaryDirectory() as folder:
        context = running.new_context(reduced_motion="reduce")
        reader = Reader(options.belfry, folder, options, context)
        try:
            count = walk.walk_blocks(reader, PAGE, text)
        finally:
            reader.end()
        check(not reader.faults, "no page reports an error", reader.faults)
        steps = reader.steps
        check(steps == ["pressed", "open", "closed", "back"], "each step was made", steps)
    print(f"     {count} commands, and all print what the page says")
    pictures = list((walk.ROOT / "Documentation" / "pictures").glob("*.png"))
    size = sum(picture.stat().st_size for picture in pictures)
    check(len(pictures) == 2 and size <= PICTURES_LIMIT, f"the pictures have {size} bytes", pictures)


if __name__ == "__main__":
    main()
