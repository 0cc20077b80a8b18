// Observers, and those that look abandoned.

import { path } from "./broker.js";
import { Confirmation } from "./confirm.js";
import { List } from "./list.js";
import {
  breakable,
  button,
  clientLink,
  clientState,
  code,
  named,
  notKnown,
  observerLink,
  ofPrincipal,
  ownMark,
  quiet,
  since,
} from "./parts.js";
import { ofOneCenter } from "./readings.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { capitalized, count, duration, isKnown, plural, spoken, stateName } from "./words.js";

export const number = (value) => h("span", { class: value === 0 ? "zero" : null }, count(value));

/// What an observer observes: its name or names, its value, or what it implements.
export function observed(row) {
  const { name, names, namePrefix, object, objectPrefix, keyPath, implements: selectors } = row;
  if (keyPath === "") return quiet("whole value");
  if (isKnown(keyPath)) return [quiet("value at "), breakable(keyPath)];
  if (isKnown(selectors))
    return [quiet("responds to "), breakable(selectors.join(", ") || "nothing")];
  if (isKnown(names)) return breakable(names.join(", "));
  if (isKnown(namePrefix)) return beginning("names", namePrefix);
  return named(name, isKnown(object ?? objectPrefix) ? "any" : "any name");
}

const beginning = (what, prefix) => [quiet(`${what} that begin with `), breakable(prefix)];

/// The object of an observer, or those that begin alike.
export const observedObject = ({ object, objectPrefix }) =>
  isKnown(objectPrefix) ? beginning("objects", objectPrefix) : named(object);

/// The same behind what it observes; nothing where any object will do.
export const ofObject = (row) =>
  isKnown(row.object ?? row.objectPrefix) && [" of ", observedObject(row)];

/// The condition of an observer, if it has one.
export const condition = ({ where }) => isKnown(where) && code(JSON.stringify(where));

/// What an observer is registered for, whole.
export const filterOf = (row) => [
  observed(row),
  ofObject(row),
  isKnown(row.where) && [" where ", condition(row)],
];

/// When the lease ends, or how long it is while the client is there.
export function lease({ lease: seconds, leaseEndsAt, lifetime, state: word }, now) {
  if (lifetime === "connection") return quiet("connection");
  if (seconds === null) return quiet("no expiry");
  if (isKnown(leaseEndsAt)) return `${duration(Date.parse(leaseEndsAt) - now)} left`;
  return word === "disconnected"
    ? notKnown("The broker does not report when the lease ends.")
    : quiet(duration(seconds * 1000));
}

/// Asks before an observer is removed.
export const askToRemove = (app, confirmation, row, act = null) =>
  confirmation.ask({
    title: ["Remove ", code(row.id), "?"],
    told: [
      row.held > 0
        ? `${plural(row.held, "held notification")} ${row.held === 1 ? "is" : "are"} removed ` +
          "with it. "
        : "No notifications are held for it. ",
      isKnown(row.client) ? code(row.client) : "Its client",
      " is notified (",
      code("belfry.removed"),
      app.me?.principal ? [", by ", code(app.me.principal)] : "",
      "), keeps its connection and other observers, and can register again. This cannot be " +
        "undone.",
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
      isOwn: (row) => app.own.hasObserver(row.id),
      ownCount: () => app.own.now().observers,
      filter: ["contains", "Id, name, object or principal contains …"],
      choices: (asked, { reading }) => [
        { text: "All", query: { state: null }, total: ofOneCenter(reading)?.observers?.count },
        ...states.map((word) => ({
          text: capitalized(stateName(word)),
          query: { state: word },
        })),
        { text: "Abandoned", href: link("forgotten") },
      ],
      acts: () => [h("a", { class: "btn", href: link("tail") }, "Observe…")],
      above: () => confirmation.content(),
      columns: [
        {
          head: "Observer",
          sorts: ["-age", "age"],
          cell: (row) => [
            observerLink(row.id),
            ownMark(app.own.hasObserver(row.id)),
            h("span", { class: "sub" }, filterOf(row)),
          ],
        },
        {
          head: "Name",
          cls: "nm p2",
          sorts: ["name"],
          cell: (row) => [observed(row), isKnown(row.where) && quiet(" with a condition")],
        },
        { head: "Object", cls: "nm p3", cell: observedObject },
        {
          head: "Client",
          cls: "nm p2",
          cell: ({ client, principal }) => [clientLink(client), " ", ofPrincipal(principal)],
        },
        { head: "State", cell: ({ state: word, stateSince }) => clientState(word, stateSince) },
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
          head: "Last delivery",
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
              "This center has no observers. Register one with ",
              code("POST /v1/observers"),
              ", an event stream, or ",
              code("addObserver"),
              " over a WebSocket: ",
              h("a", { href: link("help") }, "see three steps"),
              ".",
            ],
    },
    query,
  );
}

const reasons = {
  disconnected: "its client has been away for a long time",
  "never-looked": "its mailbox was never read",
  duplicate: "its client has an identical observer",
  "no-target": "no responder is registered at its target",
};

/// Observers that look abandoned, by the leak report.
export function openForgotten(app, { query }) {
  const confirmation = new Confirmation(app);
  const remove = (row) => askToRemove(app, confirmation, row);
  return new List(
    app,
    {
      view: "forgotten",
      title: "Observers that look abandoned",
      path: "reports/leaks",
      rows: "observers",
      id: ({ id }) => id,
      note: () => [
        h("a", { href: link("observers") }, "All observers"),
        ". This report changes nothing; an abandoned observer expires with its lease.",
      ],
      above: () => confirmation.content(),
      columns: [
        {
          head: "Observer",
          cell: (row) => [observerLink(row.id), h("span", { class: "sub" }, observed(row))],
        },
        { head: "Name", cls: "nm p2", cell: observed },
        { head: "Object", cls: "nm p3", cell: observedObject },
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
            isKnown(held) ? number(held) : notKnown("Not in the report."),
        },
        { head: "", cls: "r p2", cell: (row) => removeButton(app, row, remove) },
      ],
      none: () =>
        "No observer looks abandoned.",
    },
    query,
  );
}
