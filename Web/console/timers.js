// Timers: posts that enter the queue later, again and again, or when a client goes.

import { Confirmation } from "./confirm.js";
import { List } from "./list.js";
import { askToDequeue, removeColumn } from "./queue.js";
import { at, breakable, clientLink, code, named, quiet } from "./parts.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { count, duration, isKnown } from "./words.js";

/// What makes it enter the queue.
function due({ dueAt, onDisconnect }, now) {
  if (isKnown(onDisconnect)) return ["when ", clientLink(onDisconnect), " leaves"];
  return at(dueAt, `in ${duration(Date.parse(dueAt) - now)}`);
}

export function openTimers(app, { query }) {
  const confirmation = new Confirmation(app);
  const remove = (row) =>
    askToDequeue(confirmation, row, "The timer never fires, and its creator is not notified.");
  return new List(
    app,
    {
      view: "timers",
      title: "Timers",
      path: "queue",
      rows: "entries",
      id: ({ id }) => id,
      fixed: { waiting: "true" },
      filter: ["name", "Exact name"],
      note: () => "Posts scheduled for later.",
      acts: () => [
        h("a", { class: "btn main", href: link("post", null, { later: "1" }) }, "Post later"),
      ],
      above: () => confirmation.content(),
      columns: [
        {
          head: "Name",
          cls: "nm",
          cell: ({ name, object }) => [
            breakable(name),
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
        { head: "Created", cls: "r p3", cell: ({ enqueuedAt }) => at(enqueuedAt) },
        removeColumn(remove),
      ],
      none: ({ name }) =>
        name
          ? "No timer matches."
          : [
              "No timers. A post with ",
              code("after"),
              ", ",
              code("at"),
              ", ",
              code("every"),
              " or ",
              code("onDisconnect"),
              " is listed here until it is due.",
            ],
    },
    query,
  );
}
