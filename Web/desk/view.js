// The page as a function of the desk.

import { h } from "../console/tree.js";
import { age, clock, duration, plural } from "../console/words.js";

/// Characters of a reason: each may have four bytes, and the broker takes 1 KiB.
const reasonLimit = 250;

/// The choice that the reader has made of each question, and what was typed with it, by id.
const drafts = new Map();

const button = (text, onclick, attributes = {}) =>
  h("button", { type: "button", onclick, ...attributes }, text);

export const bell = h(
  "svg",
  { viewBox: "0 0 24 24", "aria-hidden": "true" },
  h("path", {
    fill: "currentColor",
    d:
      "M12 2a2 2 0 0 0-2 2v.6C7.2 5.4 5.5 8 5.5 11v5l-2 2.5V20h17v-1.5l-2-2.5v-5c0-3-1.7-5.6" +
      "-4.5-6.4V4a2 2 0 0 0-2-2zM9.5 21a2.5 2.5 0 0 0 5 0z",
  }),
);

/// The whole page. `app` has the desk, its settings, and what a reader can do.
export function page(app) {
  const { desk } = app;
  const open = [...desk.asks.values()].reverse();
  return [
    top(app),
    h(
      "main",
      {},
      notes(app),
      h(
        "section",
        { "aria-labelledby": "open" },
        h("h2", { id: "open", tabindex: "-1" }, heading(open.length)),
        open.length === 0 && h("p", { class: "quiet" }, nothing(desk)),
        open.map((question) => card(app, question)),
      ),
      desk.lately.length > 0 && h(
        "section",
        { "aria-labelledby": "lately" },
        h("h2", { id: "lately" }, "Lately"),
        h("ul", {}, desk.lately.map((row) => ended(row, desk.now))),
      ),
    ),
  ];
}

const heading = (count) => (count === 0 ? "No open questions" : plural(count, "open question"));

const nothing = ({ state }) =>
  state === "open"
    ? "Questions appear here. They come only while this page is open."
    : "Questions appear here once the desk is connected.";

const stateWords = {
  connecting: "Connecting …",
  open: "Connected",
  waiting: "Not connected",
  closed: "Ended",
};

const top = (app) =>
  h(
    "header",
    { class: "top" },
    h("h1", {}, bell, app.settings.addresses.join(", ")),
    h("span", { class: `state ${app.desk.state}`, role: "status" }, stateWords[app.desk.state]),
    h(
      "details",
      {},
      h("summary", {}, "Settings"),
      h(
        "div",
        { class: "sheet" },
        h("p", {}, "Answers as ", h("b", {}, app.desk.principal ?? "somebody without a token"), "."),
        h(
          "label",
          {},
          h("input", {
            type: "checkbox",
            checked: app.settings.isLoud,
            onchange: ({ target }) => app.setLoud(target.checked),
          }),
          "Ring and vibrate for a new question",
        ),
        button("Stop answering here", app.leave),
      ),
    ),
  );

function notes({ desk, hold, leave }) {
  const { state, since, fault } = desk;
  return [
    state === "waiting" && h(
      "p",
      { key: "away", class: "note warn" },
      `Not connected since ${clock(since)}. New questions do not come. `,
      "What you answer is kept, and sent when the connection is back.",
    ),
    fault !== null && h(
      "div",
      { key: "fault", class: "note bad", role: "alert" },
      h("p", {}, fault.message),
      state === "closed"
        ? button("Begin again", leave)
        : button("Answer here again", hold),
    ),
  ];
}

function card(app, question) {
  const { id, title, object, message, facts, askedAt, fault } = question;
  const named = `q-${id}`;
  return h(
    "article",
    { key: id, class: "sheet", "aria-labelledby": named },
    h("h3", { id: named, tabindex: "-1" }, title),
    h("p", { class: "quiet" }, object, " · asked ", sinceWords(askedAt, app.desk.now)),
    message !== null && h("p", { class: "message" }, message),
    facts.length > 0 && h("dl", {}, facts.map(([name, value]) =>
      h("div", {}, h("dt", {}, name), h("dd", {}, plain(value))))),
    fault !== null && h("p", { class: "fault", role: "alert" }, `The answer was refused: ${fault}`),
    acts(app, question, named),
    h("p", { class: "quiet until" }, untilWords(question, app.desk.now)),
  );
}

const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));

function sinceWords(time, now) {
  const passed = age(time, now);
  return passed === "now" ? "just now" : `${passed} ago`;
}

function untilWords({ answerBy }, now) {
  const left = Date.parse(answerBy) - now;
  if (left <= 0) return "The time is over.";
  return `Until ${clock(answerBy)}, ${duration(left)} left. After that the asker goes on with its `
    + "default, or without an answer.";
}

function acts(app, question, named) {
  const { id, answer, choices } = question;
  if (answer !== null) {
    const where = app.desk.state === "open" ? "is being sent" : "is kept until the desk is connected";
    return h("p", { key: "sent", class: "note" }, `Your answer “${answer.label}” ${where}.`);
  }
  const draft = drafts.get(id);
  if (draft !== undefined) return sending(app, question, draft);
  return h(
    "div",
    { key: "choices", class: "choices", role: "group", "aria-labelledby": named },
    choices.map((choice, place) =>
      button(choice.label, () => {
        drafts.set(id, { choice, text: "", reason: "" });
        app.changed();
        const first = choice.value === "" ? `text-${id}` : `send-${id}`;
        document.getElementById(first).focus();
      }, { class: place === 0 ? "main" : null })),
  );
}

/// The second step: an answer cannot be taken back, and a question that comes may move the first
/// button under a thumb.
function sending(app, question, draft) {
  const { id } = question;
  const { choice: { label, value }, text, reason } = draft;
  const isText = value === "";
  const send = (event) => {
    event.preventDefault();
    const given = isText ? { value: draft.text, label: draft.text } : { value, label };
    drafts.delete(id);
    app.desk.answer(question, { ...given, reason: draft.reason.trim() });
    document.getElementById("open").focus();
  };
  const back = () => {
    drafts.delete(id);
    app.changed();
    document.getElementById(`q-${id}`).focus();
  };
  const field = (name, words, shown, more) => [
    h("label", { for: `${name}-${id}` }, words),
    h("input", {
      id: `${name}-${id}`, value: shown, autocomplete: "off",
      oninput: ({ target }) => { draft[name] = target.value; }, ...more,
    }),
  ];
  return h(
    "form",
    { key: "sending", onsubmit: send },
    isText && field("text", label, text, { required: true }),
    h(
      "div",
      { class: "choices" },
      h("button", { id: `send-${id}`, class: "main" }, isText ? "Send" : `Send “${label}”`),
      button("Back", back),
    ),
    field("reason", "Reason (not required)", reason, { maxlength: reasonLimit }),
  );
}

const ended = ({ id, title, object, text, at, isLate }, now) =>
  h(
    "li",
    { key: id, class: "sheet" },
    h("h3", {}, title),
    isLate && h("p", { class: "fault" }, "Your answer came too late."),
    h("p", {}, text),
    h("p", { class: "quiet" }, object, ", ", sinceWords(new Date(at).toISOString(), now)),
  );
