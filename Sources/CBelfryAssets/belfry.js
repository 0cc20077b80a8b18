// Belfry's notification center for the browser: observers, posts and their receipts over one
// WebSocket (subprotocol belfry.v1, JSON-RPC 2.0). No dependencies, no build step.
//
//   import { NotificationCenter } from "http://127.0.0.1:8080/belfry.js";
//
//   const center = new NotificationCenter();
//   const observer = await center.addObserver({ name: "ButtonChange" }, (notification) => {
//     console.log(notification.seq, notification.object, notification.userInfo);
//   });
//   const receipt = await center.post("ButtonChange", { object: "7", userInfo: { row: 1 } });
//   await observer.remove();
//
// Without a handler an observer is an async sequence, and leaving the loop removes it:
//
//   for await (const notification of await center.addObserver({ name: "ButtonChange" })) { … }

/// The close codes after which a new connection would meet the same answer: 1008 policy,
/// 4001 taken over, 4002 client removed, 4003 credentials expired.
const finalCloseCodes = new Set([1008, 4001, 4002, 4003]);

/// Notifications that an async sequence keeps for its reader; above it the oldest one is lost.
const bufferLimit = 1000;

/// Waits between two connections, in seconds: the first one, and the bound of the doubling.
const firstDelay = 0.5;
const delayLimit = 30;

/// What the broker refused, or why a call has no answer.
export class BelfryError extends Error {
  /// `code` is the one of JSON-RPC, or null when the connection was lost before the answer: a
  /// post may then have happened. `problem` is the broker's problem document (RFC 9457), if any.
  constructor(text, code = null, problem = null) {
    super(text);
    this.name = "BelfryError";
    this.code = code;
    this.problem = problem;
  }
}

/// One registration, and the token that removes it.
class Observer {
  #registration;
  #remove;

  constructor(registration, remove) {
    this.#registration = registration;
    this.#remove = remove;
  }

  get name() { return this.#registration.filter.name ?? null; }
  get object() { return this.#registration.filter.object ?? null; }
  get selector() { return this.#registration.selector; }
  /// The public half of the token. It changes with each connection: the broker removes the
  /// observers of a connection that it lost, and the center registers them again.
  get id() { return this.#registration.id; }
  /// The secret that removes this observer from anywhere (`DELETE /v1/observers/{token}`).
  get token() { return this.#registration.token; }
  get isRemoved() { return this.#registration.isRemoved; }

  /// Removes the observer; nothing is delivered after the call, even before the promise settles.
  async remove() {
    await this.#remove();
  }

  async *[Symbol.asyncIterator]() {
    const { buffer } = this.#registration;
    try {
      for (;;) {
        if (buffer.length > 0) yield buffer.shift();
        else if (this.isRemoved) return;
        else await new Promise((resolve) => { this.#registration.wake = resolve; });
      }
    } finally {
      await this.remove();
    }
  }
}

/// A center of the broker, over a connection that comes back by itself.
///
/// Its events are `state` (see the property), `belfry.gap` (an observer lost notifications) and
/// `belfry.removed` (somebody else removed an observer); the `detail` of the last two is what
/// the broker sent, with the observer itself in `token`.
export class NotificationCenter extends EventTarget {
  #base;
  #socket = null;
  #registrations = new Set();
  #calls = new Map();
  #waiting = [];
  #nextCall = 1;
  #nextSelector = 1;
  #epoch = null;
  #highestSeq = 0;
  #state = "connecting";
  #failures = 0;
  #isWelcomed = false;
  #welcomedAt = null;
  #announcedDelay = null;
  #timer = null;
  #listening = new AbortController();

  /// `url` is the broker, by default the one that this file came from; `center` names another
  /// center than the default one.
  constructor(url = new URL(import.meta.url).origin, { center = null } = {}) {
    super();
    const path = center === null ? "/v1" : `/v1/centers/${encodeURIComponent(center)}`;
    this.#base = String(url).replace(/\/+$/, "") + path;
    // A page that is left gives its observers back at once, and one that the browser brings back
    // from its cache registers them again.
    const { signal } = this.#listening;
    addEventListener("pagehide", () => this.#pause(), { signal });
    addEventListener("pageshow", () => this.#connectNow(), { signal });
    addEventListener("online", () => this.#connectNow(), { signal });
    this.#connect();
  }

  /// `connecting`, `open` (connected, and every observer is registered), `waiting` for the next
  /// attempt, or `closed` for good.
  get state() { return this.#state; }

  /// Registers an observer and answers its token once the broker has confirmed it.
  ///
  /// A name or object of null, or none, matches any. The selector is the method that the broker
  /// calls; without one each observer gets its own. The handler is called once for each
  /// notification, in the order of `seq`; an error that it throws is reported and stops nobody.
  addObserver({ name = null, object = null, selector = null } = {}, handler = null) {
    if (this.#state === "closed") return Promise.reject(new BelfryError("the center is closed"));
    const registration = {
      filter: { name, object },
      selector: selector ?? `n${this.#nextSelector++}`,
      id: null, token: null, position: null, isRegistered: false, isRemoved: false,
      handler, buffer: [], wake: () => {},
    };
    const observer = new Observer(registration, () => this.#remove(registration));
    registration.observer = observer;
    this.#registrations.add(registration);
    return new Promise((resolve, reject) => {
      registration.confirm = () => resolve(observer);
      registration.refuse = reject;
      if (this.#isWelcomed) this.#register(registration);
    });
  }

  /// Posts a notification and answers the receipt: who matched, and what became of it.
  ///
  /// `userInfo` is a plain object; numbers beyond 2^53 lose digits here, not in the broker.
  async post(name, { object = null, userInfo = null, causedBy = null } = {}) {
    if (this.#state === "closed") throw new BelfryError("the center is closed");
    if (this.#state !== "open") {
      await new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
    }
    const params = { name };
    if (object !== null) params.object = object;
    if (userInfo !== null) params.userInfo = userInfo;
    if (causedBy !== null) params.causedBy = causedBy;
    return this.#call("post", params);
  }

  /// Ends the connection, and with it every observer of this center object.
  close() {
    this.#disconnect("the center was closed");
    this.#finish();
  }

  // The connection.

  #connect() {
    this.#timer = null;
    this.#enter("connecting");
    const socket = new WebSocket(`${this.#base.replace(/^http/, "ws")}/ws`, "belfry.v1");
    this.#socket = socket;
    socket.onmessage = (event) => this.#receive(JSON.parse(event.data));
    socket.onclose = (event) => {
      this.#disconnect(`the connection ended (${event.code})`);
      if (finalCloseCodes.has(event.code)) this.#finish(event.code);
      else this.#reconnectLater(event.code);
    };
  }

  #connectNow() {
    if (this.#state !== "waiting") return;
    clearTimeout(this.#timer);
    this.#connect();
  }

  #pause() {
    if (this.#state === "closed") return;
    clearTimeout(this.#timer);
    this.#disconnect("the page was left");
    this.#enter("waiting");
  }

  /// Doubles the wait after each connection that did not last, and spreads it so that the pages
  /// of a restarted broker do not all come back in the same moment.
  #reconnectLater(code) {
    const lasted = this.#welcomedAt !== null && performance.now() - this.#welcomedAt > 10_000;
    this.#welcomedAt = null;
    this.#failures = lasted ? 0 : this.#failures + 1;
    if (code === 1013) this.#failures = Math.max(this.#failures, 4);
    const bound = Math.min(delayLimit, firstDelay * 2 ** this.#failures);
    const delay = (this.#announcedDelay ?? bound / 2) + (bound / 2) * Math.random();
    this.#announcedDelay = null;
    this.#timer = setTimeout(() => this.#connect(), delay * 1000);
    this.#enter("waiting", { code, delay });
  }

  /// Forgets the connection. Nothing of it is heard any more, calls without an answer fail.
  #disconnect(reason) {
    const socket = this.#socket;
    this.#socket = null;
    this.#isWelcomed = false;
    if (socket !== null) {
      socket.onmessage = socket.onclose = null;
      socket.close();
    }
    // Everything up to the highest number that came has come for all observers, because the
    // numbers of one client never decrease (law 2): the replay starts there.
    for (const registration of this.#registrations) {
      if (registration.isRegistered && registration.position < this.#highestSeq) {
        registration.position = this.#highestSeq;
      }
      registration.isRegistered = false;
    }
    this.#highestSeq = 0;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const { reject } of calls) reject(new BelfryError(reason));
  }

  #finish(code = 1000) {
    clearTimeout(this.#timer);
    this.#listening.abort();
    const error = new BelfryError("the center is closed");
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    for (const registration of [...this.#registrations]) {
      this.#forget(registration);
      registration.refuse(error);
    }
    this.#enter("closed", { code });
  }

  #enter(state, detail = {}) {
    if (this.#state === state) return;
    this.#state = state;
    this.dispatchEvent(new CustomEvent("state", { detail: { state, ...detail } }));
  }

  // What comes in.

  #receive({ id, method, params, result, error }) {
    if (method === undefined) {
      const call = this.#calls.get(id);
      this.#calls.delete(id);
      if (error === undefined) call?.resolve(result);
      else {
        const text = error.data?.detail ?? error.message;
        call?.reject(new BelfryError(text, error.code, error.data ?? null));
      }
      return;
    }
    switch (method) {
      case "belfry.welcome": return this.#welcome(params);
      case "belfry.gap": return this.#gap(params);
      case "belfry.removed": return this.#removed(params);
      case "belfry.draining": this.#announcedDelay = params.reconnectAfter ?? null; return;
      default: this.#deliver(method, params);
    }
  }

  async #welcome({ epoch }) {
    const socket = this.#socket;
    this.#isWelcomed = true;
    this.#welcomedAt = performance.now();
    const isOtherEpoch = this.#epoch !== null && this.#epoch !== epoch;
    this.#epoch = epoch;
    // Another epoch counts from its own beginning: what was missed in between nobody knows.
    const answers = [...this.#registrations].map((registration) => {
      if (isOtherEpoch && registration.position !== null) {
        registration.position = null;
        this.#tell("belfry.gap", { observer: registration.id, reason: "unknown" }, registration);
      }
      return this.#register(registration);
    });
    await Promise.all(answers);
    if (socket !== this.#socket) return;
    this.#enter("open");
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  /// Gives a frame to the observers that it is for.
  ///
  /// A frame names its selector and no observer, and two observers of one selector get a frame
  /// each. So the filter is compared here again, and the position of each observer sees to it
  /// that the second frame, like one that a replay brings again, is not delivered twice.
  #deliver(selector, notification) {
    const { name, object = null, seq } = notification;
    if (!notification.redelivered && seq > this.#highestSeq) this.#highestSeq = seq;
    for (const registration of [...this.#registrations]) {
      const { filter, position, isRemoved } = registration;
      if (registration.selector !== selector || isRemoved || position === null) continue;
      if (seq <= position || (filter.name ?? name) !== name) continue;
      if ((filter.object ?? object) !== object) continue;
      registration.position = seq;
      if (registration.handler === null) this.#keep(notification, registration);
      else this.#handle(notification, registration);
    }
  }

  #handle(notification, registration) {
    try {
      registration.handler(notification);
    } catch (error) {
      reportError(error);
    }
  }

  #keep(notification, registration) {
    registration.buffer.push(notification);
    registration.wake();
    if (registration.buffer.length <= bufferLimit) return;
    const { seq } = registration.buffer.shift();
    const lost = { lost: 1, firstSeq: seq, lastSeq: seq, reason: "overflow" };
    this.#tell("belfry.gap", { observer: registration.id, ...lost }, registration);
  }

  #gap(params) {
    this.#tell("belfry.gap", params, this.#registration(params.observer));
  }

  #removed(params) {
    const registration = this.#registration(params.observer);
    if (registration === undefined) return;
    this.#forget(registration);
    this.#tell("belfry.removed", params, registration);
  }

  #tell(type, params, registration) {
    const token = registration?.observer ?? null;
    this.dispatchEvent(new CustomEvent(type, { detail: { ...params, token } }));
  }

  #registration(id) {
    for (const registration of this.#registrations) if (registration.id === id) return registration;
  }

  // What goes out.

  #call(method, params) {
    const id = this.#nextCall++;
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject }));
  }

  async #register(registration) {
    const { filter, selector, position } = registration;
    const params = { ...filter, selector, lifetime: "connection" };
    if (position !== null) params.since = position;
    try {
      const { id, token, since } = await this.#call("addObserver", params);
      Object.assign(registration, { id, token, isRegistered: true });
      registration.position ??= since;
      if (registration.isRemoved) await this.#delete(registration);
      registration.confirm();
    } catch (error) {
      // A lost connection is not a refusal: the next one registers the observer again.
      if (error.code === null || registration.isRemoved) return;
      this.#forget(registration);
      const refusal = { observer: registration.id, reason: "refused", problem: error.problem };
      this.#tell("belfry.removed", refusal, registration);
      registration.refuse(error);
    }
  }

  async #remove(registration) {
    if (registration.isRemoved) return;
    const { isRegistered } = registration;
    this.#forget(registration);
    if (isRegistered) await this.#delete(registration);
  }

  #forget(registration) {
    registration.isRemoved = true;
    this.#registrations.delete(registration);
    registration.wake();
  }

  /// Removes by HTTP, which also gets through when the page is being left; the token travels in
  /// a header, so that no log of URLs holds it. 404 and 410 are fine: it is gone already.
  async #delete({ id, token }) {
    const response = await fetch(`${this.#base}/observers/${id}`, {
      method: "DELETE", headers: { "Belfry-Token": token }, keepalive: true,
    });
    if (response.ok || response.status === 404 || response.status === 410) return;
    const problem = await response.json().catch(() => null);
    throw new BelfryError(problem?.detail ?? `status ${response.status}`, -32000, problem);
  }
}
