// The first screen: is it well, what goes on, who is not heard.

import { bar, meter, plot, plotPlace, sample, spark, swatch } from "./charts.js";
import { difference } from "./explain.js";
import { firstStart, isFirstStart } from "./first.js";
import { fullLimits } from "./limits.js";
import { looksOf } from "./looks.js";
import {
  at, body, channelLink, code, empty, facets, facts, icon, notKnown, observerLink, quiet, sheet, since, state, table,
} from "./parts.js";
import { shownLimit } from "./reports.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { bytes, clock, count, date, duration, isKnown, percent, plural, rate, spoken } from "./words.js";

const looksLimit = 6;

export function openOverview(app) {
  let span = "recent";
  let isTable = false;
  const set = {
    span: (value) => { span = value; app.paint(); },
    table: (value) => { isTable = value; app.paint(); },
  };
  return {
    title: "Overview",
    needsReading: true,
    content() {
      if (isFirstStart(app)) return firstStart(app);
      return h("div", { key: "overview", class: app.away ? "stack old" : "stack" },
        verdict(app), looks(app), tiles(app),
        h("div", { class: "grid fill" }, plotSheet(app, { span, isTable }, set), feedSheet(app)),
        h("div", { class: "grid fill" }, unheardSheet(app), waitingSheet(app), forgottenSheet(app),
          connectionSheet(app), memorySheet(app), storeSheet(app)));
    },
  };
}

const words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

/// The heading: a sentence that says whether it is well.
function verdict(app) {
  const { reading, away } = app;
  const all = looksOf(app);
  const bad = all.filter(({ level }) => level === "bad");
  const [full] = fullLimits(reading);
  const number = words[all.length] ?? String(all.length);
  let [level, sentence] = ["good", "It is well"];
  if (away !== null) [level, sentence] = ["warn", `It was well at ${clock(away.since)}`];
  else if (reading.draining) [level, sentence] = ["bad", "It is stopping, as it was asked to"];
  else if (full !== undefined) [level, sentence] = ["bad", `It is not well: ${full.name.toLowerCase()} ${full.is} full`];
  else if (reading.ready === false) [level, sentence] = ["bad", "It is not well: it is not ready"];
  else if (bad.length > 0) [level, sentence] = ["bad", `It is not well: ${badWords[bad[0].key.split(" ")[0]] ?? "something is lost"}`];
  else if (all.length > 0) sentence = `It is well, and ${number} ${all.length === 1 ? "thing wants" : "things want"} a look`;
  const shape = { good: "well", warn: "slow", bad: "cross" }[level];
  return h("div", { class: `verdict ${level}` }, icon(shape), h("h1", { tabindex: "-1" }, sentence),
    h("p", null, verdictText(app)));
}

const badWords = {
  store: "the store takes nothing new", lost: "notifications are lost", limit: "a limit is near", certificate: "the certificate has ended",
};

function verdictText({ reading, readings, reports }) {
  const { lost, span } = readings.lost();
  const time = span < 590_000 ? "since this page was opened" : "in the last 10 minutes";
  const mode = reports.latest?.modes?.current;
  return [`Takes work for ${duration(reading.asOf - Date.parse(reading.startedAt))}. `,
    lost === 0 ? `Nothing was lost ${time}. ` : `${plural(lost, "notification")} lost ${time}. `,
    mode && mode !== "default" ? ["Its mode is ", code(mode), "."] : ""];
}

function looks(app) {
  const all = looksOf(app);
  if (all.length === 0) return null;
  const shapes = { bad: "cross", warn: "slow", info: "info" };
  return h("div", { class: "sheet" }, h("ul", { class: "looks", "aria-label": "Things to look at" },
    all.slice(0, looksLimit).map(({ level, key, title, text, since: from, to: [name, href] }) =>
      h("li", { key, class: level }, icon(shapes[level]), h("span", null, h("b", null, title), " ", text),
        h("span", { class: "age" }, from ? since(from, app.now) : ""), h("a", { class: "go", href }, name, " →")))),
  all.length > looksLimit && h("footer", null, `and ${all.length - looksLimit} more`));
}

function tiles(app) {
  const { reading, readings } = app;
  const [posts, deliveries, unheard] = ["posts", "deliveries", "unmatched"].map((name) => readings.rate(name));
  const early = "Rates need two readings of the broker, 4 s apart.";
  const figure = (value, format) => isKnown(value) ? format(value) : notKnown(early);
  const { held, queue, connections, clients } = reading;
  const away = clients.slow + clients.asked + clients.disconnected;
  return h("div", { class: "sheet tiles" }, [
    ["Posts", figure(posts, rate), "a second", link("channels", null, { sort: "-posts" }), spark(readings.lastMinute("posts"), "posts")],
    ["Deliveries", figure(deliveries, rate), posts > 0 ? `a second, ${rate(deliveries / posts)} a post` : "a second", link("observers", null, { sort: "-delivered" }), spark(readings.lastMinute("deliveries"), "deliv")],
    ["Not heard", figure(unheard, rate), posts > 0 ? `a second, ${percent(unheard, posts)} of posts` : "a second", link("unheard"), spark(readings.lastMinute("unmatched"), "unheard")],
    ["Held", count(held.count), `for ${plural(away, "client")}`, link("observers", null, { sort: "-held" }), spark(readings.gauge("held"), "other")],
    ["Queue", count(queue.entries), reading.centers.count === 1 ? `of ${count(queue.limitEntriesOfCenter)}` : "in all centers", link("queue"), spark(readings.gauge("queue"), "other")],
    ["Connections", count(connections.open), connections.limit ? `of ${count(connections.limit)}` : "no limit", link("clients"), spark(readings.gauge("connections"), "other")],
  ].map(([name, value, text, href, line]) => h("a", { key: name, class: "tile", href },
    h("span", { class: "k" }, name), h("span", { class: "v" }, value), h("span", { class: "x" }, text), line)));
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
    return { ...one, values: rates, times };
  });
  const { times } = lines[0];
  const title = span === "recent" ? "The last 10 minutes" : "The last 24 hours";
  const now = lines.map(({ name, counter }) => [name, readings.rate(counter)]);
  const sentence = `${title}: ${now.map(([name, value]) => `${name.toLowerCase()} ${rate(value)} a second`).join(", ")}.`;
  return h("section", { class: "sheet s8" },
    h("header", null, h("h2", null, title), h("div", { class: "more" }, facets("Span", [
      { text: "10 min", is: span === "recent", act: () => set.span("recent") },
      { text: "24 h", is: span === "day", act: () => set.span("day") },
    ]))),
    body(h("ul", { class: "key" }, lines.map(({ name, className, counter }) =>
      h("li", { key: name }, sample(className), name, " ", h("b", null, `${rate(readings.rate(counter))}/s`)))),
    plotPlace(app, (width) => times.length < 2
        ? h("p", { class: "quiet" }, span === "day" ? "The broker keeps a point each 5 minutes; the line begins with the second." : "The broker keeps a point each 4 s; the line begins with the second.")
        : plot({ width, times, series: lines, sentence })),
    h("details", { ontoggle: ({ target }) => set.table(target.open) }, h("summary", null, "The same as a table"),
      isTable && times.length > 0 && sameAsTable(lines, times))));
}

/// Some 20 rows of the plot, the newest first.
function sameAsTable(lines, times) {
  const step = Math.max(Math.ceil(times.length / 20), 1);
  const places = times.map((_, place) => place).filter((place) => (times.length - 1 - place) % step === 0).reverse();
  return table("Rates a second", [["Time"], ...lines.map(({ name }) => [name, "r"])], places.map((place) => ({
    key: times[place], cells: [at(times[place]), ...lines.map(({ values }) => rate(values[place]))],
  })));
}

function feedSheet({ feed }) {
  const rows = feed.rows(10);
  return sheet("What happened", { place: "s4", note: "since this page was opened" },
    rows.length > 0 ? h("ul", { class: "feed" }, rows)
      : empty(feed.refused ?? "Nothing so far. Clients that come and go, leases that end and a full queue are told here at once."));
}

const all = (text, href) => h("a", { href }, text);
const third = "s4 m6";

function unheardSheet({ reports: { latest } }) {
  const rows = latest?.unheard?.postedNeverObserved;
  const options = { place: third, more: rows?.length > 0 && all("All", link("unheard")) };
  if (rows === undefined) return sheet("Who is not heard", options, empty(missing(latest)));
  if (rows.length === 0) return sheet("Who is not heard", options, empty("Nobody: each name that was posted is observed."));
  return sheet("Who is not heard", options, table("Names that nobody observes", [["Name", "nm"], ["Posts", "r"], ["Nearest", "nm"]],
    rows.slice(0, shownLimit).map(({ name, posts }) => {
      const near = latest.nearest.get(name);
      return { key: name, cells: [channelLink(name), count(posts),
        near ? h("a", { href: link("explain", null, { name }) }, nearName(near, name)) : quiet("none")] };
    })));
}

const nearName = (near, name) =>
  near.reason === "object-differs" ? "another object" : difference(near.name, name);

function missing(latest) {
  return latest === null ? "Asking …" : "Your token may not see this.";
}

function waitingSheet({ reports: { latest }, now }) {
  const held = (latest?.waiting?.observers ?? []).filter((row) => row.held > 0);
  const entries = latest?.queue?.entries ?? [];
  const asks = latest?.asks?.asks ?? [];
  const options = { place: third, more: held.length > 0 && all("All", link("observers", null, { sort: "-held" })) };
  if (latest === null || latest.waiting === null) return sheet("What waits", options, empty(missing(latest)));
  const rows = [
    ...held.slice(0, shownLimit - Math.min(entries.length, 1) - Math.min(asks.length, 1)).map((row) => ({
      key: row.id, cells: [[observerLink(row.id), " ", code(row.name ?? row.object ?? "any")], `${count(row.held)} held`, since(row.stateSince, now)],
    })),
    ...entries.slice(0, 1).map(({ enqueuedAt }) => ({
      key: "queue", cells: [["mode ", h("a", { href: link("queue") }, code(latest.queue.entries[0].modes[0]))],
        `${count(latest.queue.total ?? entries.length)} queued`, since(enqueuedAt, now)],
    })),
    ...asks.slice(0, 1).map(({ selector, object, askedAt }) => ({
      key: "ask", cells: [[h("a", { href: link("responders") }, code(selector)), " at ", code(object)], plural(asks.length, "ask"), since(askedAt, now)],
    })),
  ];
  if (rows.length === 0) return sheet("What waits", options, empty("Nothing: no notification is held, no post is queued, no ask is open."));
  return sheet("What waits", options, table("What waits, and since when", [["Waits for", "nm"], ["What", "r"], ["Since", "r"]], rows));
}

function forgottenSheet({ reports: { latest }, now }) {
  const rows = latest?.leaks?.observers;
  const options = { place: third, note: rows?.length > 0 && "By the leak report", more: rows?.length > 0 && all("All", link("forgotten")) };
  if (rows === undefined) return sheet("What looks forgotten", options, empty(missing(latest)));
  if (rows.length === 0) return sheet("What looks forgotten", options, empty("Nothing: each observer has a client, or one that was here lately."));
  return sheet("What looks forgotten", options, table("Observers that look forgotten", [["Observer", "nm"], ["Reason"], ["Since", "r"]],
    rows.slice(0, shownLimit).map(({ id, name, object, reason, stateSince }) => ({
      key: id, cells: [[observerLink(id), name || object ? [" ", code(name ?? object)] : ""], spoken(reason), since(stateSince, now)],
    }))));
}

function connectionSheet({ reading }) {
  const { connections, clients } = reading;
  const { websocket, events, mailbox } = clients;
  const of = connections.limit || connections.open || 1;
  const shares = [[websocket / of, "f"], [events / of, "f2"]];
  return sheet("Connections", { place: third }, h("div", { class: "body stack" },
    h("div", { class: "meter" }, h("span", null, "All"), h("span", { class: "val" }, h("b", null, count(connections.open)), " ",
      h("span", { class: "lim" }, connections.limit ? `of ${count(connections.limit)}` : "no limit")), bar(shares)),
    facts([
      [[swatch("f"), "WebSocket"], count(websocket)],
      [[swatch("f2"), "Event streams"], count(events)],
      ["Mailboxes, without a connection", count(mailbox)],
      ["Disconnected clients", h("a", { href: link("clients", null, { state: "disconnected" }) }, count(clients.disconnected))],
      ["Slow clients", h("a", { href: link("clients", null, { state: "slow" }) }, count(clients.slow))],
    ], "right")));
}

function memorySheet({ reading }) {
  const { held, unsent, queue, values, timers } = reading;
  const kinds = [["Held", held.bytes, held.limitBytes], ["Unsent", unsent.bytes, unsent.limitBytes],
    ["Queue", queue.bytes, queue.limitBytes], ["Values", values.bytes, values.limitBytes], ["Timers", timers.bytes, timers.limitBytes]];
  return sheet("Memory", { place: third, note: "By kind, against its limit" }, body(h("div", { class: "meters" },
    kinds.filter(([, value]) => isKnown(value)).map(([name, value, limit]) => meter(name, value, limit, bytes)))));
}

function storeSheet({ reading }) {
  const { store, certificate, observers, centers, dropped } = reading;
  const lost = dropped && Object.entries(dropped).filter(([, value]) => value > 0).map(([word, value]) => `${count(value)} ${word}`).join(", ");
  return sheet("Store, limits and losses", { place: third }, body(facts([
    ["Store", store === null || store === undefined ? quiet("none: all is in memory") : store.accepts ? h("span", { class: "st live" }, icon("live"), "takes writes") : state("refused")],
    store ? ["Commits", count(store.commits)] : null,
    store ? ["Failures", h("span", { class: store.failures > 0 ? "badt" : null }, count(store.failures))] : null,
    store ? ["Answers that wait", count(store.waiting)] : null,
    ["Certificate", certificate?.notAfter ? ["until ", at(certificate.notAfter, date(certificate.notAfter))] : quiet("none: plain HTTP")],
    ["Observers", count(observers.count), observers.limit ? quiet(` of ${count(observers.limit)}`) : ""],
    ["Centers", count(centers.count), centers.limit ? quiet(` of ${count(centers.limit)}`) : ""],
    ["Lost since the start", lost || quiet("nothing")],
  ], "right")));
}
