// The composer: posts a notification, shows its receipt, and the same as a command.

import { ask, send } from "./broker.js";
import { command } from "./copy.js";
import { outcome } from "./explain.js";
import {
  body,
  button,
  code,
  facets,
  field,
  head,
  observerLink,
  quiet,
  refusal,
  sheet,
  sums,
  table,
} from "./parts.js";
import { link } from "./route.js";
import { belfryPost, curlPost, scriptPost } from "./snippets.js";
import { h } from "./tree.js";
import { clock, count, plural } from "./words.js";

const styles = [
  ["", "at once", "past the queue"],
  ["now", "now", "instead of similar ones that wait"],
  ["asap", "asap", "at the end of the turn"],
  ["idle", "idle", "when there is nothing else to do"],
];

/// The fields under "More", and the style that each needs.
const more = [
  ["modes", "Modes", "with commas; needs a style"],
  ["ttl", "Time to live", "seconds"],
  ["maxDelay", "Longest wait", "seconds; needs idle"],
  ["after", "After", "seconds"],
  ["at", "At", "2026-11-22T06:00:00Z"],
  ["every", "Every", "seconds"],
  ["causedBy", "Caused by", "the id of a notification"],
  ["key", "Idempotency key", "the same again has no second effect"],
];

const languages = { curl: curlPost, belfry: belfryPost, JavaScript: scriptPost };

/// Says what is wrong with a userInfo, or null.
export function userInfoFault(text) {
  if (text.trim() === "") return null;
  try {
    const value = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? null : "This is JSON, but not an object: it needs { } around it.";
  } catch (error) {
    return `Not JSON: ${error.message}`;
  }
}

export function openPost(app, { query }) {
  const draft = {
    name: query.name ?? "",
    object: query.object ?? "",
    userInfo: query.userInfo ?? "",
    style: query.style ?? "",
    byName: true,
    byObject: true,
    keep: "first",
    more: {},
  };
  let language = "curl";
  let faults = {};
  /// The last post and the one before: `{ name, status, answer, took, time, refused }`.
  let posts = [];

  const put =
    (member) =>
    ({ target }) => {
      draft[member] = target.type === "checkbox" ? target.checked : target.value;
      // While somebody types, a fault only goes away.
      if (faults[member] !== undefined && findFaults(draft)[member] === undefined)
        delete faults[member];
      app.paint();
    };
  async function submit(event) {
    event?.preventDefault();
    faults = findFaults(draft);
    const [first] = Object.keys(faults);
    if (first !== undefined) {
      app.paint();
      return document.getElementById(`post-${first}`).focus();
    }
    const began = performance.now();
    const made = { name: draft.name, time: Date.now() };
    try {
      const { headers, text } = contentOf(draft);
      made.answer = await send("notifications", "POST", text, {
        headers,
        query: { report: "observers" },
        wait: 65_000,
      });
    } catch (error) {
      if (!("status" in error)) throw error;
      made.refused = error;
    }
    made.took = performance.now() - began;
    posts = [made, posts[0]].filter(Boolean);
    app.acted(made.refused ? `Refused: ${made.refused.message}` : postedWords(made.answer));
  }
  return {
    title: "Post a notification",
    content: () =>
      h(
        "div",
        { key: "post", class: "stack" },
        head("Post a notification"),
        h(
          "div",
          { class: "grid" },
          h(
            "form",
            {
              class: "sheet body form s7",
              novalidate: true,
              onsubmit: submit,
              onkeydown: (event) => {
                if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
              },
            },
            composer(
              draft,
              faults,
              put,
              () => app.go(link("explain", null, { name: draft.name, object: draft.object })),
              query.later,
            ),
          ),
          h(
            "div",
            { class: "s5 stack" },
            elsewhere(draft, language, (one) => {
              language = one;
              app.paint();
            }),
            posts.map((post, place) => receiptSheet(post, place, app)),
          ),
        ),
      ),
  };
}

/// What is wrong with a draft, by field.
function findFaults({ name, userInfo }) {
  const faults = {};
  if (name === "") faults.name = "A notification needs a name.";
  const fault = userInfoFault(userInfo);
  if (fault !== null) faults.userInfo = fault;
  return faults;
}

/// The options of a post that are not left at their default.
function optionsOf({ style, byName, byObject, keep, more: given }) {
  const { key, causedBy, ...others } = given;
  const filled = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== ""));
  const compared = [byName && "name", byObject && "sender"].filter(Boolean).join(",") || "none";
  return {
    style,
    coalesce: style !== "" && compared !== "name,sender" ? compared : "",
    keep: style !== "" && style !== "now" && keep !== "first" ? keep : "",
    ...filled,
    ...(causedBy ? { causedBy } : {}),
  };
}

const numbers = new Set(["ttl", "maxDelay", "after", "every"]);
const lists = new Set(["modes", "coalesce"]);

/// The content of the request. The userInfo goes as it was typed: a round trip through JavaScript's
/// numbers would change long ones.
function contentOf(draft) {
  const fields = [`"name":${JSON.stringify(draft.name)}`];
  if (draft.object !== "") fields.push(`"object":${JSON.stringify(draft.object)}`);
  if (draft.userInfo.trim() !== "") fields.push(`"userInfo":${draft.userInfo}`);
  for (const [option, value] of Object.entries(optionsOf(draft))) {
    if (value === "") continue;
    const json =
      numbers.has(option) && Number.isFinite(Number(value))
        ? value
        : lists.has(option) && value !== "none"
          ? JSON.stringify(value.split(","))
          : JSON.stringify(value);
    fields.push(`${JSON.stringify(option)}:${json}`);
  }
  const { key } = draft.more;
  return { text: `{${fields.join(",")}}`, headers: key ? { "Idempotency-Key": key } : {} };
}

const composer = (draft, faults, put, explain, isLater) => [
  h(
    "div",
    { class: "pair" },
    field("post-name", "Name", null, {
      value: draft.name,
      fault: faults.name,
      oninput: put("name"),
      required: true,
    }),
    field("post-object", "Object", "optional", { value: draft.object, oninput: put("object") }),
  ),
  field(
    "post-userInfo",
    "userInfo",
    "optional, a JSON object",
    {
      value: draft.userInfo,
      fault: faults.userInfo,
      rows: 4,
      placeholder: '{"title": "7"}',
      oninput: put("userInfo"),
    },
    "textarea",
  ),
  h(
    "fieldset",
    null,
    h("legend", null, "When"),
    h(
      "div",
      { class: "seg" },
      styles.map(([value, name, text]) =>
        h(
          "label",
          { key: name },
          h("input", {
            type: "radio",
            name: "style",
            value,
            checked: draft.style === value,
            onchange: put("style"),
          }),
          h("span", null, h("b", null, name), h("span", null, text)),
        ),
      ),
    ),
  ),
  draft.style !== "" &&
    h(
      "fieldset",
      { key: "coalesce" },
      h("legend", null, "Stands for those that wait and have the same"),
      h(
        "div",
        { class: "checks" },
        h(
          "label",
          null,
          h("input", { type: "checkbox", checked: draft.byName, onchange: put("byName") }),
          " name",
        ),
        h(
          "label",
          null,
          h("input", { type: "checkbox", checked: draft.byObject, onchange: put("byObject") }),
          " object",
        ),
        draft.style !== "now" &&
          ["first", "latest"].map((which) =>
            h(
              "label",
              { key: which },
              h("input", {
                type: "radio",
                name: "keep",
                value: which,
                checked: draft.keep === which,
                onchange: put("keep"),
              }),
              ` keep the ${which}`,
            ),
          ),
      ),
    ),
  h(
    "details",
    { key: "more", open: Boolean(isLater) },
    h("summary", null, "Modes, time to live, later, caused by, idempotency"),
    h(
      "div",
      { class: "pair" },
      more.map(([name, label, hint]) =>
        field(`more-${name}`, label, hint, {
          value: draft.more[name] ?? "",
          oninput: ({ target }) => {
            draft.more[name] = target.value.trim();
            put("more.")({ target });
          },
        }),
      ),
    ),
  ),
  h(
    "p",
    { class: "rowf" },
    h("button", { class: "main" }, "Post ", h("kbd", { "aria-hidden": "true" }, "Ctrl ↵")),
    button("Explain first", explain),
  ),
];

const elsewhere = (draft, language, choose) =>
  sheet(
    "The same elsewhere",
    {},
    h(
      "div",
      { class: "body stack" },
      facets(
        "Language",
        Object.keys(languages).map((text) => ({
          text,
          is: text === language,
          act: () => choose(text),
        })),
      ),
      command(
        languages[language]({
          name: draft.name || "Name",
          object: draft.object,
          userInfo: draft.userInfo.trim(),
          options: optionsOf(draft),
        }),
        "the command",
      ),
    ),
  );

export function postedWords({ outcome: word, into, dueAt, matched, delivered, held }) {
  if (dueAt !== undefined) return `It enters the queue at ${clock(dueAt)}.`;
  if (word === "queued") return "It waits in the queue.";
  if (word === "coalesced") return `${into}, which waits in the queue, stands for it.`;
  if (word === "dequeued") return "What waited was taken out.";
  if (matched === 0) return "Posted. Nobody observes it.";
  const kept = held > 0 ? `, ${count(held)} held` : "";
  return `Posted. ${plural(matched, "observer")} matched, ${count(delivered)} delivered${kept}.`;
}

function receiptSheet({ name, answer, refused, took, time }, place, app) {
  const title = place === 0 ? "Receipt" : "The one before";
  const note = [code(name), `, ${clock(time)}, ${took.toFixed(1)} ms`];
  if (refused) return sheet(title, { note }, body(refusal(refused)));
  const rows = answer.observers ?? [];
  const counts = [
    "matched",
    "delivered",
    "held",
    "coalesced",
    "dropped",
    "acknowledged",
    "refused",
    "pending",
  ]
    .filter((word) => answer[word] > 0 || word === "matched")
    .map((word) => [word, count(answer[word])]);
  return sheet(
    title,
    { note },
    h(
      "div",
      { class: "body stack" },
      h("p", null, h("b", null, postedWords(answer))),
      answer.matched !== undefined && sums(counts),
      h("p", { class: "quiet" }, code(answer.id)),
      answer.matched === 0 &&
        h("p", null, h("a", { href: link("explain", null, { name }) }, "Who nearly gets it")),
      answer.matched === undefined && fateLine(answer, app),
    ),
    rows.length > 0 &&
      table(
        "What each observer made of it",
        [["Observer"], ["Outcome"]],
        rows.map((row) => ({
          key: row.id,
          cells: [
            observerLink(row.id),
            [outcome(row), row.error !== undefined && quiet(` ${JSON.stringify(row.error)}`)],
          ],
        })),
      ),
  );
}

/// Of a post that waits: where it is, and what became of it.
function fateLine(answer, app) {
  async function look() {
    const { state, receipt } = await ask(`notifications/${answer.id}`);
    answer.fate = receipt ? postedWords(receipt) : `It is ${state}.`;
    app.paint();
  }
  return h(
    "p",
    { class: "rowf" },
    h(
      "a",
      { href: link(answer.dueAt ? "timers" : "queue") },
      answer.dueAt ? "Show the timer" : "Show the queue",
    ),
    button(
      "Ask again for its fate",
      () =>
        look().catch((error) => {
          answer.fate = error.message;
          app.paint();
        }),
      { class: "bare" },
    ),
    answer.fate && quiet(answer.fate),
  );
}
