// The console: asks the broker, and shows what it tells. One beat asks for the reading and for the
// page of the view at once, and paints both together, so that no table contradicts a counter.

import { NotificationCenter } from "../belfry.js";
import { address, ask, askIfAllowed, centerName, token } from "./broker.js";
import { mayDo } from "./caller.js";
import { away, forbidden, noCenter, refused, tokenQuestion } from "./door.js";
import { Feed } from "./feed.js";
import { Frame } from "./frame.js";
import { followKeys } from "./keys.js";
import { Own } from "./own.js";
import { Readings } from "./readings.js";
import { Reports } from "./reports.js";
import { parse } from "./route.js";
import { Selectors } from "./selectors.js";
import { show } from "./tree.js";
import { openView } from "./views.js";

/// Milliseconds between two beats: while the page is looked at, and when nobody touched it for
/// long.
const beatTime = 2000;
const idleBeatTime = 10_000;
const idleAfter = 300_000;
/// An answer that takes longer makes the page ask half as often.
const slowAnswer = 500;
/// Milliseconds until the next try while the broker does not answer: the first, and the bound.
const firstRetry = 1000;
const retryLimit = 15_000;
/// A screen reader is told at most one change of state in this time.
const spokenTime = 1000;

class Console {
  route = parse(location.hash);
  view = null;
  readings = new Readings();
  reports = new Reports();
  own = new Own();
  selectors = new Selectors();
  feed = new Feed(this);
  /// What `GET /v1/me` tells, or null.
  me = null;
  centers = [];
  /// `{ since, tries, next }` while the broker does not answer.
  away = null;
  pausedAt = null;
  /// What the reading, and what the view was refused.
  readingRefused = null;
  viewRefused = null;
  /// Whether the broker wants a token, or another one than it was shown.
  wantsToken = false;
  /// Where the focus goes in the next view, if not to its heading: a function from the page to a
  /// node.
  focusWhenShown = null;
  #center = null;
  #data = null;
  #frame = new Frame(this);
  #timer = null;
  #beating = null;
  #touchedAt = performance.now();
  #spokenAt = 0;
  #isFocusDue = false;
  #countdown = null;

  get reading() {
    return this.readings.latest;
  }
  /// The time of the figures on the page, by the broker's clock.
  get now() {
    return this.reading?.asOf ?? Date.now();
  }
  /// Whether the caller may do this; without `GET /v1/me` the broker will say.
  may(verb) {
    return this.me === null || mayDo(this.me, verb);
  }

  /// Whether the center is there, as far as the caller may see it. A look does not make one.
  get hasCenter() {
    return centerName === "default" || this.centers.some(({ name }) => name === centerName);
  }

  /// The connection. It makes the center, as each connection does.
  get connection() {
    this.#center ??= this.newConnection();
    return this.#center;
  }

  newConnection(options = {}) {
    return new NotificationCenter(address, {
      center: centerName === "default" ? null : centerName,
      token: token(),
      ...options,
    });
  }

  start() {
    addEventListener("hashchange", () => this.#open());
    document.addEventListener("visibilitychange", () => document.hidden || this.beat());
    for (const type of ["pointerdown", "keydown", "wheel"]) {
      addEventListener(type, () => this.#touch(), { passive: true });
    }
    addEventListener("resize", () => this.paint());
    document.getElementById("skip").onclick = (event) => {
      // The address of the page is that of its view.
      event.preventDefault();
      document.getElementById("main").focus();
    };
    followKeys(this);
    this.#open();
  }

  #touch() {
    const wasIdle = performance.now() - this.#touchedAt > idleAfter;
    this.#touchedAt = performance.now();
    if (wasIdle) this.beat();
  }

  /// Shows another view, or the same with another query.
  go(hash, { replaces = false } = {}) {
    if (hash === location.hash) return this.beat();
    if (!replaces) location.hash = hash;
    else {
      history.replaceState(null, "", hash);
      this.#open();
    }
  }

  #open() {
    const before = this.route;
    this.route = parse(location.hash);
    this.view?.close?.();
    this.view = openView(this.route, this);
    this.viewRefused = null;
    this.#data = null;
    const isSame = before.view === this.route.view && before.id === this.route.id;
    // A filter that is typed keeps the focus; another view begins at its heading.
    if (!isSame) this.#isFocusDue = true;
    if (!isSame) scrollTo(0, 0);
    this.beat();
  }

  /// Asks for all that the page shows, and shows it; once more when that is wanted meanwhile.
  beat() {
    if (this.pausedAt !== null && this.#data !== null) return this.paint();
    if (this.#beating?.view === this.view) {
      this.#beating.isDue = true;
      return this.#beating.done;
    }
    const beating = { view: this.view, isDue: true };
    this.#beating = beating;
    beating.done = this.#beats(beating);
    return beating.done;
  }

  /// Beats until none is due. What is answered for a view that was left is passed over.
  async #beats(beating) {
    clearTimeout(this.#timer);
    try {
      while (beating.isDue) {
        beating.isDue = false;
        const began = performance.now();
        const answers = await Promise.allSettled([
          this.#read(),
          beating.view.read?.() ?? null,
          this.reports.read(this),
        ]);
        if (this.#beating !== beating) return;
        this.#take(answers);
        this.#schedule(performance.now() - began);
        this.paint();
      }
    } finally {
      if (this.#beating === beating) this.#beating = null;
    }
  }

  async #read() {
    if (this.me === null) this.me = await askIfAllowed("/v1/me");
    if (this.centers.length === 0 || !this.hasCenter)
      this.centers = (await ask("/v1/centers")).centers;
    return this.readings.read(this.own);
  }

  /// Takes what was answered. What nobody answers, or what wants a token, is the whole page's
  /// matter; what only the view is refused is the view's.
  #take([reading, data]) {
    const reasons = [reading.reason, data.reason].filter((reason) => reason !== undefined);
    for (const reason of reasons) if (!("status" in reason)) reportError(reason);
    const grave = reasons.find(({ status }) => status === null || status === 401);
    if (grave !== undefined) return this.#failed(grave);
    this.readingRefused = reading.reason ?? null;
    this.viewRefused = data.reason ?? null;
    if (data.status === "fulfilled") this.#data = data.value ?? {};
    if (this.away !== null) this.announce("The broker responds again");
    this.away = null;
    this.wantsToken = false;
    if (this.hasCenter && !this.feed.isFollowing) this.feed.follow(this.connection);
  }

  #failed(error) {
    if (error.status === 401) {
      this.wantsToken = true;
      this.me = null;
      this.#isFocusDue = true;
      return;
    }
    if (this.away === null) this.announce("The broker is not responding");
    const { since, tries } = this.away ?? { since: this.now, tries: 0 };
    const delay = Math.min(firstRetry * 2 ** tries, retryLimit);
    this.away = { since, tries: tries + 1, next: Date.now() + delay };
  }

  #schedule(took) {
    clearTimeout(this.#timer);
    if (document.hidden || this.wantsToken) return;
    const isIdle = performance.now() - this.#touchedAt > idleAfter;
    const wait = isIdle ? idleBeatTime : took > slowAnswer ? 2 * beatTime : beatTime;
    const delay = this.away === null ? wait : Math.max(this.away.next - Date.now(), 0);
    this.#timer = setTimeout(() => this.beat(), delay);
  }

  pause() {
    this.pausedAt = this.pausedAt === null ? this.now : null;
    this.announce(this.pausedAt === null ? "Resumed" : "Paused");
    this.paint();
    if (this.pausedAt === null) this.beat();
  }

  /// After an act: all that it may have changed is asked for at once.
  async acted(sentence) {
    this.announce(sentence);
    this.reports.forget();
    this.view.release?.();
    this.pausedAt = null;
    await this.beat();
  }

  /// Tells a screen reader of a change of state, never a figure.
  announce(sentence) {
    const passed = performance.now() - this.#spokenAt;
    const place = document.getElementById("spoken");
    this.#spokenAt = Math.max(performance.now(), this.#spokenAt + spokenTime);
    setTimeout(
      () => {
        place.textContent = sentence;
      },
      Math.max(spokenTime - passed, 0),
    );
  }

  paint() {
    clearTimeout(this.#countdown);
    if (this.away !== null) this.#countdown = setTimeout(() => this.paint(), 1000);
    this.#frame.paint();
    const main = document.getElementById("main");
    const content = this.#content();
    if (content === null) return;
    show(main, this.#frame.banner(), content);
    const title = main.querySelector("h1");
    const place = centerName === "default" ? "Belfry" : `${centerName}, Belfry`;
    document.title = title === null ? place : `${title.textContent} · ${place}`;
    if (!this.#isFocusDue || title === null) return;
    this.#isFocusDue = false;
    const wanted = this.focusWhenShown?.(main) ?? main.querySelector("[data-first]") ?? title;
    this.focusWhenShown = null;
    wanted.focus({ preventScroll: wanted === title });
  }

  /// What stands in the page: the view, or why there is none. Null leaves what is there.
  #content() {
    if (this.wantsToken) return tokenQuestion();
    const error = this.viewRefused ?? (this.view.needsReading ? this.readingRefused : null);
    if (error?.status === 403) return forbidden(this, error);
    if (!this.hasCenter && (error?.status === 404 || this.view.needsReading)) return noCenter();
    if (error !== null) return refused(this, error);
    if (this.#data !== null) return this.view.content(this.#data);
    return this.away === null ? null : away(this);
  }
}

new Console().start();
