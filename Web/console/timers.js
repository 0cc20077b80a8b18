// Timers: posts that enter the queue later, again and again, or when a client goes.

import { Confirmation } from "./confirm.js";
import { List } from "./list.js";
import { askToDequeue, removeColumn } from "./queue.js";
import { at, clientLink, code, named, quiet } from "./parts.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { count, duration, isKnown } from "./words.js";

/// What makes it enter the queue.
function due({ dueAt, onDisconnect }, now) {
  if (isKnown(onDisconnect)) return ["when ", clientLink(onDisconnect), " goes"];
  return at(dueAt, `in ${duration(Date.parse(dueAt) - now)}`);
}

export function openTimers(app, { query }) {
  const confirmation = new Confirmation(app);
  const remove = (row) =>
    askToDequeue(confirmation, row, "It never enters the queue; who set it is not told.");
  return new List(
    app,
    {
      view: "timers",
      title: "Timers",
      path: "queue",
      rows: "entries",
      id: ({ id }) => id,
      fixed: { waiting: "true" },
      filter: ["name", "Name, letter by letter"],
      note: () => "Posts that enter the queue later.",
      acts: () => [
        h("a", { class: "btn main", href: link("post", null, { later: "1" }) }, "Post later"),
      ],
      above: () => confirmation.content(),
      columns: [
        {
          head: "Name",
          cls: "nm",
          cell: ({ name, object }) => [
            code(name),
            h("span", { class: "sub" }, object ? code(object) : "no object"),
          ],
        },
        { head: "Object", cls: "nm p2", cell: ({ object }) => named(object, "none") },
        { head: "Due", cls: "r", cell: (row, { now }) => due(row, now) },
        {
          head: "Every",
          cls: "r p2",
          cell: ({ every }) => (isKnown(every) ? duration(every * 1000) : quiet("once")),
        },
        {
          head: "Fired",
          cls: "r p2",
          cell: ({ fired }) => (isKnown(fired) ? count(fired) : quiet("0")),
        },
        {
          head: "Missed",
          cls: "r p2",
          cell: ({ missed }) =>
            h("span", { class: missed > 0 ? "warnt" : "zero" }, count(missed ?? 0)),
        },
        { head: "Style", cls: "p3", cell: ({ style }) => style },
        { head: "Set", cls: "r p3", cell: ({ enqueuedAt }) => at(enqueuedAt) },
        removeColumn(remove),
      ],
      none: ({ name }) =>
        name
          ? "No timer matches."
          : [
              "Nothing is to be posted later. A post with ",
              code("after"),
              ", ",
              code("at"),
              ", ",
              code("every"),
              " or ",
              code("onDisconnect"),
              " stands here until it is due.",
            ],
    },
    query,
  );
}
