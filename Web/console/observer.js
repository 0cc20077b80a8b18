// One observer: what it got, what it lost, how it was registered; or who removed it, and why.

import { ask, path } from "./broker.js";
import { plot, plotPlace, sample } from "./charts.js";
import { Confirmation } from "./confirm.js";
import { copyButton, curl, placeOf } from "./copy.js";
import {
  askToRemove,
  condition,
  filterOf,
  lease,
  observed,
  observedObject,
  ofObject,
} from "./observers.js";
import {
  at,
  body,
  breakable,
  button,
  clientLink,
  code,
  facts,
  head,
  icon,
  named,
  notKnown,
  ownMark,
  quiet,
  sheet,
  sums,
  table,
} from "./parts.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import {
  age,
  capitalized,
  count,
  date,
  duration,
  isKnown,
  plural,
  rate,
  spoken,
  stateName,
} from "./words.js";

/// Readings of its figures that are kept while the page is open: ten minutes.
const figureLimit = 300;

const pills = {
  live: ["good", "live"],
  slow: ["warn", "slow"],
  asked: ["", "asked"],
  disconnected: ["", "gone"],
};

/// Why each state is as it is, in words.
const stateWords = {
  live: () => "Its client is connected and reading.",
  slow: () => "Its client is not reading. New notifications follow its suspension behavior.",
  asked: () => "The client, or an administrator, paused delivery.",
  disconnected: () => "Its client is disconnected, or its mailbox is not being read.",
};

const behaviours = {
  drop: "new notifications are dropped",
  coalesce: "the latest of each name and object is held",
  hold: "new notifications are held",
  deliverImmediately: "notifications are delivered anyway",
};

export function openObserver(app, { id }) {
  const confirmation = new Confirmation(app);
  const figures = [];
  const place = path("observers", id);
  return {
    title: id,
    async read() {
      try {
        const row = await ask(place);
        const { delivered, held } = row;
        figures.push({ time: Date.now(), delivered, held });
        if (figures.length > figureLimit) figures.shift();
        return { row };
      } catch (error) {
        if (error.status !== 410) throw error;
        return { gone: error.problem };
      }
    },
    content: ({ row, gone }) =>
      row === undefined
        ? tombstone(id, gone, app)
        : h(
            "div",
            { key: `observer ${id}`, class: "stack" },
            heading(row, app, place, () => askToRemove(app, confirmation, row)),
            confirmation.content(),
            h(
              "div",
              { class: "grid" },
              gotSheet(row, figures, app),
              registration(row, app),
              lostSheet(row),
              askSheet(row),
            ),
          ),
  };
}

function heading(row, app, place, remove) {
  const { id, state, stateSince, client } = row;
  const [level, shape] = pills[state];
  return [
    head(
      [code(id), " observes ", observed(row), ofObject(row)],
      {
        crumb: ["observers", "Observers", id],
        acts: [
          copyButton(() => curl(placeOf(place)), "Copy as curl"),
          app.may("admin") && button("Remove…", remove, { class: "badl" }),
        ],
      },
    ),
    h(
      "p",
      { class: "rowf" },
      h(
        "span",
        { class: `pill ${level}` },
        icon(shape),
        `${capitalized(stateName(state))} for ${age(stateSince, app.now)}`,
      ),
      h("span", { class: "quiet" }, clientLink(client), ". ", stateWords[state]()),
    ),
  ];
}

function gotSheet(row, figures, app) {
  const { delivered, held, coalesced, dropped } = row;
  const pairs = [
    ["delivered", count(delivered)],
    ["held", count(held)],
    ["coalesced", count(coalesced)],
    ["dropped", count(dropped)],
  ];
  if (isKnown(row.asked))
    pairs.push(["asked", count(row.asked)], ["answered", count(row.answered)]);
  return h(
    "section",
    { class: "sheet s8" },
    h("header", null, h("h2", null, "Delivery")),
    h(
      "div",
      { class: "body stack" },
      sums(pairs),
      plotPlace(app, (width) =>
        figures.length > 2
          ? rateOf(figures, width)
          : h("p", { class: "quiet" }, "Rate is measured while this page is open."),
      ),
    ),
  );
}

function rateOf(figures, width) {
  const times = figures.slice(1).map(({ time }) => time);
  const rates = figures
    .slice(1)
    .map(
      ({ time, delivered }, before) =>
        Math.max(delivered - figures[before].delivered, 0) / ((time - figures[before].time) / 1000),
    );
  const holds = figures.slice(1).map(({ held }) => held);
  const span = duration(times.at(-1) - times[0]);
  return [
    plot({
      width,
      times,
      series: [
        { name: "Held", className: "other", values: holds },
        { name: "Delivered per second", className: "deliv", values: rates },
      ],
      sentence: `Last ${span}: ${rate(rates.at(-1))} delivered per second, ${holds.at(-1)} held.`,
    }),
    h(
      "ul",
      { class: "key" },
      h("li", null, sample("deliv"), "Delivered per second"),
      h("li", null, sample("other"), "Held"),
      h("li", { class: "quiet" }, `since this page was opened, ${span}`),
    ),
  ];
}

/// The names of an observer, of which one of a value has none.
const names = (row) =>
  isKnown(row.names ?? row.namePrefix) ? observed(row) : named(row.name);

function registration(row, app) {
  const { object, selector, target, client, principal } = row;
  return h(
    "section",
    { class: "sheet s4" },
    h("header", null, h("h2", null, "Registration")),
    body(
      facts([
        isKnown(row.implements) ? ["Address", named(object)] : ["Name", names(row)],
        isKnown(row.implements)
          ? ["Implements", breakable(row.implements.join(", ") || "nothing")]
          : ["Object", observedObject(row)],
        isKnown(row.where) ? ["Condition", condition(row)] : null,
        isKnown(row.keyPath) ? ["Key path", named(row.keyPath || null, "whole value")] : null,
        isKnown(row.next) ? ["Next", breakable(row.next)] : null,
        isKnown(target) ? ["Target", code(target)] : null,
        ["Selector", named(selector, "none")],
        ["Client", clientLink(client), ", ", principal, ownMark(app.own.hasObserver(row.id))],
        [
          "While suspended",
          code(row.suspensionBehavior),
          " ",
          quiet(behaviours[row.suspensionBehavior]),
        ],
        ["Hold limit", count(row.holdLimit)],
        ["Acknowledges", row.acknowledge ? "yes" : "no"],
        row.minInterval > 0
          ? ["Rate limit", `one per ${row.minInterval} s for each name and object`]
          : null,
        ["Lease", lease(row, app.now)],
        ["Registered", at(row.createdAt, date(row.createdAt))],
      ]),
    ),
  );
}

/// Its last gaps, the newest first.
function lostSheet(row) {
  const { gaps } = row;
  if (gaps === undefined || gaps.length === 0) {
    const lost = row.dropped + row.coalesced;
    return sheet(
      "Losses",
      { place: "s6" },
      body(
        h(
          "p",
          { class: "quiet" },
          lost === 0
            ? "None: every matching notification was delivered or is held."
            : `${plural(lost, "notification")} so far; its client receives each gap.`,
        ),
      ),
    );
  }
  return sheet(
    "Losses",
    { place: "s6", note: "Its client received each gap" },
    table(
      "Gaps, the newest first",
      [["Reported"], ["Reason"], ["Lost", "r"], ["Seq", "r p2"]],
      gaps.toReversed().map((gap) => ({
        key: gap.firstSeq,
        cells: [
          at(gap.toldAt),
          gap.reason,
          isKnown(gap.lost) ? count(gap.lost) : notKnown("The number is not known."),
          `${count(gap.firstSeq)} to ${count(gap.lastSeq)}`,
        ],
      })),
    ),
  );
}

function askSheet(row) {
  const text = isKnown(row.name) ? row.name : null;
  return sheet(
    "Related",
    { place: "s6" },
    body(
      h(
        "ul",
        { class: "links" },
        text !== null &&
          h(
            "li",
            null,
            h("a", { href: link("channel", text) }, "Its channel"),
            ", with all observers of ",
            breakable(text),
          ),
        text !== null &&
          h(
            "li",
            null,
            h(
              "a",
              {
                href: link("explain", null, { name: text, object: row.object }),
              },
              "Explain",
            ),
            ": the observers of the same notifications, and near matches",
          ),
        h(
          "li",
          null,
          h("a", { href: link("client", row.client) }, "Its client"),
          ", with its other observers",
        ),
      ),
    ),
  );
}

const removals = {
  removed: "removed on request",
  expired: "its lease ended before its client came back",
  "connection-closed": "removed because its connection closed",
  "client-removed": "removed together with its client",
  replaced: "another responder took over its address",
};

function tombstone(id, problem, app) {
  const { removedAt, removedBy, reason, selector, where, ...told } = problem;
  const { name, names: several, namePrefix, object, objectPrefix } = told;
  const isTold = [name, several, namePrefix, object, objectPrefix, selector].some(isKnown);
  return h(
    "div",
    { key: `gone ${id}`, class: "stack" },
    head([code(id), " was removed"], { crumb: ["observers", "Observers", id] }),
    h(
      "div",
      { class: "sheet" },
      body(
        facts([
          ["Removed", at(removedAt, date(removedAt)), ", ", age(removedAt, app.now), " ago"],
          ["By", /^c\d+$/.test(removedBy) ? clientLink(removedBy) : code(removedBy)],
          ["Reason", code(spoken(reason)), " ", quiet(removals[reason] ?? "")],
          isTold
            ? [
                "Observed",
                isKnown(several ?? namePrefix) ? observed(told) : named(name, "any name"),
                ", ",
                isKnown(objectPrefix) ? observedObject(told) : named(object, "any object"),
                isKnown(where) && [", where ", condition(problem)],
                isKnown(selector) && [" as ", code(selector)],
              ]
            : null,
        ]),
      ),
    ),
    h(
      "p",
      { class: "quiet" },
      "Tokens are never reused, so a new observer cannot receive anything meant for this one. ",
      "The broker remembers recent removals, and answers 410 with these facts.",
    ),
  );
}
