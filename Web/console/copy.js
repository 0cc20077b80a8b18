// Commands that can be copied.

import { base, token } from "./broker.js";
import { h } from "./tree.js";

/// Milliseconds for which a button says that it did it.
const thanksTime = 2000;

/// Copies a text; where the browser has no clipboard for the page, as over plain HTTP, by
/// selection.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "hidden";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/// A button that copies; `text` is the text, or a function that makes it.
export const copyButton = (text, label = "Copy", attributes = {}) =>
  h(
    "button",
    {
      type: "button",
      async onclick({ currentTarget }) {
        await copyText(typeof text === "function" ? text() : text);
        const said = currentTarget.firstChild;
        said.data = "Copied";
        document.getElementById("spoken").textContent = "Copied";
        setTimeout(() => {
          said.data = label;
        }, thanksTime);
      },
      ...attributes,
    },
    label,
  );

/// A command that wraps, with Copy beside it.
export const command = (text, about) =>
  h(
    "div",
    { class: "cmd" },
    h("pre", null, text),
    copyButton(text, "Copy", { class: "bare", "aria-label": `Copy ${about}` }),
  );

/// A text as one word of a shell.
export const quoted = (text) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/// The address of a part of the center, for a command line.
export const placeOf = (path, query = "") => `${base}/${path}${query === "" ? "" : `?${query}`}`;

/// The equal `curl` line; the token is named by a variable, and never written. Its parts begin their
/// lines without blanks: behind blanks a long address would begin on the line after.
export function curl(url, { options = [], body = null } = {}) {
  const shown = token() === null ? [] : ['-H "Authorization: Bearer $BELFRY_TOKEN"'];
  const [first = null, ...others] = [
    ...options,
    ...(body === null ? [] : [`-d ${quoted(body)}`]),
    ...shown,
  ];
  if (first === null) return `curl ${quoted(url)}`;
  const isShort = others.length === 0 && body === null;
  return [`curl ${first}`, ...others, quoted(url)].join(isShort ? " " : " \\\n");
}
