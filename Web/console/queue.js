// The queue of the center, and the modes that it waits in.

import { ask, path, send } from "./broker.js";
import { Confirmation } from "./confirm.js";
import { List } from "./list.js";
import {
  breakable,
  button,
  clientLink,
  code,
  field,
  named,
  quiet,
  refusal,
  sheet,
  since,
  table,
} from "./parts.js";
import { h } from "./tree.js";
import { count, plural } from "./words.js";

/// Asks before an entry, or a timer, is taken out.
export const askToDequeue = (confirmation, { id, name, object, merged = 0 }, told) =>
  confirmation.ask({
    title: ["Remove ", code(name), object ? [" of ", code(object)] : "", "?"],
    told: [
      merged > 0
        ? `${plural(merged, "merged post")} ${merged === 1 ? "is" : "are"} removed with it. `
        : "",
      told,
      " This cannot be undone.",
    ],
    verb: `Remove ${name}`,
    removes: path("queue", id),
    done: `${name} was removed`,
  });

/// The last column of entries and timers.
export const removeColumn = (remove) => ({
  head: "",
  cls: "r",
  cell: (row) =>
    button("Remove…", () => remove(row), {
      class: "bare",
      "aria-label": `Remove ${row.name} of ${row.object ?? "no object"}…`,
    }),
});

/// Seconds for which a mode is entered here; it is left by itself then.
const modeLease = 60;

export function openQueue(app, { query }) {
  const confirmation = new Confirmation(app);
  let modes = null;
  let isEntering = false;
  let refused = null;
  const remove = (row) =>
    askToDequeue(confirmation, row, "The entry is not posted, and its poster is not notified.");
  const endMode = ({ id, mode }) =>
    confirmation.ask({
      title: ["End mode ", code(mode), "?"],
      told:
        "Posts that wait for other modes may be delivered at once. The client that entered the " +
        "mode is not notified.",
      verb: `End ${mode}`,
      keep: "Cancel",
      removes: path("modes", id),
      done: `Mode ${mode} ended`,
    });
  const toggle = () => {
    isEntering = !isEntering;
    refused = null;
    app.paint();
  };
  async function enter(event) {
    event.preventDefault();
    const mode = document.getElementById("mode").value;
    try {
      await send("modes", "POST", JSON.stringify({ mode, lease: modeLease }));
      isEntering = false;
      await app.acted(`Mode ${mode} was entered`);
    } catch (error) {
      refused = error;
      app.paint();
    }
  }
  const list = new List(
    app,
    {
      view: "queue",
      title: "Queue and modes",
      path: "queue",
      rows: "entries",
      id: ({ id }) => id,
      fixed: { waiting: "false" },
      filter: ["name", "Exact name"],
      note: () => queueSentence(app.reading, modes),
      acts: () => [
        app.may("modes") &&
          button("Enter a mode…", toggle, { "aria-expanded": String(isEntering) }),
      ],
      above: () => [
        confirmation.content(),
        isEntering && modeForm(enter, toggle, refused),
        modes !== null && modeSheet(modes, app, endMode),
      ],
      columns: [
        {
          head: "Name",
          cls: "nm",
          cell: ({ name, object, style }) => [
            breakable(name),
            h("span", { class: "sub" }, style, object ? [" of ", code(object)] : ""),
          ],
        },
        { head: "Object", cls: "nm p2", cell: ({ object }) => named(object, "none") },
        { head: "Style", cls: "p2", cell: ({ style }) => style },
        { head: "Modes", cls: "nm p3", cell: ({ modes: names }) => code(names.join(", ")) },
        {
          head: "Coalesced by",
          cls: "p4",
          cell: ({ coalesce }) => coalesce.join(", ") || quiet("nothing"),
        },
        {
          head: "Merged posts",
          cls: "r p2",
          cell: ({ merged }) =>
            h("span", { class: merged === 0 ? "zero" : null }, count(merged)),
        },
        { head: "Waiting", cls: "r", cell: ({ enqueuedAt }, { now }) => since(enqueuedAt, now) },
        removeColumn(remove),
      ],
      none: ({ name }) =>
        name
          ? "No entry matches."
          : [
              "The queue is empty. Posts with the style ",
              code("asap"),
              " or ",
              code("idle"),
              " wait here for the end of the turn or for their mode.",
            ],
    },
    query,
  );
  return {
    title: "Queue and modes",
    async read() {
      [modes] = await Promise.all([ask("modes"), list.read()]);
      return modes;
    },
    content: () => list.content(),
    release: () => list.release(),
    close: () => list.close(),
  };
}

/// `3 entries are waiting`.
export const entriesWait = (number) =>
  `${plural(number, "entry", "entries")} ${number === 1 ? "is" : "are"} waiting`;

function queueSentence(reading, modes) {
  const entries = reading?.queue?.entries;
  const mode = modes?.current ?? "default";
  return [
    entries === undefined ? "" : `${entriesWait(entries)} in the broker. `,
    "The center is in mode ",
    code(mode),
    mode === "default" ? "." : ": posts for other modes wait.",
  ];
}

const modeForm = (enter, cancel, refused) =>
  h(
    "form",
    {
      key: "mode form",
      class: "sheet body form",
      onsubmit: enter,
    },
    field("mode", "Mode", `entered for ${modeLease} s; posts for other modes wait meanwhile`, {
      required: true,
      ref: (node) => setTimeout(() => node.focus()),
    }),
    refused !== null && refusal(refused),
    h(
      "p",
      { class: "rowf" },
      h("button", { class: "main" }, "Enter mode"),
      button("Cancel", cancel),
    ),
  );

function modeSheet({ current, stack, common }, app, end) {
  const rows = [{ id: "default", mode: "default" }, ...stack];
  return sheet(
    "Mode stack",
    {
      note: [
        "The last row is the current mode. ",
        code("common"),
        " means ",
        code(common.join(", ")),
      ],
    },
    table(
      "Modes, the current one last",
      [["Mode"], ["Entered by"], ["", "r"]],
      rows.map(({ id, mode, client }, place) => ({
        key: id,
        attributes: { class: place === rows.length - 1 ? "sel" : null },
        cells: [
          [code(mode), mode === current && place === rows.length - 1 && quiet(" current")],
          place === 0 ? quiet("always present") : [id, client ? [", ", clientLink(client)] : ""],
          place > 0 &&
            app.may("admin") &&
            button("End…", () => end({ id, mode }), {
              class: "bare",
              "aria-label": `End ${mode}…`,
            }),
        ],
      })),
    ),
  );
}
