// The keys, and the three first steps, which stay here after the first start.

import { steps } from "./first.js";
import { lettersAreOn, turnLetters, ways } from "./keys.js";
import { body, head } from "./parts.js";
import { h } from "./tree.js";

const others = [
  [["/"], "search; the arrow keys and Enter choose"],
  [["j", "k"], "next and previous row; Enter opens, Escape returns to the list"],
  [["p"], "pause or resume; in the tail also the space bar"],
  [["Ctrl", "Enter"], "send, in the Post view"],
  [["?"], "this help"],
];

const keyNames = (keys) => keys.map((key, place) => [place > 0 && " ", h("kbd", null, key)]);

export function openHelp(app) {
  return {
    title: "Help and keys",
    content: () =>
      h(
        "div",
        { class: "stack" },
        head("Help and keys"),
        h(
          "div",
          { class: "grid" },
          h(
            "section",
            { class: "sheet s5" },
            h("header", null, h("h2", null, "Keys")),
            h(
              "table",
              { class: "tight" },
              h("caption", { class: "hidden" }, "Keys and what they do"),
              h(
                "thead",
                null,
                h(
                  "tr",
                  null,
                  h("th", { scope: "col" }, "Key"),
                  h("th", { scope: "col" }, "Action"),
                ),
              ),
              h(
                "tbody",
                null,
                others.map(([keys, text]) => keyRow(keys, text)),
                Object.entries(ways).map(([key, [, name]]) => keyRow(["g", key], name)),
              ),
            ),
            body(
              h(
                "p",
                { class: "checks" },
                h(
                  "label",
                  null,
                  h("input", {
                    type: "checkbox",
                    checked: lettersAreOn(),
                    onchange: ({ target }) => turnLetters(target.checked),
                  }),
                  " Single-letter keys work while no field has the focus",
                ),
              ),
            ),
          ),
          h(
            "section",
            { class: "sheet s7" },
            h("header", null, h("h2", null, "Your first notification")),
            body(steps(app)),
          ),
        ),
      ),
  };
}

const keyRow = (keys, text) =>
  h(
    "tr",
    { key: keys.join() },
    h("th", { scope: "row", class: "one" }, keyNames(keys)),
    h("td", null, text),
  );
