// The live tail: what is posted while somebody looks, over an observer that ends with the page.

import { askIfAllowed, path } from "./broker.js";
import { count, isKnown, plural } from "./words.js";

/// Notifications that are kept, and rows that are shown of them.
export const keptLimit = 2000;
const rowLimit = 200;
/// Rows a second at most; what is not shown is said in a gap line.
export const rowsASecond = 50;
/// Receipts that are asked for in a second: a row above them is told when it is opened.
const receiptsASecond = 20;
/// Milliseconds between two paints.
const paintTime = 250;

const gapReasons = {
  dropped: "the observer is suspended",
  coalesced: "replaced by later notifications",
  overflow: "the limit of held notifications was reached",
  expired: "their time to live ended",
  unknown: "lost with the connection; the broker no longer has them",
};

export class Tail {
  app;
  name;
  object;
  /// The connection of a tail of everything, null for others.
  #stream = null;
  #observer = null;
  refused = null;
  #isClosed = false;
  isPaused = false;
  #hasBegun = false;
  /// Rows `{ key, notification, receipt, isOpen, tree }` or `{ key, gap, isLost }`, the newest
  /// first.
  rows = [];
  limit = rowLimit;
  wanted = "all";
  #next = 0;
  #unshown = 0;
  meanwhile = 0;
  total = 0;
  /// The running second, and what was done in it.
  #second = { began: 0, rows: 0, receipts: 0, came: 0 };
  cameBefore = null;
  #timer = null;

  constructor(app, name, object) {
    this.app = app;
    this.name = name;
    this.object = object;
  }

  begin() {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const filter = { name: this.name, object: this.object, onGap: (gap) => this.#lost(gap) };
    this.app.own
      .observe(this.#connection(), filter, (notification) => this.#take(notification))
      .then(
        (observer) => {
          this.#observer = observer;
          if (this.#isClosed) this.#leave();
          this.#paintSoon();
        },
        (error) => {
          this.refused = error;
          this.#paintSoon();
        },
      );
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#leave();
  }

  #leave() {
    if (this.#stream !== null) this.app.own.close(this.#stream);
    else this.#observer?.remove().catch(() => {});
  }

  /// Everything comes over an event stream: the browser takes many events at once, but messages of a
  /// WebSocket one by one, at three times the cost. It has six streams to a broker at most, in all
  /// tabs, so what has a name shares the page's WebSocket.
  #connection() {
    if (this.name !== null) return this.app.connection;
    this.#stream = this.app.newConnection({ transport: "events" });
    return this.#stream;
  }

  pause() {
    this.isPaused = !this.isPaused;
    if (!this.isPaused) {
      this.limit = rowLimit;
      if (this.meanwhile > 0) {
        this.#put({ gap: `${plural(this.meanwhile, "notification")} arrived during the pause.` });
      }
      this.meanwhile = 0;
    }
    this.app.announce(this.isPaused ? "Tail paused" : "Tail resumed");
    this.app.paint();
  }

  /// How many came in the last whole second; null when none has come since.
  get cameLately() {
    return performance.now() - this.#second.began < 2000 ? this.cameBefore : null;
  }

  get isRegistered() {
    return this.#observer !== null;
  }

  /// Changes what is shown of what has come.
  show(changes) {
    Object.assign(this, changes);
    this.app.paint();
  }

  clear() {
    this.rows = [];
    this.app.paint();
  }

  // What comes in.

  #take(notification) {
    this.total += 1;
    this.#turnSecond();
    this.#second.came += 1;
    if (this.isPaused) {
      this.meanwhile += 1;
      if (this.meanwhile % rowsASecond === 1) this.#paintSoon();
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
    this.cameBefore = isNext ? this.#second.came : null;
    this.#second = { began: now, rows: 0, receipts: 0, came: 0 };
  }

  #tellUnshown() {
    if (this.#unshown === 0 || this.#isClosed) return;
    this.#turnSecond();
    const what = plural(this.#unshown, "notification");
    const came = this.cameBefore === null ? "" : `; ${count(this.cameBefore)} arrived`;
    this.#put({
      gap: `${what} not shown. The tail shows at most ${rowsASecond} per second${came}.`,
    });
    this.#unshown = 0;
  }

  #lost({ lost, reason }) {
    const what = isKnown(lost) ? plural(lost, "notification") : "Notifications";
    this.#put({ gap: `${what} lost: ${gapReasons[reason] ?? reason}.`, isLost: true });
  }

  #put(row) {
    this.rows.unshift({ key: this.#next++, ...row });
    if (this.rows.length > keptLimit) this.rows.length = keptLimit;
    this.#paintSoon();
  }

  #paintSoon() {
    if (this.#timer !== null || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (document.hidden || this.#isClosed) return;
      this.#askReceipts();
      this.app.paint();
    }, paintTime);
  }

  /// Asks what became of rows that have just come, as long as they are few.
  #askReceipts() {
    if ((this.cameBefore ?? 0) > receiptsASecond || this.isPaused) return;
    for (const row of this.rows.slice(0, receiptsASecond)) {
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

  toggle(row) {
    row.isOpen = !row.isOpen;
    row.tree = null;
    if (row.isOpen && row.receipt === null) this.#askReceipt(row);
    this.app.paint();
  }
}
