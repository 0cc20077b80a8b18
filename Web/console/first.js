// The first start: three steps, each ticked when the broker sees it. The overview takes over by
// itself.

import { address } from "./broker.js";
import { command, copyButton, curl, placeOf } from "./copy.js";
import { body, head, icon, note, sheet } from "./parts.js";
import { link } from "./route.js";
import { pageText } from "./snippets.js";
import { h } from "./tree.js";

const name = "ButtonChange";

/// The observers by which this page hears what happens are not somebody's.
const own = ({ feed }) => feed.observerCount;

/// Whether nobody posted anything, and nobody but this page observes, since the broker started.
export const isFirstStart = (app) => {
  const { reading, readings } = app;
  return (
    (readings.total("posts") ?? 0) === 0 &&
    (reading.observers?.count ?? 1) <= own(app) &&
    (reading.values?.count ?? 0) === 0
  );
};

/// The three steps, with commands that have this broker's address.
export function steps(app) {
  const isObserved = (app.reading?.observers?.count ?? 0) > own(app);
  const isPosted = app.readings.total("posts") > 0;
  return h(
    "ol",
    { class: "steps" },
    step(
      "Observe",
      isObserved,
      [
        "In a terminal. It waits, and prints what comes. ",
        h("a", { href: link("tail", null, { name }) }, "Or observe here"),
        ".",
      ],
      command(curl(placeOf("events", `name=${name}`), { options: ["-N"] }), "the first step"),
    ),
    step(
      "Post",
      isPosted,
      [
        "In another one. The answer is a receipt. ",
        h("a", { href: link("post", null, { name, userInfo: '{"title": "7"}' }) }, "Or post here"),
        ".",
      ],
      command(curl(placeOf(`channels/${name}`), { body: '{"title":"7"}' }), "the second step"),
    ),
    step(
      "Open a page that observes",
      false,
      [
        "Fifteen lines of HTML, served by this broker: ",
        h("a", { href: `${address}/try?name=${name}` }, "open /try"),
        ", or copy them into a file of yours.",
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
      note: "The broker is ready, and nobody has used it yet. Three steps, about a minute.",
    }),
    h(
      "div",
      { class: "grid fill" },
      h("div", { class: "sheet s7" }, body(steps(app))),
      h(
        "div",
        { class: "s5 stack" },
        sheet(
          "What you will see",
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
              "The second one prints its receipt: one observer matched, and it was on its way " +
                "to one.",
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
          "If nothing comes",
          {},
          h(
            "div",
            { class: "body stack" },
            h(
              "p",
              null,
              "Names are compared letter by letter. ",
              h("a", { href: link("explain", null, { name }) }, "Who would get it?"),
              " tells who nearly does, and why not.",
            ),
            h(
              "p",
              { class: "quiet" },
              "Words: a ",
              h("b", null, "name"),
              " says what happened, an ",
              h("b", null, "object"),
              " who says so, an ",
              h("b", null, "observer"),
              " is who asked to hear of it.",
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
        "This page waits with you: each step is ticked when the broker sees it, and then the " +
          "overview comes.",
      ),
    ),
  );
