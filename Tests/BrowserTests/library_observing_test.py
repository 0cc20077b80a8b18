"""belfry.js: delivery, removal, refusals, acknowledgement, suspension, the queue, and a connection that
is cut."""

import library
import support
from library import NAME, ours, post, received
from support import check, eventually, request


def test_delivery(shown):
    receipts = shown.evaluate(
        """async (name) => [
          await center.post(name, { object: "a", userInfo: { k: 1 } }),
          await center.post(name, { object: "b", userInfo: { k: 2 } }),
          await center.post(name + ".Other"),
        ].map(({ matched }) => matched)""",
        NAME,
    )
    check(receipts == [2, 1, 1], "the receipts tell who matched", receipts)
    found = [received(shown, place) for place in ("first", "second", "other")]
    check(found == [[1, 2], [1], [0]], "two observers of one selector get what is theirs", found)


def test_refusal(shown):
    refused = shown.evaluate(
        """() => center.post("belfry.welcome").then(() => null, ({ name, code, problem }) =>
          ({ name, code, status: problem?.status }))"""
    )
    wanted = {"name": "BelfryError", "code": -32000, "status": 403}
    check(refused == wanted, "a refused post throws the problem", refused)


def test_sequence(shown, url):
    shown.evaluate(
        """async (name) => {
          window.loop = [];
          const observer = await center.addObserver({ name });
          (async () => {
            for await (const { userInfo } of observer) {
              loop.push(userInfo.k);
              if (loop.length === 3) break;
            }
            loop.push("end");
          })();
        }""",
        NAME,
    )
    for number in (3, 4, 5, 6):
        post(url, number)
    eventually(
        lambda: shown.evaluate("window.loop") == [3, 4, 5, "end"],
        "an observer without a handler is an async sequence, and leaving its loop removes it",
    )
    check(len(ours(url)) == 3, "the broker lists the three others", ours(url))


def test_acknowledgement(shown):
    receipt = shown.evaluate(
        """async (name) => {
          const options = { name: name + ".Asked", acknowledge: true };
          const slow = (notification) => new Promise((resolve) => setTimeout(resolve, 20));
          const good = await center.addObserver(options, slow);
          const fail = async () => { throw new Error("no paper"); };
          const bad = await center.addObserver(options, fail);
          const each = await center.addObserver(options);
          (async () => { for await (const { seq } of each) window.asked = seq; })();
          const receipt = await center.post(name + ".Asked", { report: "observers", wait: 5 });
          for (const observer of [good, bad, each]) await observer.remove();
          return receipt;
        }""",
        NAME,
    )
    counts = [receipt[key] for key in ("delivered", "acknowledged", "refused", "pending")]
    check(counts == [3, 2, 1, 0], "the promise of a handler is its answer", receipt)
    check(
        receipt["observers"][1]["error"] == {"code": 1, "message": "no paper"},
        "the poster reads why a handler refused", receipt["observers"],
    )


def test_suspension(shown):
    found = shown.evaluate(
        """async (name) => {
          const arrived = [];
          const options = { name: name + ".Rest", suspensionBehavior: "hold" };
          const keep = ({ userInfo }) => arrived.push(userInfo.k);
          const observer = await center.addObserver(options, keep);
          await center.setSuspended(true);
          const { held } = await center.post(name + ".Rest", { userInfo: { k: 1 } });
          const before = [...arrived];
          await center.setSuspended(false);
          await center.post(name + ".Rest", { userInfo: { k: 2 } });
          await observer.remove();
          return { held, before, arrived };
        }""",
        NAME,
    )
    wanted = {"held": 1, "before": [], "arrived": [1, 2]}
    check(found == wanted, "a suspended page gets what was held when it goes on", found)


def test_queue(shown):
    found = shown.evaluate(
        """async (name) => {
          const lease = await center.enterMode("test");
          const options = { style: "asap", coalesce: ["name"], keep: "latest" };
          const first = await center.post(name + ".Queued", options);
          const second = await center.post(name + ".Queued", options);
          const third = await center.post(name + ".Queued", { style: "idle", coalesce: "none" });
          const removed = [await center.dequeue({ id: third.id })];
          removed.push(await center.dequeue({ name: name + ".Queued" }));
          await center.leaveMode(lease);
          return { outcomes: [first, second].map(({ outcome }) => outcome), removed,
            isInto: second.into === first.id };
        }""",
        NAME,
    )
    wanted = {"outcomes": ["queued", "coalesced"], "removed": [1, 1], "isInto": True}
    check(found == wanted, "posts wait in the queue, coalesce, and are taken out", found)


def test_cut(shown, url, proxy):
    before = received(shown, "first")
    identifiers = shown.evaluate("[first.id, second.id]")
    proxy.cut()
    eventually(lambda: shown.evaluate("center.state") == "waiting", "the center waits after a cut")
    eventually(lambda: not ours(url), "the broker removed the observers of the lost connection")
    for number in (7, 8):
        post(url, number)
    proxy.mend()
    eventually(lambda: shown.evaluate("center.state") == "open", "it connects again by itself")
    post(url, 9)
    eventually(lambda: received(shown, "first")[-1] == 9, "its observers are registered again")
    found = received(shown, "first")
    check(found == [*before, 7, 8, 9], "what was missed came once, and in order", found)
    marked = shown.evaluate("got.first.slice(-3).map(({ redelivered }) => redelivered ?? false)")
    check(marked == [True, True, False], "and is marked as redelivered", marked)
    check(received(shown, "second")[-3:] == [7, 8, 9], "the second of one selector has it too")
    check(shown.evaluate("got.gaps") == [], "nothing was lost, so no gap is told")
    check(identifiers != shown.evaluate("[first.id, second.id]"), "the ids are those of now")


def test_removal(shown, url):
    shown.evaluate("other.remove()")
    eventually(lambda: len(ours(url)) == 2, "remove() removes at the broker")
    token = shown.evaluate("second.token")
    status, _ = request(f"{url}/v1/observers/{token}", method="DELETE")
    check(status == 204, "somebody else removes with the token", status)
    eventually(lambda: shown.evaluate("got.removed") == ["removed"], "the page is told of it")
    check(shown.evaluate("[second.isRemoved, first.isRemoved]") == [True, False], "and knows which")


def main():
    options = support.arguments(__doc__)
    with library.page(options) as (shown, url, proxy):
        shown.evaluate(library.SETUP, NAME)
        test_delivery(shown)
        test_refusal(shown)
        test_sequence(shown, url)
        test_acknowledgement(shown)
        test_suspension(shown)
        test_queue(shown)
        test_cut(shown, url, proxy)
        test_removal(shown, url)
        shown.goto("about:blank")
        eventually(lambda: not ours(url), "a page that is left takes its observers along")


if __name__ == "__main__":
    main()
