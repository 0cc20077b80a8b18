// Who answers when somebody asks, and which asks are open.

import { ask, path } from "./broker.js";
import { chain } from "./asking.js";
import { Confirmation } from "./confirm.js";
import { List } from "./list.js";
import { number } from "./observers.js";
import {
  breakable,
  button,
  clientState,
  code,
  empty,
  named,
  observerLink,
  ofPrincipal,
  quiet,
  sheet,
  since,
  state,
  table,
} from "./parts.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { count, duration, percent } from "./words.js";

/// Open asks that are shown, the oldest first.
const askLimit = 20;

export function openResponders(app, { query }) {
  const confirmation = new Confirmation(app);
  let asks = { asks: [] };
  const withdraw = ({ id, object, selector }) =>
    confirmation.ask({
      title: ["Withdraw ", code(selector), " at ", code(object), "?"],
      told:
        "The asking program learns that the ask was withdrawn, and the responder that no answer " +
        "is needed.",
      verb: `Withdraw ${selector}`,
      keep: "Keep waiting",
      removes: path("notifications", id),
      done: `${selector} was withdrawn`,
    });
  const list = new List(
    app,
    {
      view: "responders",
      title: "Responders and asks",
      path: "responders",
      rows: "responders",
      id: ({ id }) => id,
      filter: ["object", "Exact address"],
      note: () => "Programs that answer asks, and the asks that are open.",
      acts: () => [h("a", { class: "btn main", href: link("ask") }, "Ask")],
      above: () => [confirmation.content(), askSheet(asks, app, withdraw)],
      columns: [
        {
          head: "Address",
          cls: "nm",
          cell: ({ id, object }) => [
            breakable(object),
            h("span", { class: "sub" }, "responder ", observerLink(id)),
          ],
        },
        {
          head: "Responder",
          cls: "p2",
          cell: ({ id, principal }) => [observerLink(id), " ", ofPrincipal(principal)],
        },
        { head: "State", cell: ({ state: word, stateSince }) => clientState(word, stateSince) },
        {
          head: "Implements",
          cls: "nm p2",
          cell: ({ implements: selectors }) =>
            selectors.length === 0
              ? quiet("nothing")
              : selectors.map((one, place) => [
                  place > 0 && " ",
                  h("span", { class: "chip" }, one),
                ]),
        },
        { head: "Next", cls: "nm p3", cell: ({ next }) => named(next, "none") },
        {
          head: "Open asks",
          cls: "r",
          cell: ({ openAsks, concurrency }) =>
            h(
              "span",
              { class: openAsks === 0 ? "zero" : null },
              `${count(openAsks)} of ${count(concurrency)}`,
            ),
        },
        { head: "Asked", cls: "r p2", cell: ({ asked }) => number(asked) },
        {
          head: "Answered",
          cls: "r p2",
          cell: ({ asked, answered }) => (asked === 0 ? quiet("–") : percent(answered, asked)),
        },
        {
          head: "",
          cls: "r p4",
          cell: ({ object }) =>
            h("a", { href: link("ask", null, { object }), "aria-label": `Ask ${object}` }, "Ask"),
        },
      ],
      none: ({ object }) =>
        object
          ? "No responder matches."
          : [
              "No responders. Register one with ",
              code("respond"),
              " of a library, or with an observer that has ",
              code("implements"),
              ".",
            ],
    },
    query,
  );
  return {
    title: "Responders and asks",
    async read() {
      [asks] = await Promise.all([ask("asks", { query: { limit: askLimit } }), list.read()]);
      return asks;
    },
    content: () => list.content(),
    release: () => list.release(),
    close: () => list.close(),
  };
}

function askSheet({ asks, next, total }, app, withdraw) {
  if (asks.length === 0) return sheet("Open asks", {}, empty("No open asks."));
  const all = total ?? (next ? null : asks.length);
  return sheet(
    "Open asks",
    { note: `${all === null ? `the first ${asks.length}` : count(all)}, oldest first` },
    table(
      "Open asks, oldest first",
      [
        ["Ask", "nm"],
        ["Path", "nm p2"],
        ["State"],
        ["Asked", "r p2"],
        ["Answer by", "r p2"],
        ["", "r"],
      ],
      asks.map((row) => ({
        key: row.id,
        cells: [
          [breakable(row.selector), " ", quiet("at"), " ", breakable(row.object)],
          chain(row.path),
          state(row.state),
          since(row.askedAt, app.now),
          duration(Date.parse(row.answerBy) - app.now),
          button("Withdraw…", () => withdraw(row), {
            class: "bare",
            "aria-label": `Withdraw ${row.selector} at ${row.object}…`,
          }),
        ],
      })),
    ),
  );
}
