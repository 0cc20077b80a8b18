// Observers, and those that look forgotten.

import { path } from "./broker.js";
import { Confirmation } from "./confirm.js";
import { List } from "./list.js";
import {
  button,
  clientLink,
  code,
  named,
  notKnown,
  observerLink,
  quiet,
  since,
  state,
} from "./parts.js";
import { ofOneCenter } from "./readings.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { capitalized, count, duration, isKnown, plural, spoken } from "./words.js";

export const number = (value) => h("span", { class: value === 0 ? "zero" : null }, count(value));

/// What an observer observes: its name, its value, or what it implements.
export function observed({ name, object, keyPath, implements: selectors }) {
  if (isKnown(keyPath)) return [quiet("value "), code(keyPath === "" ? "whole" : keyPath)];
  if (isKnown(selectors)) return [quiet("responds "), code(selectors.join(", ") || "nothing")];
  return named(name, isKnown(object) ? "any" : "any name");
}

/// When the lease ends, or how long it is while the client is there.
export function lease({ lease: seconds, leaseEndsAt, lifetime, state: word }, now) {
  if (lifetime === "connection") return quiet("connection");
  if (seconds === null) return quiet("for ever");
  if (isKnown(leaseEndsAt)) return `${duration(Date.parse(leaseEndsAt) - now)} left`;
  return word === "disconnected"
    ? notKnown("The broker does not tell when it ends.")
    : quiet(duration(seconds * 1000));
}

/// Asks before an observer is removed.
export const askToRemove = (app, confirmation, row, act = null) =>
  confirmation.ask({
    title: ["Remove ", code(row.id), "?"],
    told: [
      row.held > 0
        ? `${plural(row.held, "held notification")} ${row.held === 1 ? "goes" : "go"} with it. `
        : "Nothing is held for it. ",
      ...(isKnown(row.client) ? [code(row.client), " is told ("] : ["Its client is told ("]),
      code("belfry.removed"),
      app.me?.principal ? [", by ", code(app.me.principal)] : "",
      "), keeps its connection and its other observers, and may register again. This cannot " +
        "be undone.",
    ],
    verb: `Remove ${row.id}`,
    removes: path("observers", row.id),
    done: `${row.id} was removed`,
    ...act,
  });

const removeButton = (app, row, ask) =>
  app.may("admin") &&
  button("Remove…", () => ask(row), { class: "bare", "aria-label": `Remove ${row.id}…` });

const states = ["live", "slow", "asked", "disconnected"];

export function openObservers(app, { query }) {
  const confirmation = new Confirmation(app);
  const remove = (row) => askToRemove(app, confirmation, row);
  return new List(
    app,
    {
      view: "observers",
      title: "Observers",
      path: "observers",
      rows: "observers",
      id: ({ id }) => id,
      sort: "-held",
      filter: ["contains", "Id, name, object or principal contains …"],
      choices: (asked, { reading }) => [
        { text: "All", query: { state: null }, total: ofOneCenter(reading)?.observers?.count },
        ...states.map((word) => ({
          text: capitalized(word),
          query: { state: word },
        })),
        { text: "Forgotten", href: link("forgotten") },
      ],
      acts: () => [h("a", { class: "btn", href: link("tail") }, "Observe…")],
      above: () => confirmation.content(),
      columns: [
        {
          head: "Observer",
          sorts: ["-age", "age"],
          cell: (row) => [
            observerLink(row.id),
            h(
              "span",
              { class: "sub" },
              observed(row),
              isKnown(row.object) && [" of ", code(row.object)],
            ),
          ],
        },
        { head: "Name", cls: "nm p2", sorts: ["name"], cell: observed },
        { head: "Object", cls: "nm p3", cell: ({ object }) => named(object) },
        {
          head: "Client",
          cls: "nm p2",
          cell: ({ client, principal }) => [clientLink(client), " ", quiet(principal)],
        },
        { head: "State", cell: ({ state: word, stateSince }) => state(word, stateSince) },
        {
          head: "Delivered",
          cls: "r p2",
          sorts: ["-delivered"],
          cell: ({ delivered }) => number(delivered),
        },
        { head: "Held", cls: "r", sorts: ["-held"], cell: ({ held }) => number(held) },
        {
          head: "Dropped",
          cls: "r p3",
          sorts: ["-dropped"],
          cell: ({ dropped }) => number(dropped),
        },
        {
          head: "Last",
          cls: "r p3",
          cell: ({ lastDeliveredAt }, { now }) => since(lastDeliveredAt, now),
        },
        { head: "Lease", cls: "r p4", cell: (row, { now }) => lease(row, now) },
        { head: "", cls: "r p2", cell: (row) => removeButton(app, row, remove) },
      ],
      none: ({ contains, state: word }) =>
        contains || word
          ? [
              "No observer matches. ",
              h("a", { href: link("observers") }, "Show all observers"),
              ".",
            ]
          : [
              "Nobody observes anything in this center. An observer comes into being with ",
              code("POST /v1/observers"),
              ", an event stream, or ",
              code("addObserver"),
              " over the WebSocket; ",
              h("a", { href: link("help") }, "three steps"),
              " show how.",
            ],
    },
    query,
  );
}

const reasons = {
  disconnected: "its client is away for long",
  "never-looked": "nobody ever looked into its mailbox",
  duplicate: "its client has another one that is the same",
  "no-target": "nobody holds the address of its target",
};

/// Observers that look forgotten, by the leak report.
export function openForgotten(app, { query }) {
  const confirmation = new Confirmation(app);
  const remove = (row) => askToRemove(app, confirmation, row);
  return new List(
    app,
    {
      view: "forgotten",
      title: "Observers that look forgotten",
      path: "reports/leaks",
      rows: "observers",
      id: ({ id }) => id,
      note: () => [
        h("a", { href: link("observers") }, "All observers"),
        ". The report changes nothing; an observer that is forgotten ends with its lease.",
      ],
      above: () => confirmation.content(),
      columns: [
        {
          head: "Observer",
          cell: (row) => [observerLink(row.id), h("span", { class: "sub" }, observed(row))],
        },
        { head: "Name", cls: "nm p2", cell: observed },
        { head: "Object", cls: "nm p3", cell: ({ object }) => named(object) },
        {
          head: "Reason",
          cell: ({ reason }) => [
            h("span", { class: "warnt" }, spoken(reason)),
            " ",
            h("span", { class: "quiet p2" }, reasons[reason]),
          ],
        },
        { head: "Since", cls: "r", cell: ({ stateSince }, { now }) => since(stateSince, now) },
        {
          head: "Held",
          cls: "r",
          cell: ({ held }) =>
            isKnown(held) ? number(held) : notKnown("The report does not tell it."),
        },
        { head: "", cls: "r p2", cell: (row) => removeButton(app, row, remove) },
      ],
      none: () =>
        "No observer looks forgotten: each has a client, or one that was here lately, and " +
        "none is there twice.",
    },
    query,
  );
}
