// Channels: each name, who observes it, how often it is posted, and what reached nobody.

import { ask, askIfAllowed } from "./broker.js";
import { copyButton, curl, placeOf } from "./copy.js";
import { nearMatches } from "./explain.js";
import { List, pageSize } from "./list.js";
import { number } from "./observers.js";
import {
  body,
  breakable,
  channelLink,
  clientLink,
  clientState,
  code,
  empty,
  facts,
  head,
  named,
  notKnown,
  observerLink,
  ofPrincipal,
  ownMark,
  sheet,
  since,
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
const early = "A rate needs two readings.";

export function openChannels(app, { query }) {
  const rates = new Rates();
  const isOwn = ({ name, observers }) =>
    app.own.countOf(name) > 0 && app.own.matching(name) === observers;
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
      isOwn,
      prepare: (rows) => app.selectors.read(rows),
      leavesOut: (row) => app.selectors.has(row),
      leftOut: (number) => `${plural(number, "selector")} of responders not listed`,
      choices: () => [
        { text: "All", query: { contains: null } },
        { text: "Unmatched", href: link("unheard") },
      ],
      acts: () => [h("a", { class: "btn main", href: link("post") }, "Post")],
      columns: [
        {
          head: "Name",
          cls: "nm",
          sorts: ["name"],
          cell: ({ name, posts, observers }) => [
            channelLink(name),
            ownMark(isOwn({ name, observers })),
            h("span", { class: "sub" }, plural(posts, "post")),
          ],
        },
        {
          head: "Observers",
          cls: "r",
          sorts: ["-observers"],
          cell: ({ name, observers }) => number(Math.max(observers - app.own.matching(name), 0)),
        },
        { head: "Posts/s", cls: "r p2", cell: ({ name }) => rateCell(rates, name, "posts", early) },
        {
          head: "Deliveries/s",
          cls: "r p3",
          cell: ({ name }) => rateCell(rates, name, "delivered", early),
        },
        { head: "Posts", cls: "r p2", sorts: ["-posts"], cell: ({ posts }) => number(posts) },
        {
          head: "Unmatched",
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
              "No channel name contains this text; upper and lower case differ. ",
              h("a", { href: link("channels") }, "Show all channels"),
              ".",
            ]
          : [
              "No channels yet. The first post or observer of a name creates its channel: ",
              h("a", { href: link("help") }, "see three steps"),
              ".",
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
        head([breakable(name)], {
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
          channelObservers(observers, next, total, near, name, app.own),
        ),
      ),
  };
}

function channelSentence(channel, observers) {
  if (channel === undefined && observers.length === 0)
    return "Not posted and not observed, as far as the broker remembers.";
  if (observers.length === 0) return "No observers.";
  if (channel === undefined || channel.posts === 0) return "Observed, but never posted.";
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
          ["Posts per second", rateCell(rates, name, "posts", early)],
          ["Deliveries", count(delivered)],
          ["Unmatched", count(unmatched)],
          ["Observers", count(observers)],
          ["Last post", since(lastPostedAt, app.now)],
        ],
        "right",
      ),
    ),
  );
}

function channelObservers(observers, next, total, near, name, own) {
  if (observers.length === 0) {
    return sheet(
      "Observers",
      { place: "s8" },
      empty(
        "No observer of this name (observers of any name, or of its beginning, still get it). ",
        near.length > 0
          ? [h("a", { href: link("explain", null, { name }) }, nearMatches(near.length)), "."]
          : "No observer has a similar name.",
      ),
    );
  }
  return sheet(
    "Observers",
    {
      place: "s8",
      note: [
        count(total ?? observers.length),
        next && !isKnown(total) && " and more",
        " of this name",
      ],
      more: next && h("a", { href: link("observers", null, { name }) }, "All"),
    },
    table(
      `Observers of ${name}`,
      [["Observer"], ["Object"], ["Client", "p2"], ["State"], ["Delivered", "r p2"], ["Held", "r"]],
      observers.map(
        ({ id, object, client, principal, state: word, stateSince, delivered, held }) => ({
          key: id,
          cells: [
            [observerLink(id), ownMark(own.hasObserver(id))],
            named(object),
            [clientLink(client), " ", ofPrincipal(principal)],
            clientState(word, stateSince),
            number(delivered),
            number(held),
          ],
        }),
      ),
    ),
  );
}
