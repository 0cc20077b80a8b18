// Recent activity: at first by the newest rows of the lists, then by the broker's own channels.

import { ask, ifAllowed } from "./broker.js";
import { at, clientLink, named, observerLink, ownMark } from "./parts.js";
import { h } from "./tree.js";
import { count, spoken, stateName, transportNames } from "./words.js";

const lineLimit = 50;
/// Rows of each list by which it begins.
const lookLimit = 12;
/// Like ones within this many milliseconds become one line.
const together = 2000;

/// For each channel: the sentence about one, and about many.
const sentences = {
  "belfry.client.connected": {
    one: ({ client, transport }) => [
      clientLink(client),
      ` connected, ${transportNames[transport]}`,
    ],
    many: (number) => `${number} clients connected`,
  },
  "belfry.client.suspended": {
    one: ({ client, reason }) => [
      clientLink(client),
      " was suspended: ",
      h("b", { class: reason === "slow" ? "warnt" : null }, stateName(reason)),
    ],
    many: (number, { reason }) => `${number} clients were suspended: ${stateName(reason)}`,
  },
  "belfry.client.resumed": {
    one: ({ client }) => [clientLink(client), " is live again"],
    many: (number) => `${number} clients are live again`,
  },
  "belfry.client.left": {
    one: ({ client, reason }) => [clientLink(client), ` left: ${spoken(reason)}`],
    many: (number, { reason }) => `${number} clients left: ${spoken(reason)}`,
  },
  "belfry.observer.expired": {
    one: ({ observer }) => [observerLink(observer), " expired (lease ended)"],
    many: (number) => `${number} observers expired (leases ended)`,
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
  // What was there when the page was opened, by the lists.
  registered: {
    one: ({ observer, of }) => [observerLink(observer), " observes ", named(of)],
    many: (number) => `${number} observers were registered`,
  },
  "belfry.center.willTerminate": {
    one: () => ["The broker is shutting down"],
    many: () => "The broker is shutting down",
  },
};

export class Feed {
  /// `{ key, name, userInfo, number, time }`, the newest first.
  lines = [];
  /// Why there is nothing to hear, or null.
  refused = null;
  #observerCount = 0;
  #app;
  #count = 0;
  #isPaintDue = false;

  constructor(app) {
    this.#app = app;
  }

  get isFollowing() {
    return this.#observerCount > 0 || this.refused !== null;
  }

  follow(center) {
    this.#lookBack().catch(ifAllowed);
    const names = Object.keys(sentences).filter((one) => one.startsWith("belfry."));
    this.#observerCount = names.length;
    const all = names.map((name) =>
      this.#app.own
        .observe(center, { name }, (notification) => this.#take(notification))
        .catch((error) => {
          this.#observerCount -= 1;
          this.refused = error.problem?.detail ?? error.message;
        }),
    );
    // The figures are those of others again as soon as it is known which are the page's.
    Promise.all(all).then(() => this.#app.beat());
  }

  /// Who came lately, as far as they are still there; the page's own observers are no news.
  async #lookBack() {
    const query = { sort: "-age", limit: lookLimit };
    const [{ clients }, { observers }] = await Promise.all([
      ask("clients", { query }),
      ask("observers", { query }),
    ]);
    const came = clients.map(({ id, transport, connectedAt }) => ({
      name: "belfry.client.connected",
      userInfo: { client: id, transport },
      time: Date.parse(connectedAt),
    }));
    const registered = observers
      .filter(({ name }) => !name?.startsWith("belfry."))
      .map(({ id, name, object, createdAt }) => ({
        name: "registered",
        userInfo: { observer: id, of: name ?? object },
        time: Date.parse(createdAt),
      }));
    const lines = [...came, ...registered].sort((left, right) => right.time - left.time);
    this.lines.push(...lines.map((line) => ({ key: this.#count++, number: 1, ...line })));
    this.#paintSoon();
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

  /// The newest lines as rows. That the page itself has connected is no news.
  rows(limit) {
    const isOwn = ({ number, userInfo }) =>
      number === 1 && this.#app.own.hasClient(userInfo.client);
    const news = this.lines.filter(
      (line) => line.name !== "belfry.client.connected" || !isOwn(line),
    );
    return news.slice(0, limit).map((line) => {
      const { key, name, userInfo, number, time } = line;
      const { one, many } = sentences[name];
      return h(
        "li",
        { key: `line ${key}` },
        at(time),
        h(
          "span",
          null,
          number === 1 ? one(userInfo) : many(number, userInfo),
          ownMark(isOwn(line)),
        ),
      );
    });
  }
}
