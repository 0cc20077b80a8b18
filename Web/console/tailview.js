// How the live tail looks.

import { copyButton, curl, placeOf } from "./copy.js";
import { code, empty, facets, head, icon, named, quiet, refusal, sums } from "./parts.js";
import { link, queryText } from "./route.js";
import { pageText } from "./snippets.js";
import { Tail, keptLimit, rowsASecond } from "./tail.js";
import { h } from "./tree.js";
import { clockWithMilliseconds, count, date, isKnown, plural, rate } from "./words.js";

export function openTail(app, { query }) {
  const { name = null, object = null } = query;
  const tail = new Tail(app, name, object);
  return {
    title: "Live tail",
    content: () => {
      tail.begin();
      return content(tail);
    },
    pause: () => tail.pause(),
    close: () => tail.close(),
  };
}

/// The whole view.
function content(tail) {
  const filter = { name: tail.name, object: tail.object };
  return h(
    "div",
    { key: "tail", class: "stack" },
    head("Live tail", {
      acts: [
        copyButton(
          () => curl(placeOf("events", queryText(filter)), { options: ["-N"] }),
          "Copy as curl",
        ),
        copyButton(() => pageText(filter), "Copy as page"),
        h(
          "button",
          { type: "button", "aria-pressed": String(tail.isPaused), onclick: () => tail.pause() },
          tail.isPaused ? "Resume " : "Pause ",
          h("kbd", { "aria-hidden": "true" }, "space"),
        ),
        h("button", { type: "button", onclick: () => tail.clear() }, "Clear"),
      ],
      note: [
        "Shows posts as they happen. Keeps the last ",
        `${count(keptLimit)} until you leave this view.`,
      ],
    }),
    filters(tail),
    tail.refused === null ? table(tail) : whyRefused(tail),
  );
}

function filters(tail) {
  const go = (event) => {
    event.preventDefault();
    const [name, object] = ["tail-name", "tail-object"].map(
      (id) => document.getElementById(id).value,
    );
    tail.app.go(link("tail", null, { name, object }));
  };
  const choices = [
    ["all", "All"],
    ["unheard", "Unmatched"],
    ["held", "Held or dropped"],
  ];
  return h(
    "form",
    { class: "filters", onsubmit: go },
    [
      ["name", "Name, empty for all", tail.name],
      ["object", "Object, empty for any", tail.object],
    ].map(([id, words, value]) =>
      h(
        "div",
        { class: "find", key: id },
        h("label", { class: "hidden", for: `tail-${id}` }, words),
        h("input", {
          id: `tail-${id}`,
          class: "mono",
          type: "search",
          placeholder: words,
          value: value ?? "",
          autocomplete: "off",
          autocapitalize: "off",
          spellcheck: "false",
        }),
      ),
    ),
    h("button", null, "Filter"),
    facets(
      "Receipt",
      choices.map(([wanted, text]) => ({
        text,
        is: tail.wanted === wanted,
        act: () => tail.show({ wanted }),
      })),
    ),
  );
}

function whyRefused({ refused }) {
  const told = refused.problem
    ? { message: refused.problem.title, problem: refused.problem }
    : refused;
  return h(
    "div",
    { class: "stack" },
    refusal(told),
    h(
      "p",
      null,
      "Observing all names needs the grants ",
      code("observe"),
      " and ",
      code("wildcard"),
      ". With a name above, ",
      code("observe"),
      " on that name is enough.",
    ),
  );
}

function table(tail) {
  const rows = tail.rows.filter((row) => isWanted(tail, row));
  const shown = rows.slice(0, tail.limit);
  const isOver = tail.isPaused && tail.meanwhile > 0;
  if (rows.length === 0) {
    return h("div", { class: "sheet" }, empty(emptyWords(tail)), foot(tail, rows));
  }
  return h(
    "div",
    { class: "sheet" },
    isOver &&
      h(
        "p",
        { class: "news" },
        `${plural(tail.meanwhile, "notification")} arrived during the pause.`,
      ),
    h(
      "table",
      { class: "tail" },
      h("caption", { class: "hidden" }, "Notifications, newest first"),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("th", { scope: "col", class: "p2 time" }, "Posted"),
          h("th", { scope: "col", class: "r p3 seq" }, "Seq"),
          h("th", { scope: "col", class: "name" }, "Name"),
          h("th", { scope: "col", class: "p2 object" }, "Object"),
          h("th", { scope: "col", class: "p2" }, "userInfo"),
          h("th", { scope: "col", class: "r heard" }, "Delivered to"),
        ),
      ),
      h(
        "tbody",
        null,
        shown.map((row) => (row.tree ??= line(tail, row))),
      ),
    ),
    foot(tail, rows),
  );
}

function emptyWords(tail) {
  if (tail.wanted !== "all" && tail.rows.length > 0)
    return "None so far. Receipts are loaded only while few notifications arrive.";
  if (!tail.isRegistered) return "Registering the observer …";
  const what = tail.name === null ? "" : ` of ${tail.name}`;
  return [
    `Nothing yet. New posts${what} appear here. `,
    h("a", { href: link("post", null, { name: tail.name }) }, "Post one"),
    ".",
  ];
}

function isWanted(tail, { notification, receipt }) {
  if (tail.wanted === "all") return true;
  if (notification === undefined || !isKnown(receipt?.matched)) return false;
  return tail.wanted === "unheard"
    ? others(receipt).matched === 0
    : receipt.held + receipt.dropped + receipt.coalesced > 0;
}

function line(tail, row) {
  if (row.gap !== undefined) {
    return h(
      "tr",
      { key: row.key, class: row.isLost ? "lostr" : "gapr" },
      h(
        "td",
        { colspan: 6 },
        row.isLost && icon("cross"),
        row.isLost ? row.gap : `Gap: ${row.gap}`,
      ),
    );
  }
  const { notification, isOpen } = row;
  const { seq, name, object, userInfo, postedAt } = notification;
  const time = clockWithMilliseconds(postedAt);
  const shown = h(
    "tr",
    { key: row.key, class: isOpen ? "sel" : null },
    h("td", { class: "one n quiet p2", title: date(postedAt) }, time),
    h("td", { class: "r quiet p3" }, count(seq)),
    h(
      "th",
      { scope: "row", class: "cut" },
      h(
        "button",
        {
          type: "button",
          class: "bare in",
          "aria-expanded": String(isOpen),
          onclick: () => tail.toggle(row),
        },
        code(name),
      ),
      h("span", { class: "sub n" }, time, object ? [" ", code(object)] : ""),
    ),
    h("td", { class: "cut p2" }, named(object, "none")),
    h("td", { class: "cut p2" }, userInfo ? code(JSON.stringify(userInfo)) : quiet("none")),
    h("td", { class: `r ${heardClass(row.receipt)}` }, heardBy(row.receipt)),
  );
  return isOpen ? [shown, details(tail, row)] : shown;
}

function details(tail, { key, notification, receipt }) {
  const { id, name, object, userInfo, causedBy } = notification;
  const text = JSON.stringify(userInfo ?? null, null, 2);
  const { matched, delivered } = isKnown(receipt?.matched) ? others(receipt) : {};
  return h(
    "tr",
    { key: `${key} open`, class: "wide" },
    h(
      "td",
      { colspan: 6 },
      h(
        "div",
        { class: "grid" },
        h(
          "div",
          { class: "s6 stack" },
          h("h2", null, "userInfo"),
          h("pre", null, userInfo ? text : "none"),
          h(
            "p",
            { class: "rowf" },
            copyButton(text, "Copy", { class: "bare" }),
            h(
              "a",
              {
                href: link("post", null, {
                  name,
                  object,
                  userInfo: userInfo ? JSON.stringify(userInfo) : null,
                }),
              },
              "Post it again…",
            ),
            h("a", { href: link("explain", null, { name, object }) }, "Explain"),
            h("a", { href: link("channel", name) }, "Channel"),
          ),
        ),
        h(
          "div",
          { class: "s6 stack" },
          h("h2", null, "Receipt ", quiet(id)),
          matched === undefined
            ? h(
                "p",
                { class: "quiet" },
                receipt === "asked"
                  ? "Loading …"
                  : "The broker keeps receipts for 5 minutes; this one is gone.",
              )
            : [
                sums([
                  ["matched", count(matched)],
                  ["delivered", count(delivered)],
                  ["held", count(receipt.held)],
                  ["dropped", count(receipt.dropped)],
                ]),
                h("p", { class: "quiet" }, "This tail is not counted."),
              ],
          causedBy && h("p", null, "Caused by ", code(causedBy)),
        ),
      ),
    ),
  );
}

function foot(tail, rows) {
  const came = tail.cameLately;
  const isAll = tail.name === null && tail.object === null;
  return h(
    "footer",
    null,
    h(
      "span",
      null,
      came === null
        ? `${count(tail.total)} so far`
        : `${rate(came)} per second, at most ${rowsASecond} of them shown`,
    ),
    rows.length > tail.limit &&
      h(
        "button",
        {
          type: "button",
          class: "bare",
          onclick: () => tail.show({ isPaused: true, limit: keptLimit }),
        },
        `Pause and show all ${count(rows.length)}`,
      ),
    h(
      "span",
      { class: "end" },
      isAll
        ? "This tail observes every name: while it is open, no post counts as unmatched"
        : ["An observer of this page (", code("lifetime: connection"), ")"],
    ),
  );
}

/// A receipt without the tail itself, which matched and got it.
const others = ({ matched, delivered, acknowledged }) => ({
  matched: Math.max(matched - 1, 0),
  delivered: Math.max(delivered - 1, 0) + acknowledged,
});

function heardBy(receipt) {
  if (!isKnown(receipt?.matched))
    return h("span", { title: "Open the row to load the receipt." }, "–");
  const { matched, delivered } = others(receipt);
  return matched === 0 ? "none" : `${count(delivered)} of ${count(matched)}`;
}

function heardClass(receipt) {
  if (!isKnown(receipt?.matched)) return "quiet";
  const { matched, delivered } = others(receipt);
  return matched === 0 ? "badt" : delivered < matched ? "warnt" : "";
}
