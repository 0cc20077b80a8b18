// Values: one JSON object of an object; shown, written and watched.

import { path, request } from "./broker.js";
import { Confirmation } from "./confirm.js";
import { copyButton, curl, placeOf } from "./copy.js";
import { jsonFault } from "./draft.js";
import { List } from "./list.js";
import { number } from "./observers.js";
import {
  at,
  breakable,
  button,
  code,
  empty,
  field,
  head,
  note,
  quiet,
  refusal,
  sheet,
  since,
} from "./parts.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { bytes, plural } from "./words.js";

/// Changes that are shown of a value, and milliseconds between two looks at what they made.
const changeLimit = 12;
const changeTime = 500;

export function openValues(app, { query }) {
  function open(event) {
    event.preventDefault();
    const object = document.getElementById("value-object").value;
    if (object !== "") app.go(link("value", object));
  }
  return new List(
    app,
    {
      view: "values",
      title: "Values",
      path: "values",
      rows: "values",
      id: ({ object }) => object,
      filter: ["object", "Filter: exact object"],
      note: () => "One JSON object for each object. Read, write and observe it by key path.",
      above: () =>
        h(
          "form",
          { class: "filters sheet body", onsubmit: open },
          h(
            "div",
            { class: "find" },
            h("label", { class: "l", for: "value-object" }, "New or existing object"),
            h("input", {
              id: "value-object",
              class: "mono",
              placeholder: "settings",
              autocomplete: "off",
              autocapitalize: "off",
              spellcheck: "false",
            }),
          ),
          h("button", null, "Open"),
        ),
      columns: [
        {
          head: "Object",
          cls: "nm",
          cell: ({ object }) => h("a", { href: link("value", object) }, breakable(object)),
        },
        { head: "Size", cls: "r", cell: ({ bytes: size }) => bytes(size) },
        { head: "Observers", cls: "r", cell: ({ observers }) => number(observers) },
        {
          head: "Changed",
          cls: "r",
          cell: ({ changedAt }, { now }) => since(changedAt, now),
        },
      ],
      none: ({ object }) =>
        object
          ? "No object matches."
          : [
              "No values yet. Create one with ",
              code("PUT /v1/values/{object}"),
              ", or with the field above.",
            ],
    },
    query,
  );
}

const valueFault = (text) => jsonFault(text, "Enter a JSON value.");

/// The value of one object, or what is at a key path in it.
export function openValue(app, { id: object, query }) {
  const keyPath = query.keyPath ?? "";
  const place = keyPath === "" ? path("values", object) : path("values", object, keyPath);
  const confirmation = new Confirmation(app);
  let typed = null;
  let fault = null;
  let told = null;
  let isMatched = false;
  let observer = null;
  let changes = [];
  let timer = null;

  /// Changes may come often; each half second they are shown.
  function beatSoon() {
    timer ??= setTimeout(() => {
      timer = null;
      app.beat();
    }, changeTime);
  }
  function watch() {
    if (observer !== null) return;
    observer = app.own.observe(
      app.connection,
      { object, keyPath },
      (value, change, { seq, postedAt }) => {
        changes = [
          {
            seq,
            postedAt,
            kind: change.initial ? "initial" : change.kind,
            text: JSON.stringify(value) ?? "no value",
          },
          ...changes,
        ].slice(0, changeLimit);
        beatSoon();
      },
    );
    observer.catch((error) => {
      told = { refused: error };
    });
  }
  async function write(method, type, shown) {
    fault = type === null ? null : valueFault(typed ?? shown.text ?? "");
    told = null;
    if (fault !== null) {
      app.paint();
      return document.getElementById("value-json").focus();
    }
    const headers = type === null ? {} : { "Content-Type": type };
    if (isMatched && shown.etag !== null) headers["If-Match"] = shown.etag;
    const { text } = await request(place, {
      method,
      headers,
      body: type === null ? undefined : (typed ?? shown.text),
    });
    const { changed, matched } = JSON.parse(text);
    typed = null;
    const heard = `${matched === 0 ? "No observer" : plural(matched, "observer")} matched.`;
    told = { words: changed ? `Changed. ${heard}` : "No change." };
  }
  const act = (method, type, shown) =>
    write(method, type, shown).then(
      () => told !== null && app.acted(told.words),
      (error) => {
        told = { refused: error };
        app.paint();
      },
    );
  const remove = (shown) =>
    confirmation.ask({
      title: [
        "Remove the value of ",
        code(object),
        keyPath === "" ? "" : [" at ", code(keyPath)],
        "?",
      ],
      told: "Its observers are notified. This cannot be undone.",
      verb: `Remove ${object}`,
      removes: place,
      act: () => write("DELETE", null, shown),
      done: `The value of ${object} was removed`,
    });
  return {
    title: object,
    async read() {
      try {
        const { text, headers } = await request(place);
        return { text, etag: headers.get("ETag") };
      } catch (error) {
        if (error.status !== 404) throw error;
        return { text: null, etag: null };
      }
    },
    content(shown) {
      // To observe makes the center, and a look must not.
      if (shown.text !== null) watch();
      return h(
        "div",
        { key: `value ${object} ${keyPath}`, class: "stack" },
        head([keyPath === "" ? "" : [code(keyPath), " of "], code(object)], {
          crumb: ["values", "Values", code(object)],
          note: shown.text === null ? "No value yet; Set creates one." : null,
          acts: [
            copyButton(() => curl(placeOf(place)), "Copy as curl"),
            shown.text !== null &&
              button("Remove…", () => remove(shown), { class: "badl" }),
          ],
        }),
        confirmation.content(),
        h(
          "div",
          { class: "grid" },
          h(
            "form",
            {
              class: "sheet body form s7",
              novalidate: true,
              onsubmit: (event) => {
                event.preventDefault();
                act("PUT", "application/json", shown);
              },
            },
            field("value-path", "Key path", "empty = whole value", {
              value: keyPath,
              placeholder: "ui.theme",
              onchange: ({ target }) => app.go(link("value", object, { keyPath: target.value })),
            }),
            field(
              "value-json",
              "Value, or merge patch",
              "JSON",
              {
                value: typed ?? shown.text ?? "",
                rows: 8,
                fault,
                placeholder: '{"theme": "dark"}',
                oninput: ({ target }) => {
                  typed = target.value;
                  if (fault !== null && valueFault(typed) === null) fault = null;
                  app.paint();
                },
              },
              "textarea",
            ),
            h(
              "p",
              { class: "checks" },
              h(
                "label",
                null,
                h("input", {
                  type: "checkbox",
                  checked: isMatched,
                  onchange: ({ target }) => {
                    isMatched = target.checked;
                  },
                }),
                " Only if unchanged since it was loaded",
              ),
            ),
            h(
              "p",
              { class: "rowf" },
              h("button", { class: "main" }, "Set"),
              button("Merge", () => act("PATCH", "application/merge-patch+json", shown)),
              typed !== null &&
                button("Discard changes", () => {
                  typed = null;
                  fault = null;
                  document.getElementById("value-json").value = shown.text ?? "";
                  app.paint();
                }),
            ),
            told?.words && note("", told.words),
            told?.refused && refusal(told.refused),
          ),
          sheet(
            "Changes",
            { place: "s5", note: "while this page is open" },
            changes.length === 0
              ? empty("None so far.")
              : h(
                  "ul",
                  { class: "feed" },
                  changes.map(({ seq, postedAt, kind, text }) =>
                    h(
                      "li",
                      { key: `${seq} ${kind}` },
                      at(postedAt),
                      h("span", null, quiet(kind), " ", code(text)),
                    ),
                  ),
                ),
          ),
        ),
      );
    },
    close() {
      clearTimeout(timer);
      observer?.then((one) => one.remove()).catch(() => {});
    },
  };
}
