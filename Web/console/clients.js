// Clients: the connections, streams and mailboxes that own observers.

import { ask, path, send } from "./broker.js";
import { copyButton, curl, placeOf } from "./copy.js";
import { Confirmation } from "./confirm.js";
import { List, pageSize } from "./list.js";
import { number, observed } from "./observers.js";
import {
  at,
  body,
  breakable,
  button,
  clientLink,
  clientState,
  code,
  empty,
  facts,
  head,
  named,
  notKnown,
  observerLink,
  ownMark,
  refusal,
  sheet,
  since,
  table,
} from "./parts.js";
import { clientCount, ofOneCenter } from "./readings.js";
import { link, queryText } from "./route.js";
import { h } from "./tree.js";
import {
  bytes,
  capitalized,
  count,
  date,
  isKnown,
  plural,
  stateName,
  transportNames,
} from "./words.js";

const unsent = ({ unsentBytes, state: word }) =>
  !isKnown(unsentBytes)
    ? notKnown("Not reported: another loop serves this socket.")
    : h(
        "span",
        { class: word === "slow" ? "warnt" : unsentBytes === 0 ? "zero" : null },
        bytes(unsentBytes),
      );

const askToRemove = (app, confirmation, row) =>
  confirmation.ask({
    title: ["Remove ", code(row.id), "?"],
    told: [
      `${plural(row.observers, "observer")} and ${plural(row.held, "held notification")} are ` +
        `removed with it. `,
      row.state === "disconnected"
        ? "The client cannot resume, and learns this when it tries. "
        : "Its connection is closed with code 4002. ",
      "The program can connect again as a new client. This cannot be undone.",
    ],
    verb: `Remove ${row.id}`,
    removes: path("clients", row.id),
    done: `${row.id} was removed`,
  });

/// Suspends or resumes a client. That can be undone, so it is not asked about.
async function suspend(app, row, isSuspended) {
  await send(path("clients", row.id), "PATCH", JSON.stringify({ suspended: isSuspended }));
  await app.acted(isSuspended ? `${row.id} was suspended` : `${row.id} was resumed`);
}

/// The two acts on a client; `failed` is told what was refused.
function actsOn(app, row, remove, failed, className) {
  if (!app.may("admin")) return [];
  const isAsked = row.state === "asked";
  return [
    button(isAsked ? "Resume" : "Suspend", () => suspend(app, row, !isAsked).catch(failed), {
      class: className,
      "aria-label": isAsked ? `Resume ${row.id}` : `Suspend ${row.id}`,
    }),
    button("Remove…", () => remove(row), {
      class: className,
      "aria-label": `Remove ${row.id}…`,
    }),
  ];
}

export function openClients(app, { query }) {
  const confirmation = new Confirmation(app);
  let refused = null;
  const failed = (error) => {
    refused = error;
    app.paint();
  };
  const remove = (row) => askToRemove(app, confirmation, row);
  const states = ["slow", "asked", "disconnected"];
  return new List(
    app,
    {
      view: "clients",
      title: "Clients",
      path: "clients",
      rows: "clients",
      id: ({ id }) => id,
      sort: "-held",
      isOwn: (row) => app.own.hasClient(row.id),
      ownCount: () => app.own.now().websocket + app.own.now().events,
      filter: ["contains", "Id or principal contains …"],
      choices: (asked, { reading }) => {
        const known = ofOneCenter(reading);
        return [
          { text: "All", query: { state: null }, total: known && clientCount(known) },
          { text: "Live", query: { state: "live" } },
          ...states.map((word) => ({
            text: capitalized(stateName(word)),
            query: { state: word },
            total: known?.clients?.[word],
          })),
        ];
      },
      above: () => [confirmation.content(), refused !== null && refusal(refused)],
      columns: [
        {
          head: "Client",
          sorts: ["-age", "age"],
          cell: ({ id, principal }) => [
            clientLink(id),
            ownMark(app.own.hasClient(id)),
            h("span", { class: "sub" }, principal),
          ],
        },
        { head: "Transport", cls: "p2", cell: ({ transport }) => transportNames[transport] },
        { head: "State", cell: ({ state: word, stateSince }) => clientState(word, stateSince) },
        {
          head: "State for",
          cls: "r p2",
          cell: ({ stateSince }, { now }) => since(stateSince, now),
        },
        {
          head: "Principal",
          cls: "nm p2",
          sorts: ["name"],
          cell: ({ principal }) => breakable(principal),
        },
        {
          head: "Observers",
          cls: "r p3",
          sorts: ["-observers"],
          cell: ({ observers }) => number(observers),
        },
        { head: "Held", cls: "r", sorts: ["-held"], cell: ({ held }) => number(held) },
        { head: "Unsent", cls: "r p2", cell: unsent },
        {
          head: "Connected for",
          cls: "r p4",
          cell: ({ connectedAt }, { now }) => since(connectedAt, now),
        },
        { head: "", cls: "r p2", cell: (row) => actsOn(app, row, remove, failed, "bare") },
      ],
      none: ({ contains, state: word }) =>
        contains || word
          ? ["No client matches. ", h("a", { href: link("clients") }, "Show all clients"), "."]
          : "No clients. A WebSocket, an event stream or a mailbox creates one.",
    },
    query,
  );
}

/// One client, with its observers. The API has no path for one client, so it is looked up in the
/// list.
export function openClient(app, { id }) {
  const confirmation = new Confirmation(app);
  let refused = null;
  const failed = (error) => {
    refused = error;
    app.paint();
  };
  return {
    title: id,
    async read() {
      const [{ clients }, { observers, next, total }] = await Promise.all([
        ask("clients", { query: { contains: id, limit: 100 } }),
        ask("observers", { query: { client: id, limit: pageSize } }),
      ]);
      return { client: clients.find((one) => one.id === id), observers, next, total };
    },
    content: ({ client, observers, next, total }) =>
      client === undefined
        ? h(
            "div",
            { key: `client ${id}`, class: "stack" },
            head(["No client ", code(id)], { crumb: ["clients", "Clients", id] }),
            h(
              "div",
              { class: "sheet" },
              empty(
                "It left or was removed with its observers, or it never existed. ",
                "Ids are never reused.",
              ),
            ),
          )
        : h(
            "div",
            { key: `client ${id}`, class: "stack" },
            head([code(id), " of ", breakable(client.principal), ownMark(app.own.hasClient(id))], {
              crumb: ["clients", "Clients", id],
              acts: [
                copyButton(
                  () => curl(placeOf("clients", queryText({ contains: id }))),
                  "Copy as curl",
                ),
                ...actsOn(app, client, (row) => askToRemove(app, confirmation, row), failed, null),
              ],
            }),
            confirmation.content(),
            refused !== null && refusal(refused),
            h(
              "div",
              { class: "grid" },
              clientFacts(client, app),
              clientObservers(id, observers, next, total),
            ),
          ),
  };
}

const clientFacts = (client, { now }) =>
  sheet(
    "Connection",
    { place: "s4" },
    body(
      facts([
        ["Transport", transportNames[client.transport]],
        ["State", clientState(client.state), " for ", since(client.stateSince, now)],
        ["Principal", code(client.principal)],
        ["Connected", at(client.connectedAt, date(client.connectedAt))],
        ["Observers", count(client.observers)],
        ["Held", count(client.held)],
        ["Unsent", unsent(client)],
      ]),
    ),
  );

function clientObservers(id, observers, next, total) {
  if (observers.length === 0) {
    return sheet(
      "Observers",
      { place: "s8" },
      empty("None. A client without observers can still post and ask."),
    );
  }
  return sheet(
    "Observers",
    {
      place: "s8",
      note: count(total ?? observers.length),
      more: next && h("a", { href: link("observers", null, { client: id }) }, "All"),
    },
    table(
      `Observers of ${id}`,
      [
        ["Observer"],
        ["Name", "nm"],
        ["Object", "nm p2"],
        ["Delivered", "r p2"],
        ["Held", "r"],
        ["Dropped", "r p2"],
      ],
      observers.map((row) => ({
        key: row.id,
        cells: [
          observerLink(row.id),
          observed(row),
          named(row.object),
          number(row.delivered),
          number(row.held),
          number(row.dropped),
        ],
      })),
    ),
  );
}
