// Three tables of the overview: who is not heard, what waits, what looks forgotten.

import { difference } from "./explain.js";
import {
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
import { count, spoken } from "./words.js";

const all = (text, href) => h("a", { href }, text);

export function unheardSheet({ reports: { latest } }) {
  const rows = latest?.unheard?.postedNeverObserved;
  const options = { place: third, more: rows?.length > 0 && all("All", link("unheard")) };
  if (rows === undefined) return sheet("Who is not heard", options, empty(missing(latest)));
  if (rows.length === 0)
    return sheet(
      "Who is not heard",
      options,
      empty("Nobody: each name that was posted is observed."),
    );
  return sheet(
    "Who is not heard",
    options,
    table(
      "Names that nobody observes",
      [
        ["Name", "nm"],
        ["Posts", "r"],
        ["Nearest", "nm"],
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
  near.reason === "object-differs" ? "another object" : difference(near.name, name);

function missing(latest) {
  return latest === null ? "Asking …" : "Your token may not see this.";
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
    return sheet("What waits", options, empty(missing(latest)));
  const rows = [
    ...held
      .slice(0, shownLimit - Math.min(entries.length, 1) - Math.min(asks.length, 1))
      .map((row) => ({
        key: row.id,
        cells: [
          [observerLink(row.id), " ", code(row.name ?? row.object ?? "any")],
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
        [h("a", { href: link("responders") }, code(selector)), " at ", code(object)],
        `${atLeast(latest.asks, asks)} ${asks.length === 1 ? "ask" : "asks"}`,
        since(askedAt, now),
      ],
    })),
  ];
  if (rows.length === 0)
    return sheet(
      "What waits",
      options,
      empty("Nothing: no notification is held, no post is queued, no ask is open."),
    );
  return sheet(
    "What waits",
    options,
    table(
      "What waits, and since when",
      [
        ["Waits for", "nm"],
        ["What", "r"],
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
    note: rows?.length > 0 && "By the leak report",
    more: rows?.length > 0 && all("All", link("forgotten")),
  };
  if (rows === undefined) return sheet("What looks forgotten", options, empty(missing(latest)));
  if (rows.length === 0)
    return sheet(
      "What looks forgotten",
      options,
      empty("Nothing: each observer has a client, or one that was here lately."),
    );
  return sheet(
    "What looks forgotten",
    options,
    table(
      "Observers that look forgotten",
      [["Observer", "nm"], ["Reason"], ["Since", "r"]],
      rows.slice(0, shownLimit).map(({ id, name, object, reason, stateSince }) => ({
        key: id,
        cells: [
          [observerLink(id), name || object ? [" ", code(name ?? object)] : ""],
          spoken(reason),
          since(stateSince, now),
        ],
      })),
    ),
  );
}
