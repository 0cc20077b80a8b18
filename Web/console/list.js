// A list of the broker as a table: one page of rows, with filter, sort and total by the broker.
// What is shown is in the address. Rows do not move under who reads them: while the pointer or the
// focus is in the table their figures change in place, and a button shows the changes of order.

import { ask } from "./broker.js";
import { copyButton, curl, placeOf } from "./copy.js";
import { empty, facets, head } from "./parts.js";
import { link, queryText } from "./route.js";
import { h } from "./tree.js";
import { count, isKnown, plural } from "./words.js";

export const pageSize = 50;
/// Milliseconds after which a filter that is typed takes effect.
const typingTime = 250;

/// What the body of the table is called in the page.
const bodyId = "rows";

/// The page before each page that was reached by Next, so that there is a way back.
const pageBefore = new Map();

/// `spec` says what the list is:
/// - `view`, `title`, `path` (in the API), `rows` (the member of the answer), `id` of a row;
/// - `columns`: `{ head, cls, sorts, cell(row, app) }`, the first of which names the row; `sorts`
///   are the orders that its head asks for, one after the other;
/// - `sort`: the one that is meant when the address names none, and `order` the words for that of a
///   list without orders; `fixed`: what is always asked;
/// - `filter`: `[parameter, words in the empty field]`; `choices(query, app)`: filter buttons;
/// - `isOwn(row)`, and `ownCount()`: rows of this page, and how many it has in all;
/// - `leavesOut(row)`, and `leftOut(number)`: rows that are not shown, and the words for them;
///   `prepare(rows)` asks for what it takes to know;
/// - `acts`, `note(app)` and `above(app)` of the head; `none(query, app)`: a sentence for no rows.
export class List {
  #app;
  #spec;
  #query;
  #data = null;
  #leftOut = 0;
  /// The rows in the order that is shown, while that is not the broker's.
  #held = null;
  #changes = 0;
  #timer = null;

  constructor(app, spec, query) {
    this.#app = app;
    this.#spec = spec;
    this.#query = query;
  }

  get title() {
    return this.#spec.title;
  }

  get sort() {
    return this.#query.sort ?? this.#spec.sort ?? null;
  }

  get #filter() {
    return this.#spec.filter ?? [null, null];
  }

  get #asked() {
    const { cursor, sort, from, ...filters } = this.#query;
    return { ...this.#spec.fixed, ...filters, sort: this.sort, limit: pageSize, cursor };
  }

  async read() {
    const data = await ask(this.#spec.path, { query: this.#asked });
    const { rows, prepare = () => null, leavesOut = () => false } = this.#spec;
    await prepare(data[rows]);
    const shown = data[rows].filter((row) => !leavesOut(row));
    this.#leftOut = data[rows].length - shown.length;
    this.#data = { ...data, [rows]: shown };
    this.#hold(shown);
    return data;
  }

  /// Keeps the order that is shown while somebody reads it.
  #hold(rows) {
    const { id } = this.#spec;
    const body = document.getElementById(bodyId);
    const isRead =
      body !== null && (body.matches(":hover") || body.contains(document.activeElement));
    if (this.#held === null || !isRead) {
      this.#held = rows;
      this.#changes = 0;
      return;
    }
    const fresh = new Map(rows.map((row) => [id(row), row]));
    this.#held = this.#held.map((row) => fresh.get(id(row)) ?? { ...row, isOld: true });
    const places = Math.max(rows.length, this.#held.length);
    const idAt = (list, place) => list[place] && id(list[place]);
    this.#changes = Array.from({ length: places }, (_, place) => place).filter(
      (place) => idAt(rows, place) !== idAt(this.#held, place),
    ).length;
  }

  /// After an act its result is shown, whoever reads.
  release() {
    this.#held = null;
  }

  #showChanges() {
    this.#held = this.#data[this.#spec.rows];
    this.#changes = 0;
    this.#app.paint();
  }

  /// The address of this list with another query.
  #with(query) {
    return link(this.#spec.view, null, { ...this.#query, cursor: null, from: null, ...query });
  }

  close() {
    clearTimeout(this.#timer);
  }

  /// The whole view.
  content() {
    const { title, acts = () => [], note = () => null, above = () => null } = this.#spec;
    const app = this.#app;
    return h(
      "div",
      { key: this.#spec.view, class: "stack" },
      head(title, {
        acts: [
          this.#changes > 0 &&
            h(
              "button",
              { type: "button", onclick: () => this.#showChanges() },
              `Show new order (${plural(this.#changes, "change")})`,
            ),
          ...acts(app),
        ],
        note: note(app),
      }),
      above(app),
      this.#filters(),
      this.sheet(),
    );
  }

  #filters() {
    const { choices = () => [] } = this.#spec;
    const [parameter, filter] = this.#filter;
    const shown = choices(this.#query, this.#app);
    if (parameter === null && shown.length === 0) return null;
    return h(
      "div",
      { class: "filters" },
      parameter !== null &&
        h(
          "div",
          { class: "find" },
          h("label", { class: "hidden", for: "filter" }, filter),
          h("input", {
            id: "filter",
            type: "search",
            placeholder: filter,
            value: this.#query[parameter] ?? "",
            autocomplete: "off",
            autocapitalize: "off",
            spellcheck: "false",
            oninput: ({ target }) => this.#typed(target.value),
          }),
        ),
      shown.length > 0 &&
        facets(
          "Filter",
          shown.map((choice) => this.#choice(choice)),
        ),
    );
  }

  /// How many of the rows that match are of this page, as far as it can tell: sums leave them out.
  #ownTotal() {
    const { rows, isOwn = () => false, ownCount = null } = this.#spec;
    const here = this.#data[rows].filter(isOwn).length;
    const isWhole = (this.#data.next ?? null) === null && (this.#query.cursor ?? null) === null;
    const isLive = ["live", undefined].includes(this.#query.state);
    return isWhole || !isLive || ownCount === null ? here : ownCount();
  }

  /// A filter button: `query` are the filters that it sets, or `href` leads to another list.
  #choice({ text, query = null, href = null, total = null }) {
    if (query === null) return { text, count: null, is: false, act: () => this.#app.go(href) };
    const is = Object.entries(query).every(
      ([name, value]) => (this.#query[name] ?? null) === value,
    );
    const counted = is && !this.#query.contains && isKnown(this.#data?.total);
    const known = counted ? this.#data.total - this.#leftOut - this.#ownTotal() : total;
    return {
      text,
      is,
      count: isKnown(known) ? count(known) : null,
      act: () => this.#app.go(this.#with(query)),
    };
  }

  #typed(text) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#app.go(this.#with({ [this.#filter[0]]: text }), { replaces: true });
    }, typingTime);
  }

  /// The table on its sheet.
  sheet() {
    const { title, id, columns, none } = this.#spec;
    const rows = this.#held ?? [];
    if (rows.length === 0) {
      return h("div", { class: "sheet" }, empty(none(this.#query, this.#app)), this.#foot(rows));
    }
    return h(
      "div",
      { class: "sheet" },
      h(
        "table",
        null,
        h("caption", { class: "hidden" }, `${title}. ${this.#extent(rows)}`),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            columns.map((column) => this.#head(column)),
          ),
        ),
        h(
          "tbody",
          { id: bodyId },
          rows.map((row) => this.#row(row, id(row))),
        ),
      ),
      this.#foot(rows),
    );
  }

  #head({ head: text, cls = null, sorts = null }) {
    if (sorts === null) {
      return text === "" ? h("td", { class: cls }) : h("th", { scope: "col", class: cls }, text);
    }
    const here = sorts.indexOf(this.sort);
    const isDown = this.sort?.startsWith("-");
    const sort = sorts[(here + 1) % sorts.length];
    return h(
      "th",
      {
        scope: "col",
        class: cls,
        "aria-sort": here >= 0 ? (isDown ? "descending" : "ascending") : null,
      },
      h(
        "button",
        { type: "button", onclick: () => this.#app.go(this.#with({ sort })) },
        text,
        here >= 0 && h("span", { "aria-hidden": "true" }, isDown ? " ↓" : " ↑"),
      ),
    );
  }

  #row(row, key) {
    return h(
      "tr",
      {
        key,
        class: row.isOld ? "old" : null,
        title: row.isOld ? "No longer on this page; these figures are old." : null,
      },
      this.#spec.columns.map(({ cls = null, cell }, place) =>
        h(
          place === 0 ? "th" : "td",
          {
            scope: place === 0 ? "row" : null,
            class: cls,
          },
          cell(row, this.#app),
        ),
      ),
    );
  }

  #extent(rows) {
    const from = Number(this.#query.from ?? 1);
    const { total, unseen = 0, next } = this.#data;
    const some = `Rows ${count(from)} to ${count(from + rows.length - 1)}`;
    const { cursor: _, from: __, sort: ___, ...filters } = this.#query;
    const matching = Object.keys(filters).length > 0 ? " that match" : "";
    const all = isKnown(total) ? ` of ${count(total - this.#leftOut)}${matching}` : null;
    const of = all ?? (next ? ", and more" : "");
    const { order = "oldest first" } = this.#spec;
    const by = `, ${this.sort === null ? order : `sorted by ${this.#sortName()}`}`;
    const own = this.#spec.isOwn && this.#ownTotal();
    const ofPage = own > 0 ? ` (${count(own)} of this page)` : "";
    const left = unseen > 0 ? `; ${count(unseen)} were not searched` : "";
    return some + of + ofPage + by + left + this.#leftOutWords("; ");
  }

  #leftOutWords(before) {
    return this.#leftOut > 0 ? before + this.#spec.leftOut(this.#leftOut) : "";
  }

  #sortName() {
    const column = this.#spec.columns.find(({ sorts }) => sorts?.includes(this.sort));
    return (column?.head ?? this.sort).toLowerCase();
  }

  #foot(rows) {
    const { next = null } = this.#data ?? {};
    const { cursor = null, from = "1" } = this.#query;
    const before = pageBefore.get(`${this.#spec.view} ${cursor}`) ?? {};
    const nextQuery = { cursor: next, from: String(Number(from) + rows.length) };
    const { path } = this.#spec;
    const { cursor: _, ...asked } = this.#asked;
    return h(
      "footer",
      null,
      h("span", null, rows.length > 0 ? this.#extent(rows) : this.#leftOutWords("")),
      h(
        "span",
        { class: "end rowf" },
        copyButton(() => curl(placeOf(path, queryText({ ...asked, cursor }))), "Copy as curl", {
          class: "bare",
        }),
        cursor !== null &&
          h("a", { href: this.#with(before) }, before.cursor ? "← Previous 50" : "← First 50"),
        next !== null &&
          h(
            "a",
            {
              href: this.#with(nextQuery),
              onclick: () => pageBefore.set(`${this.#spec.view} ${next}`, { cursor, from }),
            },
            "Next 50 →",
          ),
      ),
    );
  }
}
