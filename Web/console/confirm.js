// A question before an act: what goes, who is told, whether it can be undone. It opens in place,
// has the focus on the way out, and Escape closes it.

import { h } from "./tree.js";
import { refusal } from "./parts.js";

export class Confirmation {
  #app;
  /// `{ title, told, verb, keep, act, done }`, or null while nothing is asked.
  #asked = null;
  #refused = null;
  #isActing = false;
  #from = null;

  constructor(app) {
    this.#app = app;
  }

  get about() {
    return this.#asked?.about ?? null;
  }

  /// Asks. `act` does it, and `done` is what a screen reader is told then.
  ask(question) {
    this.#from = document.activeElement;
    this.#asked = question;
    this.#refused = null;
    this.#app.paint();
  }

  #close() {
    this.#asked = null;
    this.#app.paint();
    if (this.#from?.isConnected) this.#from.focus();
    else document.querySelector("main h1")?.focus();
  }

  async #act() {
    const { act, done } = this.#asked;
    if (this.#isActing) return;
    this.#isActing = true;
    try {
      await act();
      this.#isActing = false;
      this.#asked = null;
      await this.#app.acted(done);
      document.querySelector("main h1")?.focus();
    } catch (error) {
      this.#isActing = false;
      this.#refused = error;
      this.#app.paint();
    }
  }

  content() {
    if (this.#asked === null) return null;
    const { title, told, verb, keep = "Keep it" } = this.#asked;
    return h(
      "div",
      {
        key: "confirmation",
        class: "note bad stack",
        role: "group",
        "aria-label": title,
        onkeydown: (event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          this.#close();
        },
      },
      h("p", null, h("b", null, title)),
      h("p", null, told),
      this.#refused !== null && refusal(this.#refused),
      h(
        "p",
        { class: "rowf" },
        h("button", { type: "button", class: "bad", onclick: () => this.#act() }, verb),
        h(
          "button",
          {
            type: "button",
            onclick: () => this.#close(),
            ref: (node) => setTimeout(() => node.focus()),
          },
          keep,
        ),
      ),
    );
  }
}
