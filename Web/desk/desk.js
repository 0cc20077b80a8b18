// The desk: the questions that are open here, the answers on their way, and what became of all.

import { NotificationCenter } from "../belfry.js";
import { address, centerName, request, token } from "../console/broker.js";
import { fateOf, fateWords, sendAnswer } from "./answers.js";
import { keepWork, readWork, sessions } from "./settings.js";

/// Seconds that the broker keeps the place of a desk that sleeps: a working day.
const lease = 8 * 3600;

/// Milliseconds until an answer is sent again, and until the fate of an ask is looked at again.
const againDelay = 2000;

/// Rows of what was asked lately.
const latelyLimit = 20;

/// Milliseconds by which the clock of this machine may differ from the broker's unnoticed: the
/// field `Date` has whole seconds.
const skewLimit = 2000;

const yesAndNo = [
  { label: "Yes", value: true },
  { label: "No", value: false },
];

/// The end of a question as its responder is told it (`belfry.settled`).
const endWords = {
  expired: "Nobody answered in time.",
  withdrawn: "The asker has withdrawn the question.",
  passed: "Somebody else is asked now.",
};
const unknownEnd = "The question is no longer open here.";

/// Why the broker has closed the line for good, by the close code.
const closeWords = {
  4002: "An administrator has removed this desk.",
  4003: "The token has expired. Begin again with another one.",
};

export class Desk {
  /// `connecting`, `open`, `waiting` or `closed`, and since when.
  state = "connecting";
  since = Date.now();
  /// What somebody has to read: an address that was lost, or why the center is closed.
  fault = null;
  principal = null;
  /// The open questions, by id, and what was asked lately, newest first.
  asks = new Map();
  lately = [];
  #settings;
  #told;
  #center;
  #observers = new Map();
  #tokens;
  #settled = new Map();
  #skew = 0;
  #timer = null;

  /// `told` has `changed()`, and `asked(question)` for a question that is new here.
  constructor(settings, told) {
    this.#settings = settings;
    this.#told = told;
    const { tokens = {}, lately = [], unsent = [] } = readWork();
    this.#tokens = tokens;
    this.lately = lately;
    for (const question of unsent) this.asks.set(question.id, { ...question, isSending: false });
    this.#center = new NotificationCenter(address, {
      center: centerName === "default" ? null : centerName,
      resume: true,
      storage: sessions,
      token: token(),
      WebSocket: listening(({ id, reason }) => this.#settled.set(id, reason)),
    });
    this.#center.addEventListener("state", ({ detail }) => this.#enter(detail));
    this.#center.addEventListener("belfry.removed", ({ detail }) => this.#lose(detail));
    this.#again();
  }

  /// The time at the broker.
  get now() {
    return Date.now() + this.#skew;
  }

  /// Holds all addresses that it does not hold yet. Throws what the broker refuses.
  async hold() {
    this.fault = null;
    const { addresses, selectors } = this.#settings;
    const missing = addresses.filter((name) => !this.#observers.has(name));
    // One that is refused must not leave another one at the broker that nobody knows of.
    const holdings = await Promise.allSettled(missing.map(async (name) => {
      const take = (userInfo, ask) => this.#take(ask);
      const handlers = Object.fromEntries(selectors.map((selector) => [selector, take]));
      const observer = await this.#center.respond(name, handlers, {
        ifHeld: "share", suspensionBehavior: "hold", lease, timeout: Infinity,
      });
      this.#observers.set(name, observer);
    }));
    this.#keep();
    for (const { reason } of holdings) if (reason !== undefined) throw reason;
    this.#told.changed();
  }

  /// Gives all addresses up.
  async leave() {
    clearTimeout(this.#timer);
    const removals = [...this.#observers.values()].map((observer) => observer.remove());
    await Promise.allSettled(removals);
    this.#center.close();
  }

  /// Answers a question, once.
  answer(question, answer) {
    if (question.answer !== null) return;
    question.answer = answer;
    question.fault = null;
    this.#keep();
    this.#told.changed();
    this.#send(question);
  }

  /// A question comes, for the first time or again. The promise settles when the library may forget
  /// the question.
  #take(ask) {
    // A post or an action has no need of a person.
    if (ask.answerBy === undefined) return ask.pass();
    return new Promise((resolve) => {
      const known = this.asks.get(ask.id);
      const question = known ?? questionOf(ask);
      Object.assign(question, { observer: ask.observer, resolve });
      ask.signal.addEventListener("abort", () => this.#end(question), { once: true });
      this.asks.set(ask.id, question);
      this.lately = this.lately.filter(({ id }) => id !== ask.id);
      if (known === undefined) this.#told.asked(question);
      else if (known.answer !== null) this.#send(known);
      this.#told.changed();
    });
  }

  async #send(question) {
    if (question.isSending) return;
    question.isSending = true;
    this.#learnTokens();
    const observerToken = this.#tokens[question.observer];
    // Where no WebSocket gets through the library alone can answer, without the reason.
    const { outcome, fault } =
      observerToken === undefined
        ? { outcome: question.resolve ? "taken" : "later" }
        : await sendAnswer(question, observerToken);
    question.isSending = false;
    if (!this.asks.has(question.id)) return;
    const { label, reason, value } = question.answer;
    if (outcome === "taken") {
      question.resolve?.(value);
      const who = this.principal === null ? "" : ` as ${this.principal}`;
      this.#close(question, `You answered “${label}”${who}${reason ? `: ${reason}` : "."}`);
    } else if (outcome === "late") {
      this.#end(question);
    } else if (outcome === "refused") {
      Object.assign(question, { answer: null, fault });
      this.#keep();
    }
    this.#told.changed();
  }

  /// A question is over, and not by an answer from here. The broker may tell more of its end.
  async #end(question) {
    if (!this.asks.has(question.id)) return;
    const reason = this.#settled.get(question.id);
    this.#settled.delete(question.id);
    const isExpired = Date.parse(question.answerBy) <= this.now;
    const words = endWords[reason] ?? (isExpired ? endWords.expired : unknownEnd);
    const isLate = question.answer !== null;
    await this.#follow(this.#close(question, words, { isLate, isOpen: true }));
  }

  /// Looks at the fate of an ask that is over here, until it is over everywhere.
  async #follow(row) {
    const fate = await fateOf(row.id);
    if (fate === undefined) return;
    row.isOpen = fate?.state === "asked";
    if (fate !== null) row.text = fateWords(fate, row.choices);
    this.#keep();
    this.#told.changed();
  }

  #close(question, text, facts = {}) {
    const { id, title, object, choices } = question;
    this.asks.delete(id);
    const row = { id, title, object, choices, text, at: this.now, ...facts };
    this.lately = [row, ...this.lately.filter((each) => each.id !== id)].slice(0, latelyLimit);
    this.#keep();
    this.#told.changed();
    return row;
  }

  /// Sends what was not sent, and asks for what is not known.
  #again() {
    for (const question of this.asks.values()) {
      if (question.answer !== null) this.#send(question);
      else if (Date.parse(question.answerBy) + skewLimit <= this.now) this.#end(question);
    }
    for (const row of this.lately) if (row.isOpen) this.#follow(row);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#again(), againDelay);
  }

  #enter({ state, code = null, error = null }) {
    // An attempt that follows a lost connection is no change to a reader.
    if (!(state === "connecting" && this.state === "waiting")) {
      if (state !== this.state) this.since = Date.now();
      this.state = state;
    }
    if (state === "closed") this.fault = closeWords[code] ? new Error(closeWords[code]) : error;
    if (state === "open") {
      this.#keep();
      this.#learn();
      this.#again();
    }
    this.#told.changed();
  }

  /// Learns who the reader is, and the time of the broker.
  async #learn() {
    try {
      const { headers, text } = await request("/v1/me");
      this.principal = JSON.parse(text).principal;
      const skew = Date.parse(headers.get("date")) - Date.now();
      this.#skew = Math.abs(skew) > skewLimit ? skew : 0;
      this.#told.changed();
    } catch {
      // The next connection asks again.
    }
  }

  /// An address was lost: it was removed, or another one has taken it.
  #lose({ token: observer, problem = null }) {
    this.#observers.delete(observer.object);
    const why = problem?.title ?? "somebody has removed or replaced this desk there";
    this.fault = new Error(`No questions come from ${observer.object} any more: ${why}.`);
    this.#told.changed();
  }

  /// The broker tells a token once, and the next page needs it, too.
  #learnTokens() {
    const all = [...this.#observers.values()].map(({ id, token: secret }) => [id, secret]);
    for (const [id, secret] of all) if (secret !== null) this.#tokens[id] = secret;
  }

  #keep() {
    this.#learnTokens();
    const unsent = [...this.asks.values()].filter(({ answer }) => answer !== null);
    keepWork({ tokens: this.#tokens, lately: this.lately, unsent });
  }
}

/// A WebSocket that tells the end of each ask, of which the library tells no reason.
const listening = (tell) => class extends WebSocket {
  constructor(...place) {
    super(...place);
    this.addEventListener("message", ({ data }) => {
      if (!data.includes('"belfry.settled"')) return;
      const { method, params } = JSON.parse(data);
      if (method === "belfry.settled") tell(params);
    });
  }
};

/// An ask as the reader sees it.
function questionOf({ id, object, selector, userInfo, postedAt, answerBy, present = {} }) {
  return {
    id, object, answerBy,
    askedAt: postedAt,
    title: present.title ?? selector,
    message: present.message ?? null,
    // Without a message the content is all that there is to decide by.
    facts: present.message === undefined ? Object.entries(userInfo ?? {}) : [],
    choices: present.choices ?? yesAndNo,
    answer: null, fault: null, isSending: false,
  };
}
