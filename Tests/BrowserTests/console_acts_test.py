"""What one does in the console: post, ask, write, remove, suspend, queue, tail, keys, search."""

import contextlib
import functools
import http.server
import pathlib
import re
import tempfile
import threading

from playwright.sync_api import expect

import console
import support
from support import check, eventually, observers, request

NAME = "ConsoleTest.Changed"


def test_post(shown, url):
    console.send(url, "POST", "observers", {"name": NAME})
    console.go(shown, "post", "Post a notification")
    post = shown.locator("main form").get_by_role("button", name="Post")
    post.click()
    expect(shown.locator("#post-name")).to_be_focused()
    expect(shown.locator("#post-name")).to_have_attribute("aria-invalid", "true")
    shown.locator("#post-name").fill(NAME)
    expect(shown.locator("#post-name")).not_to_have_attribute("aria-invalid", "true")
    shown.locator("#post-userInfo").fill('["no object"]')
    post.click()
    expect(shown.locator("#post-userInfo")).to_be_focused()
    expect(shown.locator(".fault")).to_contain_text("not an object")
    support.check_accessibility(shown, "axe finds nothing in the composer with a fault")
    check(True, "what is wrong is said at its field, which has the focus")

    shown.locator("#post-userInfo").fill('{"n": 12345678901234567890}')
    shown.locator("#post-object").fill("desk")
    expect(shown.locator(".cmd pre")).to_contain_text("object=desk")
    shown.keyboard.press("Control+Enter")
    expect(shown.locator("main")).to_contain_text(
        "Posted. 1 observer matched, 0 delivered, 1 held."
    )
    expect(shown.locator("#spoken")).to_contain_text("Posted. 1 observer matched")
    row = [one for one in observers(url) if one["name"] == NAME][0]
    expect(shown.locator("main tbody")).to_contain_text(row["id"])
    check(True, "Ctrl Enter posts, and the receipt has a row for each observer")
    for language, words in (
        ("belfry", "belfry post"),
        ("JavaScript", "await center.post("),
        ("curl", "curl"),
    ):
        shown.get_by_role("button", name=language, exact=True).click()
        expect(shown.locator(".cmd pre")).to_contain_text(words)
        expect(shown.locator(".cmd pre")).to_contain_text("12345678901234567890")
    check(True, "the same is shown as a command, with the numbers as they were typed")


def test_queue(shown, url):
    lease = console.send(url, "POST", "modes", {"mode": "held"})
    console.go(shown, "post", "Post a notification")
    shown.locator("#post-name").fill(NAME)
    shown.locator("label", has_text="asap").click()
    post = shown.locator("main form").get_by_role("button", name="Post")
    for words in ("Queued.", "Merged into"):
        post.click()
        expect(shown.locator("main")).to_contain_text(words)
    shown.get_by_role("button", name="Refresh outcome").first.click()
    expect(shown.locator("main")).to_contain_text("State: coalesced.")
    console.go(shown, "queue", "Queue and modes")
    entry = shown.locator("#rows tr", has_text=NAME)
    expect(entry.locator("td.r").first).to_have_text("1")
    shown.get_by_role("button", name=f"Remove {NAME}").click()
    question = shown.get_by_role("group", name=re.compile("Remove"))
    expect(question).to_contain_text("1 merged post is removed with it.")
    expect(question.get_by_role("button", name="Keep it")).to_be_focused()
    support.check_accessibility(shown, "axe finds nothing while something is asked")
    shown.keyboard.press("Escape")
    expect(question).to_have_count(0)
    expect(entry).to_have_count(1)
    check(True, "a question has the focus on the way out, and Escape takes it")
    shown.get_by_role("button", name=f"Remove {NAME}").click()
    question.get_by_role("button", name=f"Remove {NAME}").click()
    expect(entry).to_have_count(0)
    expect(shown.locator("main h1")).to_be_focused()
    check(True, "an entry is taken out of the queue")
    shown.get_by_role("button", name="End held").click()
    shown.get_by_role("group").get_by_role("button", name="End held").click()
    expect(shown.locator("main")).to_contain_text("The center is in mode default.")
    check(request(f"{url}/v1/modes/{lease['token']}", method="DELETE")[0] == 404, "a mode is ended")
    shown.get_by_role("button", name="Enter a mode").click()
    expect(shown.locator("#mode")).to_be_focused()
    shown.locator("#mode").fill("night")
    shown.keyboard.press("Enter")
    expect(shown.locator("main")).to_contain_text("The center is in mode night")
    check(True, "a mode is entered")
    shown.get_by_role("button", name="End night").click()
    shown.get_by_role("group").get_by_role("button", name="End night").click()
    expect(shown.locator("main")).to_contain_text("The center is in mode default.")


def test_removal(shown, url):
    made = console.send(url, "POST", "observers", {"name": NAME, "object": "removed"})
    console.go(shown, f"observer/{made['id']}", "observes")
    shown.get_by_role("button", name="Remove…").click()
    question = shown.get_by_role("group", name=re.compile("Remove"))
    expect(question).to_contain_text("No notifications are held for it.")
    question.get_by_role("button", name=f"Remove {made['id']}").click()
    expect(shown.locator("main h1")).to_have_text(f"{made['id']} was removed")
    check(request(f"{url}/v1/observers/{made['id']}")[0] == 410, "an observer is removed")
    made = console.send(url, "POST", "observers", {"name": NAME, "object": "removed"})
    console.go(shown, "clients?contains=" + made["client"], "Clients")
    shown.get_by_role("button", name=f"Remove {made['client']}").click()
    shown.get_by_role("group").get_by_role("button", name=f"Remove {made['client']}").click()
    expect(shown.locator("main")).to_contain_text("No client matches.")
    check(True, "a client is removed")


def test_suspension(shown, url):
    """The page's own client is one that can be suspended; it is let go on at once."""
    console.go(shown, "clients?state=live", "Clients")
    row = shown.locator("#rows tr").first
    client = row.locator("th a").inner_text()
    shown.get_by_role("button", name=f"Suspend {client}").click()
    expect(row).to_have_count(0)
    console.go(shown, "clients?state=asked", "Clients")
    expect(row).to_contain_text("paused by client")
    pressed = shown.locator(".facets [aria-pressed=true]")
    expect(pressed).to_have_text(re.compile("^Paused by client"))
    shown.get_by_role("button", name=f"Resume {client}").click()
    expect(shown.locator("main")).to_contain_text("No client matches.")
    check(True, "a client is suspended, and goes on")


def test_asks(shown, url):
    console.go(shown, "ask", "Ask")
    send = shown.locator("main form").get_by_role("button", name="Ask", exact=True)
    shown.locator("#ask-object").fill(NAME)
    shown.locator("#ask-selector").fill("mayStart")
    shown.locator("#ask-default").fill("{")
    send.click()
    expect(shown.locator("#ask-default-fault")).to_contain_text("Invalid JSON")
    shown.locator("#ask-default").fill("false")
    send.click()
    expect(shown.locator("main")).to_contain_text("default: no responder")
    desk = console.send(
        url, "POST", "observers", {"object": NAME, "implements": ["mayStart"], "next": "team"}
    )
    shown.get_by_role("button", name="Show responder").click()
    expect(shown.locator("main")).to_contain_text(desk["id"])
    shown.locator("#ask-default").fill("")
    send.click()
    expect(shown.locator("main")).to_contain_text("Waiting for an answer")
    mail = f"{url}/v1/observers/{desk['token']}/notifications"
    asked = eventually(lambda: request(mail)[1]["notifications"], "the ask is in the mailbox")
    answer = f"{url}/v1/notifications/{asked[0]['id']}/answer"
    request(answer, method="PUT", body={"yes": 1}, Belfry_Token=desk["token"], **console.KIND)
    expect(shown.locator("main")).to_contain_text('{"yes":1}')
    check(True, "an ask is answered")
    request(
        f"{url}/v1/responders/{NAME}/mayStart",
        method="POST",
        body={},
        **console.KIND,
        Prefer="respond-async",
    )
    console.go(shown, "responders", "Responders and asks")
    expect(shown.locator("#rows")).to_contain_text("mayStart")
    shown.get_by_role("button", name="Withdraw mayStart").click()
    shown.get_by_role("group").get_by_role("button", name="Withdraw mayStart").click()
    expect(shown.locator("main")).to_contain_text("No open asks.")
    check(True, "an ask is withdrawn")


def test_values(shown, url):
    console.go(shown, "values", "Values")
    shown.locator("#value-object").fill(NAME)
    shown.keyboard.press("Enter")
    expect(shown.locator("main")).to_contain_text("No value yet")
    shown.get_by_role("button", name="Set", exact=True).click()
    expect(shown.locator("#value-json")).to_be_focused()
    expect(shown.locator(".fault")).to_contain_text("Enter a JSON value")
    shown.locator("#value-json").fill('{"size": 12345678901234567890}')
    shown.get_by_role("button", name="Set", exact=True).click()
    expect(shown.locator("main")).to_contain_text("Changed.")
    shown.locator("main h1").click()
    expect(shown.locator("#value-json")).to_have_value('{"size":12345678901234567890}')
    check(True, "a value is written as it was typed, and shown as it is")
    console.send(url, "PUT", f"values/{NAME}/ui.theme", "dark")
    expect(shown.locator(".feed")).to_contain_text('"theme":"dark"')
    check(True, "a change from elsewhere is told at once")
    shown.locator("#value-path").fill("ui.theme")
    shown.keyboard.press("Tab")
    expect(shown.locator("main h1")).to_have_text(f"ui.theme of {NAME}")
    expect(shown.locator("#value-json")).to_have_value('"dark"')
    console.go(shown, f"value/{NAME}", NAME)
    shown.get_by_role("button", name="Remove…").click()
    shown.get_by_role("group").get_by_role("button", name=f"Remove {NAME}").click()
    expect(shown.locator("main")).to_contain_text("No value yet")
    check(True, "a value is removed")


def test_archives(shown, url):
    console.go(shown, "archives", "Archives")
    expect(shown.locator("main")).to_contain_text("No archives.")
    shown.get_by_role("button", name="New archive").click()
    expect(shown.locator("#archive-name")).to_be_focused()
    shown.get_by_role("button", name="Keep", exact=True).click()
    expect(shown.locator(".fault")).to_have_text("Enter a name.")
    shown.locator("#archive-name").fill("Kept.")
    shown.locator("#archive-keepLast").fill("1")
    shown.get_by_label("All channels that begin with this").check()
    shown.get_by_role("button", name="Keep", exact=True).click()
    expect(shown.get_by_role("alert")).to_contain_text("keepLast")
    support.check_accessibility(shown, "axe finds nothing in the form of an archive")
    check(True, "terms that are refused are said at the form")
    shown.locator("#archive-age").fill("86400")
    shown.locator("#archive-count").fill("100")
    shown.get_by_role("button", name="Keep", exact=True).click()
    row = shown.locator("#rows tr", has_text="Kept.")
    expect(row).to_contain_text("the newest 100 of each channel, 1 d long")
    for number in range(60):
        console.send(url, "POST", f"channels/Kept.line?object=o{number % 2}", {"n": number})
    expect(row.locator("td.r").first).to_have_text("60")
    for width in console.WIDTHS:
        console.resize(shown, width)
        console.check_layout(shown, f"archives have their place at {width} pixels")
    console.resize(shown, 1440)
    support.check_accessibility(shown, "axe finds nothing in the archives")
    check(True, "an archive is made, and fills")

    row.get_by_role("link").first.click()
    expect(shown.locator("main h1")).to_have_text("History")
    rows = shown.locator("main tbody tr")
    expect(rows).to_have_count(50)
    expect(rows.first).to_contain_text('{"n":59}')
    for width in console.WIDTHS:
        console.resize(shown, width)
        console.check_layout(shown, f"history has its place at {width} pixels")
    console.resize(shown, 1440)
    support.check_accessibility(shown, "axe finds nothing in the history")
    shown.get_by_role("link", name="Older").click()
    expect(rows).to_have_count(10)
    expect(rows.last).to_contain_text('{"n":0}')
    shown.get_by_role("link", name="Newest").click()
    expect(rows).to_have_count(50)
    check(True, "history is shown newest first, page by page")
    shown.locator("#history-object").fill("o1")
    shown.get_by_role("button", name="Show").click()
    expect(rows).to_have_count(30)
    expect(rows.first).to_contain_text('{"n":59}')
    shown.locator("#history-until").fill("2020-01-01T00:00:00")
    shown.get_by_role("button", name="Show").click()
    expect(shown.locator("main")).to_contain_text("Nothing is kept that matches.")
    check(True, "by object and by time")
    shown.locator("#history-name").fill("Kept")
    shown.get_by_label("All names that begin with this").uncheck()
    shown.get_by_role("button", name="Show").click()
    expect(shown.locator("main")).to_contain_text("No archive keeps this channel.")
    check(True, "and says what is not kept")

    console.go(shown, "archives", "Archives")
    shown.get_by_role("button", name="Remove Kept.*…").click()
    question = shown.get_by_role("group", name=re.compile("Remove"))
    expect(question).to_contain_text("60 notifications go with it.")
    question.get_by_role("button", name="Remove Kept.*").click()
    expect(shown.locator("main")).to_contain_text("No archives.")
    status, _ = request(f"{url}/v1/archives/Kept.?prefix=true")
    check(status == 404, "an archive is removed with what it keeps", status)


def test_tail(shown, url):
    console.go(shown, f"tail?name={NAME}", "Live tail")
    expect(shown.locator("main")).to_contain_text("Nothing yet.")
    console.send(url, "POST", f"channels/{NAME}?object=desk", {"title": "7"})
    row = shown.locator(".tail tbody tr").first
    expect(row).to_contain_text('{"title":"7"}')
    expect(row).to_contain_text("0 of 1")
    row.get_by_role("button", name=NAME).click()
    expect(shown.locator("tr.wide")).to_contain_text("matched")
    support.check_accessibility(shown, "axe finds nothing in an open row of the tail")
    shown.locator("main h1").click()
    shown.keyboard.press(" ")
    expect(shown.get_by_role("button", name="Resume").last).to_be_visible()
    console.send(url, "POST", f"channels/{NAME}")
    expect(shown.locator(".news")).to_have_text("1 notification arrived during the pause.")
    shown.keyboard.press(" ")
    expect(shown.locator(".gapr")).to_have_text("Gap: 1 notification arrived during the pause.")
    check(True, "the tail pauses, and says what came meanwhile")
    for _ in range(80):
        console.send(url, "POST", "notifications", [{"name": NAME}] * 5)
    expect(shown.locator(".gapr").first).to_contain_text(
        "not shown. The tail shows at most 50 per second"
    )
    check(True, "what is too much to be shown is said in a gap line")
    console.go(shown, "me", "Your access")
    eventually(
        lambda: (
            not [
                one
                for one in observers(url)
                if one["name"] == NAME and one["lifetime"] == "connection"
            ]
        ),
        "the tail's observer ends with the view",
    )


def test_explain(shown):
    console.go(shown, "explain", "Explain")
    shown.locator("#explain-name").fill(NAME.lower())
    shown.keyboard.press("Enter")
    expect(shown.locator("main")).to_contain_text("No observer would get")
    expect(shown.locator("mark").first).to_be_visible()
    expect(shown.locator("main")).to_contain_text("upper and lower case")
    check(True, "explain marks what differs in a near miss")


def test_list(shown, url):
    console.go(shown, "observers", "Observers")
    shown.locator("#filter").type("onsoleTest")
    expect(shown.locator("footer")).to_contain_text("that match")
    check("contains=onsoleTest" in shown.url, "a filter is in the address", shown.url)
    expect(shown.locator("#filter")).to_be_focused()
    shown.get_by_role("button", name="Held", exact=False).first.click()
    shown.go_back()
    check(True, "and Back works")
    console.go(shown, "observers?sort=-held", "Observers")
    first = shown.locator("#rows tr").first.locator("th a")
    name = first.inner_text()
    shown.locator("#rows tr").first.hover()
    other = console.send(url, "POST", "observers", {"name": "Rising"})
    console.send(url, "POST", "notifications", [{"name": "Rising"}] * 900)
    button = shown.get_by_role("button", name="Show new order")
    expect(button).to_be_visible()
    expect(first).to_have_text(name)
    check(True, "rows stay where they are while the pointer is among them")
    button.click()
    expect(first).to_have_text(other["id"])
    check(True, "and a button shows their new order")


def test_keys(shown, url):
    console.go(shown, "overview", "Healthy")
    shown.keyboard.press("g")
    shown.keyboard.press("b")
    expect(shown.locator("main h1")).to_have_text("Observers")
    shown.keyboard.press("j")
    shown.keyboard.press("j")
    second = shown.locator("#rows tr").nth(1).locator("th a")
    expect(second).to_be_focused()
    name = second.inner_text()
    shown.keyboard.press("Enter")
    expect(shown.locator("main h1")).to_contain_text(name)
    shown.keyboard.press("Escape")
    expect(shown.locator("#rows a", has_text=re.compile(f"^{name}$"))).to_be_focused()
    check(True, "keys go to a view, through its rows, into one and back to its row")
    shown.keyboard.press("/")
    expect(shown.locator("#q")).to_be_focused()
    shown.keyboard.type(name)
    expect(shown.locator("#found li").first).to_contain_text(name)
    support.check_accessibility(shown, "axe finds nothing in the search")
    shown.keyboard.press("Enter")
    expect(shown.locator("main h1")).to_contain_text(name)
    check(True, "the search finds by id, and Enter opens it")
    shown.keyboard.press("p")
    expect(shown.locator(".pill").first).to_have_text("Paused")
    expect(shown.locator(".banner")).to_contain_text("Paused at")
    support.check_accessibility(shown, "axe finds nothing while the page is paused")
    shown.keyboard.press("p")
    expect(shown.locator(".pill").first).to_have_text("Live")
    shown.keyboard.press("?")
    expect(shown.locator("main h1")).to_have_text("Help and keys")
    shown.get_by_label("Single-letter keys").uncheck()
    shown.locator("main h1").click()
    shown.keyboard.press("g")
    shown.keyboard.press("b")
    shown.keyboard.press("p")
    expect(shown.locator("main h1")).to_have_text("Help and keys")
    expect(shown.locator(".pill").first).to_have_text("Live")
    shown.get_by_label("Single-letter keys").check()
    check(True, "single letters can be turned off")


@contextlib.contextmanager
def served(folder):
    """A web server of somebody else, on this machine: where its pages are."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    made = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=folder)
    )
    threading.Thread(target=made.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{made.server_port}/index.html"
    finally:
        made.shutdown()
        made.server_close()


def test_page(shown, running, url):
    """What "Copy as page" gives is a page that observes, whatever the name has."""
    name = 'Odd </script><b>"name"'
    shown.context.grant_permissions(["clipboard-read", "clipboard-write"])
    console.send(url, "POST", "notifications", {"name": name})
    console.go(shown, "channels?contains=Odd", "Channels")
    shown.locator("#rows a").first.click()
    expect(shown.locator("main h1")).to_have_text(name)
    shown.get_by_role("button", name="Copy as page").click()
    expect(shown.get_by_role("button", name="Copied")).to_be_visible()
    text = shown.evaluate("navigator.clipboard.readText()")
    with tempfile.TemporaryDirectory() as folder, console.page(running) as other:
        pathlib.Path(folder, "index.html").write_text(text)
        with served(folder) as place:
            other.goto(place)
            eventually(
                lambda: any(one["name"] == name for one in observers(url)),
                "the copied page observes",
            )
            console.send(url, "POST", "notifications", {"name": name, "userInfo": {"title": "7"}})
            expect(other.locator("li")).to_contain_text('{"title":"7"}')
            check(True, "and shows what comes")


def main():
    options = support.arguments(__doc__)
    grants = "post,observe,inspect,admin,wildcard,modes,ask,respond,read,set"
    with (
        support.broker(options, "--anonymous-grants", grants) as url,
        support.browser(options) as running,
    ):
        with console.page(running, viewport={"width": 1440, "height": 900}) as shown:
            console.open_console(shown, url, "help")
            for test in (
                test_post,
                test_queue,
                test_removal,
                test_suspension,
                test_asks,
                test_values,
                test_archives,
                test_tail,
                test_list,
                test_keys,
            ):
                test(shown, url)
            test_explain(shown)
            test_page(shown, running, url)


if __name__ == "__main__":
    main()
