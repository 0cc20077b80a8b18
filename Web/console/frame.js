// What stands around each view: the rail, the top line, and the banner above it.

import { centerName } from "./broker.js";
import { fullLimits } from "./limits.js";
import { looksOf } from "./looks.js";
import { at, button, icon, quiet } from "./parts.js";
import { clientCount } from "./readings.js";
import { link } from "./route.js";
import { Search } from "./search.js";
import { h, show } from "./tree.js";
import { clock, count, day, duration, plural } from "./words.js";

/// The views of the rail. `with` names the views that are shown under it.
const groups = [
  [
    "Monitor",
    [
      { view: "overview", name: "Overview", count: (app) => looksOf(app).length },
      { view: "tail", name: "Live tail" },
    ],
  ],
  [
    "Inspect",
    [
      { view: "channels", name: "Channels", with: ["channel", "unheard"] },
      {
        view: "observers",
        name: "Observers",
        with: ["observer", "forgotten"],
        count: ({ reading }) => reading.observers?.count,
      },
      {
        view: "clients",
        name: "Clients",
        with: ["client"],
        count: ({ reading }) => clientCount(reading),
      },
      { view: "queue", name: "Queue and modes", count: ({ reading }) => reading.queue?.entries },
      { view: "responders", name: "Responders", count: ({ reading }) => reading.responders?.count },
      {
        view: "values",
        name: "Values",
        with: ["value"],
        count: ({ reading }) => reading.values?.count,
      },
      { view: "timers", name: "Timers", count: ({ reading }) => reading.timers?.count },
      { view: "archives", name: "Archives" },
      { view: "history", name: "History" },
    ],
  ],
  [
    "Actions",
    [
      { view: "explain", name: "Explain" },
      { view: "post", name: "Post" },
      { view: "ask", name: "Ask" },
    ],
  ],
];

export class Frame {
  #app;
  #search;

  constructor(app) {
    this.#app = app;
    this.#search = new Search(app);
  }

  paint() {
    const app = this.#app;
    document.body.dataset.state = app.wantsToken ? "door" : app.away ? "away" : "live";
    show(document.getElementById("rail"), app.wantsToken ? brand() : this.#rail());
    show(document.getElementById("top"), this.#top());
  }

  #rail() {
    const { reading } = this.#app;
    return h(
      "div",
      { class: "rail-in" },
      brand(reading?.version),
      this.#centers("rail-center"),
      h(
        "nav",
        { "aria-label": "Views" },
        groups.map(([name, views]) =>
          h(
            "div",
            { key: name },
            h("h2", null, name),
            h(
              "ul",
              null,
              views.map((one) => this.#item(one)),
            ),
          ),
        ),
      ),
      h(
        "div",
        { class: "foot" },
        reading && h("span", null, "Up ", this.#upTime(reading)),
        h("span", null, h("a", { href: link("help") }, "Help and keys")),
        h(
          "span",
          null,
          h("a", { href: "openapi.yaml" }, "openapi.yaml"),
          " ",
          h("a", { href: "metrics" }, "metrics"),
        ),
      ),
    );
  }

  #upTime(reading) {
    const passed = reading.asOf - Date.parse(reading.startedAt);
    const since = passed > 86_400_000 ? day(reading.startedAt) : clock(reading.startedAt);
    return [h("span", { class: "n" }, duration(passed)), ", since ", at(reading.startedAt, since)];
  }

  #centers(id) {
    const names = this.#app.centers.map(({ name }) => name);
    if (!names.includes(centerName)) names.push(centerName);
    return h(
      "div",
      { class: "center" },
      h("label", { for: id }, "Center"),
      h(
        "select",
        {
          id,
          onchange: ({ target }) => {
            location.search =
              target.value === "default" ? "" : `?center=${encodeURIComponent(target.value)}`;
          },
        },
        names.map((name) =>
          h("option", { key: name, value: name, selected: name === centerName }, name),
        ),
      ),
    );
  }

  #item({ view, name, count: of, with: others = [] }) {
    const { route, reading } = this.#app;
    const isHere = view === route.view || others.includes(route.view);
    const figure = reading === null || of === undefined ? null : (of(this.#app) ?? null);
    const isHot = view === "overview" && figure > 0;
    return h(
      "li",
      { key: name },
      h(
        "a",
        { href: link(view), "aria-current": isHere && "page" },
        name,
        figure !== null &&
          !(view === "overview" && figure === 0) &&
          h("span", { class: isHot ? "c hot" : "c" }, count(figure)),
      ),
    );
  }

  #top() {
    const app = this.#app;
    if (app.wantsToken) {
      return [
        brand(),
        h("div", { class: "states", key: "states" }, pill("warn", "slow", "Token required")),
      ];
    }
    const views = groups.flatMap(([, all]) => all);
    return [
      brand(),
      h(
        "details",
        { class: "menu", key: "menu" },
        h("summary", null, "Views"),
        h(
          "nav",
          { "aria-label": "Views, menu", onclick: closeMenu },
          h(
            "ul",
            null,
            views.map((one) => this.#item(one)),
            h("li", { key: "me" }, h("a", { href: link("me") }, "Your access")),
            h("li", { key: "help" }, h("a", { href: link("help") }, "Help and keys")),
          ),
          button(app.pausedAt === null ? "Pause" : "Resume", () => app.pause()),
          app.centers.length > 1 && this.#centers("menu-center"),
        ),
      ),
      this.#search.content(),
      h(
        "div",
        { class: "states", key: "states" },
        this.#pill(),
        app.reading &&
          h("span", { class: "asof" }, h("span", { class: "p" }, "as of "), at(app.reading.asOf)),
        button(app.pausedAt === null ? "Pause" : "Resume", () => app.pause(), {
          class: "p",
          "aria-pressed": String(app.pausedAt !== null),
        }),
        h(
          "a",
          { class: "btn p", href: link("me") },
          app.me?.principal ?? "anonymous",
          app.me !== null && app.may("admin") && quiet("admin"),
        ),
      ),
    ];
  }

  #pill() {
    const { away, pausedAt, reading } = this.#app;
    if (away !== null) return pill("warn", "slow", "Not responding");
    if (pausedAt !== null) return pill("", "asked", "Paused");
    if (reading?.draining) return pill("bad", "cross", "Shutting down");
    if (reading !== null && fullLimits(reading).length > 0)
      return pill("bad", "cross", "Limit reached");
    return pill("good", "live", "Live");
  }

  /// What is said above the view: that the broker is away, stopping, or full.
  banner() {
    const app = this.#app;
    const { away, reading } = app;
    if (app.wantsToken) return null;
    if (away !== null) {
      const wait = Math.max(Math.ceil((away.next - Date.now()) / 1000), 0);
      return banner(
        "warn",
        "slow",
        ["No response from the broker since ", at(away.since), "."],
        [
          app.reading && ["Showing data from ", at(app.reading.asOf), ". "],
          wait === 0 ? "Retrying now" : `Retrying in ${wait} s`,
          ` (${plural(away.tries, "attempt")}).`,
        ],
        button("Retry now", () => app.beat()),
      );
    }
    if (app.pausedAt !== null) {
      return banner(
        "",
        "asked",
        ["Paused at ", at(app.pausedAt), "."],
        "This page shows data from that time; the broker keeps running.",
        button("Resume", () => app.pause()),
      );
    }
    if (reading?.draining) {
      return banner(
        "bad",
        "cross",
        ["The broker is shutting down."],
        `New work is refused, and ${plural(reading.connections?.open, "connection")} will be ` +
          "closed. Each client learns when to reconnect.",
        h("a", { class: "btn", href: link("clients") }, "Remaining clients"),
      );
    }
    const [full] = reading === null ? [] : fullLimits(reading);
    if (full === undefined) return null;
    return banner(
      "bad",
      "cross",
      [`${full.name}: limit reached (${full.format(full.value)} of ${full.format(full.limit)}).`],
      full.so,
      h("a", { class: "btn", href: full.href }, "Largest first"),
    );
  }
}

const brand = (version = null) =>
  h(
    "a",
    { class: "brand", href: link("overview"), key: "brand" },
    icon("bell"),
    " Belfry",
    version && h("span", { class: "quiet n" }, version),
  );

const pill = (level, shape, text) => h("span", { class: `pill ${level}` }, icon(shape), text);

const banner = (level, shape, title, text, act) =>
  h(
    "section",
    { key: "banner", class: `banner ${level}`, "aria-label": "State of the broker" },
    icon(shape),
    h("div", null, h("b", null, title), " ", text),
    act,
  );

function closeMenu({ currentTarget, target }) {
  if (target.closest("a") !== null) currentTarget.closest("details").open = false;
}
