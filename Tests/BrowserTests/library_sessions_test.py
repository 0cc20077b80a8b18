"""belfry.js: sessions that go on after a lost connection and in a page that is loaded again; tabs, and
storages that do not work."""

import library
import support
from library import NAME
from support import check, eventually, observers, request


RESUMING = """async (name) => {
  const { NotificationCenter } = await import("/belfry.js");
  const kept = { got: [], gaps: [], acted: [] };
  const center = new NotificationCenter(undefined, { resume: true, storage: sessionStorage });
  const onGap = ({ reason, lost }) => kept.gaps.push([reason, lost]);
  const options = { name: name + ".Kept", suspensionBehavior: "hold", onGap };
  const observer = await center.addObserver(options, (notification) => kept.got.push(notification));
  const terms = { suspensionBehavior: "hold" };
  const work = async ({ k }, ask) => {
    if (ask.answerBy === undefined) kept.acted.push([ask.target, k]);
    return 2 * k;
  };
  const desk = await center.respond("page", { work }, terms);
  const wire = { name: name + ".Pressed", target: "page", selector: "work" };
  const wired = await center.addObserver(wire);
  Object.assign(window, { keeping: center, kept, keeper: observer, desk, wired });
}"""


def kept(shown):
    return shown.evaluate(
        "kept.got.map(({ userInfo, redelivered }) => [userInfo.k, redelivered ?? false])"
    )


def post_kept(url, *numbers):
    outcomes = []
    for number in numbers:
        status, receipt = request(
            f"{url}/v1/channels/{NAME}.Kept", method="POST", body={"k": number},
            Content_Type="application/json",
        )
        assert status == 200, (status, receipt)
        outcomes.append((receipt["delivered"], receipt["held"]))
    return outcomes


def keepers(url):
    return [row for row in observers(url) if row["name"] == f"{NAME}.Kept"]


def test_resume(shown, url, proxy):
    shown.evaluate(RESUMING, NAME)
    [before] = keepers(url)
    check(before["lifetime"] == "token", "a center that resumes has observers that last", before)
    post_kept(url, 1)
    eventually(lambda: kept(shown) == [[1, False]], "it gets what is posted")
    token = shown.evaluate("keeper.token")
    proxy.cut()
    eventually(
        lambda: keepers(url)[0]["state"] == "disconnected", "a lost connection leaves it there")
    outcomes = post_kept(url, 2, 3)
    check(outcomes == [(0, 1), (0, 1)], "what is posted meanwhile is held for it", outcomes)
    proxy.mend()
    eventually(
        lambda: kept(shown) == [[1, False], [2, False], [3, False]],
        "it comes when the connection is back, and is no redelivery",
    )
    [after] = keepers(url)
    same = (after["id"], after["state"], shown.evaluate("keeper.token"))
    check(same == (before["id"], "live", token), "id and token are those of before", same)


def press(url, number):
    status, receipt = request(
        f"{url}/v1/channels/{NAME}.Pressed?report=observers", method="POST", body={"k": number},
        Content_Type="application/json",
    )
    assert status == 200, (status, receipt)
    return [(row["id"], row["outcome"], row["target"]) for row in receipt["observers"]]


def test_reload(shown, url, proxy):
    [before] = keepers(url)
    wired = shown.evaluate("wired.id")
    check(press(url, 3) == [(wired, "delivered", "page")], "an observer with a target lasts, too")
    eventually(lambda: shown.evaluate("kept.acted") == [["page", 3]], "its actions come here")
    shown.goto("about:blank")
    eventually(
        lambda: keepers(url)[0]["state"] == "disconnected", "with storage it outlives the page")
    post_kept(url, 4)
    rows = press(url, 4)
    check(rows == [(wired, "held", "page")], "it fires without its page, and is held", rows)
    status, asked = request(
        f"{url}/v1/responders/page/work?ttl=60", method="POST", body={"k": 4},
        Content_Type="application/json", Prefer="respond-async",
    )
    assert status == 202, (status, asked)
    shown.goto(f"{proxy.url}/livez")
    shown.evaluate(RESUMING, NAME)
    _, fate = request(f"{url}/v1/notifications/{asked['id']}", Prefer="wait=10")
    check(fate.get("answer") == 8, "a page that comes back answers what it was asked", fate)
    holders = request(f"{url}/v1/responders/page")[1]["responders"]
    ids = [row["id"] for row in holders]
    check(ids == [fate["observer"]] == [shown.evaluate("desk.id")], "as the same responder", ids)
    eventually(lambda: kept(shown) == [[4, False]], "the page that comes back gets what was held")
    ids = [row["id"] for row in keepers(url)]
    check(ids == [before["id"]], "through the same observer", ids)
    eventually(lambda: shown.evaluate("kept.acted") == [["page", 4]], "and the held action")
    check(shown.evaluate("wired.id") == wired, "of the observer that has the target")
    post_kept(url, 5)
    eventually(lambda: kept(shown)[-1] == [5, False], "which goes on")


def test_lost_session(shown, url):
    [row] = keepers(url)
    session = shown.evaluate(
        "JSON.parse(sessionStorage.getItem(Object.keys(sessionStorage)[0]))[0].session")
    shown.evaluate(
        "() => keeping.addEventListener('state', ({ detail }) => { window.lastState = detail; })")
    status, _ = request(
        f"{url}/v1/clients/{row['client']}", method="DELETE", Belfry_Session=session)
    check(status == 204, "the session removes its client", status)
    eventually(lambda: shown.evaluate("keeping.state") == "closed", "whose page is told so")
    code = shown.evaluate("lastState.code")
    check(code == 4002, "and does not connect again", code)
    check(shown.evaluate("sessionStorage.length") == 0, "nor does a page after it")


def test_close(shown, url):
    shown.evaluate(RESUMING, NAME)
    check(len(keepers(url)) == 1, "a new center has a new session")
    shown.evaluate("keeping.close()")
    eventually(lambda: not keepers(url), "closing removes what would have lasted")
    check(shown.evaluate("sessionStorage.length") == 0, "and nothing of it is stored")


TAB = """async ([name, storage]) => {
  const { NotificationCenter } = await import("/belfry.js");
  const options = { resume: true, storage: window[storage] };
  const kept = { got: [], gaps: [] };
  window.center = new NotificationCenter(undefined, options);
  window.kept = kept;
  const onGap = ({ reason }) => kept.gaps.push(reason);
  window.observer = await center.addObserver(
    { name, suspensionBehavior: "hold", onGap }, ({ userInfo }) => kept.got.push(userInfo.k));
  return observer.id;
}"""


def test_tabs(made, url, proxy):
    """Pages that share a storage, or were made from one another, have a session each."""
    names = {"localStorage": f"{NAME}.Local", "sessionStorage": f"{NAME}.Session"}
    for storage, name in names.items():
        first = made.new_page()
        first.goto(f"{proxy.url}/livez")
        ids = [first.evaluate(TAB, [name, storage])]
        # The browser copies sessionStorage to a page that is opened so, as to a duplicated tab.
        with made.expect_page() as opened:
            first.evaluate("window.open(location.href)")
        pages = [first, opened.value]
        ids.append(pages[1].evaluate(TAB, [name, storage]))
        check(ids[0] != ids[1], f"two tabs with one {storage} have observers of their own", ids)
        post_to(url, name, 1)
        for shown in pages:
            eventually(lambda shown=shown: shown.evaluate("kept.got") == [1], "both get what is posted")
        states = [shown.evaluate("center.state") for shown in pages]
        check(states == ["open", "open"], "and both stay open", states)
        for shown in pages:
            shown.goto("about:blank")
        post_to(url, name, 2)
        again = []
        for shown in pages:
            shown.goto(f"{proxy.url}/livez")
            again.append(shown.evaluate(TAB, [name, storage]))
        check(sorted(again) == sorted(ids), "loaded again they go on with the same", [ids, again])
        if storage == "sessionStorage":
            check(again == ids, "each with its own", [ids, again])
        for shown in pages:
            eventually(lambda shown=shown: shown.evaluate("kept.got") == [2], "and get what was held")
            check(shown.evaluate("kept.gaps") == [], "without a gap")
            shown.reload()
            again.append(shown.evaluate(TAB, [name, storage]))
        check(sorted(again[2:]) == sorted(ids), "so it is with a reload", again)
        for shown in pages:
            shown.evaluate("center.close()")
            shown.close()
        eventually(lambda name=name: not named(url, name), "closing them removes all")


def test_dropped_lock(made, proxy):
    """Chromium drops a lock that it gives while `window.open` is at work: it is asked for again."""
    shown = made.new_page()
    shown.goto(f"{proxy.url}/livez")
    shown.evaluate("""() => {
      const { locks } = navigator;
      const ask = locks.request.bind(locks);
      locks.request = (...all) => {
        locks.request = ask;
        return Promise.reject(new Error("The provided callback is no longer runnable."));
      };
    }""")
    shown.evaluate(TAB, [f"{NAME}.Dropped", "localStorage"])
    held = "navigator.locks.query().then(({ held }) => held.length)"
    eventually(lambda: shown.evaluate(held) == 1, "a session is locked after a lock was dropped")
    shown.evaluate("center.close()")
    shown.close()


def named(url, name):
    return [row for row in observers(url) if row["name"] == name]


def post_to(url, name, number):
    request(f"{url}/v1/channels/{name}", method="POST", body={"k": number},
            Content_Type="application/json")


BOUNDED = """(name) => {
  const center = new window.NotificationCenter(
    undefined, { resume: true, storage: sessionStorage });
  const bounded = { got: [], gaps: [], events: [] };
  center.addEventListener("belfry.gap", ({ detail: { observer, reason, lost, token } }) => {
    bounded.events.push([observer, reason, lost, token !== null]);
  });
  const onGap = ({ reason, lost }) => bounded.gaps.push([reason, lost]);
  const terms = { name: name + ".Bounded", suspensionBehavior: "hold", holdLimit: 1, onGap };
  bounded.add = async () => {
    const add = ({ userInfo }) => bounded.got.push(userInfo.k);
    const observer = await center.addObserver(terms, add);
    return observer.id;
  };
  Object.assign(window, { center, bounded });
  // Gaps come before the answer to a post.
  return center.post(name).then(() => bounded.events);
}"""


def bounded_page(made, proxy):
    shown = made.new_page()
    shown.clock.install()
    open_bounded(shown, proxy)
    return shown, shown.evaluate("bounded.add()")


def open_bounded(shown, proxy):
    shown.goto(f"{proxy.url}/livez")
    shown.evaluate("import('/belfry.js').then((all) => Object.assign(window, all))")
    return shown.evaluate(BOUNDED, NAME)


def leave(shown, url):
    shown.goto("about:blank")
    eventually(
        lambda: [row["state"] for row in observers(url) if row["name"] == f"{NAME}.Bounded"]
        == ["disconnected"], "its observer outlives the page")
    for number in range(1, 4):
        post_to(url, f"{NAME}.Bounded", number)


def test_gap_of_reload(made, url, proxy):
    shown, before = bounded_page(made, proxy)
    leave(shown, url)
    told = open_bounded(shown, proxy)
    check(told == [], "the gap of an observer waits until the page adds it again", told)
    check(shown.evaluate("bounded.add()") == before, "which gets the observer of before")
    eventually(lambda: shown.evaluate("bounded.got") == [3], "with what was held for it")
    gaps = shown.evaluate("bounded.gaps")
    check(gaps == [["overflow", 2]], "its onGap is told once what it has lost", gaps)
    events = shown.evaluate("bounded.events")
    check(events == [[before, "overflow", 2, True]], "and so is the center, with its token", events)

    leave(shown, url)
    open_bounded(shown, proxy)
    proxy.cut()
    eventually(lambda: shown.evaluate("center.state") == "waiting", "the connection is lost")
    proxy.mend()
    shown.clock.fast_forward(30_000)
    shown.evaluate("center.post('Other').then(() => bounded.add())")
    eventually(lambda: shown.evaluate("bounded.gaps.length") == 2, "the next one tells more")
    gaps = shown.evaluate("bounded.gaps")
    check(gaps == [["overflow", 2], ["unknown", None]], "behind the gap of the one before", gaps)

    leave(shown, url)
    open_bounded(shown, proxy)
    shown.clock.fast_forward(10_000)
    events = shown.evaluate("bounded.events")
    check(events[:1] == [[before, "overflow", 2, False]],
          "the gap of an observer that nobody adds again is told to the center alone", events)
    shown.evaluate("center.close()")
    shown.close()


def test_gap_of_gone_session(made, url, proxy):
    shown, before = bounded_page(made, proxy)
    [row] = [row for row in observers(url) if row["name"] == f"{NAME}.Bounded"]
    session = shown.evaluate("JSON.parse(Object.values(sessionStorage)[0])[0].session")
    leave(shown, url)
    status, _ = request(
        f"{url}/v1/clients/{row['client']}", method="DELETE", Belfry_Session=session)
    check(status == 204, "the client of the page is removed", status)
    told = open_bounded(shown, proxy)
    check(told == [[None, "unknown", None, False]], "the center is told a gap of all", told)
    check(shown.evaluate("bounded.add()") != before, "an observer is a new one")
    gaps = shown.evaluate("bounded.gaps")
    check(gaps == [["unknown", None]], "whose onGap is told so", gaps)
    shown.clock.fast_forward(10_001)
    shown.evaluate("bounded.add()")
    check(shown.evaluate("bounded.gaps") == gaps, "one that is added later has lost nothing")
    check(shown.evaluate("bounded.events") == told, "and the center is told once")
    shown.evaluate("center.close()")
    shown.close()


def test_bad_storage(shown, url):
    """A storage that throws, or has rubbish, is none, which is told once."""
    for kind, make in [
        ("whose getItem throws", "{ getItem() { throw new Error('denied'); } }"),
        ("that is full", "{ getItem: () => null, setItem() { throw new Error('full'); } }"),
        ("with rubbish", "{ getItem: () => '{', setItem() {}, removeItem() {} }"),
        ("with something else", "{ getItem: () => '[7]', setItem() {}, removeItem() {} }"),
    ]:
        found = shown.evaluate(
            f"""async (name) => {{
              const {{ NotificationCenter }} = await import("/belfry.js");
              const faults = [];
              const listen = (event) => {{ faults.push(event.message); event.preventDefault(); }};
              addEventListener("error", listen);
              const center = new NotificationCenter(undefined, {{ resume: true, storage: {make} }});
              const got = [];
              await center.addObserver(name, ({{ userInfo }}) => got.push(userInfo.k));
              await center.post(name, {{ userInfo: {{ k: 1 }} }});
              center.close();
              removeEventListener("error", listen);
              return {{ got, faults }};
            }}""",
            NAME,
        )
        is_told_once = len(found["faults"]) == 1 and "not stored" in found["faults"][0]
        check(found["got"] == [1] and is_told_once, f"a storage {kind} is none, told once", found)


def main():
    options = support.arguments(__doc__)
    with support.broker(options) as url, library.browsing(options, url) as (running, proxy):
        made = running.new_context()
        shown = made.new_page()
        shown.goto(f"{proxy.url}/livez")
        test_resume(shown, url, proxy)
        test_reload(shown, url, proxy)
        test_lost_session(shown, url)
        test_close(shown, url)
        test_bad_storage(shown, url)
        test_tabs(made, url, proxy)
        test_dropped_lock(made, proxy)
        made.close()
    # A ring that has what was lost would make it good.
    with (support.broker(options, "--replay", "1") as url,
          library.browsing(options, url) as (running, proxy)):
        made = running.new_context()
        test_gap_of_reload(made, url, proxy)
        test_gap_of_gone_session(made, url, proxy)
        made.close()


if __name__ == "__main__":
    main()
