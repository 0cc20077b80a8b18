// The observers that would get a notification, and near matches. Nothing is posted.

import { ask, path, send } from "./broker.js";
import { copyButton, curl, placeOf } from "./copy.js";
import { filterOf, observed, observedObject, ofObject } from "./observers.js";
import {
  breakable,
  clientLink,
  clientState,
  code,
  empty,
  field,
  head,
  named,
  note,
  observerLink,
  ofPrincipal,
  quiet,
  refusal,
  sheet,
  state,
  table,
} from "./parts.js";
import { link, queryText } from "./route.js";
import { h } from "./tree.js";
import { count, isKnown, plural, spoken } from "./words.js";

/// Observers that are looked up, so that their filters can be shown.
const lookLimit = 20;

/// The filter of an observer, with what differs from what was asked marked.
export function difference(theirs, ours) {
  if (!isKnown(theirs)) return named(theirs);
  const [left, right] = [[...theirs], [...(ours ?? "")]];
  let start = 0;
  while (start < left.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (
    end < left.length - start &&
    end < right.length - start &&
    left.at(-1 - end) === right.at(-1 - end)
  )
    end += 1;
  const marked = left.slice(start, left.length - end).join("");
  return code([
    left.slice(0, start).join(""),
    marked !== "" && h("mark", null, marked),
    left.slice(left.length - end).join(""),
  ]);
}

const differences = {
  "name-differs-in-case": "upper and lower case",
  "name-differs-in-unicode-form": "Unicode form",
  "name-differs-in-blanks": "spaces",
  "name-differs-in-spelling": "one or two letters",
  "object-differs": "object",
  "where-false": "its condition is false for this userInfo",
};

/// Asks who would get it. With a userInfo, which is sent as it was typed, conditions are decided.
function explain({ name, object, userInfo }) {
  if (userInfo === null) return ask("explain", { query: { name, object, limit: 50 } });
  return send("explain", "POST", content({ name, object, userInfo }));
}

const content = ({ name, object, userInfo }) =>
  `{"name":${JSON.stringify(name)},` +
  `${object === null ? "" : `"object":${JSON.stringify(object)},`}"userInfo":${userInfo}}`;

/// The equal `curl` line.
function command(asked) {
  const { name, object, userInfo } = asked;
  return userInfo === null
    ? curl(placeOf("explain", queryText({ name, object })))
    : curl(placeOf("explain"), {
        options: ['-H "Content-Type: application/json"'],
        body: content(asked),
      });
}

/// What an observer made, or would make, of a notification.
export function outcome({ outcome: word, target, observer, reason, path: way }) {
  if (!isKnown(target)) return state(word);
  const end = observer ? observerLink(observer) : reason ? spoken(reason) : null;
  return [state(word), " ", quiet((way ?? [target]).join(", then ")), end && [" (", end, ")"]];
}

export function openExplain(app, { query }) {
  const { name = "", object = null, userInfo = null } = query;
  let fault = null;
  const looked = new Map();
  async function look(ids) {
    await Promise.all(
      ids
        .filter((id) => !looked.has(id))
        .slice(0, lookLimit)
        .map(async (id) => {
          looked.set(id, await ask(path("observers", id)).catch(() => null));
        }),
    );
  }
  function submit(event) {
    event.preventDefault();
    const [typed, from, json] = ["explain-name", "explain-object", "explain-info"].map(
      (id) => document.getElementById(id).value,
    );
    fault = typed === "" ? "Enter a name." : null;
    if (fault === null)
      return app.go(link("explain", null, { name: typed, object: from, userInfo: json.trim() }));
    app.paint();
    document.getElementById("explain-name").focus();
  }
  return {
    title: "Explain",
    async read() {
      if (name === "") return {};
      const explained = await explain({ name, object, userInfo }).catch((error) => {
        if (error.status !== 422 && error.status !== 400) throw error;
        return { refused: error };
      });
      if (explained.refused === undefined) {
        await look([...explained.near, ...explained.observers].map(({ id }) => id));
      }
      return { explained };
    },
    content: ({ explained = null }) =>
      h(
        "div",
        { key: `explain ${name} ${object} ${userInfo}`, class: "stack" },
        head("Explain", {
          note: "Shows the observers that would get a notification. Nothing is posted.",
        }),
        h(
          "form",
          { class: "sheet body form", novalidate: true, onsubmit: submit },
          h(
            "div",
            { class: "pair" },
            field("explain-name", "Name", null, { value: name, fault }),
            field("explain-object", "Object", "empty for none", { value: object ?? "" }),
          ),
          field("explain-info", "userInfo", "JSON, for observers with a condition; may be empty", {
            value: userInfo ?? "",
          }),
          h(
            "p",
            { class: "rowf" },
            h("button", { class: "main" }, "Explain"),
            name !== "" &&
              copyButton(() => command({ name, object, userInfo }), "Copy as curl", {
                class: "bare",
              }),
          ),
        ),
        explained?.refused && refusal(explained.refused),
        explained !== null &&
          explained.refused === undefined &&
          answer(explained, looked, name, object),
      ),
  };
}

/// `3 near matches`.
export const nearMatches = (number) => plural(number, "near match", "near matches");

function answer(explained, looked, name, object) {
  const { observers, near, partial = false, next } = explained;
  const what = [breakable(name), object === null ? "" : [" of ", breakable(object)]];
  return [
    observers.length === 0
      ? note(
          near.length > 0 ? "bad" : "warn",
          h(
            "p",
            null,
            h("b", null, "No observer would get ", what, "."),
            " ",
            near.length > 0
              ? [nearMatches(near.length), ": ", nearRule(near)]
              : "No observer has a similar name.",
          ),
        )
      : note(
          "",
          h(
            "p",
            null,
            h(
              "b",
              null,
              `${plural(observers.length, "observer")}${next ? " and more" : ""} would get `,
              what,
              ".",
            ),
          ),
        ),
    h(
      "div",
      { class: "grid" },
      observers.length > 0 &&
        sheet(
          "Observers",
          {
            place: near.length > 0 ? "s7" : "",
            note: "in order of registration",
            more: h("a", { href: link("post", null, { name, object }) }, "Post it…"),
          },
          table(
            "Observers that would get it",
            [["Observer"], ["Observes", "nm"], ["State", "p2"], ["Outcome"]],
            observers.map((row) => ({
              key: row.id,
              cells: [
                observerLink(row.id),
                looked.get(row.id) ? filterOf(looked.get(row.id)) : quiet("–"),
                clientState(row.state),
                row.where ? [outcome(row), quiet(" if its condition is true")] : outcome(row),
              ],
            })),
          ),
        ),
      near.length > 0 &&
        sheet(
          "Near matches",
          {
            place: observers.length > 0 ? "s5" : "",
            note: [
              count(near.length),
              partial && " and perhaps more",
              ", differences marked",
            ],
          },
          table(
            "Near matches, and what differs",
            [["Observer"], ["Filter", "nm"], ["Difference"], ["Client", "p2"]],
            near.map(({ id, reason }) => {
              const row = looked.get(id);
              return {
                key: id,
                cells: [
                  observerLink(id),
                  row ? nearFilter(row, reason, name, object) : quiet("–"),
                  differences[reason] ?? spoken(reason),
                  row ? [clientLink(row.client), " ", ofPrincipal(row.principal)] : quiet("–"),
                ],
              };
            }),
          ),
        ),
      observers.length === 0 &&
        near.length === 0 &&
        h(
          "div",
          { class: "sheet" },
          empty(
            "New observers are listed as soon as they are registered: ",
            h("a", { href: link("observers") }, "see all observers"),
            ".",
          ),
        ),
    ),
  ];
}

const nearRule = (near) =>
  near.every(({ reason }) => reason === "where-false")
    ? "a condition must be true for the userInfo."
    : "names and objects must match exactly.";

function nearFilter(row, reason, name, object) {
  if (reason === "where-false") return filterOf(row);
  if (reason === "object-differs") {
    return [
      observed(row),
      " of ",
      isKnown(row.objectPrefix) ? observedObject(row) : difference(row.object, object),
    ];
  }
  return [isKnown(row.name) ? difference(row.name, name) : observed(row), ofObject(row)];
}
