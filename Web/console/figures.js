// Three sheets of the overview: connections, memory, and what else has limits.

import { address } from "./broker.js";
import { copyButton, curl } from "./copy.js";
import { bar, meter, swatch } from "./charts.js";
import { at, body, facts, icon, quiet, sheet, state, third } from "./parts.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { bytes, count, date, isKnown } from "./words.js";

export function connectionSheet({ reading }) {
  const { connections, clients } = reading;
  const { websocket, events, mailbox } = clients;
  const of = connections.limit || connections.open || 1;
  const shares = [
    [websocket / of, "f"],
    [events / of, "f2"],
  ];
  return sheet(
    "Connections",
    { place: third },
    h(
      "div",
      { class: "body stack" },
      h(
        "div",
        { class: "meter" },
        h("span", null, "All, with this page"),
        h(
          "span",
          { class: "val" },
          h("b", null, count(connections.open)),
          " ",
          h(
            "span",
            { class: "lim" },
            connections.limit ? `of ${count(connections.limit)}` : "no limit",
          ),
        ),
        bar(shares),
      ),
      facts(
        [
          [[swatch("f"), "WebSocket"], count(websocket)],
          [[swatch("f2"), "Event streams"], count(events)],
          ["Mailboxes (no connection)", count(mailbox)],
          [
            "Disconnected clients",
            h(
              "a",
              { href: link("clients", null, { state: "disconnected" }) },
              count(clients.disconnected),
            ),
          ],
          [
            "Slow clients",
            h("a", { href: link("clients", null, { state: "slow" }) }, count(clients.slow)),
          ],
        ],
        "right",
      ),
    ),
  );
}

export function memorySheet({ reading }) {
  const { held, unsent, queue, values, timers } = reading;
  const kinds = [
    ["Held", held.bytes, held.limitBytes],
    ["Unsent", unsent.bytes, unsent.limitBytes],
    ["Queue", queue.bytes, queue.limitBytes],
    ["Values", values.bytes, values.limitBytes],
    ["Timers", timers.bytes, timers.limitBytes],
  ];
  return sheet(
    "Memory",
    { place: third, note: "By kind, with its limit" },
    body(
      h(
        "div",
        { class: "meters" },
        kinds
          .filter(([, value]) => isKnown(value))
          .map(([name, value, limit]) => meter(name, value, limit, bytes)),
      ),
    ),
  );
}

export function storeSheet({ reading }) {
  const { store, certificate, observers, centers, dropped } = reading;
  const lost = Object.entries(dropped)
    .filter(([, value]) => value > 0)
    .map(([word, value]) => `${count(value)} ${word}`)
    .join(", ");
  return sheet(
    "Store, limits and losses",
    {
      place: third,
      more: copyButton(() => curl(`${address}/v1/overview`), "Copy as curl", { class: "bare" }),
    },
    body(
      facts(
        [
          [
            "Store",
            store === null
              ? quiet("none (in memory)")
              : store.accepts
                ? h("span", { class: "st live" }, icon("live"), "accepting writes")
                : h("span", { class: "st bad" }, icon("cross"), "refusing writes"),
          ],
          store ? ["Commits", count(store.commits)] : null,
          store
            ? [
                "Failures",
                h("span", { class: store.failures > 0 ? "badt" : null }, count(store.failures)),
              ]
            : null,
          store ? ["Pending answers", count(store.waiting)] : null,
          [
            "Certificate",
            certificate?.notAfter
              ? ["until ", at(certificate.notAfter, date(certificate.notAfter))]
              : quiet("none (plain HTTP)"),
          ],
          [
            "Observers",
            count(observers.count),
            observers.limit ? quiet(` of ${count(observers.limit)}`) : "",
          ],
          [
            "Centers",
            count(centers.count),
            centers.limit ? quiet(` of ${count(centers.limit)}`) : "",
          ],
          ["Lost since start", lost || quiet("nothing")],
        ],
        "right",
      ),
    ),
  );
}
