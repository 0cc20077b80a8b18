// History: what archives keep, newest first, by name or prefix, object and time.

import { ask } from "./broker.js";
import { copyButton, curl, placeOf } from "./copy.js";
import { channelLink, code, empty, field, head, named, note, refusal, table } from "./parts.js";
import { link, queryText } from "./route.js";
import { h } from "./tree.js";
import { clockWithMilliseconds, count, date, isKnown } from "./words.js";

const pageSize = 50;

/// A time of the address as the field for a local time has it, and back.
const local = (text) => {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return "";
  return new Date(time - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
};
const universal = (text) => (text === "" ? null : new Date(text).toISOString());

export function openHistory(app, { query }) {
  const { name = "", namePrefix = "", object = "", from = "", until = "", before = null } = query;
  const asked = { name, namePrefix, object, from, until };
  const question = { ...asked, before, order: "newest", limit: pageSize };
  let fault = null;
  function submit(event) {
    event.preventDefault();
    const [text, ofObject, first, end] = ["name", "object", "from", "until"].map(
      (id) => document.getElementById(`history-${id}`).value,
    );
    const isPrefix = document.getElementById("history-prefix").checked;
    fault = text === "" ? "Enter a name." : null;
    if (fault !== null) {
      app.paint();
      return document.getElementById("history-name").focus();
    }
    app.go(
      link("history", null, {
        [isPrefix ? "namePrefix" : "name"]: text,
        object: ofObject,
        from: universal(first),
        until: universal(end),
      }),
    );
  }
  return {
    title: "History",
    async read() {
      if (name === "" && namePrefix === "") return {};
      return ask("notifications", { query: question }).catch((error) => {
        if (![403, 404, 422].includes(error.status)) throw error;
        return { refused: error };
      });
    },
    content: (page) =>
      h(
        "div",
        { key: `history ${queryText(query)}`, class: "stack" },
        head("History", {
          note: [
            "What archives keep. ",
            h("a", { href: link("archives") }, "Archives"),
            " says which channels are kept.",
          ],
        }),
        form(asked, submit, fault),
        page.refused && told(page.refused),
        isKnown(page.notifications) && sheet(page, asked, before, question),
      ),
  };
}

const form = ({ name, namePrefix, object, from, until }, submit, fault) =>
  h(
    "form",
    { class: "sheet body form", novalidate: true, onsubmit: submit },
    field("history-name", "Name", null, {
      value: name || namePrefix,
      placeholder: "Order",
      fault,
    }),
    h(
      "p",
      { class: "checks" },
      h(
        "label",
        null,
        h("input", { id: "history-prefix", type: "checkbox", checked: namePrefix !== "" }),
        " All names that begin with this",
      ),
    ),
    field("history-object", "Object", "empty = any", { value: object }),
    field("history-from", "From", "local time; empty = the oldest", {
      type: "datetime-local",
      step: 1,
      value: local(from),
    }),
    field("history-until", "Until", "empty = now", {
      type: "datetime-local",
      step: 1,
      value: local(until),
    }),
    h("p", { class: "rowf" }, h("button", { class: "main" }, "Show")),
  );

/// Why there is no page.
const told = (error) =>
  error.problem?.type?.endsWith("/not-archived")
    ? note(
        "",
        "No archive keeps this channel. ",
        h("a", { href: link("archives") }, "Make one"),
        " to keep what is posted from then on.",
      )
    : refusal(error);

function sheet({ notifications, next }, asked, before, question) {
  const rows = notifications.map(({ id, seq, name, object, userInfo, postedAt }) => ({
    key: id,
    cells: [
      h("span", { class: "n" }, seq),
      h(
        "time",
        { datetime: postedAt, title: date(postedAt) },
        `${postedAt.slice(0, 10)} ${clockWithMilliseconds(postedAt)}`,
      ),
      channelLink(name),
      named(object, "none"),
      isKnown(userInfo) && code(JSON.stringify(userInfo)),
    ],
  }));
  return h(
    "div",
    { class: "sheet" },
    rows.length === 0
      ? empty(before === null ? "Nothing is kept that matches." : "Nothing older is kept.")
      : table(
          "Notifications, newest first",
          [["Seq", "r one"], ["Time"], ["Name", "nm"], ["Object", "nm p2"], ["userInfo"]],
          rows,
          "",
        ),
    h(
      "footer",
      null,
      h("span", null, `${count(rows.length)} shown, newest first`),
      h(
        "span",
        { class: "end rowf" },
        copyButton(() => curl(placeOf("notifications", queryText(question))), "Copy as curl", {
          class: "bare",
        }),
        before !== null && h("a", { href: link("history", null, asked) }, "← Newest"),
        isKnown(next) &&
          h(
            "a",
            { href: link("history", null, { ...asked, before: String(next) }) },
            "Older →",
          ),
      ),
    ),
  );
}
