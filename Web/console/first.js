// The first start: three steps, each ticked when the broker sees it. The overview takes over by
// itself.

import { address } from "./broker.js";
import { command, copyButton, curl, placeOf } from "./copy.js";
import { body, head, icon, note, sheet } from "./parts.js";
import { link } from "./route.js";
import { pageText } from "./snippets.js";
import { h } from "./tree.js";

const name = "ButtonChange";

/// Whether nobody posted anything, and nobody but this page observes, since the broker started.
export const isFirstStart = (app) => {
  const { reading, readings } = app;
  return (
    (readings.total("posts") ?? 0) === 0 &&
    (reading.observers?.count ?? 1) === 0 &&
    (reading.values?.count ?? 0) === 0
  );
};

/// The three steps, with commands that have this broker's address.
export function steps(app) {
  const isObserved = (app.reading?.observers?.count ?? 0) > 0;
  const isPosted = app.readings.total("posts") > 0;
  return h(
    "ol",
    { class: "steps" },
    step(
      "Observe",
      isObserved,
      [
        "Run this in a terminal. It prints each notification as it arrives. ",
        h("a", { href: link("tail", null, { name }) }, "Or observe here"),
        ".",
      ],
      command(curl(placeOf("events", `name=${name}`), { options: ["-N"] }), "the first step"),
    ),
    step(
      "Post",
      isPosted,
      [
        "Run this in a second terminal. The answer is a receipt. ",
        h("a", { href: link("post", null, { name, userInfo: '{"title": "7"}' }) }, "Or post here"),
        ".",
      ],
      command(curl(placeOf(`channels/${name}`), { body: '{"title":"7"}' }), "the second step"),
    ),
    step(
      "Open a page that observes",
      false,
      [
        "A short page, served by this broker: ",
        h("a", { href: `${address}/try?name=${name}` }, "open /try"),
        ", or copy it to a file.",
      ],
      h(
        "p",
        null,
        copyButton(() => pageText({ name }), "Copy as page"),
      ),
    ),
  );
}

const step = (title, isDone, text, act) =>
  h(
    "li",
    { key: title, class: isDone ? "done" : null },
    h(
      "div",
      null,
      h("h2", null, title, isDone && h("span", { class: "hidden" }, " (done)")),
      h("p", { class: "quiet" }, text),
      act,
    ),
  );

export const firstStart = (app) =>
  h(
    "div",
    { key: "first", class: "stack" },
    head("Your first notification", {
      note: "The broker is ready and has not been used yet. Three steps, about a minute.",
    }),
    h(
      "div",
      { class: "grid fill" },
      h("div", { class: "sheet s7" }, body(steps(app))),
      h(
        "div",
        { class: "s5 stack" },
        sheet(
          "Expected output",
          {},
          h(
            "div",
            { class: "body stack" },
            h("p", { class: "quiet" }, "The first terminal prints the notification:"),
            h(
              "pre",
              { class: "box" },
              `id: 8dda42e9b8fe-1\ndata: {"id":"01M8…","seq":1,\n       "name":"${name}",\n   ` +
                `    "userInfo":{"title":"7"}}`,
            ),
            h(
              "p",
              { class: "quiet" },
              "The second terminal prints the receipt: one observer matched, and the " +
                "notification was sent to it.",
            ),
            h(
              "pre",
              { class: "box" },
              '{"id":"01M8…","seq":1,"matched":',
              h("mark", null, "1"),
              ',\n "delivered":',
              h("mark", null, "1"),
              ',"held":0,"dropped":0 …}',
            ),
          ),
        ),
        sheet(
          "If nothing arrives",
          {},
          h(
            "div",
            { class: "body stack" },
            h(
              "p",
              null,
              "Names must match exactly. ",
              h("a", { href: link("explain", null, { name }) }, "Explain"),
              " shows near matches, and what differs.",
            ),
            h(
              "p",
              { class: "quiet" },
              "Terms: the ",
              h("b", null, "name"),
              " says what happened, the ",
              h("b", null, "object"),
              " names its source, and an ",
              h("b", null, "observer"),
              " receives the notifications that match.",
            ),
          ),
        ),
      ),
    ),
    note(
      "",
      h(
        "p",
        null,
        icon("gone", "wait"),
        "Steps are ticked as you complete them; then the overview opens.",
      ),
    ),
  );
