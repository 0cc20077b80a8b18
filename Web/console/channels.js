// Channels: each name, who observes it, how often it is posted, and what reached nobody.

import { ask, askIfAllowed } from "./broker.js";
import { copyButton, curl, placeOf } from "./copy.js";
import { nearlyDo } from "./explain.js";
import { List, pageSize } from "./list.js";
import { number } from "./observers.js";
import {
  body,
  channelLink,
  clientLink,
  code,
  empty,
  facts,
  head,
  named,
  notKnown,
  observerLink,
  quiet,
  sheet,
  since,
  state,
  table,
} from "./parts.js";
import { link, queryText } from "./route.js";
import { pageText } from "./snippets.js";
import { h } from "./tree.js";
import { count, isKnown, plural, rate } from "./words.js";

/// Milliseconds of which a rate is the mean.
const rateSpan = 12_000;

/// Rates of counters in rows, by what was read of them while the page is open.
class Rates {
  #readings = new Map();

  take(rows, time) {
    const names = new Set(rows.map(({ name }) => name));
    for (const name of this.#readings.keys()) if (!names.has(name)) this.#readings.delete(name);
    for (const row of rows) {
      const kept = this.#readings.get(row.name) ?? [];
      kept.push({ time, row });
      while (time - kept[0].time > rateSpan) kept.shift();
      this.#readings.set(row.name, kept);
    }
  }

  /// A second; null while there is only one reading.
  of(name, member) {
    const kept = this.#readings.get(name) ?? [];
    const [first, last] = [kept[0], kept.at(-1)];
    if (first === last || !isKnown(last.row[member])) return null;
    return Math.max(last.row[member] - first.row[member], 0) / ((last.time - first.time) / 1000);
  }
}

const rateCell = (rates, name, member, why) => {
  const value = rates.of(name, member);
  return value === null
    ? notKnown(why)
    : h("span", { class: value === 0 ? "zero" : null }, rate(value));
};
const early = "It takes two readings to tell a rate.";

export function openChannels(app, { query }) {
  const rates = new Rates();
  const list = new List(
    app,
    {
      view: "channels",
      title: "Channels",
      path: "channels",
      rows: "channels",
      id: ({ name }) => name,
      sort: "-posts",
      filter: ["contains", "Name contains …"],
      choices: () => [
        { text: "All", query: { contains: null } },
        { text: "Not heard", href: link("unheard") },
      ],
      acts: () => [h("a", { class: "btn main", href: link("post") }, "Post")],
      columns: [
        {
          head: "Name",
          cls: "nm",
          sorts: ["name"],
          cell: ({ name, posts }) => [
            channelLink(name),
            h("span", { class: "sub" }, plural(posts, "post")),
          ],
        },
        {
          head: "Observers",
          cls: "r",
          sorts: ["-observers"],
          cell: ({ observers }) => number(observers),
        },
        { head: "Posts/s", cls: "r", cell: ({ name }) => rateCell(rates, name, "posts", early) },
        {
          head: "Deliveries/s",
          cls: "r p3",
          cell: ({ name }) => rateCell(rates, name, "delivered", early),
        },
        { head: "Posts", cls: "r p2", sorts: ["-posts"], cell: ({ posts }) => number(posts) },
        {
          head: "Not heard",
          cls: "r p2",
          cell: ({ unmatched }) =>
            h("span", { class: unmatched > 0 ? "warnt" : "zero" }, count(unmatched)),
        },
        {
          head: "Last post",
          cls: "r",
          sorts: ["-age"],
          cell: ({ lastPostedAt }, { now }) => since(lastPostedAt, now),
        },
        {
          head: "",
          cls: "r p3",
          cell: ({ name }) =>
            h("a", { href: link("post", null, { name }), "aria-label": `Post ${name}` }, "Post"),
        },
      ],
      none: ({ contains }) =>
        contains
          ? [
              "No name contains this. Names are compared letter by letter. ",
              h("a", { href: link("channels") }, "Show all channels"),
              ".",
            ]
          : [
              "No channel yet: one comes into being with its first post or observer. ",
              h("a", { href: link("help") }, "Three steps"),
              " show how.",
            ],
    },
    query,
  );
  return {
    title: "Channels",
    async read() {
      const data = await list.read();
      rates.take(data.channels, Date.now());
      return data;
    },
    content: () => list.content(),
    release: () => list.release(),
    close: () => list.close(),
  };
}

/// One channel: its figures, and who observes it.
export function openChannel(app, { id: name }) {
  const rates = new Rates();
  return {
    title: name,
    async read() {
      const [{ channels }, { observers, next, total }, explained] = await Promise.all([
        ask("channels", { query: { name, limit: 1 } }),
        ask("observers", { query: { name, limit: pageSize } }),
        askIfAllowed("explain", { query: { name, limit: 1 } }),
      ]);
      rates.take(channels, Date.now());
      return { channel: channels[0], observers, next, total, near: explained?.near ?? [] };
    },
    content: ({ channel, observers, next, total, near }) =>
      h(
        "div",
        { key: `channel ${name}`, class: "stack" },
        head([code(name)], {
          crumb: ["channels", "Channels", code(name)],
          acts: [
            copyButton(
              () => curl(placeOf("events", queryText({ name })), { options: ["-N"] }),
              "Copy as curl",
            ),
            copyButton(() => pageText({ name }), "Copy as page"),
            h("a", { class: "btn", href: link("tail", null, { name }) }, "Observe"),
            h("a", { class: "btn", href: link("explain", null, { name }) }, "Explain"),
            h("a", { class: "btn main", href: link("post", null, { name }) }, "Post"),
          ],
          note: channelSentence(channel, observers),
        }),
        h(
          "div",
          { class: "grid" },
          channelFigures(channel, rates, app),
          channelObservers(observers, next, total, near, name),
        ),
      ),
  };
}

function channelSentence(channel, observers) {
  if (channel === undefined && observers.length === 0)
    return "Nobody posted it or observes it, as far as the broker remembers.";
  if (observers.length === 0) return "Nobody observes it.";
  if (channel === undefined || channel.posts === 0) return "It is observed, and was never posted.";
  return null;
}

function channelFigures(channel, rates, app) {
  const {
    name,
    posts = 0,
    delivered = 0,
    unmatched = 0,
    lastPostedAt,
    observers = 0,
  } = channel ?? {};
  return sheet(
    "Figures",
    { place: "s4" },
    body(
      facts(
        [
          ["Posts", count(posts)],
          ["Posts a second", rateCell(rates, name, "posts", early)],
          ["Deliveries", count(delivered)],
          ["Not heard", count(unmatched)],
          ["Observers", count(observers)],
          ["Last post", since(lastPostedAt, app.now)],
        ],
        "right",
      ),
    ),
  );
}

function channelObservers(observers, next, total, near, name) {
  if (observers.length === 0) {
    return sheet(
      "Who observes it",
      { place: "s8" },
      empty(
        "Nobody, by name. Observers of any name, or of its objects, get it all the same. ",
        near.length > 0
          ? [
              h("a", { href: link("explain", null, { name }) }, nearlyDo(near.length)),
              ": see what differs.",
            ]
          : "No observer has a name like it.",
      ),
    );
  }
  return sheet(
    "Who observes it",
    {
      place: "s8",
      note: [count(total ?? observers.length), next && !isKnown(total) && " and more", ", by name"],
      more: next && h("a", { href: link("observers", null, { name }) }, "All"),
    },
    table(
      `Observers of ${name}`,
      [["Observer"], ["Object"], ["Client", "p2"], ["State"], ["Delivered", "r p2"], ["Held", "r"]],
      observers.map(
        ({ id, object, client, principal, state: word, stateSince, delivered, held }) => ({
          key: id,
          cells: [
            observerLink(id),
            named(object),
            [clientLink(client), " ", quiet(principal)],
            state(word, stateSince),
            number(delivered),
            number(held),
          ],
        }),
      ),
    ),
  );
}
