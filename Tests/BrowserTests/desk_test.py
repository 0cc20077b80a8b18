"""The desk: the page on which people answer asks, on a telephone first."""

import contextlib
import gzip
import json
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.parse

from playwright.sync_api import expect

import console
import library
import support
from support import check, eventually, request

PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}

SIZE_LIMIT = 24 << 10
"""Bytes of the page, its scripts and its style, compressed."""

WEB = pathlib.Path(__file__).parents[2] / "Web"

QUESTION = {
    "title": "Deploy 4f2c?",
    "message": "All tests have passed.",
    "choices": [
        {"label": "Deploy", "value": "go"},
        {"label": "Not now", "value": "wait"},
        {"label": "Another version", "value": ""},
    ],
}


def ask(url, *, selector="shouldStart", present=None, ttl=60, token=None, body=None):
    """Asks the address `deploy`, without waiting; the id of the ask."""
    pairs = {"ttl": ttl} | ({"present": json.dumps(present)} if present else {})
    query = urllib.parse.urlencode(pairs, quote_via=urllib.parse.quote)
    fields = {"Authorization": f"Bearer {token}"} if token else {}
    answer = console.send(
        url, "POST", f"responders/deploy/{selector}?{query}", body or {"sha": "4f2c"},
        Prefer="respond-async", **fields)
    return answer["id"]


def fate(url, ask_id, token=None, wait=0):
    fields = {"Authorization": f"Bearer {token}"} if token else {}
    return console.send(
        url, "GET", f"notifications/{ask_id}", Prefer=f"wait={wait}", **fields)


def open_desk(shown, url, token=None):
    linked = f"#token={token}" if token else ""
    shown.goto(f"{url}/desk?address=deploy&selectors=shouldStart,version{linked}")
    expect(shown.locator(".state")).to_have_text("Connected")
    expect(shown.get_by_text("only while this page is open")).to_be_visible()


def cards(shown):
    return shown.locator("article")


def tap_through(shown, choice):
    """The two taps of an answer."""
    shown.get_by_role("button", name=choice, exact=True).tap()
    shown.get_by_role("button", name=f"Send “{choice}”").tap()


def look(options, shown, name):
    """A state at all widths, in both schemes."""
    for width in console.WIDTHS:
        console.resize(shown, width, 640 if width < 768 else 900)
        console.check_layout(shown, f"{name} has its place at {width} pixels")
        for scheme in ("light", "dark") if width in (360, 1440) else ():
            shown.emulate_media(color_scheme=scheme)
            support.check_accessibility(shown, f"axe finds nothing in {name}, {scheme}, {width}")
            support.picture(options, shown, f"desk-{name.replace(' ', '-')}-{width}-{scheme}")
    console.resize(shown, 360, 640)


def test_answer(options, shown, url):
    shown.goto(f"{url}/desk")
    shown.get_by_label("Address").fill("deploy")
    shown.get_by_label("Questions").fill("shouldStart, version")
    look(options, shown, "form")
    shown.get_by_role("button", name="Answer here").tap()
    expect(shown.locator(".state")).to_have_text("Connected")
    look(options, shown, "nothing open")
    begun = time.monotonic()
    asked = ask(url, present=QUESTION)
    tap_through(shown, "Deploy")
    ended = fate(url, asked, wait=5)
    check(ended["answer"] == "go", "two taps answer a question", ended)
    check(time.monotonic() - begun < 3, "within 3 s of its coming")
    expect(shown.locator("#lately + ul")).to_contain_text("You answered “Deploy”.")
    expect(shown.locator("#spoken")).to_have_text("New question: Deploy 4f2c?")

    old, asked = ask(url), ask(url, present=QUESTION)
    expect(shown.locator("h3").nth(0)).to_have_text("Deploy 4f2c?")
    expect(shown.locator("h3").nth(1)).to_have_text("shouldStart")
    expect(cards(shown).nth(1)).to_contain_text("4f2c")
    expect(cards(shown).nth(0)).to_contain_text(re.compile(r"Until \d\d:\d\d:\d\d, \d+ s left"))
    expect(shown).to_have_title("2 questions – Desk")
    look(options, shown, "questions")
    check(True, "the newest question is the first, with all that it says")
    shown.get_by_role("button", name="Not now").tap()
    shown.get_by_label("Reason").fill("The shop is open.")
    look(options, shown, "a choice")
    shown.get_by_role("button", name="Send “Not now”").tap()
    ended = fate(url, asked, wait=5)
    found = (ended["answer"], ended["reason"])
    check(found == ("wait", "The shop is open."), "an answer has its reason", found)
    tap_through(shown, "No")
    check(fate(url, old, wait=5)["answer"] is False, "without choices there are Yes and No")
    expect(shown.locator("h2").first).to_be_focused()

    asked = ask(url, present=QUESTION)
    shown.get_by_role("button", name="Another version").tap()
    expect(shown.get_by_label("Another version")).to_be_focused()
    shown.keyboard.type("0.9 <b>")
    shown.keyboard.press("Enter")
    check(fate(url, asked, wait=5)["answer"] == "0.9 <b>", "a choice of \"\" is a field of text")
    expect(shown.locator("#lately + ul")).to_contain_text("0.9 <b>")
    look(options, shown, "answered")


def test_keyboard(shown, url):
    asked = ask(url)
    shown.get_by_role("button", name="Yes").focus()
    shown.keyboard.press("Enter")
    expect(shown.get_by_role("button", name="Send “Yes”")).to_be_focused()
    shown.keyboard.press("Enter")
    check(fate(url, asked, wait=5)["answer"] is True, "the keyboard answers as well")


def test_ends(shown, url):
    """Each end of a question that is not an answer from here."""
    lately = shown.locator("#lately + ul")
    asked = ask(url)
    expect(cards(shown)).to_have_count(1)
    request(f"{url}/v1/notifications/{asked}", method="DELETE")
    expect(lately).to_contain_text("The asker has withdrawn the question.")
    ask(url, ttl=1)
    expect(lately).to_contain_text("Nobody answered in time.")
    expect(cards(shown)).to_have_count(0)
    check(True, "a question that is over leaves, and the page says why")


def test_reload(shown, url):
    asked = ask(url)
    expect(cards(shown)).to_have_count(1)
    shown.reload()
    expect(cards(shown)).to_have_count(1)
    tap_through(shown, "Yes")
    check(fate(url, asked, wait=5)["answer"] is True, "a question outlives a reload")
    expect(shown.locator("#lately + ul")).to_contain_text("Nobody answered in time.")
    check(True, "as does what was asked lately")


def test_frozen(shown, url):
    session = shown.context.new_cdp_session(shown)
    session.send("Page.setWebLifecycleState", {"state": "frozen"})
    asked = ask(url)
    time.sleep(2.5)
    session.send("Page.setWebLifecycleState", {"state": "active"})
    expect(cards(shown)).to_have_count(1)
    text = cards(shown).inner_text()
    left = int(re.search(r"(\d+) s left", text)[1])
    check(50 <= left <= 58, "after sleep the time that is left is right", left)
    tap_through(shown, "Yes")
    check(fate(url, asked, wait=5)["answer"] is True, "a page that slept has the question once")


def test_line(options, running, url):
    """A line that is cut: that is said, and an answer waits."""
    proxy = library.Proxy(url)
    with console.page(running, **PHONE) as shown:
        open_desk(shown, proxy.url)
        kept, over = ask(url), ask(url, present={"title": "Too late?"})
        expect(cards(shown)).to_have_count(2)
        proxy.cut()
        expect(shown.locator(".state")).to_have_text("Not connected")
        expect(shown.locator(".note.warn")).to_contain_text("Not connected since")
        for card in (cards(shown).nth(1), cards(shown).nth(0)):
            card.get_by_role("button", name="Yes").tap()
            card.get_by_role("button", name="Send “Yes”").tap()
            expect(card).to_contain_text("is kept until the desk is connected")
            expect(card.get_by_role("button")).to_have_count(0)
        look(options, shown, "not connected")
        request(f"{url}/v1/notifications/{over}", method="DELETE")
        proxy.mend()
        check(fate(url, kept, wait=30)["answer"] is True, "a kept answer is sent on return")
        lately = shown.locator("#lately + ul li")
        expect(lately.filter(has_text="Too late?")).to_contain_text("Your answer came too late.")
        expect(lately.filter(has_text="Too late?")).to_contain_text("withdrawn")
        expect(lately).to_have_count(2)
        expect(shown.locator(".state")).to_have_text("Connected", timeout=30_000)
        check(True, "one that comes too late is told so")
    proxy.listener.close()


def test_offline(options, running, url):
    """The worker says that there is no connection, in place of the browser."""
    proxy = library.Proxy(url)
    with console.page(running, **PHONE) as shown:
        open_desk(shown, proxy.url)
        shown.evaluate("navigator.serviceWorker.ready.then(() => null)")
        check(shown.evaluate("caches.keys()") == [], "the worker keeps nothing")
        proxy.cut()
        shown.reload()
        expect(shown.locator("h1")).to_have_text("No connection")
        support.check_accessibility(shown, "axe finds nothing in the page without a connection")
        support.picture(options, shown, "desk-offline-360-light")
        proxy.mend()
        shown.get_by_role("link", name="Try again").tap()
        expect(shown.locator(".state")).to_have_text("Connected")
        check(True, "without a connection the page says so, and comes back")
    proxy.listener.close()


def test_restart(options, running):
    """The broker is killed while a question is open, and started again."""
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.ExitStack() as stack:
            first, process = stack.enter_context(
                support.started_broker(options, "--data", folder))
            shown = stack.enter_context(console.page(running, **PHONE))
            open_desk(shown, first)
            asked = ask(first, ttl=600)
            expect(cards(shown)).to_have_count(1)
            process.kill()
            process.wait()
            expect(shown.locator(".state")).to_have_text("Not connected")
            again = ("serve", "--listen", first.removeprefix("http://"), "--data", folder)
            stack.enter_context(
                support.process(options.belfry, *again, stderr=subprocess.DEVNULL))
            expect(shown.locator(".state")).to_have_text("Connected", timeout=40_000)
            expect(cards(shown)).to_have_count(1)
            tap_through(shown, "Yes")
            ended = fate(first, asked, wait=5)
            check(ended["answer"] is True, "a question outlives the broker, once", ended)


def make_token(options, name, *verbs):
    return subprocess.run(
        [options.belfry, "gen-token", name, "--grants", ",".join(verbs)],
        check=True, capture_output=True, text=True).stdout.splitlines()


def test_two(options, running):
    """Two people at one address; and tokens."""
    made = {
        name: make_token(options, name, *verbs)
        for name, *verbs in (
            ("ann", "respond", "inspect"), ("ben", "respond", "inspect"), ("bot", "ask"),
            ("boss", "admin", "inspect"))
    }
    token = {name: lines[0] for name, lines in made.items()}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"keys": [json.loads(lines[1]) for lines in made.values()]}, file)
        file.flush()
        with contextlib.ExitStack() as stack:
            url = stack.enter_context(
                support.broker(options, "--keys", file.name, "--anonymous-grants", ""))
            test_wrong_token(options, running, url, token)
            ann, ben = (stack.enter_context(console.page(running, **PHONE)) for _ in range(2))
            open_desk(ann, url, token["ann"])
            check("token" not in ann.url, "a token of a link leaves the address", ann.url)
            asked = ask(url, token=token["bot"])
            expect(cards(ann)).to_have_count(1)
            open_desk(ben, url, token["ben"])
            ben.wait_for_timeout(500)
            expect(cards(ben)).to_have_count(0)
            check(True, "of two desks at one address one is shown a question")
            (row,) = [
                row for row in console.send(
                    url, "GET", "responders/deploy", Authorization=f"Bearer {token['boss']}"
                )["responders"] if row["principal"] == "ann"
            ]
            request(f"{url}/v1/observers/{row['id']}", method="DELETE",
                    Authorization=f"Bearer {token['boss']}")
            expect(cards(ben)).to_have_count(1)
            expect(ann.locator(".note.bad")).to_contain_text("No questions come from deploy")
            lately = ann.locator("#lately + ul")
            expect(lately).to_contain_text("Somebody else is asked now.")
            look(options, ann, "removed")
            ben.get_by_role("button", name="Yes").tap()
            ben.get_by_label("Reason").fill("It is late.")
            ben.get_by_role("button", name="Send “Yes”").tap()
            expect(lately).to_contain_text("ben answered “Yes”: It is late.")
            ended = fate(url, asked, token["bot"], wait=5)
            check(ended["answeredBy"] == "ben", "the first is told who has answered", ended)
            ann.get_by_role("button", name="Answer here again").tap()
            expect(ann.locator(".note.bad")).to_have_count(0)
            ben.locator("summary").tap()
            expect(ben.locator("details")).to_contain_text("Answers as ben.")
            look(options, ben, "settings")
            ben.get_by_role("button", name="Stop answering here").tap()
            expect(ben.get_by_label("Address")).to_have_value("deploy")
            ask(url, token=token["bot"])
            expect(cards(ann)).to_have_count(1)
            check(True, "a desk that was removed comes back, and one that stops is asked no more")


def test_wrong_token(options, running, url, token):
    with console.page(running, **PHONE) as shown:
        shown.goto(f"{url}/desk?address=deploy&selectors=shouldStart")
        expect(shown.get_by_role("alert")).to_have_text(re.compile("asks for a token"))
        shown.get_by_label("Token", exact=False).first.fill("belfry_of_nobody")
        shown.get_by_role("button", name="Answer here").tap()
        expect(shown.get_by_role("alert")).to_contain_text("does not know this token")
        look(options, shown, "a wrong token")
        shown.get_by_label("Token", exact=False).first.fill(token["bot"])
        shown.get_by_role("button", name="Answer here").tap()
        expect(shown.get_by_role("alert")).to_contain_text("needs the grant respond")
        check(True, "a token that is missing, wrong or lacks the grant is told")
        check(token["bot"] not in str(shown.evaluate("Object.values(localStorage)")),
              "and stays in the tab")
        shown.get_by_label("Keep the token").check()
        shown.get_by_label("Token", exact=False).first.fill(token["ann"])
        shown.get_by_role("button", name="Answer here").tap()
        expect(shown.locator(".state")).to_have_text("Connected")
        check(token["ann"] in str(shown.evaluate("Object.values(localStorage)")),
              "unless its reader keeps it")
        shown.locator("summary").tap()
        shown.get_by_role("button", name="Stop answering here").tap()
        expect(shown.get_by_label("Address")).to_be_visible()


def test_files(shown, url):
    answer = shown.goto(f"{url}/desk")
    policy = answer.headers["content-security-policy"]
    check("default-src 'none'" in policy and "unsafe" not in policy, "the policy is strict", policy)
    manifest = shown.evaluate("""async () => {
      const { href } = document.querySelector("[rel=manifest]");
      const { start_url, icons } = await (await fetch(href)).json();
      const urls = [start_url, ...icons.map(({ src }) => src)].map((at) => new URL(at, href).href);
      return Promise.all(urls.map(async (at) => (await fetch(at)).headers.get("content-type")));
    }""")
    wanted = ["text/html; charset=utf-8", "image/svg+xml", "image/png"]
    check(manifest == wanted, "the manifest has the page and its icons", manifest)
    files = [WEB / "desk.html", *WEB.glob("desk/*.js"), *WEB.glob("desk/*.css")]
    size = sum(len(gzip.compress(file.read_bytes())) for file in files)
    check(size <= SIZE_LIMIT, "page, scripts and style are small", size)


def test_sound(shown, url):
    shown.evaluate("""() => {
      window.rung = 0;
      navigator.vibrate = () => { window.rung += 1; };
    }""")
    asked = ask(url)
    expect(cards(shown)).to_have_count(1)
    check(shown.evaluate("rung") == 0, "a new question is silent")
    tap_through(shown, "Yes")
    fate(url, asked, wait=5)
    shown.locator("summary").tap()
    shown.get_by_label("Ring and vibrate").check()
    check(shown.evaluate("rung") == 1, "unless its reader wants to hear how it rings")
    ask(url, ttl=1)
    expect(cards(shown)).to_have_count(1)
    check(shown.evaluate("rung") == 2, "and then each question rings")
    shown.get_by_label("Ring and vibrate").uncheck()
    shown.locator("summary").tap()


def main():
    options = support.arguments(__doc__)
    with support.browser(options) as running:
        with support.broker(options) as url:
            with console.page(running, **PHONE) as shown:
                test_files(shown, url)
                test_answer(options, shown, url)
                test_keyboard(shown, url)
                test_sound(shown, url)
                test_ends(shown, url)
                test_reload(shown, url)
                test_frozen(shown, url)
                shown.locator("summary").tap()
                shown.get_by_role("button", name="Stop answering here").tap()
                eventually(lambda: request(f"{url}/v1/responders/deploy")[0] == 404, "it stops")
            test_line(options, running, url)
            test_offline(options, running, url)
        test_two(options, running)
        test_restart(options, running)


if __name__ == "__main__":
    main()
