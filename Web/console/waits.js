// Three tables of the overview: who is not heard, what waits, what looks forgotten.

import { difference } from "./explain.js";
import { observed } from "./observers.js";
import {
  breakable,
  channelLink,
  code,
  empty,
  observerLink,
  quiet,
  sheet,
  since,
  table,
  third,
} from "./parts.js";
import { shownLimit } from "./reports.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { count, isKnown, spoken } from "./words.js";

/// What an observer waits for, in short.
const waitingFor = (row) =>
  isKnown(row.names ?? row.namePrefix)
    ? observed(row)
    : breakable(row.name ?? row.object ?? "any");

const all = (text, href) => h("a", { href }, text);

export function unheardSheet({ reports: { latest } }) {
  const rows = latest?.unheard?.postedNeverObserved;
  const options = { place: third, more: rows?.length > 0 && all("All", link("unheard")) };
  if (rows === undefined) return sheet("Posts without observers", options, empty(missing(latest)));
  if (rows.length === 0)
    return sheet(
      "Posts without observers",
      options,
      empty("None: every posted name has an observer."),
    );
  return sheet(
    "Posts without observers",
    options,
    table(
      "Posted names without an observer",
      [
        ["Name", "nm"],
        ["Posts", "r"],
        ["Near match", "nm"],
      ],
      rows.slice(0, shownLimit).map(({ name, posts }) => {
        const near = latest.nearest.get(name);
        return {
          key: name,
          cells: [
            channelLink(name),
            count(posts),
            near
              ? h("a", { href: link("explain", null, { name }) }, nearName(near, name))
              : quiet("none"),
          ],
        };
      }),
    ),
  );
}

const nearName = (near, name) =>
  near.reason === "object-differs" ? "other object" : difference(near.name, name);

function missing(latest) {
  return latest === null ? "Loading …" : "Your token has no permission to see this.";
}

/// How many rows a page has, which may not be the last one.
const atLeast = ({ next }, rows) => `${count(rows.length)}${next ? " and more" : ""}`;

export function waitingSheet({ reports: { latest }, now }) {
  const held = (latest?.waiting?.observers ?? []).filter((row) => row.held > 0);
  const entries = latest?.queue?.entries ?? [];
  const asks = latest?.asks?.asks ?? [];
  const options = {
    place: third,
    more: held.length > 0 && all("All", link("observers", null, { sort: "-held" })),
  };
  if (latest === null || latest.waiting === null)
    return sheet("Waiting", options, empty(missing(latest)));
  const rows = [
    ...held
      .slice(0, shownLimit - Math.min(entries.length, 1) - Math.min(asks.length, 1))
      .map((row) => ({
        key: row.id,
        cells: [
          [observerLink(row.id), " ", waitingFor(row)],
          `${count(row.held)} held`,
          since(row.stateSince, now),
        ],
      })),
    ...entries.slice(0, 1).map(({ enqueuedAt }) => ({
      key: "queue",
      cells: [
        ["mode ", h("a", { href: link("queue") }, code(latest.queue.entries[0].modes[0]))],
        `${atLeast(latest.queue, entries)} queued`,
        since(enqueuedAt, now),
      ],
    })),
    ...asks.slice(0, 1).map(({ selector, object, askedAt }) => ({
      key: "ask",
      cells: [
        [h("a", { href: link("responders") }, breakable(selector)), " at ", breakable(object)],
        `${atLeast(latest.asks, asks)} ${asks.length === 1 ? "ask" : "asks"}`,
        since(askedAt, now),
      ],
    })),
  ];
  if (rows.length === 0)
    return sheet(
      "Waiting",
      options,
      empty("Nothing: no held notifications, queued posts or open asks."),
    );
  return sheet(
    "Waiting",
    options,
    table(
      "Held notifications, queued posts and open asks",
      [
        ["Waiting for", "nm"],
        ["Amount", "r"],
        ["Since", "r"],
      ],
      rows,
    ),
  );
}

export function forgottenSheet({ reports: { latest }, now }) {
  const rows = latest?.leaks?.observers;
  const options = {
    place: third,
    note: rows?.length > 0 && "From the leak report",
    more: rows?.length > 0 && all("All", link("forgotten")),
  };
  if (rows === undefined) return sheet("Possibly abandoned", options, empty(missing(latest)));
  if (rows.length === 0)
    return sheet(
      "Possibly abandoned",
      options,
      empty("None: the client of every observer is connected, or was recently."),
    );
  return sheet(
    "Possibly abandoned",
    options,
    table(
      "Observers that look abandoned",
      [["Observer", "nm"], ["Reason"], ["Since", "r"]],
      rows.slice(0, shownLimit).map(({ id, name, object, reason, stateSince }) => ({
        key: id,
        cells: [
          [observerLink(id), name || object ? [" ", breakable(name ?? object)] : ""],
          spoken(reason),
          since(stateSince, now),
        ],
      })),
    ),
  );
}
