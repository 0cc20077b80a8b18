"""belfry.js: values with a lease and posts on a disconnect, which are there again before a center
that has become another client says that it is open."""

import time

import library
import support
from support import check, eventually, request

OPEN = """async () => {
  const { NotificationCenter } = await import("/belfry.js");
  // Pauses grow with each line that did not last.
  window.center?.close();
  window.center = new NotificationCenter();
  window.atOpen = [];
  window.errors = [];
  center.addEventListener("state", ({ detail }) => {
    // The request is sent at once: a value that is set later is not in its answer.
    if (detail.state === "open") atOpen.push(fetch("/v1/values/room").then(
      async (answer) => answer.status === 200 ? answer.json() : null));
  });
  window.update = (value) => center.setValue("room", "who.ann", value, { lease: 1 })
    .catch(({ reason }) => errors.push(reason));
  await update(1);
  await Promise.all(atOpen);
}"""

CUT_TIMES = (0.2, 0.9, 2.5)
"""Seconds: shorter and longer than the lease."""


def back(shown, proxy, seconds):
    """Cuts the line for so long; answers the value of the room when the center is open again."""
    proxy.cut()
    eventually(lambda: shown.evaluate("center.state") != "open", "")
    time.sleep(seconds)
    openings = shown.evaluate("atOpen.length")
    proxy.mend()
    eventually(
        lambda: shown.evaluate("atOpen.length") > openings, f"a line is back after {seconds:g} s")
    return shown.evaluate("Promise.all(atOpen).then((all) => all.at(-1))")


def check_stays(url, wanted, sentence):
    """What is there longer than the lease of the earlier client."""
    end = time.monotonic() + 2
    while time.monotonic() < end:
        found = request(f"{url}/v1/values/room")
        if found != (200, wanted):
            break
        time.sleep(0.05)
    check(found == (200, wanted), sentence, found)


def test_values(shown, url, proxy):
    shown.evaluate(OPEN)
    for seconds in CUT_TIMES:
        found = back(shown, proxy, seconds)
        check(found == {"who": {"ann": 1}}, "a lease is there when the center is open", found)
        check_stays(url, {"who": {"ann": 1}}, "and stays")


def test_lost_updates(shown, url, proxy):
    """Updates that never reach the broker leave what was there."""
    shown.evaluate(OPEN)
    proxy.flows.clear()
    shown.evaluate("void update(2), void update(3), void update(4)")
    proxy.cut()
    proxy.flows.set()
    eventually(lambda: shown.evaluate("errors") == ["lost"] * 3, "three updates are lost")
    time.sleep(1.2)
    proxy.mend()
    eventually(lambda: shown.evaluate("center.state") == "open", "which comes back")
    check_stays(url, {"who": {"ann": 1}}, "the value before them is there again")
    shown.evaluate("update(5)")
    check_stays(url, {"who": {"ann": 5}}, "and the next update takes its place")


def test_lost_removal(shown, url, proxy):
    """What a removal names that was given up is not set again."""
    shown.evaluate(OPEN)
    proxy.cut()
    eventually(lambda: shown.evaluate("center.state") != "open", "a line is lost")
    shown.evaluate(
        """() => void center.removeValue("room", "who.ann", { timeout: 0.1 })
          .catch(({ reason }) => errors.push(reason))""")
    eventually(lambda: shown.evaluate("errors.at(-1)") == "timeout", "and a removal is given up")
    proxy.mend()
    eventually(lambda: shown.evaluate("center.state") == "open", "it comes back")

    def is_gone():
        return "ann" not in str(request(f"{url}/v1/values/room")[1])

    eventually(is_gone, "what was removed goes")
    time.sleep(1)
    check(is_gone(), "for good")


def test_farewell(shown, url, proxy):
    shown.evaluate(OPEN)
    shown.evaluate(
        """async () => {
          const options = { onDisconnect: true, after: 0.5, object: "ann" };
          window.farewell = await center.post("Left", options);
          window.left = [];
          window.other = new center.constructor();
          await other.addObserver("Left", ({ object }) => left.push(object));
        }""")
    back(shown, proxy, 0.9)
    eventually(lambda: shown.evaluate("other.state") == "open", "")
    shown.evaluate("left.length = 0")
    proxy.cut()
    time.sleep(0.9)
    proxy.mend()
    eventually(lambda: shown.evaluate("left.includes('ann')"), "a farewell is posted a second time")
    eventually(lambda: shown.evaluate("center.state") == "open", "")
    removed = shown.evaluate("center.dequeue({ id: farewell.id })")
    check(removed == 1, "and there again when the center is open", removed)


def main():
    options = support.arguments(__doc__)
    with library.page(options) as (shown, url, proxy):
        test_values(shown, url, proxy)
        test_lost_updates(shown, url, proxy)
        test_lost_removal(shown, url, proxy)
        test_farewell(shown, url, proxy)
        shown.evaluate("center.close()")


if __name__ == "__main__":
    main()
