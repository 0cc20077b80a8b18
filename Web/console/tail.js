// The live tail: what is posted while somebody looks, over an observer that ends with the page.

import { askIfAllowed, path } from "./broker.js";
import { copyButton } from "./copy.js";
import { code, empty, facets, head, icon, named, quiet, refusal, sums } from "./parts.js";
import { link } from "./route.js";
import { pageText } from "./snippets.js";
import { h } from "./tree.js";
import { clockWithMilliseconds, count, date, isKnown, plural, rate } from "./words.js";

/// Notifications that are kept, and rows that are shown of them.
const keptLimit = 2000;
const rowLimit = 200;
/// Rows a second at most; what is not shown is said in a gap line.
const rowsASecond = 50;
/// Receipts that are asked for in a second: a row above them is told when it is opened.
const receiptsASecond = 20;
/// Milliseconds between two paints.
const paintTime = 250;

const gapReasons = {
  dropped: "the observer is suspended", coalesced: "later ones took their place",
  overflow: "more came than may be held", expired: "their time to live was over",
  unknown: "the connection was lost, and the broker has them no more",
};

export function openTail(app, { query }) {
  const { name = null, object = null } = query;
  const tail = new Tail(app, name, object);
  return {
    title: "Live tail",
    content: () => { tail.begin(); return tail.content(); },
    pause: () => tail.pause(),
    close: () => tail.close(),
  };
}

class Tail {
  #app;
  #name;
  #object;
  #observer = null;
  #refused = null;
  #isClosed = false;
  #isPaused = false;
  #hasBegun = false;
  /// Rows `{ key, notification, receipt, isOpen, tree }` or `{ key, gap, isLost }`, the newest first.
  #rows = [];
  #limit = rowLimit;
  #wanted = "all";
  #next = 0;
  #unshown = 0;
  #meanwhile = 0;
  #total = 0;
  /// The running second, and what was done in it.
  #second = { began: 0, rows: 0, receipts: 0, came: 0 };
  #cameBefore = null;
  #timer = null;

  constructor(app, name, object) {
    this.#app = app;
    this.#name = name;
    this.#object = object;
  }

  begin() {
    if (this.#hasBegun || this.#app.center === null) return;
    this.#hasBegun = true;
    const filter = { name: this.#name, object: this.#object, onGap: (gap) => this.#lost(gap) };
    this.#app.center.addObserver(filter, (notification) => this.#take(notification)).then((observer) => {
      this.#observer = observer;
      if (this.#isClosed) observer.remove().catch(() => {});
      this.#paintSoon();
    }, (error) => {
      this.#refused = error;
      this.#paintSoon();
    });
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#observer?.remove().catch(() => {});
  }

  pause() {
    this.#isPaused = !this.#isPaused;
    if (!this.#isPaused) {
      this.#limit = rowLimit;
      if (this.#meanwhile > 0) {
        this.#put({ gap: `${plural(this.#meanwhile, "notification")} came while it was paused.` });
      }
      this.#meanwhile = 0;
    }
    this.#app.announce(this.#isPaused ? "The tail is paused" : "The tail goes on");
    this.#app.paint();
  }

  #clear() {
    this.#rows = [];
    this.#app.paint();
  }

  // What comes in.

  #take(notification) {
    this.#total += 1;
    this.#turnSecond();
    this.#second.came += 1;
    if (this.#isPaused) {
      this.#meanwhile += 1;
      if (this.#meanwhile % rowsASecond === 1) this.#paintSoon();
      return;
    }
    if (this.#second.rows >= rowsASecond) {
      this.#unshown += 1;
      // Told when the second is over, also if nothing comes after it.
      if (this.#unshown === 1) setTimeout(() => this.#tellUnshown(), 1000);
      return;
    }
    this.#tellUnshown();
    this.#second.rows += 1;
    this.#put({ notification, receipt: null, isOpen: false });
  }

  #turnSecond() {
    const now = performance.now();
    if (now - this.#second.began < 1000) return;
    const isNext = now - this.#second.began < 2000;
    this.#cameBefore = isNext ? this.#second.came : null;
    this.#second = { began: now, rows: 0, receipts: 0, came: 0 };
  }

  #tellUnshown() {
    if (this.#unshown === 0 || this.#isClosed) return;
    this.#turnSecond();
    const posted = this.#cameBefore === null ? "" : `; ${count(this.#cameBefore)} came`;
    this.#put({ gap: `${plural(this.#unshown, "notification")} ${this.#unshown === 1 ? "is" : "are"} not shown. The tail shows at most ${rowsASecond} a second${posted}.` });
    this.#unshown = 0;
  }

  #lost({ lost, reason }) {
    const what = isKnown(lost) ? plural(lost, "notification") : "Notifications";
    this.#put({ gap: `${what} lost: ${gapReasons[reason] ?? reason}.`, isLost: true });
  }

  #put(row) {
    this.#rows.unshift({ key: this.#next++, ...row });
    if (this.#rows.length > keptLimit) this.#rows.length = keptLimit;
    this.#paintSoon();
  }

  #paintSoon() {
    if (this.#timer !== null || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (document.hidden || this.#isClosed) return;
      this.#askReceipts();
      this.#app.paint();
    }, paintTime);
  }

  /// Asks what became of rows that have just come, as long as they are few.
  #askReceipts() {
    if ((this.#cameBefore ?? 0) > receiptsASecond || this.#isPaused) return;
    for (const row of this.#rows.slice(0, receiptsASecond)) {
      if (row.notification === undefined || row.receipt !== null) continue;
      if (this.#second.receipts >= receiptsASecond) return;
      this.#second.receipts += 1;
      this.#askReceipt(row);
    }
  }

  async #askReceipt(row) {
    row.receipt = "asked";
    const fate = await askIfAllowed(path("notifications", row.notification.id)).catch(() => null);
    row.receipt = fate?.receipt ?? "unknown";
    row.tree = null;
    this.#paintSoon();
  }

  #toggle(row) {
    row.isOpen = !row.isOpen;
    row.tree = null;
    if (row.isOpen && (row.receipt === null || row.receipt === "asked")) this.#askReceipt(row);
    this.#app.paint();
  }

  // What is shown.

  content() {
    const filter = { name: this.#name, object: this.#object };
    return h("div", { key: "tail", class: "stack" },
      head("Live tail", {
        acts: [
          copyButton(() => pageText(filter), "Copy as page"),
          h("button", { type: "button", "aria-pressed": String(this.#isPaused), onclick: () => this.pause() },
            this.#isPaused ? "Go on " : "Pause ", h("kbd", { "aria-hidden": "true" }, "space")),
          h("button", { type: "button", onclick: () => this.#clear() }, "Clear"),
        ],
        note: `Shows what is posted while you look. It keeps the last ${count(keptLimit)}, and forgets them when the page goes.`,
      }),
      this.#filters(),
      this.#refused === null ? this.#table() : this.#refusal());
  }

  #filters() {
    const go = (event) => {
      event.preventDefault();
      const [name, object] = ["tail-name", "tail-object"].map((id) => document.getElementById(id).value);
      this.#app.go(link("tail", null, { name, object }));
    };
    const choices = [["all", "All"], ["unheard", "Not heard"], ["held", "Held or dropped"]];
    return h("form", { class: "filters", onsubmit: go },
      [["name", "Name, empty for all", this.#name], ["object", "Object, empty for any", this.#object]].map(([id, words, value]) =>
        h("div", { class: "find", key: id }, h("label", { class: "hidden", for: `tail-${id}` }, words),
          h("input", { id: `tail-${id}`, class: "mono", type: "search", placeholder: words, value: value ?? "", autocomplete: "off", autocapitalize: "off", spellcheck: "false" }))),
      h("button", null, "Filter"),
      facets("Receipt", choices.map(([wanted, text]) => ({
        text, is: this.#wanted === wanted, act: () => { this.#wanted = wanted; this.#app.paint(); },
      }))));
  }

  #refusal() {
    return h("div", { class: "stack" }, refusal(this.#refused.problem ? { message: this.#refused.problem.title, problem: this.#refused.problem } : this.#refused),
      h("p", null, "To observe all names takes the grants ", code("observe"), " and ", code("wildcard"),
        ". With a name above, ", code("observe"), " on it is enough."));
  }

  #table() {
    const rows = this.#rows.filter((row) => this.#isWanted(row));
    const shown = rows.slice(0, this.#limit);
    const isOver = this.#isPaused && this.#meanwhile > 0;
    if (rows.length === 0) {
      return h("div", { class: "sheet" }, empty(this.#emptyWords()), this.#foot(rows));
    }
    return h("div", { class: "sheet" },
      isOver && h("p", { class: "news" }, `${plural(this.#meanwhile, "notification")} came since it was paused.`),
      h("table", { class: "tail" },
        h("caption", { class: "hidden" }, "Notifications, newest first"),
        h("thead", null, h("tr", null,
          h("th", { scope: "col", class: "p2 time" }, "Posted"), h("th", { scope: "col", class: "r p3 seq" }, "Seq"),
          h("th", { scope: "col", class: "name" }, "Name"), h("th", { scope: "col", class: "p2 object" }, "Object"),
          h("th", { scope: "col", class: "p2" }, "userInfo"), h("th", { scope: "col", class: "r heard" }, "Heard by"))),
        h("tbody", null, shown.map((row) => row.tree ??= this.#row(row)))),
      this.#foot(rows));
  }

  #emptyWords() {
    if (this.#wanted !== "all" && this.#rows.length > 0) return "None of these so far. What became of a notification is asked for while few come.";
    if (this.#observer === null) return "Registering the observer …";
    const what = this.#name === null ? "anything" : this.#name;
    return [`Nothing yet. As soon as somebody posts ${what}, it stands here. `, h("a", { href: link("post", null, { name: this.#name }) }, "Post one yourself"), "."];
  }

  #isWanted({ notification, receipt }) {
    if (this.#wanted === "all") return true;
    if (notification === undefined || !isKnown(receipt?.matched)) return false;
    return this.#wanted === "unheard" ? others(receipt).matched === 0
      : receipt.held + receipt.dropped + receipt.coalesced > 0;
  }

  #row(row) {
    if (row.gap !== undefined) {
      return h("tr", { key: row.key, class: row.isLost ? "lostr" : "gapr" },
        h("td", { colspan: 6 }, row.isLost && icon("cross"), row.isLost ? row.gap : `Gap: ${row.gap}`));
    }
    const { notification, isOpen } = row;
    const { seq, name, object, userInfo, postedAt } = notification;
    const time = clockWithMilliseconds(postedAt);
    const line = h("tr", { key: row.key, class: isOpen ? "sel" : null },
      h("td", { class: "one n quiet p2", title: date(postedAt) }, time),
      h("td", { class: "r quiet p3" }, count(seq)),
      h("th", { scope: "row", class: "cut" }, h("button", {
        type: "button", class: "bare in", "aria-expanded": String(isOpen), onclick: () => this.#toggle(row),
      }, code(name)), h("span", { class: "sub n" }, time, object ? [" ", code(object)] : "")),
      h("td", { class: "cut p2" }, named(object, "none")),
      h("td", { class: "cut p2" }, userInfo ? code(JSON.stringify(userInfo)) : quiet("none")),
      h("td", { class: `r ${heardClass(row.receipt)}` }, heardBy(row.receipt)));
    return isOpen ? [line, this.#details(row)] : line;
  }

  #details({ key, notification, receipt }) {
    const { id, name, object, userInfo, causedBy } = notification;
    const text = JSON.stringify(userInfo ?? null, null, 2);
    const { matched, delivered } = isKnown(receipt?.matched) ? others(receipt) : {};
    return h("tr", { key: `${key} open`, class: "wide" }, h("td", { colspan: 6 }, h("div", { class: "grid" },
      h("div", { class: "s6 stack" }, h("h2", null, "userInfo"), h("pre", null, userInfo ? text : "none"),
        h("p", { class: "rowf" }, copyButton(text, "Copy", { class: "bare" }),
          h("a", { href: link("post", null, { name, object, userInfo: userInfo ? JSON.stringify(userInfo) : null }) }, "Post it again…"),
          h("a", { href: link("explain", null, { name, object }) }, "Explain"),
          h("a", { href: link("channel", name) }, "Channel"))),
      h("div", { class: "s6 stack" }, h("h2", null, "Receipt ", quiet(id)),
        matched === undefined ? h("p", { class: "quiet" }, receipt === "asked" ? "Asking …" : "The broker keeps it for 5 minutes, and has it no more.")
          : [sums([["matched", count(matched)], ["delivered", count(delivered)], ["held", count(receipt.held)], ["dropped", count(receipt.dropped)]]),
            h("p", { class: "quiet" }, "Without this tail, which got it too.")],
        causedBy && h("p", null, "Caused by ", code(causedBy))))));
  }

  #foot(rows) {
    const came = this.#cameBefore;
    const isAll = this.#name === null && this.#object === null;
    return h("footer", null,
      h("span", null, came === null ? `${count(this.#total)} so far` : `${rate(came)} a second come, ${rowsASecond} rows a second at most`),
      rows.length > this.#limit && h("button", {
        type: "button", class: "bare", onclick: () => { this.#isPaused = true; this.#limit = keptLimit; this.#app.paint(); },
      }, `Pause, and show all ${count(rows.length)}`),
      h("span", { class: "end" }, isAll ? "The tail is an observer of all: while it is open, nothing counts as not heard"
        : ["An observer with ", code("lifetime: connection"), "; it ends with this page"]));
  }
}

/// A receipt without the tail itself, which matched and got it.
const others = ({ matched, delivered, acknowledged }) =>
  ({ matched: Math.max(matched - 1, 0), delivered: Math.max(delivered - 1, 0) + acknowledged });

function heardBy(receipt) {
  if (!isKnown(receipt?.matched)) return h("span", { title: "Open the row to ask." }, "–");
  const { matched, delivered } = others(receipt);
  return matched === 0 ? "nobody" : `${count(delivered)} of ${count(matched)}`;
}

function heardClass(receipt) {
  if (!isKnown(receipt?.matched)) return "quiet";
  const { matched, delivered } = others(receipt);
  return matched === 0 ? "badt" : delivered < matched ? "warnt" : "";
}
