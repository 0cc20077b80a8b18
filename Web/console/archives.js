// Archives: what a center keeps of channels for those who come later.

import { path, send } from "./broker.js";
import { Confirmation } from "./confirm.js";
import { List } from "./list.js";
import { number } from "./observers.js";
import { breakable, button, code, field, note, quiet, refusal } from "./parts.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { bytes, count, duration, isKnown, percent } from "./words.js";

/// Where an archive is in the API.
const placeOfArchive = ({ name, namePrefix }) =>
  isKnown(namePrefix) ? `${path("archives", namePrefix)}?prefix=true` : path("archives", name);

const keptText = ({ name, namePrefix }) => name ?? `${namePrefix}*`;

/// The channels that an archive keeps.
const channels = ({ name, namePrefix }) =>
  isKnown(namePrefix) ? [quiet("names that begin with "), breakable(namePrefix)] : breakable(name);

/// The bounds of an archive, as words.
function bounds({ count: most, age, each, keepLast }) {
  const kind = each === "object" ? "channel and object" : "channel";
  const parts = [
    isKnown(most) && `the newest ${count(most)} of each ${kind}`,
    isKnown(age) && `${duration(age * 1000)} long`,
    keepLast > 0 && `the newest ${count(keepLast)} of each ${kind} for longer`,
  ].filter(Boolean);
  return parts.length === 0 ? quiet("as much as fits") : parts.join(", ");
}

const seq = (value) => (isKnown(value) ? h("span", { class: "n" }, value) : quiet("none"));

export function openArchives(app, { query }) {
  const confirmation = new Confirmation(app);
  let isOpen = false;
  let refused = null;
  let fault = null;
  const remove = (row) =>
    confirmation.ask({
      title: ["Remove the archive of ", code(keptText(row)), "?"],
      told: [
        row.kept === 0 ? "It keeps nothing. " : `${count(row.kept)} notifications go with it. `,
        "Observers that begin before them get a gap. This cannot be undone.",
      ],
      verb: `Remove ${keptText(row)}`,
      removes: placeOfArchive(row),
      done: `The archive of ${keptText(row)} was removed`,
    });
  async function put(event) {
    event.preventDefault();
    const value = (id) => document.getElementById(id).value.trim();
    const isOn = (id) => document.getElementById(id).checked;
    const name = value("archive-name");
    fault = name === "" ? "Enter a name." : null;
    refused = null;
    if (fault !== null) {
      app.paint();
      return document.getElementById("archive-name").focus();
    }
    const terms = { each: isOn("archive-each") ? "object" : "name" };
    for (const term of ["count", "bytes", "age", "keepLast"]) {
      if (value(`archive-${term}`) !== "") terms[term] = Number(value(`archive-${term}`));
    }
    if (isOn("archive-memory")) terms.stored = false;
    const row = isOn("archive-prefix") ? { namePrefix: name } : { name };
    try {
      await send(placeOfArchive(row), "PUT", JSON.stringify(terms));
      isOpen = false;
      await app.acted(`${keptText(row)} is kept`);
    } catch (error) {
      refused = error;
      app.paint();
    }
  }
  const list = new List(
    app,
    {
      view: "archives",
      title: "Archives",
      path: "archives",
      rows: "archives",
      order: "by name",
      id: (row) => placeOfArchive(row),
      note: () => [
        "Notifications that are kept for later. ",
        h("a", { href: link("history") }, "Browse them"),
        ".",
      ],
      acts: () => [
        app.may("admin") &&
          !isOpen &&
          button(
            "New archive",
            () => {
              isOpen = true;
              app.paint();
            },
            { class: "main" },
          ),
      ],
      above: () => [
        confirmation.content(),
        isOpen &&
          form(put, fault, refused, () => {
            [isOpen, fault, refused] = [false, null, null];
            app.paint();
          }),
      ],
      columns: [
        {
          head: "Channels",
          cls: "nm",
          cell: (row) => [
            h(
              "a",
              { href: link("history", null, { name: row.name, namePrefix: row.namePrefix }) },
              channels(row),
            ),
            h("span", { class: "sub" }, bounds(row)),
          ],
        },
        { head: "Keeps", cls: "p2", cell: bounds },
        { head: "Kept", cls: "r", cell: ({ kept }) => number(kept) },
        {
          head: "Full",
          cls: "r",
          cell: ({ keptBytes, bytes: limit }) => [
            percent(keptBytes, limit),
            h("span", { class: "quiet p2" }, ` of ${bytes(limit)}`),
          ],
        },
        { head: "Oldest", cls: "r p2", cell: ({ firstSeq }) => seq(firstSeq) },
        { head: "Newest", cls: "r p2", cell: ({ lastSeq }) => seq(lastSeq) },
        { head: "Since", cls: "r p3", cell: ({ since }) => seq(since) },
        {
          head: "Place",
          cls: "p3",
          cell: ({ stored, configured }) => [
            stored ? "disk and memory" : quiet("memory alone"),
            configured && quiet(", configured"),
          ],
        },
        {
          head: "",
          cls: "r p2",
          cell: (row) =>
            app.may("admin") &&
            !row.configured &&
            button("Remove…", () => remove(row), {
              class: "bare",
              "aria-label": `Remove ${keptText(row)}…`,
            }),
        },
      ],
      none: () => [
        "No archives. An admin makes one with ",
        code("PUT /v1/archives/{name}"),
        ", or with the button above.",
      ],
    },
    query,
  );
  return list;
}

const checkbox = (id, text) => h("label", null, h("input", { id, type: "checkbox" }), ` ${text}`);

const form = (put, fault, refused, cancel) =>
  h(
    "form",
    { key: "archive form", class: "sheet body form", novalidate: true, onsubmit: put },
    field("archive-name", "Channel", null, {
      fault,
      placeholder: "Order",
      ref: (node) => setTimeout(() => node.focus()),
    }),
    h("p", { class: "checks" }, checkbox("archive-prefix", "All channels that begin with this")),
    field("archive-count", "Count", "of each channel; empty = any number", {
      inputmode: "numeric",
      placeholder: "1000",
    }),
    h(
      "p",
      { class: "checks" },
      checkbox("archive-each", "Count each object of a channel for itself"),
    ),
    field("archive-age", "Age", "seconds; empty = no end", {
      inputmode: "numeric",
      placeholder: "604800",
    }),
    field("archive-keepLast", "Keep longer", "of each; needs an age", {
      inputmode: "numeric",
      placeholder: "0",
    }),
    field("archive-bytes", "Bytes", "of the whole archive; empty = 16 MiB", {
      inputmode: "numeric",
      placeholder: "16777216",
    }),
    h("p", { class: "checks" }, checkbox("archive-memory", "In memory alone")),
    note("", "An archive that exists gets these terms; what no longer fits is let go."),
    refused !== null && refusal(refused),
    h(
      "p",
      { class: "rowf" },
      h("button", { class: "main" }, "Keep"),
      button("Cancel", cancel),
    ),
  );
