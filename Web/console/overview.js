// The first screen: is it well, what goes on, who is not heard.

import { plot, plotPlace, sample, spark } from "./charts.js";
import { connectionSheet, memorySheet, storeSheet } from "./figures.js";
import { firstStart, isFirstStart } from "./first.js";
import { fullLimits } from "./limits.js";
import { looksOf } from "./looks.js";
import { at, body, code, empty, facets, icon, notKnown, sheet, since, table } from "./parts.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { forgottenSheet, unheardSheet, waitingSheet } from "./waits.js";
import { clock, count, duration, isKnown, percent, plural, rate } from "./words.js";

const looksLimit = 6;

export function openOverview(app) {
  let span = "recent";
  let isTable = false;
  const set = {
    span: (value) => {
      span = value;
      app.paint();
    },
    table: (value) => {
      isTable = value;
      app.paint();
    },
  };
  return {
    title: "Overview",
    needsReading: true,
    content() {
      if (isFirstStart(app)) return firstStart(app);
      const all = looksOf(app);
      return h(
        "div",
        { key: "overview", class: app.away ? "stack old" : "stack" },
        verdict(app, all),
        looks(app, all),
        tiles(app),
        h("div", { class: "grid fill" }, plotSheet(app, { span, isTable }, set), feedSheet(app)),
        h(
          "div",
          { class: "grid fill" },
          unheardSheet(app),
          waitingSheet(app),
          forgottenSheet(app),
          connectionSheet(app),
          memorySheet(app),
          storeSheet(app),
        ),
      );
    },
  };
}

const words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

/// Whether it is well, as a level and a sentence: the heading of the first screen.
function verdictOf({ reading, away }, all) {
  const bad = all.find(({ level }) => level === "bad");
  const [full] = fullLimits(reading);
  if (away !== null) return ["warn", `It was well at ${clock(away.since)}`];
  if (reading.draining) return ["bad", "It is stopping, as it was asked to"];
  if (full !== undefined) {
    return ["bad", `It is not well: ${full.name.toLowerCase()} ${full.is} full`];
  }
  if (!reading.ready) return ["bad", "It is not well: it is not ready"];
  if (bad !== undefined) return ["bad", `It is not well: ${badWords[bad.key.split(" ")[0]]}`];
  if (all.length === 0) return ["good", "It is well"];
  const things = all.length === 1 ? "thing wants" : "things want";
  return ["good", `It is well, and ${words[all.length] ?? all.length} ${things} a look`];
}

function verdict(app, all) {
  const [level, sentence] = verdictOf(app, all);
  const shape = { good: "well", warn: "slow", bad: "cross" }[level];
  return h(
    "div",
    { class: `verdict ${level}` },
    icon(shape),
    h("h1", { tabindex: "-1" }, sentence),
    h("p", null, verdictText(app)),
  );
}

const badWords = {
  store: "the store takes nothing new",
  lost: "notifications are lost",
  limit: "a limit is near",
  certificate: "the certificate has ended",
};

function verdictText({ reading, readings, reports }) {
  const { lost, span } = readings.lost();
  const time = span < 590_000 ? "since this page was opened" : "in the last 10 minutes";
  const mode = reports.latest?.modes?.current;
  return [
    `Takes work for ${duration(reading.asOf - Date.parse(reading.startedAt))}. `,
    lost === 0 ? `Nothing was lost ${time}. ` : `${plural(lost, "notification")} lost ${time}. `,
    mode && mode !== "default" ? ["Its mode is ", code(mode), "."] : "",
  ];
}

function looks(app, all) {
  if (all.length === 0) return null;
  const shapes = { bad: "cross", warn: "slow", info: "info" };
  return h(
    "div",
    { class: "sheet" },
    h(
      "ul",
      { class: "looks", "aria-label": "Things to look at" },
      all
        .slice(0, looksLimit)
        .map(({ level, key, title, text, since: from, to: [name, href] }) =>
          h(
            "li",
            { key, class: level },
            icon(shapes[level]),
            h("span", null, h("b", null, title), " ", text),
            h("span", { class: "age" }, from ? since(from, app.now) : ""),
            h("a", { class: "go", href }, name, " →"),
          ),
        ),
    ),
    all.length > looksLimit && h("footer", null, `and ${all.length - looksLimit} more`),
  );
}

function tiles(app) {
  const { reading, readings } = app;
  const [posts, deliveries, unheard] = ["posts", "deliveries", "unmatched"].map((name) =>
    readings.rate(name),
  );
  const early = "Rates need two readings of the broker, 4 s apart.";
  const figure = (value, format) => (isKnown(value) ? format(value) : notKnown(early));
  const { held, queue, connections, clients } = reading;
  const away = clients.slow + clients.asked + clients.disconnected;
  return h(
    "div",
    { class: "sheet tiles" },
    [
      [
        "Posts",
        figure(posts, rate),
        "a second",
        link("channels", null, { sort: "-posts" }),
        spark(readings.lastMinute("posts"), "posts"),
      ],
      [
        "Deliveries",
        figure(deliveries, rate),
        posts > 0 ? `a second, ${rate(deliveries / posts)} a post` : "a second",
        link("observers", null, { sort: "-delivered" }),
        spark(readings.lastMinute("deliveries"), "deliv"),
      ],
      [
        "Not heard",
        figure(unheard, rate),
        posts > 0 ? `a second, ${percent(unheard, posts)} of posts` : "a second",
        link("unheard"),
        spark(readings.lastMinute("unmatched"), "unheard"),
      ],
      [
        "Held",
        count(held.count),
        `for ${plural(away, "client")}`,
        link("observers", null, { sort: "-held" }),
        spark(readings.gauge("held"), "other"),
      ],
      [
        "Queue",
        count(queue.entries),
        reading.centers.count === 1 ? `of ${count(queue.limitEntriesOfCenter)}` : "in all centers",
        link("queue"),
        spark(readings.gauge("queue"), "other"),
      ],
      [
        "Connections",
        count(connections.open),
        connections.limit ? `of ${count(connections.limit)}` : "no limit",
        link("clients"),
        spark(readings.gauge("connections"), "other"),
      ],
    ].map(([name, value, text, href, line]) =>
      h(
        "a",
        { key: name, class: "tile", href },
        h("span", { class: "k" }, name),
        h("span", { class: "v" }, value),
        h("span", { class: "x" }, text),
        line,
      ),
    ),
  );
}

const series = [
  { name: "Deliveries", counter: "deliveries", className: "deliv", label: true },
  { name: "Posts", counter: "posts", className: "posts", label: true },
  { name: "Not heard", counter: "unmatched", className: "unheard", label: false },
];

function plotSheet(app, { span, isTable }, set) {
  const { readings } = app;
  const ring = readings[span];
  const lines = series.map((one) => {
    const { rates, times } = readings.rates(one.counter, ring);
    return { ...one, values: rates, times, now: rate(readings.rate(one.counter)) };
  });
  const { times } = lines[0];
  const title = span === "recent" ? "The last 10 minutes" : "The last 24 hours";
  const rates = lines.map(({ name, now }) => `${name.toLowerCase()} ${now} a second`);
  const sentence = `${title}: ${rates.join(", ")}.`;
  return h(
    "section",
    { class: "sheet s8" },
    h(
      "header",
      null,
      h("h2", null, title),
      h(
        "div",
        { class: "more" },
        facets("Span", [
          { text: "10 min", is: span === "recent", act: () => set.span("recent") },
          { text: "24 h", is: span === "day", act: () => set.span("day") },
        ]),
      ),
    ),
    body(
      h(
        "ul",
        { class: "key" },
        lines.map(({ name, className, now }) =>
          h("li", { key: name }, sample(className), name, " ", h("b", null, `${now}/s`)),
        ),
      ),
      plotPlace(app, (width) =>
        times.length < 2
          ? h(
              "p",
              { class: "quiet" },
              span === "day"
                ? "The broker keeps a point each 5 minutes; the line begins with the second."
                : "The broker keeps a point each 4 s; the line begins with the second.",
            )
          : plot({ width, times, series: lines, sentence }),
      ),
      h(
        "details",
        { ontoggle: ({ target }) => set.table(target.open) },
        h("summary", null, "The same as a table"),
        isTable && times.length > 0 && sameAsTable(lines, times),
      ),
    ),
  );
}

/// Some 20 rows of the plot, the newest first.
function sameAsTable(lines, times) {
  const step = Math.max(Math.ceil(times.length / 20), 1);
  const places = times
    .map((_, place) => place)
    .filter((place) => (times.length - 1 - place) % step === 0)
    .reverse();
  return table(
    "Rates a second",
    [["Time"], ...lines.map(({ name }) => [name, "r"])],
    places.map((place) => ({
      key: times[place],
      cells: [at(times[place]), ...lines.map(({ values }) => rate(values[place]))],
    })),
  );
}

function feedSheet({ feed }) {
  const rows = feed.rows(10);
  return sheet(
    "What happened",
    { place: "s4" },
    rows.length > 0
      ? h("ul", { class: "feed" }, rows)
      : empty(
          feed.refused ??
            "Nothing so far. Clients that come and go, leases that end and a full queue are " +
              "told here at once.",
        ),
  );
}
