"""The remote control: what a button does is wired by others, and the chain takes what a lamp cannot do."""

import os
import pathlib
import re
import subprocess

from playwright.sync_api import expect

import support
from support import check

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "Examples" / "RemoteControl"


def press(buttons, number):
    buttons.get_by_role("button", name=f"Button {number}").click()


def lights(lamps, first, second):
    expect(lamps.locator("#lamp-1 .light")).to_have_text(first)
    expect(lamps.locator("#lamp-2 .light")).to_have_text(second)


def test_wires(buttons, lamps):
    press(buttons, 1)
    lights(lamps, "on", "off")
    expect(lamps.locator("#lamp-1 > .did")).to_have_text("toggle, by button-1")
    press(buttons, 2)
    lights(lamps, "on", "on")
    press(buttons, 1)
    lights(lamps, "off", "on")
    check(True, "each button toggles its lamp")
    press(buttons, 3)
    lights(lamps, "off", "off")
    expect(lamps.locator("#house > .did")).to_have_text("goodNight, by button-3")
    expect(buttons.locator("li")).to_contain_text("lamp-1, then room, then floor, then house.")
    check(True, "what neither lamp nor room nor floor can do, the house does")


def test_rewiring(buttons, lamps, wire):
    wire("button-1", "lamp-2", "toggle")
    press(buttons, 1)
    lights(lamps, "off", "on")
    wire("button-1", "lamp-1", "dim")
    press(buttons, 1)
    lights(lamps, "dim", "dim")
    expect(lamps.locator("#room > .did")).to_have_text("dim, by button-1")
    wire("button-1", "lamp-2", "off")
    press(buttons, 1)
    lights(lamps, "off", "off")
    wire("button-1", "lamp-1", "sing")
    press(buttons, 1)
    expect(buttons.locator("li")).to_have_text(
        "Nobody takes it: lamp-1, then room, then floor, then house (selector not implemented).")
    wire("button-1")
    press(buttons, 1)
    expect(buttons.locator("li")).to_have_text("button-1 is not wired.")
    wire("button-1", "lamp-1", "toggle")
    press(buttons, 1)
    lights(lamps, "on", "off")
    check(True, "a third program says what a button does, while both pages run")


def test_absence(buttons, lamps, address):
    lamps.goto("about:blank")
    # Its responders go with its connection, which may take a moment.
    support.eventually(
        lambda: support.request(f"{address}/v1/responders/lamp-1")[0] == 404, "the lamps go")
    press(buttons, 1)
    expect(buttons.locator("li")).to_have_text("Nobody takes it: lamp-1 (no responder).")
    lamps.go_back()
    expect(lamps.locator("#state")).to_contain_text("Lit by")
    press(buttons, 1)
    lights(lamps, "on", "off")
    check(True, "lamps that come back are wired as before")


def main():
    options = support.arguments(__doc__)
    environment = {**os.environ, "BELFRY": options.belfry}
    with support.process(
        EXAMPLE / "run", env=environment, stdout=subprocess.PIPE, text=True
    ) as example:
        printed = ""
        while (line := example.stdout.readline()) and "Rewire" not in line:
            printed += line
        addresses = re.findall(r"are at (\S+broker=(\S+))", printed)
        folder = re.search(r"WIRES=(\S+)", line)
        check(len(addresses) == 2 and folder, "the example says where its pages are", printed)

        def wire(*words):
            subprocess.run(
                [EXAMPLE / "wire", *words, *([addresses[0][1]] if words[1:] else [])],
                env={**os.environ, "WIRES": folder[1]}, check=True)

        with support.browser(options) as running:
            with support.page(running) as lamps, support.page(running) as buttons:
                lamps.goto(addresses[0][0])
                expect(lamps.locator("#state")).to_contain_text("Lit by")
                buttons.goto(addresses[1][0])
                expect(buttons.locator("#state")).to_contain_text("Connected")
                test_wires(buttons, lamps)
                for shown in (buttons, lamps):
                    support.check_accessibility(shown, "axe finds nothing")
                    support.check_width(shown, "nothing makes the page scroll sideways")
                test_rewiring(buttons, lamps, wire)
                test_absence(buttons, lamps, addresses[0][1])
    check(example.returncode == 0, "the example ends with exit code 0", example.returncode)


if __name__ == "__main__":
    main()
