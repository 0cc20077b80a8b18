// The same elsewhere: what a view does, as a command line, as JavaScript, as a page.

import { address, base, centerName, token } from "./broker.js";
import { curl, placeOf, quoted } from "./copy.js";
import { lists, numbers } from "./draft.js";
import { queryText } from "./route.js";

const members = (pairs) =>
  pairs
    .filter(([, text]) => text !== "" && text !== null)
    .map(([name, text]) => `${name}: ${text}`)
    .join(", ");

const text = (value) => (value === null || value === "" ? null : JSON.stringify(value));

/// A post as its members: `name`, `object`, `userInfo` as JSON text, the options of the query, and
/// the idempotency key.
export function curlPost({ name, object, userInfo, options, key = "" }) {
  const url = placeOf(`channels/${encodeURIComponent(name)}`, queryText({ object, ...options }));
  const method = userInfo === "" ? ["-X POST"] : [];
  const headers = key === "" ? [] : [`-H ${quoted(`Idempotency-Key: ${key}`)}`];
  return curl(url, {
    options: [...method, ...headers],
    body: userInfo === "" ? null : userInfo,
  });
}

/// The options of the query as options of the command line.
const flags = {
  style: "style",
  coalesce: "coalesce",
  keep: "keep",
  modes: "mode",
  maxDelay: "max-delay",
  ttl: "ttl",
  after: "after",
  at: "at",
  every: "every",
};

export function belfryPost({ name, object, userInfo, options, key = "" }) {
  const words = ["belfry", "post", quoted(name)];
  if (object !== "") words.push("--object", quoted(object));
  if (userInfo !== "") words.push("--user-info", quoted(userInfo));
  for (const [option, value] of Object.entries(options)) {
    if (value === "" || value === null || !(option in flags)) continue;
    const values =
      option === "modes" ? value.split(",") : [numbers.has(option) ? `${value}s` : value];
    for (const one of values) words.push(`--${flags[option]}`, quoted(one));
  }
  if (key !== "") words.push("--idempotency-key", quoted(key));
  words.push("--url", quoted(centerName === "default" ? address : base));
  return words.join(" ");
}

export function scriptPost({ name, object, userInfo, options, key = "" }) {
  const written = Object.entries(options).map(([option, value]) => [
    option,
    value === "" || value === null
      ? ""
      : numbers.has(option)
        ? value
        : lists.has(option) && value !== "none"
          ? JSON.stringify(value.split(","))
          : JSON.stringify(value),
  ]);
  const terms = members([
    ["object", text(object)],
    ["userInfo", userInfo],
    ...written,
    ["idempotencyKey", text(key)],
  ]);
  const rest = terms === "" ? "" : `,\n  { ${terms} }`;
  return `${importLines}\n\nconst receipt = await center.post(\n  ${JSON.stringify(name)}${rest});`;
}

const centerTerms = () =>
  members([
    ["center", centerName === "default" ? null : JSON.stringify(centerName)],
    ["token", token() === null ? null : '"…"'],
  ]);

const newCenter = () => {
  const terms = centerTerms();
  return `const center = new NotificationCenter(${terms === "" ? "" : `undefined, { ${terms} }`});`;
};

const importLines = `import { NotificationCenter }
  from "${address}/belfry.js";

${newCenter()}`;

/// Text that stands in HTML, in a script: no tag can end there.
const inScript = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");

/// A page of some 15 lines that observes this. It is copied, and runs from anywhere that the broker
/// lets in.
export function pageText({ name = null, object = null }) {
  const filter = members([
    ["name", name === null ? null : inScript(name)],
    ["object", object === null ? null : inScript(object)],
  ]);
  return `<!doctype html>
<meta charset="utf-8">
<title>Belfry</title>
<ol id="list"></ol>
<script type="module">
${importLines}

await center.addObserver(
  { ${filter} },
  ({ name, object, userInfo }) => {
    const line = document.createElement("li");
    line.textContent = [name, object, JSON.stringify(userInfo)].join(" ");
    document.getElementById("list").prepend(line);
  });
</script>
`;
}
