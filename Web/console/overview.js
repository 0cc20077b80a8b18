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

/// The health of the broker, as a level and a sentence: the heading of the first screen.
function verdictOf({ reading, away }, all) {
  const bad = all.find(({ level }) => level === "bad");
  const [full] = fullLimits(reading);
  if (away !== null) {
    const wasWell = reading.ready && bad === undefined && full === undefined;
    const words = wasWell ? "Last known healthy at" : "No response since";
    return ["warn", `${words} ${clock(away.since)}`];
  }
  if (reading.draining) return ["bad", "Shutting down (requested)"];
  if (full !== undefined) {
    return ["bad", `Not healthy: limit reached for ${full.name.toLowerCase()}`];
  }
  if (!reading.ready) return ["bad", "Not ready"];
  if (bad !== undefined) return ["bad", `Not healthy: ${badWords[bad.key.split(" ")[0]]}`];
  if (all.length === 0) return ["good", "Healthy"];
  return ["good", `Healthy, ${plural(all.length, "thing")} to check`];
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
  store: "the store refuses writes",
  lost: "notifications were lost",
  limit: "a limit is nearly reached",
  certificate: "the certificate has expired",
};

function verdictText({ reading, readings, reports }) {
  const { lost, span } = readings.lost();
  const time = span < 590_000 ? "since this page was opened" : "in the last 10 minutes";
  const mode = reports.latest?.modes?.current;
  return [
    `Up ${duration(reading.asOf - Date.parse(reading.startedAt))}. `,
    `${lost === 0 ? "No notifications" : plural(lost, "notification")} lost ${time}. `,
    mode && mode !== "default" ? ["Mode: ", code(mode), "."] : "",
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
      { class: "looks", "aria-label": "Things to check" },
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
  const early = "A rate needs two readings of the broker, 4 s apart.";
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
        "per second",
        link("channels", null, { sort: "-posts" }),
        spark(readings.lastMinute("posts"), "posts"),
      ],
      [
        "Deliveries",
        figure(deliveries, rate),
        posts > 0 ? `per second, ${rate(deliveries / posts)} per post` : "per second",
        link("observers", null, { sort: "-delivered" }),
        spark(readings.lastMinute("deliveries"), "deliv"),
      ],
      [
        "Unmatched",
        figure(unheard, rate),
        posts > 0 ? `per second, ${percent(unheard, posts)} of posts` : "per second",
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
  { name: "Deliveries", counter: "deliveries", className: "deliv" },
  { name: "Posts", counter: "posts", className: "posts" },
  { name: "Unmatched", counter: "unmatched", className: "unheard" },
];

function plotSheet(app, { span, isTable }, set) {
  const { readings } = app;
  const ring = readings[span];
  const lines = series.map((one) => {
    const { rates, times } = readings.rates(one.counter, ring);
    return { ...one, values: rates, times, now: rate(readings.rate(one.counter)) };
  });
  const { times } = lines[0];
  const title = span === "recent" ? "Last 10 minutes" : "Last 24 hours";
  const rates = lines.map(({ name, now }) => `${name.toLowerCase()} ${now} per second`);
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
                ? "The broker records a point every 5 minutes; the line starts with the second one."
                : "The broker records a point every 4 s; the line starts with the second one.",
            )
          : plot({ width, times, series: lines, sentence }),
      ),
      h(
        "details",
        { ontoggle: ({ target }) => set.table(target.open) },
        h("summary", null, "Show as a table"),
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
    "Rates per second",
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
    "Recent activity",
    { place: "s4" },
    rows.length > 0
      ? h("ul", { class: "feed" }, rows)
      : empty(
          feed.refused ??
            "No activity yet. Clients that connect or leave, expired leases and a full queue " +
              "appear here.",
        ),
  );
}
