// The parts that all views are made of. Each is a function to a tree.

import { h } from "./tree.js";
import { age, clock, date, isKnown, spoken, stateName, unknown } from "./words.js";
import { link } from "./route.js";

export const icon = (name, className = null) =>
  h("svg", { "aria-hidden": "true", class: className }, h("use", { href: `#i-${name}` }));

export const code = (text) => h("code", null, text);

/// Where a name may break: behind what separates its words, before a capital, and in a long word
/// after so many characters, which bounds the width of a column.
const wordEnds = /(?<=[._:/ -])(?=[^._:/ -])|(?<=[\p{Ll}\d])(?=\p{Lu})/u;
const pieces = /.{1,12}/gsu;

const broken = (text) =>
  text
    .split(wordEnds)
    .flatMap((word) => word.match(pieces) ?? [])
    .map((part, place) => [place > 0 && h("wbr"), part]);

/// A name that breaks between its words where it has to.
export const breakable = (text) => h("code", { class: "words" }, broken(text));

/// The principal of a client, beside its id.
export const ofPrincipal = (text) => h("span", { class: "quiet words" }, broken(text));

/// What is said of the page's own observers, clients and channels.
export const ownMark = (isOwn) => isOwn && [" ", h("span", { class: "own" }, "this page")];
export const quiet = (...content) => h("span", { class: "quiet" }, ...content);

/// A name or object; none is said as a word, so that it is not taken for a value.
export const named = (text, none = "any") =>
  isKnown(text) ? breakable(text) : h("span", { class: "any" }, none);

/// What cannot be known is a dash, with the reason.
export const notKnown = (reason) => h("span", { class: "quiet", title: reason }, unknown);

/// How each state, and each outcome, looks: its class, which is its color, and its shape.
const looks = {
  live: ["live", "live"],
  slow: ["warn", "slow"],
  asked: ["asked", "asked"],
  disconnected: ["gone", "gone"],
  removed: ["gone", "off"],
  delivered: ["live", "live"],
  acknowledged: ["live", "live"],
  held: ["gone", "gone"],
  pending: ["asked", "asked"],
  coalesced: ["gone", "gone"],
  dropped: ["bad", "cross"],
  refused: ["bad", "cross"],
  unhandled: ["bad", "cross"],
};

export function state(word, since = null, text = spoken(word)) {
  const [look, shape] = looks[word] ?? ["gone", "gone"];
  const title = since === null ? null : `since ${date(since)}`;
  return h("span", { class: `st ${look}`, title }, icon(shape), text);
}

/// The state of a client, or of an observer by its client.
export const clientState = (word, since = null) => state(word, since, stateName(word));

/// A time of today, with the whole date on asking.
export const at = (time, text = clock(time)) =>
  h("time", { datetime: new Date(time).toISOString(), title: date(time) }, text);

/// How long ago a time was.
export const since = (time, now, none = "never") =>
  isKnown(time) ? at(time, age(time, now)) : quiet(none);

export const observerLink = (id) => h("a", { href: link("observer", id) }, id);
export const clientLink = (id) => h("a", { href: link("client", id) }, id);
export const channelLink = (name) => h("a", { href: link("channel", name) }, breakable(name));

/// The head of a view: what is above it, its name, what can be done, and a sentence.
export function head(title, { crumb = null, acts = [], note = null } = {}) {
  return h(
    "div",
    { class: "head" },
    crumb &&
      h("p", { class: "crumb" }, h("a", { href: link(crumb[0]) }, crumb[1]), " / ", crumb[2]),
    h("h1", { tabindex: "-1" }, title),
    acts.length > 0 && h("div", { class: "acts" }, ...acts),
    note && h("p", null, note),
  );
}

export const button = (text, onclick, attributes = {}) =>
  h("button", { type: "button", onclick, ...attributes }, text);

/// The place of a sheet that has a third of the width.
export const third = "s4 m6";

/// A sheet with a heading. `more` stands at its right.
export function sheet(
  title,
  { note = null, more = null, level = "h2", place = "" } = {},
  ...content
) {
  return h(
    "section",
    { class: `sheet ${place}` },
    h(
      "header",
      null,
      h(level, null, title),
      note && h("p", null, note),
      more && h("span", { class: "more" }, more),
    ),
    ...content,
  );
}

export const body = (...content) => h("div", { class: "body" }, ...content);

/// Facts: pairs of a word and what it is; a null pair is left out.
export function facts(pairs, className = "") {
  const rows = pairs.filter((pair) => pair !== null);
  return h(
    "dl",
    { class: `facts ${className}` },
    rows.map(([word, ...what]) => h("div", null, h("dt", null, word), h("dd", null, ...what))),
  );
}

/// Sums: a figure before the word that says of what.
export const sums = (pairs) =>
  h(
    "dl",
    { class: "sums" },
    pairs.map(([word, figure]) => h("div", null, h("dt", null, word), h("dd", null, figure))),
  );

export const note = (level, ...content) => h("div", { class: `note ${level}` }, ...content);

export const empty = (...content) => h("p", { class: "empty" }, ...content);

/// What was refused: its title, its detail, and each field that is at fault.
export function refusal(error) {
  const { detail, errors = [] } = error.problem ?? {};
  return h(
    "div",
    { class: "note bad", role: "alert" },
    h("p", null, h("b", null, error.message, error.message.endsWith(".") ? "" : "."), " ", detail),
    errors.map(({ pointer, parameter, detail: fault }) =>
      h("p", null, code(pointer ?? parameter), " ", fault),
    ),
  );
}

/// A small table without sorting. A head is `[text, class]`.
export function table(caption, heads, rows, className = "tight") {
  return h(
    "table",
    { class: className },
    h("caption", { class: "hidden" }, caption),
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        heads.map(([text, cls = null]) =>
          text === "" ? h("td", { class: cls }) : h("th", { scope: "col", class: cls }, text),
        ),
      ),
    ),
    h(
      "tbody",
      null,
      rows.map(({ key, cells, attributes = {} }) =>
        h(
          "tr",
          { key, ...attributes },
          cells.map((cell, place) =>
            h(
              place === 0 ? "th" : "td",
              { scope: place === 0 ? "row" : null, class: heads[place][1] },
              cell,
            ),
          ),
        ),
      ),
    ),
  );
}

/// Filter buttons, of which one is pressed. A choice is `{ text, count, is, act }`.
export const facets = (label, choices) =>
  h(
    "div",
    { class: "facets", role: "group", "aria-label": label },
    choices.map((choice) =>
      h(
        "button",
        {
          key: choice.text,
          type: "button",
          "aria-pressed": String(choice.is),
          onclick: choice.act,
        },
        choice.text,
        isKnown(choice.count) && h("span", { class: "n" }, ` ${choice.count}`),
      ),
    ),
  );

/// A text field with its label; `more` are attributes of the field.
export function field(id, label, hint, more = {}, tag = "input") {
  const plain = { autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
  const fault = more.fault ?? null;
  const described = fault === null ? null : `${id}-fault`;
  const attributes = { ...plain, class: "mono", ...more, fault: null };
  return h(
    "div",
    null,
    h("label", { class: "l", for: id }, label, hint && h("span", { class: "quiet" }, ` ${hint}`)),
    h(tag, {
      id,
      ...attributes,
      "aria-invalid": fault !== null && "true",
      "aria-describedby": described,
    }),
    fault !== null && h("p", { class: "fault", id: described }, fault),
  );
}
