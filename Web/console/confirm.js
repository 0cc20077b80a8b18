// A question before an act: what goes, who is told, whether it can be undone. It opens in place,
// has the focus on the way out, and Escape closes it.

import { request } from "./broker.js";
import { copyButton, curl, placeOf } from "./copy.js";
import { h } from "./tree.js";
import { button, refusal } from "./parts.js";

const titleId = "asked";

export class Confirmation {
  #app;
  /// `{ title, told, verb, keep, removes, act, done }`, or null while nothing is asked.
  #asked = null;
  #refused = null;
  #isActing = false;
  #from = null;

  constructor(app) {
    this.#app = app;
  }

  /// Asks. `removes` is the path that is deleted, unless `act` does it; `done` is what a screen
  /// reader is told then.
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
    const { removes, act = () => request(removes, { method: "DELETE" }), done } = this.#asked;
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
    const { title, told, verb, keep = "Keep it", removes } = this.#asked;
    return h(
      "div",
      {
        key: "confirmation",
        class: "note bad stack",
        role: "group",
        "aria-labelledby": titleId,
        onkeydown: (event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          this.#close();
        },
      },
      h("p", { id: titleId }, h("b", null, title)),
      h("p", null, told),
      this.#refused !== null && refusal(this.#refused),
      h(
        "p",
        { class: "rowf" },
        button(verb, () => this.#act(), { class: "bad" }),
        button(keep, () => this.#close(), { ref: (node) => setTimeout(() => node.focus()) }),
        copyButton(() => curl(placeOf(removes), { options: ["-X DELETE"] }), "Copy as curl", {
          class: "bare",
        }),
      ),
    );
  }
}
