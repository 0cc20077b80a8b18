"""The console page: post, observe, explain, pause and remove, at two widths, also by keyboard."""

from playwright.sync_api import expect

import support
from support import check, eventually, observers, request

NAME = "ConsoleTest.Changed"


def open_console(shown, url, query=""):
    answer = shown.goto(f"{url}/{query}")
    policy = answer.headers.get("content-security-policy", "")
    check("default-src 'none'" in policy, "the page has a strict Content-Security-Policy", policy)
    expect(shown.locator("#connection")).to_have_text("Connected")
    expect(shown.locator("#health")).to_have_text("Broker ready")
    check(True, "the page tells that it is connected and that the broker is ready")


def observe(shown, name="", obj=""):
    count = shown.locator("#mine li").count()
    shown.get_by_label("Name (empty = any)").fill(name)
    shown.get_by_label("Object (empty = any)").fill(obj)
    shown.get_by_role("button", name="Add observer").click()
    expect(shown.locator("#mine li")).to_have_count(count + 1)


def post(shown, name, obj="", user_info=""):
    shown.locator("#post-name").fill(name)
    shown.locator("#post-object").fill(obj)
    shown.locator("#post-userinfo").fill(user_info)
    shown.get_by_role("button", name="Post", exact=True).click()


def test_post_and_observe(shown, url):
    arrived = shown.locator("#arrived li")
    observe(shown, NAME)
    mine = [row for row in observers(url) if row["name"] == NAME]
    check(len(mine) == 1, "the broker lists the page's observer", mine)

    post(shown, NAME, "desk", '{"title": "7"}')
    expect(shown.locator("#receipt")).to_contain_text("1 observer matched, 1 delivered")
    expect(arrived).to_have_count(1)
    expect(arrived.first).to_contain_text(NAME)
    expect(arrived.first).to_contain_text('{"title":"7"}')
    check(True, "what the page posts arrives on it, and the receipt is shown")

    status, receipt = request(
        f"{url}/v1/channels/{NAME}?object=other", method="POST", body={"from": "outside"},
        Content_Type="application/json",
    )
    check((status, receipt["matched"]) == (200, 1), "a post from outside matches", receipt)
    expect(arrived).to_have_count(2)
    expect(arrived.first).to_contain_text("other")
    check(True, "what others post arrives too, newest first")


def test_refusals(shown):
    receipt = shown.locator("#receipt")
    post(shown, NAME, "", '["no object"]')
    expect(shown.locator("#post-userinfo")).to_have_attribute("aria-invalid", "true")
    expect(shown.locator("#post-userinfo")).to_be_focused()
    expect(shown.locator("#post-userinfo-error")).to_contain_text("not an object")
    expect(receipt).to_be_empty()
    check(True, "a userInfo that is no object is refused on the page, with the focus on it")

    post(shown, "", "", "{}")
    expect(shown.locator("#post-name")).to_be_focused()
    check(True, "a name is asked for")


def test_explain(shown):
    shown.locator("#explain-name").fill(NAME.lower())
    shown.get_by_role("button", name="Explain").click()
    expect(shown.locator("#explanation")).to_contain_text("Nobody.")
    expect(shown.locator("#explanation")).to_contain_text("name differs in case")
    check(True, "explain names the near miss")


def test_pause(shown, url):
    arrived = shown.locator("#arrived li")
    before = arrived.count()
    shown.get_by_role("button", name="Pause").click()
    request(f"{url}/v1/channels/{NAME}", method="POST")
    expect(shown.locator("#arrived-count")).to_have_text("paused, 1 waiting")
    check(arrived.count() == before, "while it is paused the list stands still")
    shown.get_by_role("button", name="Pause").click()
    expect(arrived).to_have_count(before + 1)
    check(True, "what waited is shown afterwards")


def test_queue(shown, url):
    queue = shown.locator("#queue tr")
    status, lease = request(
        f"{url}/v1/modes", method="POST", body={"mode": "held"}, Content_Type="application/json")
    check(status == 201, "the center enters another mode", lease)
    shown.locator("#post-style").select_option("asap")
    for words in ("It waits in the queue.", "stands for it."):
        post(shown, NAME, "queued")
        expect(shown.locator("#receipt")).to_contain_text(words)
    shown.locator("#post-style").select_option("")
    expect(queue).to_have_count(1)
    expect(queue.first).to_contain_text("asap")
    expect(shown.locator("#mode")).to_have_text("in mode held")
    check(True, "a styled post waits on the page, and the mode is shown")
    support.check_accessibility(shown, "axe finds nothing while something waits")
    shown.get_by_role("button", name=f"Remove {NAME} of queued").focus()
    shown.keyboard.press("Enter")
    expect(queue).to_have_count(0)
    expect(shown.locator("#queue-refresh")).to_be_focused()
    check(True, "the keyboard takes it out of the queue, and the focus stays there")
    request(f"{url}/v1/modes/{lease['token']}", method="DELETE")
    shown.get_by_role("button", name="Refresh the queue").click()
    expect(shown.locator("#mode")).to_have_text("in mode default")


def ask(shown, address, selector, default=""):
    shown.fill("#ask-object", address)
    shown.fill("#ask-selector", selector)
    shown.fill("#ask-default", default)
    shown.locator("#ask").get_by_role("button", name="Ask", exact=True).click()


def test_asks(shown, url):
    ask(shown, NAME, "mayStart", "false")
    expect(shown.locator("#ask-answer")).to_contain_text("by default (no-responder)")
    ask(shown, NAME, "mayStart", "{")
    expect(shown.locator("#ask-default-error")).to_contain_text("Not JSON")

    responder = {"object": NAME, "implements": ["mayStart"], "next": "team"}
    kind = {"Content_Type": "application/json"}
    _, observer = request(f"{url}/v1/observers", method="POST", body=responder, **kind)
    shown.get_by_role("button", name="Who would be asked?").click()
    expect(shown.locator("#ask-answer")).to_contain_text(f"{observer['id']}: delivered")
    ask(shown, NAME, "mayStart")
    shown.locator("#asks-refresh").click()
    expect(shown.locator("#asks tr")).to_contain_text(observer["id"])
    shown.locator("#responders-refresh").click()
    row = shown.locator("#responders tr")
    expect(row).to_contain_text("mayStart")
    expect(row.locator("td").nth(5)).to_have_text("1")
    support.check_accessibility(shown, "axe finds nothing while an ask is open")
    mail = f"{url}/v1/observers/{observer['token']}/notifications"
    opened = request(mail)[1]["notifications"][0]["id"]
    answer = f"{url}/v1/notifications/{opened}/answer"
    request(answer, method="PUT", body={"yes": 1}, Belfry_Token=observer["token"], **kind)
    expect(shown.locator("#ask-answer")).to_contain_text('{"yes":1}')
    expect(shown.locator("#asks tr")).to_have_count(0)
    check(True, "an ask is answered, and the tables show it while it is open")

    request(f"{url}/v1/responders/{NAME}/mayStart", method="POST", body={}, **kind,
            Prefer="respond-async")
    shown.locator("#asks-refresh").click()
    shown.locator("#asks").get_by_role("button", name="Withdraw").click()
    expect(shown.locator("#asks tr")).to_have_count(0)
    expect(shown.locator("#asks-refresh")).to_be_focused()
    check(True, "an ask is withdrawn, and the focus stays near")
    request(f"{url}/v1/observers/{observer['token']}", method="DELETE")


def test_targets(shown, url):
    kind = {"Content_Type": "application/json"}
    made = []
    for body in (
        {"object": "console lamp", "implements": ["toggle"], "next": "hall"},
        {"name": NAME, "target": "console lamp", "selector": "toggle"},
        {"name": NAME, "target": "console lamp", "selector": "dim"},
        {"name": NAME, "target": "attic", "selector": "toggle"},
    ):
        made.append(request(f"{url}/v1/observers", method="POST", body=body, **kind)[1])
    ids = [row["id"] for row in made]
    # Nobody has looked into the mailbox of the responder yet.
    told = [f"{ids[1]} held: console lamp ({ids[0]})",
            f"{ids[2]} unhandled: console lamp, then hall (selector not implemented)",
            f"{ids[3]} unhandled: attic (no responder)"]
    post(shown, NAME)
    receipt = shown.locator("#receipt")
    receipt.get_by_text("Each observer").click()
    for line in told:
        expect(receipt.get_by_text(line, exact=True)).to_be_visible()
    shown.fill("#explain-name", NAME)
    shown.get_by_role("button", name="Explain").click()
    for row, line in zip(ids[1:], told):
        line = line.removeprefix(row)
        expect(shown.locator("#explanation")).to_contain_text(f"{row} disconnected:{line}")
    check(True, "receipt and explanation say where an action goes, or why nobody takes it")
    shown.fill("#all-target", "console lamp")
    shown.get_by_role("button", name="Filter").click()
    rows = shown.locator("#all tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(1).locator("td").nth(2)).to_have_text("console lamp")
    expect(rows.nth(1).locator("td").nth(3)).to_have_text("dim")
    support.check_accessibility(shown, "axe finds nothing with a filter")
    shown.fill("#all-target", "")
    shown.get_by_role("button", name="Filter").click()
    expect(shown.locator("#all")).to_contain_text("attic")
    check(True, "the table lists targets, and those of one target")
    for row in made:
        request(f"{url}/v1/observers/{row['token']}", method="DELETE")


def test_values(shown, url):
    area = shown.locator("#value-answer")
    form = shown.locator("#value")
    form.get_by_role("button", name="Set", exact=True).click()
    expect(shown.locator("#value-object")).to_be_focused()
    shown.fill("#value-object", NAME)
    shown.fill("#value-path", "ui.size")
    shown.fill("#value-json", "{")
    form.get_by_role("button", name="Set", exact=True).click()
    expect(shown.locator("#value-json-error")).to_contain_text("Not JSON")
    check(True, "a value needs an object, and JSON")
    support.check_accessibility(shown, "axe finds nothing while a value is refused")

    shown.fill("#value-json", "12345678901234567890")
    form.get_by_role("button", name="Set", exact=True).click()
    expect(area).to_contain_text("Changed. Nobody observes it.")
    form.get_by_role("button", name="Set", exact=True).click()
    expect(area).to_contain_text("It was so already.")
    row = shown.locator("#values tr")
    expect(row).to_contain_text(NAME)
    row.get_by_role("button", name="Show").click()
    whole = '{"ui":{"size":12345678901234567890}}'
    expect(shown.locator("#value-json")).to_have_value(whole)
    check(True, "a value is set as it was typed, listed and shown")

    form.get_by_role("button", name="Watch", exact=True).click()
    expect(shown.locator("#arrived")).to_contain_text('"size"')
    shown.fill("#value-json", '{"ui":{"theme":"dark"}}')
    form.get_by_role("button", name="Merge", exact=True).click()
    expect(area).to_contain_text("Changed. 1 observer matched.")
    expect(shown.locator("#arrived")).to_contain_text('"theme":"dark"')
    check(True, "a watched value arrives whole after each change")
    shown.locator("#mine li").filter(has_text="the value").get_by_role("button").click()
    form.get_by_role("button", name="Remove", exact=True).click()
    expect(row).to_have_count(0)
    check(True, "a value is removed")


def test_clients(shown, url):
    rows = request(f"{url}/v1/clients")[1]["clients"]
    shown.get_by_role("button", name="Refresh the clients").click()
    expect(shown.locator("#clients tr")).to_have_count(len(rows))
    expect(shown.locator("#clients")).to_contain_text("live")
    check(True, "the page lists the clients with their states")


def test_removal(shown, url):
    observe(shown, "", NAME)
    row = [row for row in observers(url) if row["object"] == NAME][0]
    button = shown.locator("#all").get_by_role("button", name=f"Remove observer {row['id']},")
    button.click()
    eventually(
        lambda: all(one["id"] != row["id"] for one in observers(url)),
        "the button in the table removes the observer at the broker",
    )
    expect(shown.locator("#mine li")).to_have_count(1)

    shown.locator("#mine button").focus()
    shown.keyboard.press("Enter")
    expect(shown.locator("#mine-title")).to_be_focused()
    expect(shown.locator("#mine-none")).to_be_visible()
    eventually(
        lambda: all(one["name"] != NAME for one in observers(url)),
        "the keyboard removes the other one, and the focus stays in the list",
    )
    count = shown.locator("#arrived li").count()
    post(shown, NAME)
    expect(shown.locator("#receipt")).to_contain_text("Nobody observes it.")
    check(shown.locator("#arrived li").count() == count, "nothing arrives after the removal")


def main():
    options = support.arguments(__doc__)
    with support.broker(options) as url, support.browser(options) as running:
        for width, scheme in ((1400, "light"), (360, "dark")):
            size = {"width": width, "height": 900}
            with support.page(running, viewport=size, color_scheme=scheme) as shown:
                print(f"# {width} pixels, {scheme}")
                origins = set()
                shown.on("request", lambda sent: origins.add("/".join(sent.url.split("/")[:3])))
                open_console(shown, url)
                test_post_and_observe(shown, url)
                test_explain(shown)
                support.check_accessibility(shown, "axe finds nothing")
                support.picture(options, shown, f"console-{width}-{scheme}")
                test_refusals(shown)
                support.check_accessibility(shown, "axe finds nothing on the page with faults")
                support.check_width(shown, "nothing makes the page scroll sideways")
                test_pause(shown, url)
                test_queue(shown, url)
                test_asks(shown, url)
                test_targets(shown, url)
                test_values(shown, url)
                test_clients(shown, url)
                test_removal(shown, url)
                origins = {one for one in origins if not one.startswith("data:")}
                check(origins == {url}, "no request leaves for another origin", origins)
                observe(shown, NAME)
            eventually(
                lambda: all(row["name"] != NAME for row in observers(url)),
                "the observers of a closed page are gone",
            )


if __name__ == "__main__":
    main()
