// The search of the top line: names of channels, ids of observers and clients, principals.

import { askIfAllowed } from "./broker.js";
import { link } from "./route.js";
import { h } from "./tree.js";

const typingTime = 200;
const shownLimit = 4;

/// What an observer wants, in short.
const wanted = ({ name, names, namePrefix, object }) =>
  name ?? names?.join(", ") ?? (namePrefix ? `${namePrefix}…` : (object ?? "any name"));

export class Search {
  #app;
  #text = "";
  #found = [];
  #chosen = -1;
  #isOpen = false;
  #timer = null;
  #turn = 0;

  constructor(app) {
    this.#app = app;
  }

  content() {
    const isOpen = this.#isOpen && this.#text !== "";
    return h(
      "div",
      { class: "find", key: "find", onfocusout: (event) => this.#left(event) },
      h("label", { class: "hidden", for: "q" }, "Find a channel, observer or client"),
      h("input", {
        id: "q",
        type: "search",
        role: "combobox",
        autocomplete: "off",
        spellcheck: "false",
        placeholder: "Find a name, o17, c4 or a principal",
        "aria-expanded": String(isOpen),
        "aria-controls": "found",
        "aria-autocomplete": "list",
        "aria-activedescendant": isOpen && this.#chosen >= 0 ? `found-${this.#chosen}` : null,
        oninput: ({ target }) => this.#typed(target.value),
        onkeydown: (event) => this.#pressed(event),
      }),
      h("kbd", { "aria-hidden": "true" }, "/"),
      h(
        "ul",
        { id: "found", class: "found", role: "listbox", "aria-label": "Found", hidden: !isOpen },
        isOpen && this.#rows(),
      ),
    );
  }

  #rows() {
    if (this.#found.length === 0) {
      return h(
        "li",
        { class: "quiet", role: "option", "aria-selected": "false", "aria-disabled": "true" },
        "No name, id or principal contains this text.",
      );
    }
    return this.#found.map(({ href, text, what }, place) =>
      h(
        "li",
        {
          key: href,
          id: `found-${place}`,
          role: "option",
          "aria-selected": String(place === this.#chosen),
          onmousedown: (event) => {
            event.preventDefault();
            this.#goTo(href);
          },
        },
        h("code", null, text),
        h("span", { class: "quiet" }, ` ${what}`),
      ),
    );
  }

  #typed(text) {
    this.#text = text.trim();
    this.#isOpen = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), typingTime);
  }

  async #look() {
    const turn = ++this.#turn;
    const text = this.#text;
    if (text === "") return this.#close();
    const query = { contains: text, limit: shownLimit };
    const [channels, observers, clients] = await Promise.all(
      ["channels", "observers", "clients"].map((list) =>
        askIfAllowed(list, { query }).catch(() => null),
      ),
    );
    await this.#app.selectors.read(channels?.channels ?? []).catch(() => {});
    if (turn !== this.#turn) return;
    this.#found = [
      ...(channels?.channels ?? [])
        .filter((row) => !this.#app.selectors.has(row))
        .map(({ name }) => ({
          href: link("channel", name),
          text: name,
          what: "channel",
        })),
      ...(observers?.observers ?? []).map((row) => ({
        href: link("observer", row.id),
        text: row.id,
        what: `observes ${wanted(row)}`,
      })),
      ...(clients?.clients ?? []).map(({ id, principal }) => ({
        href: link("client", id),
        text: id,
        what: `client of ${principal}`,
      })),
    ];
    this.#chosen = this.#found.length > 0 ? 0 : -1;
    this.#app.paint();
  }

  #pressed(event) {
    const { key } = event;
    if (key === "Escape") {
      if (this.#isOpen) event.stopPropagation();
      return this.#close();
    }
    if (key === "Enter") {
      event.preventDefault();
      const found = this.#found[this.#chosen];
      if (found !== undefined && this.#isOpen) this.#goTo(found.href);
      return;
    }
    if (key !== "ArrowDown" && key !== "ArrowUp") return;
    event.preventDefault();
    const step = key === "ArrowDown" ? 1 : -1;
    const all = this.#found.length;
    this.#isOpen = true;
    if (all > 0) this.#chosen = (this.#chosen + step + all) % all;
    this.#app.paint();
  }

  #goTo(href) {
    const input = document.getElementById("q");
    input.value = "";
    this.#text = "";
    this.#close();
    this.#app.go(href);
  }

  #left({ relatedTarget, currentTarget }) {
    if (!currentTarget.contains(relatedTarget)) this.#close();
  }

  #close() {
    this.#isOpen = false;
    this.#found = [];
    this.#app.paint();
  }
}
