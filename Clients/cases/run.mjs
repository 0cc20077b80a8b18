// Runs the conformance cases of this folder with belfry.js: it does what broker.py says, in lines
// of JSON, and says what the program is told.
//
//   Clients/cases/broker.py -- node Clients/cases/run.mjs [LIBRARY]
//
// Node 20 needs --experimental-websocket; LIBRARY is another belfry.js.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const library = process.argv[2] ? pathToFileURL(process.argv[2])
  : new URL("../../Web/belfry.js", import.meta.url);
const { NotificationCenter } = await import(library);

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/// What the library calls `misuse` is a fault of the case.
const why = (error) => error?.name === "AbortError" ? "cancelled" : error?.reason ?? String(error);

/// A token as the options of a case have it: a text, or what a function answers one after another,
/// of which null is that it fails.
function tokenOf(token) {
  if (!Array.isArray(token?.function)) return token;
  const left = [...token.function];
  return async () => {
    const next = left.length > 1 ? left.shift() : left[0];
    if (next === null) throw new Error("there is no token now");
    return next;
  };
}

/// One case: its center, and what the program has of it.
class Case {
  #name;
  #center;
  #observers = new Map();
  #results = new Map();
  #ending = new Map();
  /// Deliveries and asks that wait for the answer of the program, oldest first, by observer.
  #owed = new Map();

  constructor(name, { url, center, options }) {
    this.#name = name;
    const token = tokenOf(options.token ?? null);
    this.#center = new NotificationCenter(url, { ...options, center, token });
    this.#center.addEventListener("state", ({ detail: { state, code } }) =>
      this.#tell("state", { state, code }));
    this.#center.addEventListener("belfry.removed", ({ detail: { token, reason } }) => {
      for (const [observer, each] of this.#observers) {
        if (each === token) this.#tell("removed", { observer, reason });
      }
    });
  }

  end() {
    this.#center.close();
  }

  #tell(told, members) {
    say({ case: this.#name, told, ...members });
  }

  async do({ do: verb, as, ...step }) {
    if (verb === "cancel") return this.#ending.get(step.of).abort();
    if (verb === "answer") return this.#answer(step);
    const ending = new AbortController();
    this.#ending.set(as, ending);
    say({ case: this.#name, begun: as });
    try {
      const value = await this.#call(verb, as, step, ending.signal);
      this.#results.set(as, value);
      this.#tell("result", { of: as, value: value ?? null });
    } catch (error) {
      const { message, code = null, problem = null } = error;
      this.#tell("error", { of: as, why: why(error), code, problem, message });
    }
  }

  #call(verb, as, { options = {}, ...step }, signal) {
    const center = this.#center;
    const { name, object, keyPath } = step;
    switch (verb) {
      case "addObserver": return this.#addObserver(as, step, { ...options, signal });
      case "respond": return this.#respond(as, step, { ...options, signal });
      case "remove": return this.#observers.get(step.observer).remove();
      case "post": return center.post(name, { ...options, signal });
      case "ask": return center.ask(object, step.selector, step.userInfo, options);
      case "withdraw": return center.withdraw(step);
      case "value": return center.value(object, keyPath);
      case "setValue": return center.setValue(object, keyPath, step.value, options);
      case "mergeValue": return center.mergeValue(object, keyPath, step.patch, options);
      case "removeValue": return center.removeValue(object, keyPath, options);
      case "enterMode": return center.enterMode(step.mode);
      case "leaveMode": return center.leaveMode(this.#results.get(step.lease));
      case "dequeue": return center.dequeue(options);
      case "setSuspended": return center.setSuspended(step.suspended);
      case "explain": return center.explain(options);
      case "close": return center.close();
      default: throw new Error(`this runner does not know ${verb}`);
    }
  }

  async #addObserver(as, { name, object, keyPath, target, selector }, options) {
    const onGap = (gap) => this.#tell("gap", { observer: as, gap });
    const handler = (...told) => {
      if (keyPath !== undefined) {
        const [value, change] = told;
        return this.#tell("change", { observer: as, value, change });
      }
      const [notification] = told;
      this.#tell("notification", { observer: as, notification });
      if (options.acknowledge) return this.#owe(as, notification);
    };
    const filter = { name, object, keyPath, target, selector, onGap, ...options };
    const observer = await this.#center.addObserver(filter, target === undefined ? handler : null);
    this.#observers.set(as, observer);
    return { id: observer.id, token: observer.token };
  }

  async #respond(as, { object, selectors }, options) {
    const handle = (userInfo, { signal, pass, selector, ...ask }) => {
      this.#tell("ask", { observer: as, selector, ask });
      signal?.addEventListener("abort", () => this.#tell("aborted", { observer: as, id: ask.id }));
      return this.#owe(as, ask, pass);
    };
    const handlers = Object.fromEntries(selectors.map((selector) => [selector, handle]));
    const onGap = (gap) => this.#tell("gap", { observer: as, gap });
    const observer = await this.#center.respond(object, handlers, { onGap, ...options });
    this.#observers.set(as, observer);
    return { id: observer.id, token: observer.token };
  }

  #owe(as, { id }, pass) {
    return new Promise((resolve, reject) => {
      const owed = this.#owed.get(as) ?? [];
      this.#owed.set(as, [...owed, { id, pass, resolve, reject }]);
    });
  }

  #answer({ observer, id, with: { result, refuse, pass } }) {
    const owed = this.#owed.get(observer);
    const index = id === undefined ? 0 : owed.findIndex((each) => each.id === id);
    const [{ pass: handOn, resolve, reject }] = owed.splice(index, 1);
    if (refuse !== undefined) reject(new Error(refuse));
    else resolve(pass ? handOn() : result);
  }
}

const cases = new Map();
// What goes wrong beside the calls is for people, and no line of JSON.
console.error = (...told) => process.stderr.write(`${told.join(" ")}\n`);
say({ hello: { library: "belfry.js", lacks: [], also: ["events", "lasting"] } });
for await (const line of createInterface({ input: process.stdin })) {
  const { case: name, begin, end, ...step } = JSON.parse(line);
  if (begin !== undefined) cases.set(name, new Case(name, begin));
  else if (!end) cases.get(name).do(step);
  else {
    cases.get(name).end();
    cases.delete(name);
    say({ case: name, ended: true });
  }
}
