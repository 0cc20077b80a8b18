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
//
// A lost connection comes back by itself, with what the broker's replay ring still has. With
// `resume` the observers stay at the broker meanwhile, and with `storage` also while the page is
// loaded again: it adds the same observers, and gets what was held for them.
//
//   const center = new NotificationCenter(undefined, { resume: true, storage: sessionStorage });
//
// An acknowledging observer tells the poster: the promise of its handler is the answer.
//
//   await center.addObserver({ name: "Order", acknowledge: true }, (order) => print(order));
//
// A responder holds the address of an object and answers what it is asked; an ask has one answer.
//
//   const desk = await center.respond("deploy", {
//     shouldStart: async ({ sha }, ask) => confirm(`Start ${sha}?`), // or: return ask.pass()
//   }, { next: "team" });
//   const { answer, by } = await center.ask("deploy", "shouldStart", { sha }, { default: false });
//
// An observer with a target gives what it observes to whoever holds an address, as an action.
//
//   await center.respond("lamp", { toggle: (userInfo, { name, object }) => lamp.toggle() });
//   await center.addObserver({ name: "touchUp", target: "lamp", selector: "toggle" });
//
// A value is one JSON object of an object, which is set and observed by key path; `bind` keeps an
// input and a value the same.
//
//   await center.setValue("settings", "ui.theme", "dark");
//   await center.addObserver({ object: "settings", keyPath: "ui" }, (ui, change) => show(ui));
//   const binding = await center.bind(slider, "settings", "volume");
//
// A broker with keys is shown a token. A function is asked for one before each connection, so that
// a page goes on when a token has expired.
//
//   const center = new NotificationCenter(undefined, { token: async () => fetchToken() });

/// The close codes after which a new connection would meet the same answer: 1008 policy,
/// 4001 taken over, 4002 client removed, 4003 credentials expired.
const finalCloseCodes = new Set([1008, 4001, 4002, 4003]);

/// The close code that a new token helps against.
const expiredCloseCode = 4003;

/// What a token begins with in the list of subprotocols.
const bearer = "base64url.bearer.belfry.";

/// The close codes of a broker, or of a connection, that has too much to do.
const overloadCloseCodes = new Set([1013, 4008]);

/// Notifications that an async sequence keeps for its reader; above it the oldest one is lost.
const bufferLimit = 1000;

/// Seconds until an observer that an earlier page left behind is removed, if nobody adds it again.
const claimTime = 10;

/// The code of a refusal by a handler; those of JSON-RPC itself are below zero.
const refusalCode = 1;

/// The code of JSON-RPC by which a responder hands an ask on, and what its handler returns then.
const passCode = -32601;
const passed = Symbol("passed");

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

/// Text as base64url, which a subprotocol can hold.
function base64url(text) {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/// A ticket for one `EventSource`, which can send no token: it is good once, and for 30 s.
///
///   const ticket = await requestTicket(url, token);
///   new EventSource(`${url}/v1/events?name=Mail&ticket=${ticket}`);
export async function requestTicket(url, token) {
  const response = await fetch(`${String(url).replace(/\/+$/, "")}/v1/tickets`, {
    method: "POST", headers: { Authorization: `Bearer ${token}` }, cache: "no-store",
  });
  return (await answerOf(response)).ticket;
}

/// The content of an answer, or what the broker refused.
async function answerOf(response) {
  const answer = await response.json().catch(() => null);
  if (response.ok) return answer;
  throw new BelfryError(answer?.detail ?? `status ${response.status}`, -32000, answer);
}

/// Whether a registration, or a row of an observer, is called by this method.
function takes({ selector, selectors, implements: listed, target }, method) {
  // What an observer with a target is given comes to the client that holds the target.
  if ((target ?? null) !== null) return false;
  return (selectors ?? listed)?.includes(method) ?? selector === method;
}

/// Whether a registration, or a row of an observer, is a responder for this action at its address.
function actsOn(row, object, method, { target }) {
  return (row.selectors ?? row.implements ?? null) !== null && takes(row, method)
    && object === target;
}

/// What is owed is told apart by the notification, since an ask comes again with another number; an
/// action, of which one post may make several, by the id of the request.
function owedKey({ id, target, answerBy }, call) {
  return target === undefined || answerBy !== undefined ? id : call;
}

/// The members that say where a value is.
function place(object, keyPath) {
  return keyPath === "" ? { object } : { object, keyPath };
}

/// Whether JSON is an object, which has members.
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/// A value after a merge patch (RFC 7396); the value itself stays as it is.
function merged(value, patch) {
  if (!isObject(patch)) return patch;
  const members = new Map(isObject(value) ? Object.entries(value) : []);
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) members.delete(key);
    else members.set(key, merged(members.get(key), change));
  }
  // Not by assignment: a key may be "__proto__".
  return Object.fromEntries(members);
}

/// Whether two values are the same JSON, in whatever order their members are.
function isSame(left, right) {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object") return false;
  if (left === null || right === null || Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length
    && keys.every((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]));
}

/// What an input has: a number, whether it is checked, or text; undefined for none.
function contentOf(element) {
  switch (element.type) {
    case "checkbox": return element.checked;
    case "radio": return element.checked ? element.value : undefined;
    case "number": case "range":
      return Number.isNaN(element.valueAsNumber) ? undefined : element.valueAsNumber;
    default: return element.value;
  }
}

/// Shows a value in an element; one that is not there leaves it as it is.
function showIn(element, value) {
  if (value === undefined) return;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (element.type === "checkbox") element.checked = value === true;
  else if (element.type === "radio") element.checked = element.value === text;
  else if (!("value" in element)) element.textContent = text;
  // To set the same text would move the caret.
  else if (element.value !== text) element.value = text;
}

/// An element that shows a value, and sets it.
class Binding {
  #center;
  #element;
  #place;
  #onError;
  #observer = null;
  #listening = new AbortController();
  /// What the broker has, and the number of the last write from here.
  #known;
  #ownSeq = 0;
  /// What the element has and the broker was not told; undefined for nothing.
  #wanted;
  #isSetting = false;
  /// The last change by somebody else that came while this one was set, with its number.
  #meanwhile = null;

  constructor(center, element, place, onError) {
    this.#center = center;
    this.#element = element;
    this.#place = place;
    this.#onError = onError;
  }

  get element() { return this.#element; }
  get object() { return this.#place[0]; }
  get keyPath() { return this.#place[1]; }

  /// Shows the value as it is, and follows both from then on.
  async begin(terms) {
    const [object, keyPath] = this.#place;
    this.#observer = await this.#center.addObserver(
      { ...terms, object, keyPath, own: false },
      (value, change, { seq }) => this.#changed(value, seq));
    const { signal } = this.#listening;
    this.#element.addEventListener("input", () => {
      this.#wanted = contentOf(this.#element);
      if (this.#wanted !== undefined && !this.#isSetting) this.#set();
    }, { signal });
  }

  /// Ends it; the element and the value stay as they are.
  async remove() {
    this.#listening.abort();
    await this.#observer.remove();
  }

  #changed(value, seq) {
    if (this.#isSetting) this.#meanwhile = { value, seq };
    else this.#show(value);
  }

  #show(value) {
    this.#known = value;
    if (!this.#listening.signal.aborted) showIn(this.#element, value);
  }

  /// Sets what the element has until the broker has it: one write at a time, and of what waits the
  /// last. A lost connection is waited for; after a refusal the element shows what the broker has.
  async #set() {
    this.#isSetting = true;
    let isRefused = false;
    let lost;
    while (this.#wanted !== undefined) {
      const value = this.#wanted;
      this.#wanted = undefined;
      try {
        const { seq } = await this.#center.setValue(...this.#place, value);
        [this.#known, this.#ownSeq, isRefused] = [value, seq, false];
      } catch (error) {
        const isLost = error?.code === null && this.#center.state !== "closed";
        // What ends the connection twice, as one that is too long does, is not sent a third time.
        isRefused = !isLost || lost === value;
        lost = value;
        if (isRefused) this.#onError(error);
        else this.#wanted ??= value;
      }
    }
    this.#isSetting = false;
    const meanwhile = this.#meanwhile;
    this.#meanwhile = null;
    // The last write wins, which may be the other one.
    if (meanwhile !== null && meanwhile.seq > this.#ownSeq) this.#show(meanwhile.value);
    else if (isRefused) this.#show(this.#known);
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
  /// The address that gets what it observes; null is this page.
  get target() { return this.#registration.target; }
  /// The key path of a value's observer, "" for the whole; null for any other observer.
  get keyPath() { return this.#registration.filter.keyPath ?? null; }
  get selector() { return this.#registration.selector; }
  /// The public half of the token. It changes when the observer is registered again: on each
  /// connection, or, with `resume`, when the broker did not keep it.
  get id() { return this.#registration.id; }
  /// The secret that removes this observer from anywhere (`DELETE /v1/observers/{token}`); null
  /// for one that an earlier page registered, because the broker tells a secret only once.
  get token() { return this.#registration.token; }
  get isRemoved() { return this.#registration.isRemoved; }

  /// Removes the observer; nothing is delivered after the call, even before the promise settles.
  async remove() {
    await this.#remove();
  }

  /// The notifications; an acknowledging observer acknowledges one when the next is asked for.
  async *[Symbol.asyncIterator]() {
    const { buffer, answer } = this.#registration;
    try {
      for (;;) {
        if (buffer.length > 0) {
          const notification = buffer.shift();
          yield notification;
          answer(notification.id, { result: null });
        } else if (this.isRemoved) return;
        else await new Promise((resolve) => { this.#registration.wake = resolve; });
      }
    } finally {
      await this.remove();
    }
  }
}

/// A center of the broker, over a connection that comes back by itself.
///
/// Its events are `state` (see the property), `belfry.gap` (an observer lost notifications; its
/// own `onGap` is told too) and `belfry.removed` (somebody else removed an observer); the `detail`
/// of the last two is what the broker sent, with the observer itself in `token`.
export class NotificationCenter extends EventTarget {
  #base;
  #socket = null;
  #registrations = new Set();
  #calls = new Map();
  #waiting = [];
  #nextCall = 1;
  #nextSelector = 1;
  #resumes;
  #storage;
  /// A text, a function that answers one, or null.
  #token;
  /// `{ client, session, epoch, seq }`: who this client is at the broker. With `resume` it
  /// outlives a connection, and `seq` is what the stored position was.
  #identity = null;
  /// Observers that an earlier page left to this one, with what came for them meanwhile.
  #unclaimed = [];
  #isSuspended = false;
  #highestSeq = 0;
  /// The highest number of the last connection on which something came.
  #seenSeq = 0;
  #state = "connecting";
  #failures = 0;
  #isWelcomed = false;
  #welcomedAt = null;
  #announcedDelay = null;
  #timer = null;
  /// The connection that waits for a token.
  #attempt = null;
  #listening = new AbortController();

  /// `url` is the broker, by default the one that this file came from; `center` names another
  /// center than the default one.
  ///
  /// With `resume` the observers outlive a lost connection at the broker, for their lease, and
  /// what is posted meanwhile is held for them. With `storage`, such as `sessionStorage`, they
  /// also outlive the page; without it a page that is left removes them.
  ///
  /// `token` is what the broker is shown: a key, a JWT, or a function that answers one, also later.
  constructor(
    url = new URL(import.meta.url).origin,
    { center = null, resume = false, storage = null, token = null } = {},
  ) {
    super();
    const path = center === null ? "/v1" : `/v1/centers/${encodeURIComponent(center)}`;
    this.#base = String(url).replace(/\/+$/, "") + path;
    this.#resumes = resume;
    this.#storage = storage;
    this.#token = token;
    this.#load();
    // A page that is left gives its observers back at once, and one that the browser brings back
    // from its cache registers them again.
    const { signal } = this.#listening;
    addEventListener("pagehide", ({ persisted }) => this.#leave(persisted), { signal });
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
  /// With `acknowledge` its promise is the answer instead: resolved acknowledges, rejected
  /// refuses with the text of the error.
  ///
  /// `suspensionBehavior`, `holdLimit`, `minInterval`, `lease` and `since` go to the broker;
  /// `onGap` is called with what the observer lost.
  ///
  /// With `target` it calls its selector at whoever holds that address, which may be another
  /// client: it has no handler and none of these but `lease`; with `acknowledge` it is the
  /// responder that answers.
  ///
  /// With `keyPath` it observes the value of the object instead, or what is at that path in it; the
  /// path "" is the whole. The handler is called with the value as it is, and then with each
  /// change: `(value, change, notification)`, where the value is whole, and undefined where there
  /// is none. It is not the handler's to change. `change` has `kind` (`set`, `merge`, `removed`),
  /// `new`, `initial`, and with `old: true` what was there. `own: false` leaves out the changes
  /// that this center writes. Without a handler the notifications of the sequence have `value` and
  /// `change`.
  addObserver(
    {
      name = null, object = null, keyPath = null, target = null, selector = null, since = null,
      onGap = null,
      ...terms
    } = {},
    handler = null,
  ) {
    const method = selector ?? (target === null ? `n${this.#nextSelector++}` : null);
    if (keyPath === null) {
      const filter = { name, object };
      return this.#add({ filter, target, selector: method, terms, onGap, handler }, since);
    }
    if (since !== null || terms.suspensionBehavior === "drop") {
      const text = "a value is observed as it is: without since, and without drop";
      return Promise.reject(new BelfryError(text));
    }
    const told = handler && ((frame) => handler(frame.value, frame.change, frame));
    return this.#add(
      { filter: { object, keyPath }, target, selector: method, terms, onGap, handler: told });
  }

  /// Holds the address of an object, and answers its token once the broker has confirmed it.
  ///
  /// `handlers` has a function for each selector. It is called with the userInfo and the ask, and
  /// its promise is the answer: resolved with any JSON, rejected refuses with the text of the
  /// error, and `return ask.pass()` hands on. `ask` has what the broker has sent (`id`, `object`,
  /// `target`, `answerBy`, …), and `ask.signal`, which aborts when nobody waits for the answer any
  /// more. Posts with the object and one of these names come to the same functions, without
  /// `answerBy`; so do actions, of which `ask.name` and `ask.object` are the event and its sender,
  /// and `ask.selector` is the function. A post or an action is answered if its poster may wait for
  /// that, else what the function returns is passed over.
  ///
  /// The options are those of the broker: `next`, `ifHeld`, `concurrency`, `suspensionBehavior`,
  /// `lease` and so on; and `onGap`.
  respond(object, handlers, { onGap = null, ...terms } = {}) {
    const handler = (notification, ask) => handlers[ask.selector](notification.userInfo, ask);
    const selectors = Object.keys(handlers);
    return this.#add({ filter: { object }, selector: null, selectors, terms, onGap, handler });
  }

  /// Asks who holds an address, and answers `{ id, answer, by, observer, reason, path }`.
  ///
  /// The options are those of the broker: `default` (the answer when there is no other), `wait`
  /// (seconds), `ttl`, `once`, `causedBy`, `idempotencyKey`. Without an answer it throws the
  /// problem. When the connection is lost it throws an error whose code is null; with a key it asks
  /// again. With `signal` it has a connection of its own, because to end that withdraws the ask.
  async ask(object, selector, userInfo = null, { signal = null, ...options } = {}) {
    const isGiven = ([key, value]) => value !== null || key === "default";
    const given = Object.entries(options).filter(isGiven);
    const params = { object, selector, ...Object.fromEntries(given) };
    if (userInfo !== null) params.userInfo = userInfo;
    for (;;) {
      try {
        if (signal !== null) return await this.#askApart(params, signal);
        return await this.#callWhenOpen("ask", params);
      } catch (error) {
        const isLost = error?.code === null && this.#state !== "closed";
        if (!isLost || params.idempotencyKey === undefined) throw error;
        await new Promise((resolve) => setTimeout(resolve, firstDelay * 1000));
      }
    }
  }

  /// Withdraws an ask that was made with `ttl`.
  async withdraw({ id }) {
    await this.#callWhenOpen("withdraw", { id });
  }

  /// Answers `{ value, etag, seq }` of what is at a key path of an object's value; null where there
  /// is nothing. Keys are joined by `.`, and "" is the whole.
  async value(object, keyPath = "") {
    try {
      return await this.#callWhenOpen("value", place(object, keyPath));
    } catch (error) {
      if (error.problem?.status === 404) return null;
      throw error;
    }
  }

  /// Sets what is at a key path, and answers `{ changed, etag, seq, matched, … }`.
  ///
  /// The options are those of the broker: `ifMatch` (the `etag` that the value must have, else it
  /// throws `precondition-failed`), `ifNoneMatch` (`"*"`: only where there is nothing), `ttl`, and
  /// `lease`: seconds that it stays after this page has gone.
  async setValue(object, keyPath, value, options = {}) {
    return this.#write("setValue", object, keyPath, { ...options, value });
  }

  /// Applies a merge patch: several keys in one change, of which null removes one.
  async mergeValue(object, keyPath, patch, options = {}) {
    return this.#write("mergeValue", object, keyPath, { ...options, patch });
  }

  /// Removes what is at a key path, or the whole value.
  async removeValue(object, keyPath = "", options = {}) {
    return this.#write("removeValue", object, keyPath, options);
  }

  /// Keeps an input and what is at a key path the same, and answers the binding, which `remove()`
  /// ends.
  ///
  /// The input shows the value as it is, and each change by others; what a person puts in is set,
  /// and does not come back. The last write wins. A range or a number is bound to a number, a
  /// checkbox to true or false, anything else to text; an element without a value shows it. Where
  /// there is no value the element keeps what it has. `onError` is told what the broker refused;
  /// the element shows the broker's value then. Other options are those of `addObserver`.
  async bind(element, object, keyPath = "", { onError = reportError, ...terms } = {}) {
    const binding = new Binding(this, element, [object, keyPath], onError);
    await binding.begin(terms);
    return binding;
  }

  #write(method, object, keyPath, members) {
    const isGiven = ([key, value]) => value !== null || key === "value" || key === "patch";
    const given = Object.entries(members).filter(isGiven);
    return this.#callWhenOpen(method, { ...place(object, keyPath), ...Object.fromEntries(given) });
  }

  #add(given, since = null) {
    if (this.#state === "closed") return Promise.reject(new BelfryError("the center is closed"));
    const registration = {
      // What a responder implements; null is any other observer.
      selectors: null,
      target: null,
      ...given, position: since,
      id: null, token: null, isRegistered: false, isRemoved: false,
      buffer: [], wake: () => {},
      // What was not answered, by its key.
      owed: new Map(),
      // The value, if it observes one, and whether it was told.
      value: undefined, isKnown: false,
    };
    registration.answer = (key, answer) => this.#answer(registration, key, answer);
    const observer = new Observer(registration, () => this.#remove(registration));
    registration.observer = observer;
    this.#registrations.add(registration);
    return new Promise((resolve, reject) => {
      registration.confirm = () => resolve(observer);
      registration.refuse = reject;
      if (this.#isWelcomed && !this.#claim(registration)) this.#register(registration);
    });
  }

  /// Posts a notification and answers the receipt: who matched, and what became of it.
  ///
  /// `userInfo` is a plain object; numbers beyond 2^53 lose digits here, not in the broker. The
  /// other options are those of the broker: `object`, `style` and with it `coalesce`, `keep`,
  /// `modes`, `maxDelay`; `immediate`, `ttl`, `causedBy`; `wait` (seconds), `report`, and
  /// `idempotencyKey`. A queued post has no counts but an `outcome`.
  ///
  /// With `after` (seconds), `at` (a Date, or a time with its offset) or `every` (seconds, until its
  /// `lease`, or this client, ends) it enters the queue later, and the answer has `dueAt`. `replaces: true` takes out
  /// earlier ones of the same name and object. With `onDisconnect: true` it is posted when this
  /// client has been disconnected for `after` seconds; `close()` withdraws it.
  async post(name, options = {}) {
    // A lease of null is one without an end; all else that is null is not given.
    const isGiven = ([key, value]) => value !== null || key === "lease";
    const given = Object.entries(options).filter(isGiven);
    return this.#callWhenOpen("post", { name, ...Object.fromEntries(given) });
  }

  /// Suspends this client, or lets it go on; its observers say what becomes of notifications
  /// meanwhile. It stays so on the next connection.
  async setSuspended(isSuspended) {
    await this.#callWhenOpen("setSuspended", { suspended: isSuspended });
    this.#isSuspended = isSuspended;
  }

  /// Takes notifications out of the queue, by `id` or by what is equal; answers how many.
  async dequeue({ id, name, object, coalesce } = {}) {
    return (await this.#callWhenOpen("dequeue", { id, name, object, coalesce })).removed;
  }

  /// Enters a mode of the queue and answers its lease, which ends with the connection.
  enterMode(mode) {
    return this.#callWhenOpen("enterMode", { mode });
  }

  /// Leaves a mode that was entered.
  async leaveMode({ token }) {
    await this.#callWhenOpen("leaveMode", { token });
  }

  /// Ends the connection, and with it every observer of this center object.
  close() {
    if (this.#state !== "closed") this.#removeClient();
    this.#disconnect("the center was closed");
    this.#finish();
  }

  // The connection.

  async #connect() {
    this.#timer = null;
    this.#enter("connecting");
    const protocols = ["belfry.v1"];
    if (typeof this.#token === "function") {
      const attempt = (this.#attempt = {});
      let token = null;
      try {
        token = await this.#token();
      } catch (error) {
        reportError(error);
      }
      // Meanwhile the page may have been left, or the center closed.
      if (attempt !== this.#attempt || this.#state !== "connecting") return;
      if (token === null) return this.#reconnectLater(null);
      protocols.push(`${bearer}${base64url(token)}`);
    } else if (this.#token !== null) {
      protocols.push(`${bearer}${base64url(this.#token)}`);
    }
    const socket = new WebSocket(`${this.#base.replace(/^http/, "ws")}/ws`, protocols);
    this.#socket = socket;
    socket.onmessage = (event) => this.#receive(JSON.parse(event.data));
    socket.onclose = (event) => {
      this.#disconnect(`the connection ended (${event.code})`);
      // Who can get a new token comes back with it.
      const isFinal = finalCloseCodes.has(event.code)
        && !(event.code === expiredCloseCode && typeof this.#token === "function");
      if (isFinal) this.#finish(event.code);
      else this.#reconnectLater(event.code);
    };
  }

  #connectNow() {
    if (this.#state !== "waiting") return;
    clearTimeout(this.#timer);
    this.#connect();
  }

  /// The page is left; `isKept` when the browser may bring it back as it is.
  #leave(isKept) {
    if (this.#state === "closed") return;
    if (!isKept && this.#storage === null) this.#removeClient();
    clearTimeout(this.#timer);
    this.#disconnect("the page was left");
    this.#enter("waiting");
  }

  /// Removes the client of a session that would outlive its connection, with its observers.
  ///
  /// By HTTP, which also gets through when the page is being left.
  #removeClient() {
    if (!this.#resumes || this.#identity === null) return;
    const { client, session } = this.#identity;
    this.#identity = null;
    this.#storage?.removeItem(this.#storageKey);
    fetch(`${this.#base}/clients/${client}`, {
      method: "DELETE", headers: { "Belfry-Session": session }, keepalive: true,
    }).catch(() => {}); // Without the broker its observers end with their lease.
  }

  /// Doubles the wait after each connection that did not last, and spreads it so that the pages
  /// of a restarted broker do not all come back in the same moment.
  #reconnectLater(code) {
    const lasted = this.#welcomedAt !== null && performance.now() - this.#welcomedAt > 10_000;
    this.#welcomedAt = null;
    this.#failures = lasted ? 0 : this.#failures + 1;
    if (overloadCloseCodes.has(code)) this.#failures = Math.max(this.#failures, 4);
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
    if (socket !== null) {
      socket.onmessage = socket.onclose = null;
      socket.close();
    }
    // Everything below the highest number that came has come for all observers, because the numbers
    // of one client never decrease (law 2). Of that number itself only its own frames are known.
    for (const registration of this.#registrations) {
      if (registration.isRegistered && registration.position < this.#highestSeq) {
        registration.position = Math.max(registration.position ?? 0, this.#highestSeq - 1);
      }
      registration.isRegistered = false;
      // What the broker did not ask again on this connection, it does not want to know.
      for (const [id, { answer }] of registration.owed) {
        if (answer !== null && this.#isWelcomed) registration.owed.delete(id);
      }
    }
    if (this.#highestSeq > 0) this.#seenSeq = this.#highestSeq;
    this.#highestSeq = 0;
    if (this.#isWelcomed) this.#save();
    this.#isWelcomed = false;
    this.#unclaimed = [];
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const { reject } of calls) reject(new BelfryError(reason));
  }

  #finish(code = 1000) {
    clearTimeout(this.#timer);
    this.#listening.abort();
    // A client that was removed is nobody's; one that was taken over is another page's now.
    if (code === 4002) this.#storage?.removeItem(this.#storageKey);
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
      case "belfry.settled": return this.#settled(params);
      case "belfry.draining": this.#announcedDelay = params.reconnectAfter ?? null; return;
      default: this.#take(method, params, id);
    }
  }

  async #welcome({ client, session, epoch }) {
    const socket = this.#socket;
    this.#welcomedAt = performance.now();
    const earlier = this.#identity;
    const resumed = this.#resumes && earlier !== null ? await this.#resume(earlier) : null;
    if (socket !== this.#socket) return;
    const isOtherEpoch = earlier !== null && earlier.epoch !== epoch;
    this.#identity = resumed === null ? { client, session, epoch } : { ...earlier, epoch };
    this.#isWelcomed = true;
    const isFirst = [...this.#registrations].every(({ id }) => id === null);
    if (this.#resumes && earlier !== null && resumed === null && isFirst) {
      // What was held for the page before is gone with its session.
      this.#tell("belfry.gap", { observer: null, reason: "unknown" });
    }
    if (isOtherEpoch) this.#seenSeq = 0;
    if (resumed !== null) this.#continue(resumed.observers, isOtherEpoch);
    else if (this.#isSuspended) this.#call("setSuspended", { suspended: true }).catch(() => {});
    this.#save();
    // Another epoch counts from its own beginning: what was missed in between nobody knows.
    const missing = [...this.#registrations].filter(({ isRegistered }) => !isRegistered);
    const answers = missing.map((registration) => {
      if (isOtherEpoch && registration.id !== null) {
        registration.position = null;
        this.#forgetOwed(registration);
        const gap = { observer: registration.id, reason: "unknown" };
        // A value comes whole.
        if (registration.filter.keyPath === undefined) this.#tell("belfry.gap", gap, registration);
      }
      return this.#register(registration);
    });
    await Promise.all(answers);
    if (socket !== this.#socket) return;
    this.#enter("open");
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  // Going on with a session.

  /// Asks for the session of the connection before; null when the broker does not go on with it.
  async #resume({ session, epoch }) {
    const after = this.#position();
    try {
      return await this.#call("resume", { session, epoch, ...(after !== null && { after }) });
    } catch (error) {
      if (error.problem?.status >= 500) {
        // It has too much to do; the session waits.
        this.#disconnect(error.message);
        this.#reconnectLater(1013);
      }
      return null;
    }
  }

  /// The number up to which all observers have everything; what one of them has above it is not
  /// delivered twice. If only frames of the last number may be missing, it is that one: the broker
  /// gives those again to all observers but the first, whose frame has come.
  #position() {
    const positions = this.#unclaimed.map(({ position }) => position);
    for (const { id, position } of this.#registrations) {
      if (id !== null && position !== null) positions.push(position);
    }
    if (positions.length === 0) return this.#identity.seq ?? null;
    const least = Math.min(...positions);
    return least === this.#seenSeq - 1 ? this.#seenSeq : least;
  }

  /// Takes over the observers that the broker has kept.
  #continue(rows, isOtherEpoch) {
    const kept = new Map(rows.map((row) => [row.id, row]));
    for (const registration of [...this.#registrations]) {
      if (registration.id === null) continue;
      if (kept.delete(registration.id)) {
        registration.isRegistered = true;
        if (isOtherEpoch) {
          registration.position = 0;
          this.#forgetOwed(registration);
        }
        continue;
      }
      this.#forget(registration);
      this.#tell("belfry.removed", { observer: registration.id, reason: "removed" }, registration);
    }
    const position = isOtherEpoch ? 0 : Math.max(0, (this.#identity.seq ?? 0) - 1);
    this.#unclaimed = [...kept.values()].map((row) => ({ row, position, frames: [] }));
    for (const registration of this.#registrations) {
      if (registration.id === null) this.#claim(registration);
    }
    const unclaimed = this.#unclaimed;
    setTimeout(() => this.#removeUnclaimed(unclaimed), claimTime * 1000);
  }

  /// Gives an observer of an earlier page to one of this page that is the same; tells whether.
  #claim(registration) {
    const { filter, target, selector, selectors, terms } = registration;
    const index = this.#unclaimed.findIndex(({ row }) =>
      (row.selector ?? null) === selector && (row.name ?? null) === (filter.name ?? null)
      && (row.object ?? null) === filter.object && (row.target ?? null) === target
      && (row.keyPath ?? null) === (filter.keyPath ?? null)
      && String(row.implements ?? null) === String(selectors)
      && row.acknowledge === (terms.acknowledge ?? false)
      && Object.entries(terms).every(([key, value]) => (row[key] ?? null) === value));
    if (index < 0) return false;
    const [{ row, position, frames }] = this.#unclaimed.splice(index, 1);
    if (filter.keyPath !== undefined) {
      // What the value was, the earlier page knew: a new observer is told.
      this.#call("removeObserver", { observer: row.id }).catch(() => {});
      return false;
    }
    Object.assign(registration, { id: row.id, position, isRegistered: true });
    registration.confirm();
    // The promise of `addObserver` settles before the first notification comes.
    queueMicrotask(() => {
      for (const [method, params, id] of frames) {
        this.#take(method, params, id);
      }
    });
    return true;
  }

  #removeUnclaimed(unclaimed) {
    if (unclaimed !== this.#unclaimed) return;
    for (const { row } of unclaimed.splice(0)) {
      this.#call("removeObserver", { observer: row.id }).catch(() => {});
    }
  }

  get #storageKey() { return `belfry ${this.#base}`; }

  #load() {
    const text = this.#resumes ? this.#storage?.getItem(this.#storageKey) : null;
    if (!text) return;
    this.#identity = JSON.parse(text);
    this.#seenSeq = this.#identity.seq ?? 0;
  }

  #save() {
    if (!this.#resumes || this.#storage === null || this.#identity === null) return;
    const kept = { ...this.#identity, seq: this.#position() };
    this.#storage.setItem(this.#storageKey, JSON.stringify(kept));
  }

  /// Takes a frame that is for observers.
  #take(method, params, id) {
    if (id !== undefined) this.#request(method, params, id);
    else if (params.target === undefined) this.#deliver(method, params);
    else this.#act(method, params);
  }

  /// Gives a frame to the observers that it is for.
  ///
  /// A frame names its selector and no observer, and two observers of one selector get a frame
  /// each. So the filter is compared here again, and the position of each observer sees to it
  /// that the second frame, like one that a replay brings again, is not delivered twice.
  #deliver(selector, notification) {
    const { name, object = null, seq } = notification;
    this.#count(notification);
    for (const place of this.#unclaimed) {
      if (takes(place.row, selector)) this.#keepFrame(place, [selector, notification]);
    }
    for (const registration of [...this.#registrations]) {
      const { filter, position, isRemoved } = registration;
      if (!takes(registration, selector) || isRemoved || position === null) continue;
      if (filter.keyPath !== undefined) {
        this.#follow(notification, registration);
        continue;
      }
      if (seq <= position || (filter.name ?? name) !== name || "change" in notification) continue;
      if ((filter.object ?? object) !== object) continue;
      registration.position = seq;
      this.#hand(selector, notification, registration);
    }
  }

  /// Gives an action that wants no answer to the responder that holds its target.
  ///
  /// One post may make several of the same number, and none of them comes twice.
  #act(selector, notification) {
    this.#count(notification);
    const place = this.#unclaimed.find(({ row }) =>
      actsOn(row, row.object, selector, notification));
    if (place !== undefined) return this.#keepFrame(place, [selector, notification]);
    for (const registration of this.#registrations) {
      if (registration.isRemoved) continue;
      if (!actsOn(registration, registration.filter.object, selector, notification)) continue;
      return this.#hand(selector, notification, registration);
    }
  }

  /// Keeps the value of an observer whole, and gives it each change.
  #follow(notification, registration) {
    const { seq, object, keyPath, change } = notification;
    const { filter, position, terms, isKnown } = registration;
    if (change === undefined || object !== filter.object || keyPath !== filter.keyPath) return;
    // An initial one has a number that the observer may have, any other comes once.
    if (!change.initial && seq <= position) return;
    if (change.kind === "merge" && terms.own === false) {
      // It is told against a value with the writes from here, which were not told.
      this.#lookAgain(notification, registration);
      return;
    }
    const { kind, initial } = change;
    let value = kind === "removed" ? undefined : change.new;
    if (kind === "merge") value = merged(registration.value, change.new);
    if (initial && isKnown && isSame(value, registration.value)) return;
    this.#tellValue(value, seq, notification, registration);
  }

  async #lookAgain(notification, registration) {
    const { object, keyPath } = registration.filter;
    const found = await this.#call("value", place(object, keyPath)).catch(() => null);
    // A later change has come meanwhile, or comes with the next connection.
    if (found === null || found.seq <= registration.position || registration.isRemoved) return;
    this.#tellValue(found.value, found.seq, notification, registration);
  }

  #tellValue(value, seq, notification, registration) {
    registration.position = Math.max(registration.position, seq);
    Object.assign(registration, { value, isKnown: true });
    this.#hand(registration.selector, { ...notification, value }, registration);
  }

  /// Gives a request to the acknowledging observer or the responder that it is for. It comes again
  /// until it is answered, also while the handler is at work: then only the answer is still due.
  #request(selector, notification, id) {
    const { observer, seq } = notification;
    this.#count(notification);
    const place = this.#unclaimed.find(({ row }) => row.id === observer);
    if (place !== undefined) return this.#keepFrame(place, [selector, notification, id]);
    const registration = this.#registration(observer);
    if (registration === undefined) return;
    const key = owedKey(notification, id);
    const owed = registration.owed.get(key);
    if (owed === undefined) {
      const abort = new AbortController();
      registration.owed.set(key, { id, seq, answer: null, abort });
      // Another frame may have the number of an action.
      if (key !== id) registration.position = Math.max(registration.position ?? 0, seq);
      this.#hand(selector, notification, registration, key);
    } else {
      owed.id = id;
      if (owed.answer !== null) this.#answer(registration, key, owed.answer);
    }
  }

  #count({ seq, redelivered }) {
    if (!redelivered && seq > this.#highestSeq) this.#highestSeq = seq;
  }

  #keepFrame({ frames }, frame) {
    frames.push(frame);
    if (frames.length > bufferLimit) frames.shift();
  }

  #hand(selector, notification, registration, key = null) {
    if (registration.handler === null) this.#keep(notification, registration);
    else if (registration.terms.acknowledge || registration.selectors !== null) {
      this.#handleAndAnswer(selector, notification, registration, key);
    } else this.#handle(notification, registration);
  }

  #handle(notification, registration) {
    try {
      registration.handler(notification);
    } catch (error) {
      reportError(error);
    }
  }

  async #handleAndAnswer(selector, notification, { handler, selectors, answer, owed }, key) {
    const signal = owed.get(key)?.abort.signal ?? null;
    const ask = { ...notification, selector, signal, pass: () => passed };
    try {
      const value = await handler(notification, ask);
      if (value === passed) answer(key, { error: { code: passCode, message: "handed on" } });
      else answer(key, { result: selectors === null ? null : value ?? null });
    } catch (error) {
      const message = String(error?.message ?? error);
      answer(key, { error: { code: refusalCode, message } });
      if (signal === null) reportError(error);
    }
  }

  /// Answers a delivery, an ask or an action, once. Without a connection the answer is kept until
  /// the broker asks again. What is no JSON throws, and leaves the answer due.
  #answer(registration, key, answer) {
    const owed = registration.owed.get(key);
    if (owed === undefined) return;
    const text = JSON.stringify({ jsonrpc: "2.0", id: owed.id, ...answer });
    owed.answer = answer;
    if (!registration.isRegistered || !this.#isWelcomed) return;
    registration.owed.delete(key);
    this.#socket.send(text);
  }

  /// An ask is over, and not by an answer of this page.
  #settled({ id, observer }) {
    for (const place of this.#unclaimed) {
      place.frames = place.frames.filter(([, params, call]) => !call || params.id !== id);
    }
    const owed = this.#registration(observer)?.owed;
    owed?.get(id)?.abort.abort();
    owed?.delete(id);
  }

  /// The numbers begin anew. Asks go by their own ids, and come again.
  #forgetOwed({ selectors, owed }) {
    for (const [key, { id }] of owed) if (selectors === null || key === id) owed.delete(key);
  }

  #keep(notification, registration) {
    registration.buffer.push(notification);
    registration.wake();
    // What is acknowledged is not dropped: the broker stops when 1,000 answers are due.
    if (registration.buffer.length <= bufferLimit || registration.terms.acknowledge) return;
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
    const detail = { ...params, token: registration?.observer ?? null };
    if (type === "belfry.gap" && registration?.onGap) {
      this.#handle(detail, { handler: registration.onGap });
    }
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #registration(id) {
    for (const registration of this.#registrations) if (registration.id === id) return registration;
  }

  // What goes out.

  #send(members) {
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", ...members }));
  }

  async #callWhenOpen(method, params) {
    if (this.#state === "closed") throw new BelfryError("the center is closed");
    if (this.#state !== "open") {
      await new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
    }
    return this.#call(method, params);
  }

  /// An ask over a connection of its own.
  async #askApart({ object, selector, userInfo, wait, ttl, idempotencyKey, ...options }, signal) {
    const query = { ...options, ttl };
    if ("default" in query) query.default = JSON.stringify(query.default);
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const pairs = given.map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
    const token = typeof this.#token === "function" ? await this.#token() : this.#token;
    const headers = { "Content-Type": "application/json" };
    const prefer = ttl === undefined ? [] : ["respond-async"];
    if (wait !== undefined) prefer.push(`wait=${Math.ceil(wait)}`);
    if (prefer.length > 0) headers.Prefer = prefer.join(", ");
    if (token !== null) headers.Authorization = `Bearer ${token}`;
    if (idempotencyKey !== undefined) headers["Idempotency-Key"] = idempotencyKey;
    const path = `${encodeURIComponent(object)}/${encodeURIComponent(selector)}`;
    const body = userInfo === undefined ? "" : JSON.stringify(userInfo);
    const request = { method: "POST", body, headers, signal, cache: "no-store" };
    let response;
    try {
      response = await fetch(`${this.#base}/responders/${path}?${pairs.join("&")}`, request);
    } catch (error) {
      throw signal.aborted ? error : new BelfryError(error.message);
    }
    return answerOf(response);
  }

  #call(method, params) {
    const id = this.#nextCall++;
    this.#send({ id, method, params });
    return new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject }));
  }

  async #register(registration) {
    const { filter, target, selector, selectors, terms, position, owed } = registration;
    const lifetime = this.#resumes ? "token" : "connection";
    const params = { ...terms, ...filter, lifetime };
    if (selectors !== null) params.implements = selectors;
    else params.selector = selector;
    if (target !== null) params.target = target;
    // What is owed comes again, so that its answer finds the way. A responder begins anew, an
    // observer with a target is owed nothing, and a value comes whole.
    const goesOn = selectors === null && target === null && filter.keyPath === undefined;
    if (position !== null && goesOn) {
      params.since = Math.min(position, ...[...owed.values()].map(({ seq }) => seq - 1));
    }
    try {
      const { id, token, since } = await this.#call("addObserver", params);
      Object.assign(registration, { id, token, isRegistered: true });
      registration.position = Math.min(registration.position ?? since, since);
      this.#save();
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
    const { isRegistered, id, token } = registration;
    this.#forget(registration);
    if (!isRegistered) return;
    if (token !== null) await this.#delete(registration);
    else await this.#call("removeObserver", { observer: id });
  }

  #forget(registration) {
    registration.isRemoved = true;
    this.#registrations.delete(registration);
    registration.wake();
    for (const { abort } of registration.owed.values()) abort.abort();
  }

  /// Removes by HTTP, which also gets through when the page is being left; the token travels in
  /// a header, so that no log of URLs holds it. 404 and 410 are fine: it is gone already.
  async #delete({ id, token }) {
    const response = await fetch(`${this.#base}/observers/${id}`, {
      method: "DELETE", headers: { "Belfry-Token": token }, keepalive: true,
    });
    if (response.ok || response.status === 404 || response.status === 410) return;
    await answerOf(response);
  }
}
