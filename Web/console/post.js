// The composer: posts a notification, shows its receipt, and the same as a command.

import { send } from "./broker.js";
import { command } from "./copy.js";
import { contentOf, findFaults, optionsOf } from "./draft.js";
import { button, facets, field, head, sheet } from "./parts.js";
import { postedWords, receiptSheet } from "./receipt.js";
import { link } from "./route.js";
import { belfryPost, curlPost, scriptPost } from "./snippets.js";
import { h } from "./tree.js";

const styles = [
  ["", "none", "skips the queue"],
  ["now", "now", "replaces similar queued posts"],
  ["asap", "asap", "queued until the end of the turn"],
  ["idle", "idle", "queued until the broker is idle"],
];

/// The fields under "More", and the style that each needs.
const more = [
  ["modes", "Modes", "comma-separated; needs a style"],
  ["ttl", "Time to live", "seconds"],
  ["maxDelay", "Longest wait", "seconds; needs the style idle"],
  ["after", "After", "seconds"],
  ["at", "At", "2026-11-22T06:00:00Z"],
  ["every", "Every", "seconds"],
  ["causedBy", "Caused by", "the id of a notification"],
  ["key", "Idempotency key", "a repeat has no second effect"],
];

const languages = { curl: curlPost, belfry: belfryPost, JavaScript: scriptPost };

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
  /// The last post and the one before: `{ name, answer, took, time, refused }`.
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
  const putMore =
    (name) =>
    ({ target }) => {
      draft.more[name] = target.value.trim();
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
              putMore,
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

const composer = (draft, faults, put, putMore, explain, isLater) => [
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
    h("legend", null, "Posting style"),
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
      h("legend", null, "Coalesce with queued posts of the same"),
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
    h("summary", null, "More: modes, time to live, timers, cause, idempotency"),
    h(
      "div",
      { class: "pair" },
      more.map(([name, label, hint]) =>
        field(`more-${name}`, label, hint, {
          value: draft.more[name] ?? "",
          oninput: putMore(name),
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
    "As a command",
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
          key: draft.more.key,
        }),
        "the command",
      ),
    ),
  );
