// The queue of the center, and the modes that it waits in.

import { ask, path, send } from "./broker.js";
import { Confirmation } from "./confirm.js";
import { List } from "./list.js";
import {
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
      merged > 0 ? `It stands for ${plural(merged, "other post")}, which go with it. ` : "",
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
    askToDequeue(confirmation, row, "It is not posted; its poster is not told.");
  const endMode = ({ id, mode }) =>
    confirmation.ask({
      title: ["End mode ", code(mode), "?"],
      told: "What waits for another mode may go at once. Who entered it is not told.",
      verb: `End ${mode}`,
      keep: "Let it be",
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
      filter: ["name", "Name, letter by letter"],
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
            code(name),
            h("span", { class: "sub" }, style, object ? [" of ", code(object)] : ""),
          ],
        },
        { head: "Object", cls: "nm p2", cell: ({ object }) => named(object, "none") },
        { head: "Style", cls: "p2", cell: ({ style }) => style },
        { head: "Modes", cls: "nm p3", cell: ({ modes: names }) => code(names.join(", ")) },
        {
          head: "Compares",
          cls: "p4",
          cell: ({ coalesce }) => coalesce.join(", ") || quiet("nothing"),
        },
        {
          head: "Stands for",
          cls: "r p2",
          cell: ({ merged }) =>
            h("span", { class: merged === 0 ? "zero" : null }, count(merged + 1)),
        },
        { head: "Waits", cls: "r", cell: ({ enqueuedAt }, { now }) => since(enqueuedAt, now) },
        removeColumn(remove),
      ],
      none: ({ name }) =>
        name
          ? "No entry matches."
          : [
              "Nothing waits. Posts with the style ",
              code("asap"),
              " or ",
              code("idle"),
              " wait here for the end of the turn, or for their mode.",
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

/// `3 entries wait`.
export const entriesWait = (number) =>
  `${plural(number, "entry", "entries")} ${number === 1 ? "waits" : "wait"}`;

function queueSentence(reading, modes) {
  const entries = reading?.queue?.entries;
  const mode = modes?.current ?? "default";
  return [
    entries === undefined ? "" : `${entriesWait(entries)} in the broker. `,
    "The center is in mode ",
    code(mode),
    mode === "default" ? "." : ": what is for other modes waits.",
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
    h("p", { class: "rowf" }, h("button", { class: "main" }, "Enter it"), button("Cancel", cancel)),
  );

function modeSheet({ current, stack, common }, app, end) {
  const rows = [{ id: "default", mode: "default" }, ...stack];
  return sheet(
    "Mode stack",
    { note: ["The last one counts. ", code("common"), " stands for ", code(common.join(", "))] },
    table(
      "Modes, the last one on top of the others",
      [["Mode"], ["Entered by"], ["", "r"]],
      rows.map(({ id, mode, client }, place) => ({
        key: id,
        attributes: { class: place === rows.length - 1 ? "sel" : null },
        cells: [
          [code(mode), mode === current && place === rows.length - 1 && quiet(" now")],
          place === 0 ? quiet("always there") : [id, client ? [", ", clientLink(client)] : ""],
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
