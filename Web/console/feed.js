// What happened: the broker's own channels, as sentences.

import { at, clientLink, observerLink } from "./parts.js";
import { h } from "./tree.js";
import { count } from "./words.js";

const lineLimit = 50;
/// Like ones within this many milliseconds become one line.
const together = 2000;

const transports = { websocket: "WebSocket", events: "event stream", mailbox: "mailbox" };

/// For each channel: the sentence about one, and about many.
const sentences = {
  "belfry.client.connected": {
    one: ({ client, transport }) => [clientLink(client), ` connected, ${transports[transport]}`],
    many: (number) => `${number} clients connected`,
  },
  "belfry.client.suspended": {
    one: ({ client, reason }) => [
      clientLink(client),
      " was suspended: ",
      h("b", { class: reason === "slow" ? "warnt" : null }, reason),
    ],
    many: (number, { reason }) => `${number} clients were suspended: ${reason}`,
  },
  "belfry.client.resumed": {
    one: ({ client }) => [clientLink(client), " is live again"],
    many: (number) => `${number} clients are live again`,
  },
  "belfry.client.left": {
    one: ({ client, reason }) => [clientLink(client), ` left: ${reason}`],
    many: (number, { reason }) => `${number} clients left: ${reason}`,
  },
  "belfry.observer.expired": {
    one: ({ observer }) => [observerLink(observer), " expired, its lease was over"],
    many: (number) => `${number} observers expired, their leases were over`,
  },
  "belfry.queue.overflowed": {
    one: ({ entries }) => [
      "The queue is full: ",
      h("b", { class: "badt" }, count(entries)),
      " entries",
    ],
    many: () => "The queue is full again",
  },
  "belfry.center.didStart": {
    one: ({ unclean }) => [unclean ? "The broker started after a crash" : "The broker started"],
    many: () => "The broker started",
  },
  "belfry.center.willTerminate": {
    one: () => ["The broker is about to stop"],
    many: () => "The broker is about to stop",
  },
};

export class Feed {
  /// `{ key, name, userInfo, number, time }`, the newest first.
  lines = [];
  /// Why there is nothing to hear, or null.
  refused = null;
  /// How many observers this page has for it at the broker.
  observerCount = 0;
  #app;
  #count = 0;
  #isPaintDue = false;

  constructor(app) {
    this.#app = app;
  }

  get isFollowing() {
    return this.observerCount > 0 || this.refused !== null;
  }

  follow(center) {
    for (const name of Object.keys(sentences)) {
      this.observerCount += 1;
      center
        .addObserver({ name }, (notification) => this.#take(notification))
        .catch((error) => {
          this.observerCount -= 1;
          this.refused = error.problem?.detail ?? error.message;
        });
    }
  }

  #take({ name, userInfo, postedAt }) {
    const time = Date.parse(postedAt);
    const [last] = this.lines;
    const isLike =
      last?.name === name &&
      last.userInfo?.reason === userInfo?.reason &&
      time - last.time < together;
    if (isLike) Object.assign(last, { number: last.number + 1, time });
    else {
      this.lines.unshift({ key: this.#count++, name, userInfo: userInfo ?? {}, number: 1, time });
      this.lines.length = Math.min(this.lines.length, lineLimit);
    }
    this.#paintSoon();
  }

  /// Many that come together are painted once.
  #paintSoon() {
    if (this.#isPaintDue || this.#app.route.view !== "overview" || this.#app.pausedAt !== null)
      return;
    this.#isPaintDue = true;
    setTimeout(() => {
      this.#isPaintDue = false;
      if (!document.hidden) this.#app.paint();
    }, 500);
  }

  /// The newest lines as rows.
  rows(limit) {
    return this.lines.slice(0, limit).map(({ key, name, userInfo, number, time }) => {
      const { one, many } = sentences[name];
      return h(
        "li",
        { key: `line ${key}` },
        at(time),
        h("span", null, number === 1 ? one(userInfo) : many(number, userInfo)),
      );
    });
  }
}
