"""belfry.js: who answers in the place of the broker; two pages that open at the same moment; values
with a lease that come back; and what is told of a mistake."""

import time

import library
import support
from library import NAME
from support import check, eventually, request

OPEN = """async (name) => {
  const { NotificationCenter } = await import("/belfry.js");
  window.center = new NotificationCenter(undefined, { timeout: 30 });
  window.got = [];
  window.states = [];
  center.addEventListener("state", ({ detail }) => states.push(detail.state));
  await center.addObserver(name, ({ userInfo }) => got.push(userInfo.k));
}"""

TAB = """([name, delay]) => {
  window.opened = new Promise((done) => setTimeout(done, delay))
    .then(() => import("/belfry.js")).then(async ({ NotificationCenter }) => {
      window.center = new NotificationCenter(undefined, { resume: true, storage: localStorage });
      window.got = [];
      window.codes = [];
      center.addEventListener("state", ({ detail }) => codes.push(detail.code ?? null));
      const add = ({ userInfo }) => got.push(userInfo.k);
      await center.addObserver({ name, suspensionBehavior: "hold" }, add);
    });
}"""

WITHOUT_LOCKS = "Object.defineProperty(navigator, 'locks', { value: undefined });"
WITHOUT_WORD = f"{WITHOUT_LOCKS} delete window.BroadcastChannel;"

STRANGERS = [
    ("502 Bad Gateway", "text/html", "<h1>Bad Gateway</h1>"),
    ("503 Service Unavailable", "text/html", "<h1>Back soon</h1>"),
    ("404 Not Found", "text/plain", "404 page not found"),
    ("401 Unauthorized", "text/html", "<h1>Authorization Required</h1>"),
    ("403 Forbidden", "text/html", "<h1>Forbidden</h1>"),
    ("200 OK", "text/html", "<form>Log in</form>"),
    ("200 OK", "application/json", "{}"),
    ("200 OK", "application/json", "[]"),
    ("200 OK", "application/json", '{"grants":3}'),
]


def test_strangers(shown, proxy):
    for number, stranger in enumerate(STRANGERS):
        # Pauses grow with each line that did not last.
        shown.evaluate(OPEN, NAME)
        proxy.stranger = stranger
        proxy.cut()
        proxy.mend()
        eventually(lambda: shown.evaluate("states.includes('waiting')"), "")
        shown.evaluate(
            """([name, k]) => {
              states.length = 0;
              window.posted = center.post(name, { userInfo: { k } });
              window.posted.catch(() => {});
            }""", [NAME, number])
        # Another opening that meets the stranger.
        eventually(lambda: shown.evaluate("states.includes('connecting')"), "")
        proxy.stranger = None
        receipt = shown.evaluate("posted")
        check(receipt["matched"] == 1, f"what waits is posted behind {stranger[:2]}", receipt)
        eventually(lambda: shown.evaluate("got") == [number], "and observed")
        shown.evaluate("center.close()")


def test_two_at_once(running, url, proxy, script, sentence, is_taken):
    """Two pages take the session that another one has left, in both orders."""
    for delays in ((0, 0), (0, 5), (5, 0), (0, 20), (20, 0)):
        made = running.new_context()
        made.add_init_script(script)
        name = f"{NAME}.AtOnce"
        pages = [made.new_page() for _ in range(2)]
        for shown in pages:
            shown.goto(f"{proxy.url}/livez")
        pages[0].evaluate(TAB, [name, 0])
        pages[0].evaluate("opened")
        pages[0].goto("about:blank")
        pages[0].goto(f"{proxy.url}/livez")
        for shown, delay in zip(pages, delays, strict=True):
            shown.evaluate(TAB, [name, delay])
        for shown in pages:
            shown.evaluate("opened")

        def both_have_it():
            request(f"{url}/v1/channels/{name}", method="POST", body={"k": 1},
                    Content_Type="application/json")
            return all(shown.evaluate("center.state === 'open' && got.includes(1)") for shown in pages)

        eventually(both_have_it, f"{sentence}, after {delays} ms")
        codes = [code for shown in pages for code in shown.evaluate("codes")]
        check(is_taken or 4001 not in codes, "", codes)
        for shown in pages:
            shown.evaluate("center.close()")
        made.close()


def test_lease(shown, url, proxy):
    shown.evaluate(OPEN, NAME)
    shown.evaluate("center.setValue('room-1', 'who.ann', { name: 'Ann' }, { lease: 1 })")
    shown.evaluate("center.setValue('room-1', 'who.bob', 1, { lease: 1 })")
    shown.evaluate("center.removeValue('room-1', 'who.bob')")
    proxy.cut()
    eventually(lambda: shown.evaluate("center.state") == "waiting", "a line is lost")
    proxy.mend()
    eventually(lambda: shown.evaluate("center.state") == "open", "and comes back as another client")
    end = time.monotonic() + 2
    while time.monotonic() < end:
        status, value = request(f"{url}/v1/values/room-1")
    found = (status, value)
    check(found == (200, {"who": {"ann": {"name": "Ann"}}}), "what has a lease stays", found)
    shown.evaluate("center.close()")
    eventually(
        lambda: "ann" not in str(request(f"{url}/v1/values/room-1")[1]), "and goes with the page")


def test_mistakes(shown):
    shown.evaluate(OPEN, NAME)
    for call, *words in (
        ("center.post('Chat', { from: 'ann', text: 'hi' })", "#/text", "#/from", "userInfo"),
        ("center.post('Chat', { userinfo: {} })", "#/userinfo", "userInfo"),
        ("center.addObserver({ name: 'a', holdLimt: 3 }, () => {})", "#/holdLimt"),
        ("center.addObserver({ name: 'a', lease: 'long' }, () => {})", "#/lease"),
        ("center.setValue('settings', 'theme')", "#/value"),
    ):
        told = shown.evaluate(
            f"{call}.then(() => null, ({{ message, slug, reason }}) => [message, slug, reason])")
        is_told = told is not None and all(word in told[0] for word in words)
        check(is_told and told[1:] == ["invalid-fields", "refused"], f"{call} names the field", told)
    for center in ("", ".", ".."):
        told = shown.evaluate(
            """(center) => import("/belfry.js").then(({ NotificationCenter }) => {
              try { new NotificationCenter(undefined, { center }); } catch (error) {
                return [error.reason, error.message];
              }
            })""", center)
        is_told = told is not None and told[0] == "misuse" and "path" in told[1]
        check(is_told, f"a center {center!r} is refused", told)
    shown.evaluate("center.close()")


def main():
    options = support.arguments(__doc__)
    with library.page(options) as (shown, url, proxy):
        test_strangers(shown, proxy)
        test_mistakes(shown)
        test_lease(shown, url, proxy)
    with support.broker(options) as url, library.browsing(options, url) as (running, proxy):
        test_two_at_once(
            running, url, proxy, WITHOUT_LOCKS, "of two pages one takes a session that was left", False)
        test_two_at_once(
            running, url, proxy, WITHOUT_WORD, "who takes it by accident takes nothing away", True)


if __name__ == "__main__":
    main()
