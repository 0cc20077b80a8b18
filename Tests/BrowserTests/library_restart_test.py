"""belfry.js: a broker that is killed and started again, while 20 notifications a second are posted.

What the new broker has arrives, what is lost is told, and nothing comes twice.
"""

import contextlib
import json
import tempfile
import threading
import time
import urllib.request

import library
import support
from library import NAME
from support import check, eventually

RATE = 20.0
BEFORE, AWAY, AFTER = 1.5, 0.8, 1.0
"""Seconds for which the first broker takes posts, for which there is none, and for which the next does."""

BEGIN = """async ([name, options, terms]) => {
  const { NotificationCenter } = await import("/belfry.js");
  const told = { got: [], gaps: [] };
  const center = new NotificationCenter(undefined, options);
  center.addEventListener("belfry.gap", ({ detail: { reason, lost, firstSeq, lastSeq } }) =>
    told.gaps.push({ reason, lost, firstSeq, lastSeq }));
  const observer = await center.addObserver({ name, ...terms }, ({ userInfo, seq }) =>
    told.got.push(userInfo.k));
  Object.assign(window, { center, told, observer });
}"""


class Setting:
    """A page at a broker that can be killed, and a poster that goes on."""

    def __init__(self, options, title, *, resumes, lasts, folder):
        self.options, self.title, self.resumes, self.lasts = options, title, resumes, lasts
        self.kept = ("--data", folder) if lasts else ("--in-memory",)
        self.brokers = contextlib.ExitStack()
        self.answered = []
        self.is_over = threading.Event()
        self.start()
        self.proxy = library.Proxy(self.url)

    def start(self):
        begun = support.started_broker(self.options, *self.kept)
        self.url, self.process = self.brokers.enter_context(begun)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.start()
        self.proxy.target = library.address(self.url)

    def post(self):
        """Posts until it is over; `answered` are the numbers of those that a broker has taken."""
        number, next_at = 0, time.monotonic()
        while not self.is_over.is_set():
            number += 1
            made = urllib.request.Request(
                f"{self.proxy.url}/v1/channels/{NAME}", json.dumps({"k": number}).encode(),
                {"Content-Type": "application/json"})
            with contextlib.suppress(OSError, ConnectionError):
                with urllib.request.urlopen(made, timeout=2) as answer:
                    answer.read()
                    self.answered.append((number, self.process))
            next_at += 1 / RATE
            self.is_over.wait(max(0, next_at - time.monotonic()))

    def open(self, made):
        self.shown = made.new_page()
        self.shown.goto(f"{self.proxy.url}/livez")
        terms = {"suspensionBehavior": "hold"} if self.resumes else {}
        self.shown.evaluate(BEGIN, [NAME, {"resume": self.resumes}, terms])
        self.poster = threading.Thread(target=self.post)
        self.poster.start()

    def taken_by_next(self):
        return [number for number, broker in self.answered if broker is self.process]

    def judge(self):
        eventually(
            lambda: len(self.taken_by_next()) > RATE * AFTER, f"{self.title}: both brokers take posts")
        self.is_over.set()
        self.poster.join()
        taken_by_next = self.taken_by_next()
        last = self.answered[-1][0]
        eventually(lambda: self.shown.evaluate("told.got.at(-1)") == last, "the page is up to date")
        told = self.shown.evaluate("told")
        got, gaps = told["got"], told["gaps"]
        missing = [number for number, _ in self.answered if number not in set(got)]
        figures = f"{len(self.answered)} answered, {len(missing)} missing, gaps {gaps}"
        check(len(set(got)) == len(got), "nothing comes twice")
        check(got == sorted(got), "and all in order")
        check(not set(missing) & set(taken_by_next), f"what the new broker has arrives ({figures})")
        check(not missing or gaps, "what is lost is told", missing)
        check(all(gap["reason"] == "unknown" and not gap["lost"] for gap in gaps) and len(gaps) <= 1,
              "and nothing else is", gaps)
        self.shown.evaluate("center.close()")


def main():
    options = support.arguments(__doc__)
    with contextlib.ExitStack() as all_of_it, support.browser(options) as running:
        made = running.new_context()
        settings = []
        for resumes in (False, True):
            for lasts in (False, True):
                folder = all_of_it.enter_context(tempfile.TemporaryDirectory())
                title = f"{'resume' if resumes else 'plain'}, {'--data' if lasts else '--in-memory'}"
                setting = Setting(
                    options, title, resumes=resumes, lasts=lasts, folder=f"{folder}/data")
                all_of_it.enter_context(setting.brokers)
                all_of_it.callback(setting.is_over.set)
                settings.append(setting)
        for setting in settings:
            setting.open(made)
        time.sleep(BEFORE)
        for setting in settings:
            setting.kill()
        time.sleep(AWAY)
        for setting in settings:
            setting.restart()
        for setting in settings:
            setting.judge()
        made.close()


if __name__ == "__main__":
    main()
