// Belfry's notification center for pages, workers and programs: observers, posts and their receipts
// over one connection (JSON-RPC 2.0 over a WebSocket, subprotocol belfry.v1). No dependencies, no
// build step. Documentation/BelfryJS.md tells all of it.
//
//   import { NotificationCenter } from "http://127.0.0.1:8080/belfry.js";
//
//   const center = new NotificationCenter();
//   const observer = await center.addObserver("ButtonChange", (notification) => {
//     console.log(notification.seq, notification.object, notification.userInfo);
//   });
//   const receipt = await center.post("ButtonChange", { object: "7", userInfo: { row: 1 } });
//   await observer.remove();
//
// Without a handler an observer is an async sequence, and leaving the loop removes it:
//
//   for await (const notification of await center.addObserver("ButtonChange")) { … }
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
// An ask may wait for a person, over lost connections and restarts of the broker; and a door that
// nobody has opened stays closed, whatever has failed.
//
//   await center.ask("deploy", "confirm", { sha }, { wait: 4 * 3600, signal });
//   await center.ask("door", "mayOpen", { who }, { wait: 2, default: false, failClosed: true });
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
//
// The file reads in this order: errors and small functions; JSON; HTTP; the three kinds of lines
// that frames go over; sessions that a storage keeps; bindings; observers; the center.

/// The close codes after which a new connection would meet the same answer: 1008 policy,
/// 4001 taken over, 4002 client removed, 4003 credentials expired.
const finalCloseCodes = [1008, 4001, 4002, 4003];

/// The close codes for a session that another connection has, and that a new token helps against.
const takenOverCloseCode = 4001;
const expiredCloseCode = 4003;

/// The close code of a line that is given up because nothing comes any more.
const deadCloseCode = 4000;

/// The close codes of a broker, or of a connection, that has too much to do.
const overloadCloseCodes = [1013, 4008];

/// The statuses of problems that an opening would get again, the one of them that a new token helps
/// against, and those of a broker that is to be left alone for a while.
const finalStatuses = [401, 403, 421];
const tokenStatus = 401;
const busyStatuses = [429, 503];

/// What the type of each problem of a broker begins with.
const problemType = "https://belfry.dev/problems/";

/// What a token begins with in the list of subprotocols.
const bearer = "base64url.bearer.belfry.";

/// Notifications that an async sequence keeps for its reader; above it the oldest one is lost.
const bufferLimit = 1000;

/// Rows of a page of archives or of the past.
const pageLimit = 1000;

/// Seconds until an observer that an earlier page left behind is removed, if nobody adds it again.
const claimTime = 10;

/// The code of a refusal by a handler; those of JSON-RPC itself are below zero.
const refusalCode = 1;

/// The code of JSON-RPC by which a responder hands an ask on; and the member that tells what a
/// handler returns as a whole response from an answer.
const passCode = -32601;
const response = Symbol("response");

/// Waits between two connections, in seconds: the bound of the first one, that of the doubling, and
/// that of a wait which a broker asks for. A stranger is obeyed up to the second.
const firstDelay = 1;
const delayLimit = 30;
const askedDelayLimit = 300;

/// Seconds after which a connection was a good one, so that the waits begin anew; and until what is
/// asked of a broker is asked again.
const steadyTime = 10;
const askAgainDelay = 0.5;

/// Seconds that an ask waits which is not stored at the broker, that one request waits at most, and
/// that an ask waits which fails closed, unless it says so.
const shortWait = 15;
const longestWait = 60;
const closedWait = 5;

/// Lines in a row that end by a frame which cannot be taken, until what it belongs to is given up.
const badFrameLimit = 2;

/// Writes with a lease, and posts on a disconnect, that are made again for a new client.
const lastingLimit = 1000;

/// Seconds that a call may take, unless the center or the call says otherwise; an opening, and the
/// question why it was refused; and the answer of a line to a page that has come back.
const callTime = 15;
const openingTime = 10;
const wakeTime = 5;
const leastPingInterval = 0.05;

/// Openings of a WebSocket that fail in a row, where the broker would let the caller in, until
/// something on the way is taken to block them.
const blockedLimit = 2;

/// Seconds of silence after which a line of requests is asked: an event stream has a comment
/// each 15.
const streamInterval = 20;

/// Observers of one event stream; and seconds that a look into a mailbox may wait, and that a mailbox
/// stays without one.
const streamLimit = 100;
const lookTime = 30;
const mailboxLease = 60;

/// Sessions that a storage keeps, one of each page that is open; the seconds that a page may take
/// to leave its own to the one that is loaded after it, and to answer that it has one.
const storedLimit = 32;
const leavingTime = 0.2;
const answerTime = 0.05;

/// What the name of a shared worker, and that of a lock, begins with.
const workerName = "belfry";

/// What the broker refused, or why a call has no answer.
export class BelfryError extends Error {
  /// `code` is the one of JSON-RPC, or null when there was no answer: a post may then have
  /// happened. `problem` is the broker's problem document (RFC 9457), if any; where its type
  /// ends with `outcome-unknown`, a post may have happened, or happen still. `reason`
  /// is `refused` by the broker, `misuse` (refused here), or why there is no answer: `lost` (the
  /// connection, or something else than a broker has answered), `timeout`, `closed` (the center).
  constructor(text, code = null, problem = null, reason = "refused") {
    super(text);
    this.name = "BelfryError";
    this.code = code;
    this.problem = problem;
    this.reason = reason;
    /// Seconds until another attempt that an answer over HTTP asked for.
    this.retryAfter = null;
  }

  /// What tells the problem apart, such as `no-responder`: the end of its type.
  get slug() {
    const type = this.problem?.type;
    return typeof type === "string" ? type.slice(type.lastIndexOf("/") + 1) : null;
  }
}

/// A call that cannot be meant so.
const misuse = (text) => new BelfryError(text, null, null, "misuse");

/// A call without an answer.
const lost = (text) => new BelfryError(text, null, null, "lost");

/// What was thrown, in words.
const textOf = (error) => String(error?.message ?? error);

/// An error with a problem, as the broker refuses. Its text names each fault, and where it is.
function refusal(problem, { code = -32000, message, method } = {}) {
  const text = String(problem?.detail ?? problem?.title ?? message ?? "the broker has refused");
  const errors = Array.isArray(problem?.errors) ? problem.errors.filter(isObject) : [];
  const faults = errors.map(({ pointer, parameter, header, detail }) =>
    `${parameter ?? header ?? pointer ?? ""} ${detail ?? ""}`.trim());
  // The first mistake of many: what is posted beside the name.
  if (method === "post" && faults.some((fault) => /known field/.test(fault))) {
    faults.push("the content of a post goes into userInfo");
  }
  const told = faults.length === 0 ? text : `${text.replace(/\.$/, "")}: ${faults.join("; ")}`;
  return new BelfryError(told, code, problem ?? null);
}

/// What the end of a line, or of an opening, means (Clients/cases/verdicts.json): whether it is that
/// of the center, whether the broker has too much to do, and how long it asked to be left alone. A
/// close code counts for a line that was welcomed, and a status where the problem is a broker's.
function verdictOf({ code = null, error = null, isWelcomed = false, canRenew = false }) {
  const status = error?.problem?.status ?? null;
  const mayHelp = canRenew && (status === tokenStatus || code === expiredCloseCode);
  const isKnown = finalStatuses.includes(status) || (isWelcomed && finalCloseCodes.includes(code));
  const isBusy = busyStatuses.includes(status) || overloadCloseCodes.includes(code);
  return { isFinal: isKnown && !mayHelp, isBusy, least: error?.retryAfter ?? null };
}

/// Seconds of a `Retry-After`, which names them or a date; null for none.
function retryAfterOf(text, isBroker) {
  if (text === null) return null;
  const time = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return time > 0 ? Math.min(time, isBroker ? askedDelayLimit : delayLimit) : null;
}

/// Refuses what is no function where one is called, and a function where nobody would call it.
function checkFunctions(called, terms) {
  for (const [key, value] of Object.entries(called)) {
    if (value === null || typeof value === "function") continue;
    throw misuse(`${key} must be a function; it is ${JSON.stringify(value) ?? typeof value}`);
  }
  for (const [key, value] of Object.entries(terms)) {
    if (typeof value !== "function") continue;
    throw misuse(`nobody calls ${key}: the handler is an argument of its own`);
  }
}

/// Tells of a fault that no call waits for. In Deno reportError would end the program.
const report = (!("Deno" in globalThis) && globalThis.reportError)
  || ((error) => console.error(error));

const seconds = () => performance.now() / 1000;

/// Runs something later; a wait without an end never comes.
function after(time, run) {
  return time === Infinity ? null : setTimeout(run, Math.min(time * 1000, 0x7fffffff));
}

const pause = (time) => new Promise((resolve) => after(time, resolve));

/// Text that nobody else has.
const randomText = () => crypto.getRandomValues(new Uint32Array(4)).join("");

/// A promise that also ends when its time is over, or when one of the signals aborts. `begin` is
/// told how to settle it, and answers what forgets the work then.
function limited(time, signals, makeError, begin) {
  return new Promise((resolve, reject) => {
    let timer = null;
    let forget = () => {};
    const over = (settle) => (outcome) => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", abort);
      settle(outcome);
    };
    const giveUp = (error) => {
      over(reject)(error);
      forget();
    };
    const abort = ({ target }) => giveUp(target.reason);
    for (const signal of signals) {
      if (signal.aborted) return giveUp(signal.reason);
      signal.addEventListener("abort", abort);
    }
    timer = after(time, () => giveUp(makeError()));
    try {
      forget = begin(over(resolve), over(reject)) ?? forget;
    } catch (error) {
      over(reject)(error);
    }
  });
}

/// Text as base64url, which a subprotocol can hold.
function base64url(text) {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/// The members that were given; null is not, but in those that `keeps` names.
function given(members, ...keeps) {
  return Object.fromEntries(Object.entries(members).filter(
    ([key, value]) => value !== undefined && (value !== null || keeps.includes(key))));
}

/// Lets go of what a map or a set has had longest, if it has more than so many.
function trim(all, limit) {
  const [oldest] = all.keys();
  if (all.size > limit) all.delete(oldest);
}

/// Whether a registration, or a row of an observer, is called by this method.
function takes({ selector, selectors, implements: listed, target }, method) {
  // What an observer with a target is given comes to the client that holds the target.
  if (target) return false;
  return (selectors ?? listed)?.includes(method) ?? selector === method;
}

/// Whether a registration, or a row of an observer, is a responder for this action at its address.
function actsOn(row, object, method, { target }) {
  return (row.selectors ?? row.implements) && takes(row, method) && object === target;
}

/// Whether a filter has the name and the object of a notification; its condition is the broker's
/// to decide.
function accepts(
  { name, names, namePrefix, object, objectPrefix }, { name: text, object: sender },
) {
  return [names ?? name ?? text].flat().includes(text) && text.startsWith(namePrefix ?? "")
    && (object ?? sender) === sender && (sender ?? "").startsWith(objectPrefix ?? "");
}

/// What is owed is told apart by the notification, since an ask comes again with another number; an
/// action, of which one post may make several, by the id of the request.
function owedKey({ id, target, answerBy }, call) {
  return target === undefined || answerBy !== undefined ? id : call;
}

/// What the fate of an ask says, as the ask itself would have been answered.
function endingOf({ state, problem, ...fate }) {
  if (state === "answered") return fate;
  if (state === "asked") return { ...fate, outcome: state };
  // It failed, or was withdrawn, which is told to an asker that waits with its call in this way.
  const { id } = fate;
  throw refusal(problem
    ?? { type: `${problemType}already-settled`, status: 409, detail: `${id} is ${state}.`, id });
}

// JSON.

/// The members that say where a value is.
function place(object, keyPath) {
  return keyPath === "" ? { object } : { object, keyPath };
}

/// What a text says as JSON; undefined where it is none.
function jsonOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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

// HTTP.

/// The broker's address as pages know it: `http:`, without a slash at its end.
function rootOf(url) {
  const root = new URL(String(url), globalThis.location?.href);
  root.protocol = root.protocol.replace(/^ws/, "http");
  if (!/^https?:$/.test(root.protocol)) {
    throw misuse(`${root} is not the address of a broker; name one, as in `
      + 'new NotificationCenter("http://localhost:8080")');
  }
  return root.origin + root.pathname.replace(/\/+$/, "");
}

/// A ticket for one `EventSource`, which can send no token: it is good once, and for 30 s.
///
///   const ticket = await requestTicket(url, token);
///   new EventSource(`${url}/v1/events?name=Mail&ticket=${ticket}`);
export async function requestTicket(url, token) {
  return (await callByRequest(`${rootOf(url)}/v1`, token, "ticket", {})).ticket;
}

/// An answer that no broker has given: nothing is known of what became of the request.
function stranger(status, found, retryAfter = null) {
  const error = lost(`the answer is not that of a broker: ${status || "a redirect"}, ${found}`);
  return Object.assign(error, { retryAfter, isAnswered: true });
}

/// What an answer has is told by its content type and its shape, which are looked at here alone.
/// `shape` is `null` for no content, `"stream"` for an event stream, `"any"` for any JSON, or the
/// members of an object with their types.
async function answerOf(response, shape) {
  const { status, headers } = response;
  const type = (headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase();
  const named = type || "without a content type";
  const retryAfter = (isBroker) => retryAfterOf(headers.get("retry-after"), isBroker);
  if (response.ok && shape === "stream" && type === "text/event-stream") return null;
  let text;
  try {
    text = await response.text();
  } catch (error) {
    throw stranger(status, `${named}, cut short: ${error.message}`);
  }
  if (response.ok && shape === null && text === "") return null;
  const content = jsonOf(text);
  if (response.ok && type === "application/json" && hasShape(content, shape)) return content;
  if (!response.ok && type === "application/problem+json" && isProblem(content, status)) {
    throw Object.assign(refusal(content), { retryAfter: retryAfter(true) });
  }
  throw stranger(status, named, retryAfter(false));
}

/// Whether JSON is the problem document of a broker, and of this status where one is given.
function isProblem(content, status = content?.status) {
  return isObject(content) && Number.isInteger(status) && content.status === status
    && typeof content.type === "string" && content.type.startsWith(problemType);
}

/// Whether JSON has what is told of it (see `answerOf`).
function hasShape(content, shape) {
  if (shape === "any") return content !== undefined;
  if (!isObject(shape) || !isObject(content)) return false;
  return Object.entries(shape).every(([key, type]) =>
    type === "array" ? Array.isArray(content[key]) : typeof content[key] === type);
}

/// Asks the broker over HTTP; a refusal is thrown with its problem, as is that it is out of reach,
/// and that something else has answered. A redirect is not followed: nothing that was given to this
/// address is shown to another one.
async function request(url, token, { headers = {}, shape = null, ...options } = {}) {
  const shown = token === null ? {} : { Authorization: `Bearer ${token}` };
  let response;
  try {
    const fields = { ...headers, ...shown };
    response = await fetch(
      url, { cache: "no-store", redirect: "manual", ...options, headers: fields });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw lost(`the broker is out of reach: ${error.message}`);
  }
  return { response, content: await answerOf(response, shape) };
}

/// What a call answers, or null where the broker says that there is nothing.
async function orNull(call) {
  try {
    return await call;
  } catch (error) {
    if (error?.problem?.status === 404) return null;
    throw error;
  }
}

/// Why the broker lets a caller in or not, which browsers do not say of a WebSocket: an error, one
/// without a problem where no broker has answered, and null when it would let this caller in.
async function whyRefused(root, base, token) {
  const briefly = () => AbortSignal.timeout(openingTime * 1000);
  const problem = (slug, title, status, detail) =>
    refusal({ type: `${problemType}${slug}`, title, status, detail });
  try {
    const found = await callByRequest(base, token, "ping", {}, briefly()).catch(async (error) => {
      if (globalThis.location === undefined || error.problem || error.isAnswered) throw error;
      // A page may not read what is answered to a foreign origin, but learns that it is answered,
      // by a broker or by something before it: so this is not the end.
      await fetch(`${root}/livez`, { mode: "no-cors", signal: briefly() });
      throw Object.assign(lost(`${root} answers, but not to pages of ${location.origin}: a `
        + `broker needs --allow-origin ${location.origin}`), { isForeign: true });
    });
    if (found.grants.length !== 0) return null;
    return found.principal === null
      ? problem("credentials-missing", "Credentials missing", 401, "The broker asks for a token.")
      : problem("forbidden", "Forbidden", 403, "The token may do nothing here.");
  } catch (error) {
    // A broker that does not know the question lets in whom it lets in.
    if (error?.problem?.status === 404) return null;
    return error instanceof BelfryError ? error : lost("the broker is out of reach");
  }
}

/// A part of a path. Nothing encodes `.` and `..`, which a URL takes as steps, nor nothing at all.
function part(text) {
  if (!["", ".", ".."].includes(String(text))) return encodeURIComponent(text);
  throw misuse(`"${text}" is no part of a path: give another text`);
}

/// A query; what is null or undefined is not in it. `+` is itself to the broker.
function query(members) {
  const pairs = Object.entries(given(members)).flatMap(([key, value]) =>
    [value].flat().map((each) => `${key}=${encodeURIComponent(each)}`));
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/// The request of a value's place.
const valuePath = ({ object, keyPath = null }) =>
  `/values/${part(object)}${keyPath === null ? "" : `/${part(keyPath)}`}`;

/// The request of an archive's place: its name, or what the names begin with.
function archivePlace({ name, namePrefix }) {
  const isPrefix = name === undefined;
  if (isPrefix === (namePrefix === undefined)) throw misuse("give either a name or a namePrefix");
  return { path: `/archives/${part(name ?? namePrefix)}`, query: { prefix: isPrefix || null } };
}

/// The parameters that choose notifications of the past.
const choosing = ({ where, ...rest }) => ({ ...rest, where: where && JSON.stringify(where) });

/// How a write to a value looks over HTTP.
function writing(method, { ifMatch, ifNoneMatch, value, patch, ttl, lease, ...at }) {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  return {
    method, path: valuePath(at), query: { ttl, lease }, body: method === "PATCH" ? patch : value,
    headers: given({ "If-Match": ifMatch, "If-None-Match": ifNoneMatch, "Content-Type": type }),
  };
}

/// What the results of calls have; of all others nothing is expected.
const shapes = {
  addObserver: { id: "string", since: "number" },
  resume: { observers: "array" },
  post: { id: "string" },
  ask: { id: "string" },
  fate: { id: "string", state: "string" },
  dequeue: { removed: "number" },
  enterMode: { token: "string" },
  value: { etag: "string", seq: "number" },
  explain: {},
  setValue: { changed: "boolean" },
  mergeValue: { changed: "boolean" },
  removeValue: { changed: "boolean" },
  putArchive: { since: "number" },
  archive: { since: "number" },
  archives: { archives: "array" },
  past: { notifications: "array", seq: "number" },
  removeNotifications: { removed: "number" },
};

/// The field that says how long the broker may take, and what else is preferred.
const preferring = (wait, ...more) => {
  if (wait !== undefined) more.push(`wait=${Math.ceil(wait)}`);
  return { Prefer: more.join(", ") || null };
};

/// The calls of JSON-RPC as requests: method, path, query, fields and content, and where the answer
/// is another one, what it has and how it is read.
const requests = {
  post({ wait, idempotencyKey, report: rows, ...notification }) {
    return {
      method: "POST", path: "/notifications", query: { report: rows }, body: notification,
      headers: given({ ...preferring(wait), "Idempotency-Key": idempotencyKey }),
    };
  },
  ask({ object, selector, userInfo, wait, ttl, idempotencyKey, ...rest }) {
    // Without a value JSON has no text, and the query no parameter.
    const texts = { default: JSON.stringify(rest.default), present: JSON.stringify(rest.present) };
    const preferred = preferring(wait, ...ttl === undefined ? [] : ["respond-async"]);
    return {
      method: "POST", path: `/responders/${part(object)}/${part(selector)}`,
      query: { ...rest, ...texts, ttl }, body: userInfo,
      headers: given({ ...preferred, "Idempotency-Key": idempotencyKey }),
    };
  },
  fate: ({ id, wait }) => ({
    method: "GET", path: `/notifications/${part(id)}`, headers: preferring(wait),
  }),
  withdraw: ({ id }) => ({ method: "DELETE", path: `/notifications/${part(id)}` }),
  dequeue({ id, coalesce, ...filter }) {
    if (id === undefined) {
      const named = [coalesce].flat().join(",") || null;
      return { method: "DELETE", path: "/queue", query: { ...filter, coalesce: named } };
    }
    const read = () => ({ removed: 1 });
    return { method: "DELETE", path: `/queue/${part(id)}`, shape: null, read };
  },
  // It ends with the line, and when that is lost with its lease.
  enterMode: ({ mode }) => ({ method: "POST", path: "/modes", body: { mode, lease: 3600 } }),
  leaveMode: ({ token }) => ({ method: "DELETE", path: `/modes/${part(token)}` }),
  value: (at) => ({
    method: "GET", path: valuePath(at), shape: "any",
    read(value, { status, headers }) {
      const position = headers.get("belfry-position");
      // Any JSON may be a value, but not of anybody.
      if (position === null) throw stranger(status, "JSON without a position");
      return { value, etag: headers.get("etag"), seq: positionOf(position).seq };
    },
  }),
  explain: (filter) => ({
    method: filter.userInfo ? "POST" : "GET", path: "/explain",
    [filter.userInfo ? "body" : "query"]: filter,
    shape: filter.selector === undefined ? { observers: "array" } : { ask: "object" },
  }),
  setValue: (params) => writing("PUT", params),
  mergeValue: (params) => writing("PATCH", params),
  removeValue: (params) => writing("DELETE", params),
  ping: () => ({ method: "GET", path: "/me", shape: { grants: "array" } }),
  ticket: () => ({ method: "POST", path: "/tickets", shape: { ticket: "string" } }),
  // A mailbox stands in for a responder, and for an observer with a target.
  addMailbox: (body) => ({
    method: "POST", path: "/observers", body: { lease: mailboxLease, ...body },
    shape: shapes.addObserver,
  }),
  removeMailbox: ({ id, token }) => ({
    method: "DELETE", path: `/observers/${id}`, headers: { "Belfry-Token": token }, keepalive: true,
  }),
  mailbox: ({ id, token, after }) => ({
    method: "GET", path: `/observers/${id}/notifications`, query: { after },
    headers: { "Belfry-Token": token, ...preferring(lookTime) },
    shape: { notifications: "array", gaps: "array", next: "number" },
  }),
  answer: ({ ask, token, body, ...said }) => ({
    method: "PUT", path: `/notifications/${part(ask)}/answer`, query: said, body,
    headers: { "Belfry-Token": token },
  }),
  // What is kept has requests alone.
  putArchive: ({ name, namePrefix, ...body }) => ({
    method: "PUT", ...archivePlace({ name, namePrefix }), body,
  }),
  archive: (at) => ({ method: "GET", ...archivePlace(at) }),
  archives: (page) => ({ method: "GET", path: "/archives", query: page }),
  removeArchive: (at) => ({ method: "DELETE", ...archivePlace(at) }),
  past: (choice) => ({ method: "GET", path: "/notifications", query: choosing(choice) }),
  removeNotifications: (choice) => ({ method: "DELETE", path: "/notifications", query: choice }),
};

/// Makes a call over HTTP.
async function callByRequest(base, token, method, params, signal) {
  const {
    path, query: pairs = {}, body, read = (content) => content, headers, shape = shapes[method],
    ...options
  } = requests[method](params);
  const url = base + path + query(pairs);
  const { content, response } = await request(url, token, {
    ...options, body: JSON.stringify(body), shape, signal,
    headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
  });
  return read(content, response);
}

/// EPOCH-SEQ in its parts.
function positionOf(text) {
  const [, epoch, digits] = /^(.*)-(\d+)$/.exec(text ?? "") ?? [null, null, "0"];
  return { epoch, seq: Number(digits) };
}

// Lines. A line is what frames go over: it has `transport`, `send(frame)` and `close(code)`, and
// calls `hear(text)` for what comes, and `end(code)` once when it is over, but not after `close`.

/// A WebSocket.
function webSocketLine({ base, token, WebSocket, hear, end }) {
  const protocols = ["belfry.v1"];
  if (token !== null) protocols.push(`${bearer}${base64url(token)}`);
  const socket = new WebSocket(`${base.replace(/^http/, "ws")}/ws`, protocols);
  const forget = () => {
    socket.onmessage = socket.onclose = null;
    // That of some programs throws an error that nobody takes, and some have no end after an error.
    socket.onerror = () => {};
  };
  const over = (code) => {
    forget();
    end(code);
  };
  socket.onmessage = ({ data }) => hear(data);
  socket.onclose = ({ code }) => over(code);
  socket.onerror = () => over(1006);
  return {
    transport: "websocket",
    send: (frame) => socket.send(JSON.stringify(frame)),
    close(code) {
      forget();
      socket.close(code);
    },
  };
}

/// The connection of a shared worker, which is this file: one for all pages of an origin. `fail` is
/// called where the worker cannot start, or has said nothing when the line is given up.
function sharedLine({ base, token, hear, end, fail }) {
  const name = `${workerName} ${base} ${token ?? ""}`;
  const worker = new SharedWorker(import.meta.url, { type: "module", name });
  const { port } = worker;
  const lock = `${workerName} page ${randomText()}`;
  const leave = new AbortController();
  const begin = () => port.postMessage({ open: { base, token, lock } });
  // The worker is told by this lock that the page has gone without a word.
  if (navigator.locks === undefined) begin();
  else {
    navigator.locks.request(lock, { signal: leave.signal }, () => {
      begin();
      return new Promise((resolve) => { leave.signal.onabort = resolve; });
    }).catch(() => {}); // The line was closed before.
  }
  let isHeard = false;
  const over = (code) => {
    if (!isHeard) fail();
    leave.abort();
    port.onmessage = worker.onerror = null;
    port.close();
    if (code !== undefined) end(code);
  };
  port.onmessage = ({ data }) => {
    isHeard = true;
    if (typeof data === "string") hear(data);
    else over(data.code);
  };
  worker.onerror = () => over(1006);
  return {
    transport: "shared",
    send: (frame) => port.postMessage(JSON.stringify(frame)),
    close() {
      port.postMessage({ close: true });
      over();
    },
  };
}

/// The worker's half of a shared line: a WebSocket, whose frames it gives to the pages. What names
/// an observer or a call goes to the page that has it, all else to all: a page passes over what
/// none of its observers takes.
class SharedConnection {
  #line = null;
  #welcome = null;
  /// The observers and the modes of each page, by its port.
  #pages = new Map();
  #calls = new Map();
  #nextCall = 1;

  connect(port) {
    port.onmessage = ({ data }) => {
      if (typeof data === "string") this.#forward(port, JSON.parse(data));
      else if (data.open) this.#open(port, data.open);
      else this.#leave(port);
    };
  }

  #open(port, { base, token, lock }) {
    this.#pages.set(port, { observers: new Set(), modes: new Set() });
    navigator.locks?.request(lock, () => this.#leave(port));
    if (this.#welcome !== null) port.postMessage(this.#welcome);
    this.#line ??= webSocketLine({
      base, token, WebSocket,
      hear: (text) => this.#hear(text),
      end: (code) => {
        for (const page of this.#pages.keys()) page.postMessage({ code });
        this.#forget();
      },
    });
  }

  #forget() {
    this.#line = this.#welcome = null;
    this.#pages.clear();
    this.#calls.clear();
  }

  #forward(port, frame) {
    // The line of a page that was told of its end, and has not heard it yet.
    if (!this.#pages.has(port)) return;
    if (frame.method === undefined) return this.#line.send(frame);
    const id = this.#nextCall++;
    this.#calls.set(id, { port, id: frame.id, method: frame.method });
    this.#line.send({ ...frame, id });
  }

  #hear(text) {
    const frame = JSON.parse(text);
    const { id, method, params, result } = frame;
    if (method === "belfry.welcome") {
      // The session speaks for all pages, so that none of them has it.
      this.#welcome = text = JSON.stringify({ ...frame, params: { ...params, session: null } });
    }
    if (method === undefined) {
      const call = this.#calls.get(id);
      this.#calls.delete(id);
      const page = this.#pages.get(call?.port);
      if (page === undefined) return;
      if (call.method === "addObserver" && result) page.observers.add(result.id);
      if (call.method === "enterMode" && result) page.modes.add(result.token);
      return call.port.postMessage(JSON.stringify({ ...frame, id: call.id }));
    }
    const owner = [...this.#pages].find(([, { observers }]) => observers.has(params.observer));
    for (const port of owner ? [owner[0]] : this.#pages.keys()) port.postMessage(text);
  }

  /// A page is gone, and what it had goes.
  #leave(port) {
    const page = this.#pages.get(port);
    if (page === undefined) return;
    this.#pages.delete(port);
    const send = (method, params) =>
      this.#line.send({ jsonrpc: "2.0", id: this.#nextCall++, method, params });
    if (this.#pages.size === 0) {
      this.#line.close(1000);
      return this.#forget();
    }
    if (this.#welcome === null) return;
    for (const observer of page.observers) send("removeObserver", { observer });
    for (const token of page.modes) send("leaveMode", { token });
  }
}

if (globalThis.SharedWorkerGlobalScope && globalThis.name.startsWith(workerName)) {
  const connection = new SharedConnection();
  globalThis.onconnect = ({ ports: [port] }) => connection.connect(port);
}

/// Event streams and requests, where no WebSocket gets through. It speaks as the broker does over a
/// WebSocket: calls become requests, and the notifications of the streams frames.
///
/// Observers of names, those of objects alone, those of values, those of each prefix and each
/// condition, and each that begins in the past have a stream each. A stream may bring more than was
/// asked for, since it observes each of its names with each of its objects; the center passes over
/// that. When an observer comes or goes another stream is opened where the one before is, which is
/// closed then. Responders, and observers with a target, are a mailbox each.
class RequestLine {
  transport = "events";
  /// The life of the center that its observers are in, null until one is known; and another one
  /// that a stream has found.
  epoch;
  foundEpoch = null;
  #base;
  #token;
  #hear;
  #end;
  #observers = new Map();
  #streams = new Map();
  #mailboxes = new Map();
  /// The mailbox and the ask of each request that is not answered, by its number.
  #asked = new Map();
  #nextNumber = 1;
  #modes = new Set();
  #isOver = false;

  constructor({ root, base, token, epoch, hear, end }) {
    this.epoch = epoch;
    this.#base = base;
    this.#token = token;
    this.#hear = hear;
    this.#end = end;
    const params = { client: null, session: null, epoch, pingInterval: streamInterval };
    whyRefused(root, base, token).then((error) => {
      if (error === null) this.#say({ method: "belfry.welcome", params });
      else this.#over(1006);
    });
  }

  send({ id, method, params, ...response }) {
    if (method === undefined) return this.#answer(id, response);
    this.#call(method, params ?? {}).then(
      (outcome) => this.#say({ id, result: outcome ?? null }),
      ({ message, code = null, problem = null, reason = "misuse", retryAfter }) =>
        this.#say({ id, error: { code, message, data: problem, reason, retryAfter } }));
  }

  close() {
    for (const token of this.#modes) this.#request("leaveMode", { token }).catch(() => {});
    this.#leave();
  }

  #leave() {
    this.#isOver = true;
    this.#hear = () => {};
    for (const { abort } of this.#streams.values()) abort.abort();
    for (const mailbox of this.#mailboxes.values()) this.#removeMailbox(mailbox).catch(() => {});
  }

  #over(code) {
    if (this.#isOver) return;
    this.#leave();
    this.#end(code);
  }

  #say(frame) {
    this.#hear(JSON.stringify(frame));
  }

  #request(method, params, signal) {
    return callByRequest(this.#base, this.#token, method, params, signal);
  }

  async #call(method, params) {
    switch (method) {
      case "addObserver": return this.#addObserver(params);
      case "removeObserver": return this.#removeObserver(params);
      case "enterMode": {
        const entered = await this.#request(method, params);
        this.#modes.add(entered.token);
        return entered;
      }
      case "leaveMode": this.#modes.delete(params.token); break;
    }
    if (method in requests) return this.#request(method, params);
    throw misuse(`${method} needs a WebSocket, and none gets through`);
  }

  async #addObserver({ own, ...observer }) {
    const {
      acknowledge, implements: selectors, keyPath, name, names, namePrefix, objectPrefix, target,
      where, since, last, lastEach,
    } = observer;
    if ((selectors ?? target) !== undefined) return this.#addMailbox(observer);
    if (acknowledge) {
      throw misuse("acknowledge needs a WebSocket, and none gets through");
    }
    const id = `e${this.#nextNumber++}`;
    const kind = keyPath !== undefined ? "value" : since?.at ?? last ?? lastEach ? id
      : JSON.stringify([!(name ?? names), namePrefix, objectPrefix, where]);
    this.#observers.set(id, { ...observer, id, kind });
    try {
      return { id, token: null, since: await this.#follow(kind) };
    } catch (error) {
      this.#observers.delete(id);
      // Where no broker has answered, or it has too much to do, the next line asks for it again.
      if (error.reason === "lost") this.#over(1006);
      if (error.problem?.status === 503) this.#over(1013);
      throw error;
    }
  }

  #removeObserver({ observer: id, token }) {
    const mailbox = this.#mailboxes.get(id ?? token.split(".")[0]);
    if (mailbox !== undefined) return this.#removeMailbox(mailbox);
    const kind = this.#observers.get(id)?.kind;
    if (!this.#observers.delete(id)) return { removed: 0 };
    this.#follow(kind).catch(() => {}); // Else the stream brings what nobody takes.
    return { removed: 1 };
  }

  async #addMailbox({ lifetime, ...observer }) {
    const added = await this.#request("addMailbox", observer);
    const mailbox = { ...added, abort: new AbortController() };
    this.#mailboxes.set(added.id, mailbox);
    if (this.#isOver) this.#removeMailbox(mailbox).catch(() => {});
    else after(0, () => this.#lookInto(mailbox));
    return added;
  }

  async #removeMailbox({ id, token, abort }) {
    this.#mailboxes.delete(id);
    abort.abort();
    await this.#request("removeMailbox", { id, token });
    return { removed: 1 };
  }

  /// Takes what comes into a mailbox; each look says that what came before is here.
  async #lookInto({ id, token, since, abort: { signal } }) {
    try {
      for (let after = since; !signal.aborted;) {
        const content = await this.#request("mailbox", { id, token, after }, signal);
        this.#hear("");
        for (const params of content.gaps) this.#say({ method: "belfry.gap", params });
        for (const { selector, ...params } of content.notifications) {
          const number = params.answerBy && `${id}:${this.#nextNumber++}`;
          if (number) this.#asked.set(number, { ask: params.id, token });
          this.#say({ id: number, method: selector ?? params.name, params });
        }
        after = content.next;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error.problem?.status !== 410) return this.#over(1006);
      this.#mailboxes.delete(id);
      const params = { reason: "removed", ...error.problem, observer: id };
      this.#say({ method: "belfry.removed", params });
    }
  }

  /// Answers an ask of a mailbox. One that is over wants no answer any more.
  #answer(number, { result, data, error }) {
    const { ask, token } = this.#asked.get(number);
    this.#asked.delete(number);
    const outcome = error && (error.code === passCode ? "passed" : "refused");
    const body = outcome === "passed" ? undefined : error ?? result ?? null;
    this.#request("answer", { ask, token, body, outcome, ...data }).catch(() => {});
  }

  #ofKind(kind) {
    return [...this.#observers.values()].filter((each) => each.kind === kind);
  }

  /// Sees to it that there is a stream for the observers of a kind, and answers where it begins.
  /// What comes and goes while one is opened shares the next opening.
  #follow(kind) {
    const stream = this.#streams.get(kind)
      ?? { position: null, abort: new AbortController(), opening: Promise.resolve(), next: null };
    this.#streams.set(kind, stream);
    stream.next ??= stream.opening.catch(() => {}).then(() => {
      stream.opening = stream.next;
      stream.next = null;
      return this.#open(kind, stream);
    });
    return stream.next;
  }

  async #open(kind, stream) {
    const observers = this.#ofKind(kind);
    if (observers.length === 0) {
      stream.abort.abort();
      stream.position = null;
      return 0;
    }
    const abort = new AbortController();
    const options = { signal: abort.signal, headers: {}, shape: "stream" };
    // A stream that takes the place of another goes on where that one is; an observer that comes
    // back begins behind what it has. A value comes whole.
    const begun = observers.map(({ since = Infinity }) => since);
    const begin = Math.min(stream.position ?? Infinity, ...begun);
    if (this.epoch !== null && begin < Infinity && kind !== "value") {
      options.headers["Last-Event-ID"] = `${this.epoch}-${begin}`;
    }
    const url = `${this.#base}/events${query(this.#filter(kind))}`;
    const { response } = await request(url, this.#token, options);
    const { epoch, seq } = positionOf(response.headers.get("belfry-position"));
    if (epoch === null) throw stranger(response.status, "an event stream without a position");
    for (const each of observers) delete each.since;
    stream.abort.abort();
    stream.abort = abort;
    if (this.#isOver) return abort.abort();
    stream.position ??= seq;
    // Not before the answer to who has registered.
    after(0, () => this.#pump(response.body.getReader(), kind, stream, abort.signal));
    this.#isAt(epoch);
    return seq;
  }

  /// The names, objects and key paths of the observers of a kind: none of them where any will do,
  /// or where they are too many to be told one by one.
  #filter(kind) {
    const observers = this.#ofKind(kind);
    const all = (find) => {
      const found = new Set(observers.flatMap((each) => find(each) ?? null));
      return found.has(null) ? [] : [...found];
    };
    const object = all((each) => each.object);
    if (kind === "value") return { object, keyPath: all((each) => each.keyPath) };
    const name = all((each) => each.name ?? each.names);
    const [{ namePrefix, objectPrefix, where, since, last, lastEach }] = observers;
    const filter = {
      name, namePrefix, objectPrefix, where: JSON.stringify(where), since, last, lastEach,
    };
    return name.length * object.length > streamLimit ? filter : { ...filter, object };
  }

  async #pump(reader, kind, stream, signal) {
    const decoder = new TextDecoder();
    let text = "";
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || signal.aborted) break;
        // A comment is a sign of life, too.
        this.#hear("");
        text += decoder.decode(value, { stream: true });
        const events = text.split("\n\n");
        text = events.pop();
        for (const event of events) if (!signal.aborted) this.#take(event, kind, stream);
      }
    } catch {
      // A stream that breaks off has ended.
    }
    if (!signal.aborted) this.#over(1006);
  }

  #take(event, kind, stream) {
    const fields = Object.fromEntries(event.split("\n").map((line) => line.split(/: ?(.*)/s, 2)));
    const { epoch, seq } = positionOf(fields.id);
    // A position comes also by itself. One that names nothing is none.
    if (!this.#isAt(epoch)) return;
    if (epoch !== null) stream.position = Math.max(stream.position, seq);
    if (fields.data === undefined) {
      for (const { id } of epoch === null ? [] : this.#ofKind(kind)) {
        this.#say({ method: "belfry.position", params: { observer: id, seq } });
      }
      return;
    }
    const params = jsonOf(fields.data);
    // What is no JSON comes again each time: it is passed over, and told.
    const isGap = fields.event === "belfry.gap" || !isObject(params);
    const gap = isObject(params) ? params
      : { lost: 1, firstSeq: seq, lastSeq: seq, reason: "unknown" };
    if (isGap) {
      // The numbers of its observers are not those of here.
      for (const { id } of this.#ofKind(kind)) {
        this.#say({ method: "belfry.gap", params: { ...gap, observer: id } });
      }
    }
    if (isGap || fields.event !== undefined) return;
    const isFor = (each) => each.keyPath === params.keyPath && accepts(each, params);
    const found = new Set(this.#ofKind(kind).filter(isFor).map(({ selector }) => selector));
    for (const method of found) this.#say({ method, params });
  }

  /// Whether the life of the center is that of the observers; in another one they begin anew, on
  /// another line.
  #isAt(epoch) {
    this.epoch ??= epoch;
    if (epoch === null || epoch === this.epoch) return true;
    this.foundEpoch = epoch;
    this.#over(1012);
    return false;
  }
}

// Sessions that a storage keeps.

/// Takes a name that one page of the origin has at a time, and answers what gives it back; null
/// when another page has it, also after so many seconds.
function claim(name, time) {
  if (globalThis.navigator?.locks) return claimLock(name, time);
  return globalThis.BroadcastChannel ? claimAmong(new BroadcastChannel(name)) : () => {};
}

function claimLock(name, time) {
  return new Promise((resolve) => {
    const waiting = new AbortController();
    const timer = time === 0 ? null : after(time, () => waiting.abort());
    const options = time === 0 ? { ifAvailable: true } : { signal: waiting.signal };
    navigator.locks.request(name, options, (lock) => {
      clearTimeout(timer);
      if (lock === null) return resolve(null);
      return new Promise((release) => resolve(release));
    }).catch((error) => {
      // Chromium drops a lock that it gives while `window.open` is at work, with an error of this
      // name; those of the standard have others.
      resolve(error.name === "Error" ? claimLock(name, time) : null);
    });
  });
}

/// The same without locks, which pages of an insecure origin lack. Each says its number: who has
/// the name says so, and of those that ask at once the lowest number has it, whoever was heard
/// first. Where two miss each other for all that, the broker ends one of the two connections, and
/// its page goes on with a session of its own.
async function claimAmong(channel) {
  const number = Math.random();
  let isMine = false;
  let isTaken = false;
  const say = () => channel.postMessage({ number, isMine });
  channel.onmessage = ({ data }) => {
    if (isTaken || typeof data?.number !== "number") return;
    if (!isMine && (data.isMine || data.number < number)) isTaken = true;
    else if (!data.isMine) say();
  };
  channel.unref?.();
  say();
  await pause(answerTime);
  isMine = !isTaken;
  if (isTaken) channel.close();
  return isTaken ? null : () => channel.close();
}

/// The sessions that pages have left in a storage, of which this page has one that no other has.
///
/// A storage that throws, or has something else in this place, is none from then on; that is told
/// once.
class StoredSessions {
  #storage;
  #key;
  #mine = null;
  #release = () => {};

  constructor(storage, key) {
    this.#storage = storage;
    this.#key = key;
  }

  /// Answers the session to go on with: that one, if no other page has it, or one that was left.
  async take(identity) {
    if (this.#mine !== null && this.#mine === identity?.session) return identity;
    this.leave();
    const others = this.#all().filter(({ session }) => session !== identity?.session);
    const sessions = identity === null ? others : [identity, ...others];
    for (const each of sessions) if (await this.#claim(each, 0)) return each;
    // The page that was here before may be about to leave its own.
    return sessions.length > 0 && await this.#claim(sessions[0], leavingTime) ? sessions[0] : null;
  }

  async #claim({ session }, time) {
    const release = await claim(`${this.#key} ${session}`, time);
    if (release === null) return false;
    this.#release = release;
    this.#mine = session;
    return true;
  }

  /// Keeps the session of this page.
  async keep(identity) {
    const earlier = this.#mine;
    const others = this.#all().filter(({ session }) =>
      session !== identity.session && session !== earlier);
    this.#store([identity, ...others].slice(0, storedLimit));
    if (earlier === identity.session) return;
    this.leave();
    // It is new, so that nobody else has it.
    this.#mine = identity.session;
    const release = await claim(`${this.#key} ${identity.session}`, 0);
    if (this.#mine === identity.session) this.#release = release ?? (() => {});
    else release?.();
  }

  /// Forgets the session of this page.
  drop() {
    const others = this.#all().filter(({ session }) => session !== this.#mine);
    this.leave();
    this.#store(others);
  }

  /// Leaves the session to the page that comes after this one.
  leave() {
    this.#release();
    this.#release = () => {};
    this.#mine = null;
  }

  #all() {
    return this.#use((storage) => {
      const sessions = JSON.parse(storage.getItem(this.#key) ?? "[]");
      if (Array.isArray(sessions) && sessions.every((each) => typeof each?.session === "string")) {
        return sessions;
      }
      throw new TypeError(`${this.#key} has no sessions`);
    }) ?? [];
  }

  #store(sessions) {
    this.#use((storage) => {
      if (sessions.length === 0) storage.removeItem(this.#key);
      else storage.setItem(this.#key, JSON.stringify(sessions));
    });
  }

  #use(work) {
    try {
      return this.#storage === null ? null : work(this.#storage);
    } catch (error) {
      this.#storage = null;
      report(new BelfryError(`sessions are not stored: ${error.message}`));
      return null;
    }
  }
}

/// What a client has at the broker for as long as it is there: values with a lease, and posts for
/// its disconnect. A new client has none of them, so that they are made again for it.
class LastingWrites {
  /// The writes by their place, each with the tag of what it wrote: null where that is not known.
  #values = new Map();
  /// The posts by the id that the program knows, each with the id that it has now.
  #posts = new Map();

  /// A write has ended, with an answer or an error: it takes away what has a lease at its place and
  /// below it.
  written(method, { ifMatch, ifNoneMatch, ...params }, answer, error = null) {
    const { lease, ttl = Infinity } = params;
    // Nobody knows whether a lost write has happened: of one with a lease the tag of the earlier one
    // tells, and what another one was to take away does not come back.
    if (error !== null && (error.reason === "refused" || lease !== undefined)) return;
    for (const [key, each] of this.#values) {
      if (this.#ends(each, method, params)) this.#values.delete(key);
    }
    if (error !== null) return;
    if (lease !== undefined) {
      const entry = { params, etag: answer.etag ?? null, until: seconds() + ttl };
      this.#values.set(JSON.stringify(pathOf(params)), entry);
      trim(this.#values, lastingLimit);
    }
    for (const each of this.#values.values()) this.#follow(each, method, params);
  }

  /// What is below the place of a write, as keys; null where it is elsewhere.
  #below(place, params) {
    const [from, to] = [pathOf(place), pathOf(params)];
    return from.every((key, index) => key === to[index]) ? to.slice(from.length) : null;
  }

  /// Whether a write takes the lease away: it is at the same place or above it, and a patch has it.
  #ends({ params: entry }, method, params) {
    const keys = this.#below(params, entry);
    if (keys === null || method !== "mergeValue" || keys.length === 0) return keys !== null;
    const part = this.#part(params.patch, keys);
    return part !== undefined && !isObject(part);
  }

  /// What a patch has for keys below its place: no object where it takes the place of what is on
  /// the way, and undefined where it has nothing for them.
  #part(patch, keys) {
    for (const key of keys) {
      if (!isObject(patch)) break;
      patch = Object.hasOwn(patch, key) ? patch[key] : undefined;
    }
    return patch;
  }

  /// A write below an entry has changed what is there; one above it may have, with a patch.
  #follow(entry, method, params) {
    let patch = method === "removeValue" ? null : params.value ?? params.patch;
    const keys = this.#below(entry.params, params);
    const above = this.#below(params, entry.params);
    if (keys !== null && keys.length > 0) {
      const write = (value, last) =>
        merged(value, keys.reduceRight((inner, key) => ({ [key]: inner }), last));
      let { value } = entry.params;
      // What is set takes the place of what was there, also of members that it does not have.
      if (method === "setValue") value = write(value, null);
      this.#change(entry, write(value, patch));
    } else if (method === "mergeValue" && above?.length > 0) {
      patch = this.#part(patch, above);
      if (isObject(patch)) this.#change(entry, merged(entry.params.value, patch));
    }
  }

  #change(entry, value) {
    Object.assign(entry, { params: { ...entry.params, value }, etag: null });
  }

  /// A post for the disconnect was made.
  posted(id, { idempotencyKey, ...params }) {
    this.#posts.set(id, { params, id });
    trim(this.#posts, lastingLimit);
  }

  /// Posts are taken out of the queue, by what the call says. Answers the id that is meant.
  dequeued({ id, name, object }) {
    for (const [key, { params, id: now }] of this.#posts) {
      const isMeant = id === undefined
        ? (name ?? params.name) === params.name && (object ?? params.object) === params.object
        : id === key;
      if (!isMeant) continue;
      this.#posts.delete(key);
      if (id !== undefined) return now;
    }
    return id;
  }

  /// Makes all of it again by calls; `away` is for how many seconds a session that goes on had no
  /// connection, and null for a new client.
  makeAgain(send, away) {
    // One of a session that goes on may be there still.
    const mayBeGone = ([, { params }]) => away === null || away >= (params.after ?? 0);
    return Promise.all([
      ...[...this.#values].map(([key, entry]) => this.#setAgain(key, entry, send)),
      ...[...this.#posts].filter(mayBeGone)
        .map(([key, post]) => this.#postAgain(key, post, send, away !== null)),
    ]);
  }

  /// Sets a value again, unless somebody else has set it meanwhile.
  async #setAgain(key, entry, send) {
    const conditions = entry.etag === null ? [{}] : [{ ifMatch: entry.etag }, { ifNoneMatch: "*" }];
    for (const condition of conditions) {
      const left = entry.until - seconds();
      if (this.#values.get(key) !== entry) return;
      if (left <= 0) break;
      try {
        const { etag } = await send(
          "setValue", { ...entry.params, ...(left < Infinity && { ttl: left }), ...condition });
        entry.etag = etag ?? null;
        return;
      } catch ({ reason, problem }) {
        // The next connection tries again, as does one to a broker that has room.
        if (reason !== "refused" || isPassing(problem)) return;
        if (problem?.status !== 412) break;
      }
    }
    if (this.#values.get(key) === entry) this.#values.delete(key);
  }

  async #postAgain(key, post, send, isKept) {
    try {
      if (isKept) await send("dequeue", { id: post.id }).catch(() => {});
      if (this.#posts.get(key) !== post) return;
      post.id = (await send("post", post.params)).id;
      if (this.#posts.get(key) !== post) await send("dequeue", { id: post.id });
    } catch ({ reason, problem }) {
      if (reason === "refused" && !isPassing(problem)) this.#posts.delete(key);
    }
  }
}

/// Where a value is, as the keys to it, of which the first is the object.
const pathOf = ({ object, keyPath = "" }) => [object, ...keyPath === "" ? [] : `${keyPath}`.split(".")];

/// Whether a refusal is about the broker as it is now. Asks fail with the same statuses for good.
const isPassing = (problem) => problem?.status >= 500 || problem?.status === 429;
const isUnsure = (problem) => /\/(outcome-unknown|draining)$/.test(problem?.type);
const isOfNow = (problem) => isUnsure(problem)
  || /\/(overloaded|rate-limited|store-unavailable)$/.test(problem?.type);

/// An element that shows a value, and sets it.
class Binding {
  element;
  object;
  keyPath;
  #center;
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

  constructor(center, onError, members) {
    this.#center = center;
    this.#onError = onError;
    Object.assign(this, members);
  }

  /// Shows the value as it is, and follows both from then on.
  async begin(terms) {
    const { object, keyPath } = this;
    this.#observer = await this.#center.addObserver(
      { ...terms, object, keyPath, own: false },
      (value, change, { seq }) => this.#changed(value, seq));
    const { signal } = this.#listening;
    this.element.addEventListener("input", () => {
      this.#wanted = contentOf(this.element);
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
    if (!this.#listening.signal.aborted) showIn(this.element, value);
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
        const { seq } = await this.#center.setValue(
          this.object, this.keyPath, value, { timeout: Infinity });
        [this.#known, this.#ownSeq, isRefused] = [value, seq, false];
      } catch (error) {
        // What ends the connection twice, as one that is too long does, is not sent a third time.
        isRefused = error?.reason !== "lost" || lost === value;
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
  /// The secret that removes this observer from anywhere (`DELETE /v1/observers/{token}`); null for
  /// one that an earlier page registered, because the broker tells a secret only once, and where no
  /// WebSocket gets through.
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
      // To leave a loop is not to ask for anything: what the broker refuses here ends with the
      // connection.
      await this.remove().catch(() => {});
    }
  }
}

/// A center of the broker, over a connection that comes back by itself.
///
/// Its events are `state` (see the property; `detail` has `code` and `error` where a connection has
/// ended), `belfry.gap` (an observer lost notifications; its own `onGap` is told too) and
/// `belfry.removed` (somebody else removed an observer); the `detail` of the last two is what the
/// broker sent, with the observer itself in `token`. A gap whose `observer` is null is that of the
/// session of an earlier page, which is gone.
export class NotificationCenter extends EventTarget {
  #root;
  #base;
  #makeLine;
  #line = null;
  #registrations = new Set();
  /// What was sent and is not answered, by its number, and what waits for a connection.
  #calls = new Map();
  #waiting = new Set();
  #nextCall = 1;
  #nextSelector = 1;
  #resumes;
  #sessions;
  #keepsSessions;
  #timeout;
  /// A text, a function that answers one, or null.
  #token;
  /// `{ client, session, epoch, seq }`: who this client is at the broker. With `resume` it
  /// outlives a connection, and `seq` is what the stored position was.
  #identity = null;
  /// The life of the center that an event stream has found, before its observers know.
  #foundEpoch = null;
  /// Observers that an earlier page left to this one, with what came for them meanwhile, and the
  /// gaps that they were told; those outlive a connection, because they are told once.
  #unclaimed = [];
  #unclaimedGaps = [];
  #claimTimer = null;
  /// Whether the session is one of an earlier page that the broker was not yet asked for, and
  /// until when observers that register are told that it is gone.
  #isLeftSession = false;
  #sessionGoneUntil = 0;
  /// Whether the program wants this client suspended, whether the page is hidden and suspends it,
  /// and what the broker was told; null is what an earlier page told it.
  #isSuspended = false;
  #isHidden = false;
  #toldSuspended = false;
  #highestSeq = 0;
  /// The highest number of the last connection on which something came.
  #seenSeq = 0;
  /// Writes to values that are under way, the ids of those that were made, and what is made again.
  #writes = new Set();
  #written = new Set();
  #lasting = new LastingWrites();
  #state = "connecting";
  #failures = 0;
  /// Openings in a row that something on the way seems to have blocked.
  #blocked = 0;
  /// Why the last opening was refused, or the center is closed.
  #error = null;
  #isWelcomed = false;
  #welcomedAt = null;
  /// When the last connection ended, and how many in a row did so by a frame that cannot be taken.
  #lostAt = 0;
  #badFrames = 0;
  /// Whether the program was told that a page may not read what the broker answers.
  #isForeignTold = false;
  #announcedDelay = null;
  #timer = null;
  /// The attempt to connect that goes on, if any: who finds another one here has been overtaken.
  #attempt = null;
  /// When something came last, in seconds, the silence after which the line is asked, and the timer
  /// that does so.
  #heardAt = 0;
  #pingInterval = Infinity;
  #watcher = null;
  /// Aborts when the center is closed.
  #listening = new AbortController();

  /// `url` is the broker, by default the folder that this file came from; `center` names another
  /// center than the default one.
  ///
  /// With `resume` the observers outlive a lost connection at the broker, for their lease, and
  /// what is posted meanwhile is held for them. With `storage`, such as `sessionStorage`, they
  /// also outlive the page; without it a page that is left removes them. Pages that share a storage
  /// have a session each.
  ///
  /// `token` is what the broker is shown: a key, a JWT, or a function that answers one, also later.
  /// `timeout` is how many seconds a call may take (15), besides those that it asks the broker to
  /// wait; each call takes another `timeout`, and a `signal` that gives it up.
  ///
  /// `suspendWhenHidden` suspends this client while the page is hidden. With `shared` the pages of
  /// an origin share one connection, where the browser has shared workers and this file is of the
  /// same origin; suspension, presence and what is posted on a disconnect are then common to them.
  ///
  /// Where no WebSocket gets through event streams and requests stand in by themselves;
  /// `transport` says "websocket" or "events" where that is to be decided here. `WebSocket` is the
  /// class to use in place of the global one.
  constructor(
    url = new URL(".", import.meta.url),
    {
      center = null, resume = false, storage = null, token = null, timeout = callTime,
      suspendWhenHidden = false, shared = false, transport = null,
      WebSocket = globalThis.WebSocket,
    } = {},
  ) {
    super();
    if (shared && (resume || suspendWhenHidden)) {
      throw misuse("shared goes with neither resume nor suspendWhenHidden");
    }
    this.#root = rootOf(url);
    this.#base = `${this.#root}/v1${center === null ? "" : `/centers/${part(center)}`}`;
    this.#resumes = resume;
    this.#keepsSessions = resume && storage !== null;
    const kept = this.#keepsSessions ? storage : null;
    this.#sessions = new StoredSessions(kept, `belfry ${this.#base}`);
    this.#token = token;
    this.#timeout = timeout;
    // A frame goes to all pages, and names its selector alone: no two of them have the same.
    if (shared) this.#nextSelector += Math.random();
    let canShare = shared;
    this.#makeLine = (options) => {
      if (canShare && this.#blocked < blockedLimit) {
        try {
          return sharedLine({ ...options, fail: () => { canShare = false; } });
        } catch {
          // There are no shared workers, or this file may not be one: a line of its own does, too.
          canShare = false;
        }
      }
      const isBlocked = transport === null && (this.#blocked >= blockedLimit || !WebSocket);
      if (transport === "events" || isBlocked) return new RequestLine(options);
      return webSocketLine({ ...options, WebSocket });
    };
    this.#listen(suspendWhenHidden);
    this.#connect();
  }

  /// `connecting`, `open` (connected, and every observer is registered), `waiting` for the next
  /// attempt, or `closed` for good.
  get state() { return this.#state; }

  /// What the connection is: `websocket`, `events` (event streams and requests), `shared` (that of
  /// a shared worker), or null where there is none.
  get transport() { return this.#line?.transport ?? null; }

  /// Registers an observer and answers its token once the broker has confirmed it.
  ///
  /// A name or object of null, or none, matches any; a text alone is a name. In the place of `name`
  /// may be `names` (an array) or `namePrefix`, in that of `object` `objectPrefix`; `where` is a
  /// condition on the userInfo, or an array of them, which the broker decides. The selector is the
  /// method that the broker calls; without one each observer gets its own. Observers that share one
  /// share what comes, as far as their names and objects match: so one with `where` must not. The
  /// handler is called once for each notification, in the order of `seq`; an error that it throws
  /// is reported and stops nobody. With `acknowledge` its promise is the answer instead: resolved acknowledges,
  /// rejected refuses with the text of the error.
  ///
  /// It may begin in the past, and goes on live without a hole: `since` a number, a time (RFC 3339)
  /// or "oldest", with the `last` so many, or the `lastEach` of each name and object. While it is
  /// given the past its connection brings nothing else live: who reads much of it makes a center of
  /// its own for that.
  ///
  /// `suspensionBehavior`, `holdLimit`, `minInterval` and `lease` go to the broker; `onGap` is called
  /// with what the observer lost, also while the page was loaded again. `signal` gives the
  /// registration up, and removes the observer later.
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
  async addObserver(observed = {}, handler = null) {
    const {
      name = null, object = null, keyPath = null, target = null, selector = null,
      onGap = null, since, last, lastEach, timeout, signal, ...terms
    } = typeof observed === "string" ? { name: observed } : observed;
    checkFunctions({ handler, onGap }, terms);
    const method = selector ?? (target === null ? `n${this.#nextSelector++}` : null);
    const filter = keyPath === null ? { name, object } : { object, keyPath };
    const start = given({ since, last, lastEach });
    const [begins] = Object.keys(start);
    const members = {
      filter, target, selector: method, terms, onGap, handler, start,
      position: begins ? 0 : null,
    };
    if (keyPath !== null) {
      if (begins || terms.suspensionBehavior === "drop") {
        throw misuse("a value is observed without a past and without drop");
      }
      members.handler = handler && ((frame) => handler(frame.value, frame.change, frame));
    }
    return this.#add(members, { timeout, signal });
  }

  /// Holds the address of an object, and answers its token once the broker has confirmed it.
  ///
  /// `handlers` has a function for each selector. It is called with the userInfo and the ask, and
  /// its promise is the answer: resolved with any JSON, rejected refuses with the text of the
  /// error. `return ask.answer(value, { reason })` tells the asker why, and `return ask.pass()`
  /// hands on. `ask` has what the broker has sent (`id`, `object`, `target`, `answerBy`, `present`,
  /// …), and `ask.signal`, which aborts when nobody waits for the answer any more.
  ///
  /// Posts with the object and one of these names come to the same functions, without `answerBy`;
  /// so do actions, of which `ask.name` and `ask.object` are the event and its sender, and
  /// `ask.selector` is the function. A post or an action is answered if its poster may wait for
  /// that, else what the function returns is passed over.
  ///
  /// The options are those of the broker: `next`, `ifHeld`, `concurrency`, `suspensionBehavior`,
  /// `lease` and so on; and `onGap`, `timeout` and `signal`.
  async respond(object, handlers, { onGap = null, timeout, signal, ...terms } = {}) {
    checkFunctions({ ...handlers, onGap }, terms);
    const handler = (notification, ask) => handlers[ask.selector](notification.userInfo, ask);
    const selectors = Object.keys(handlers);
    const given = { filter: { object }, selector: null, selectors, terms, onGap, handler };
    return this.#add(given, { timeout, signal });
  }

  /// Shares an address with other workers, and takes asks for one selector as work.
  ///
  /// The broker gives each ask to the worker that has the fewest, at most `concurrency` (1) at
  /// once, and the work of one that dies to another; where none is left it waits, with `resume` for
  /// the `lease`. The handler and the options are those of `respond`.
  work(object, selector, handler, options) {
    const terms = { ifHeld: "share", suspensionBehavior: "hold", concurrency: 1, ...options };
    return this.respond(object, { [selector]: handler }, terms);
  }

  /// Asks who holds an address, and answers
  /// `{ id, answer, by, answeredBy, observer, reason, path }`.
  ///
  /// The options are those of the broker: `default` (the answer when there is no other), `wait`
  /// (seconds), `ttl`, `once`, `causedBy`, `present`, `ifNobody`,
  /// `idempotencyKey`. Without an answer it throws the problem. When the connection is lost, or the
  /// broker does not know what became of it or stops, it asks again where it has a `wait`, a `ttl`
  /// or a key, and throws that otherwise; what may be shown `once` needs the key. With `signal` it
  /// has a connection of its own, because to end that withdraws the ask.
  ///
  /// One that waits for more than 15 s, or waits and has a `ttl` or `keep`, is stored at the
  /// broker: it outlives lost connections and restarts. `signal` withdraws it, and so does its
  /// `timeout`, unless `keep` is true. With a `ttl` alone it is answered at once, with its `id` and
  /// the `outcome` `asked`; see `fate`.
  ///
  /// With `failClosed` all that is no answer of a responder gives the `default` within `wait`
  /// seconds (5), by `asker` and with a `reason`, and throws nothing but the reason of `signal`.
  async ask(
    object, selector, userInfo = null,
    { failClosed = false, keep = false, signal = null, timeout, ...options } = {},
  ) {
    const params = { object, selector, ...given({ userInfo, ...options }, "default") };
    if (!failClosed) return this.#asked(params, { keep, signal, timeout });
    const { default: closed, ...open } = { wait: closedWait, ...params };
    if (closed === undefined) throw misuse("failClosed needs a default");
    let reason;
    try {
      const answer = await this.#apart({ timeout: open.wait, signal }, (ending) =>
        this.#asked(open, { keep, signal: ending }));
      if (answer.by === "responder" && "answer" in answer) return answer;
      reason = answer.reason ?? "no responder has answered";
    } catch (error) {
      if (signal?.aborted) throw error;
      reason = error?.slug ?? textOf(error);
    }
    return { answer: closed, by: "asker", reason };
  }

  /// Answers what became of an ask that was made before, perhaps by an earlier page.
  ///
  /// One that is open has the `outcome` `asked`. With `wait` (seconds) it waits for the end, over
  /// lost connections and restarts of the broker. It throws as `ask` does, and 404 where the broker
  /// does not know such an ask.
  fate(id, { wait = 0, timeout, signal } = {}) {
    const end = seconds() + wait;
    return this.#apart({ wait, timeout, signal }, (ending) => this.#endOf(id, end, ending));
  }

  /// Withdraws an ask that was made with `ttl`.
  async withdraw({ id }, limits) {
    await this.#call("withdraw", { id, ...limits });
  }

  /// Answers `{ value, etag, seq }` of what is at a key path of an object's value; null where there
  /// is nothing. Keys are joined by `.`, and "" is the whole.
  async value(object, keyPath = "", limits) {
    return orNull(this.#call("value", { ...place(object, keyPath), ...limits }));
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
  async bind(element, object, keyPath = "", { onError = report, ...terms } = {}) {
    const binding = new Binding(this, onError, { element, object, keyPath });
    await binding.begin(terms);
    return binding;
  }

  /// Posts a notification and answers the receipt: who matched, and what became of it.
  ///
  /// `userInfo` is a plain object; numbers beyond 2^53 lose digits here, not in the broker. The
  /// other options are those of the broker: `object`, `style` and with it `coalesce`, `keep`,
  /// `modes`, `maxDelay`; `immediate`, `ttl`, `causedBy`; `wait` (seconds), `report`, and
  /// `idempotencyKey`. A queued post has no counts but an `outcome`.
  ///
  /// With `after` (seconds), `at` (a Date, or a time with its offset) or `every` (seconds, until
  /// its `lease`, or this client, ends) it enters the queue later, and the answer has `dueAt`.
  /// `replaces: true` takes out earlier ones of the same name and object. With `onDisconnect: true`
  /// it is posted when this client has been disconnected for `after` seconds; `close()` withdraws
  /// it.
  async post(name, options = {}) {
    // A lease of null is one without an end; all else that is null is not given.
    const params = { name, ...given(options, "lease") };
    const receipt = await this.#call("post", params);
    if (params.onDisconnect) this.#lasting.posted(receipt.id, params);
    return receipt;
  }

  /// Answers who would get a post of a name, an object and a userInfo, and who nearly; or who would
  /// be asked, with `object` and `selector`. Nothing is sent to them.
  explain(filter = {}) {
    return this.#call("explain", given(filter));
  }

  /// Keeps what is posted from now on to a channel (`name`), or to all whose names begin alike
  /// (`namePrefix`), and answers the archive.
  ///
  /// The bounds are those of the broker: `count`, `bytes`, `age` (seconds), `each`, `keepLast` and
  /// `stored`. They hold at once; what is past them goes, the oldest first. An archive that is there
  /// gets these bounds. This needs the grant `admin`.
  putArchive(terms) {
    return this.#requestApart("putArchive", terms);
  }

  /// Answers the archive of a `name` or a `namePrefix`, with what it keeps; null where there is none
  /// that this caller may see.
  async archive(at) {
    return orNull(this.#requestApart("archive", at));
  }

  /// Answers the archives that this caller may see.
  async archives(limits) {
    const found = [];
    for (let cursor; ;) {
      const page = await this.#requestApart("archives", { limit: pageLimit, cursor, ...limits });
      found.push(...page.archives);
      cursor = page.next;
      if (!cursor) return found;
    }
  }

  /// Removes the archive of a `name` or a `namePrefix`, with all that it keeps.
  async removeArchive(at) {
    await this.#requestApart("removeArchive", at);
  }

  /// Answers a page of what is kept: `{ notifications, gaps, next, seq, epoch }`.
  ///
  /// A filter chooses (`name` or `namePrefix`, `object` or `objectPrefix`, `where`), and `after`,
  /// `before` (numbers), `from` and `until` (times). A page has at most `limit` (100) in the `order`
  /// `oldest` or `newest` first; `next` is the `after` of the next page, or its `before` where the
  /// newest come first, and null on the last one. In their place `last` asks for the newest so many,
  /// `lastEach` for those of each name and object. An observer goes on without a hole from `seq`.
  past(choice) {
    return this.#requestApart("past", choice);
  }

  /// All that is kept of a choice, page after page; see `past`.
  async *history({ limit = pageLimit, ...choice }) {
    const from = choice.order === "newest" ? "before" : "after";
    const pages = choice.last ?? choice.lastEach ? {} : { limit };
    for (;;) {
      const { notifications, next } = await this.past({ ...choice, ...pages });
      yield* notifications;
      if (!next) return;
      choice[from] = next;
    }
  }

  /// Removes notifications from all that is kept, and answers how many they were.
  ///
  /// A filter chooses, and `after`, `before` and `id`. Observers that have not received them do not
  /// get them any more. This needs the grant `admin`.
  async removeNotifications(choice) {
    return (await this.#requestApart("removeNotifications", choice)).removed;
  }

  /// Suspends this client, or lets it go on; its observers say what becomes of notifications
  /// meanwhile. It stays so on the next connection.
  async setSuspended(isSuspended, limits) {
    const suspended = isSuspended || this.#isHidden;
    await this.#call("setSuspended", { suspended, ...limits });
    this.#isSuspended = isSuspended;
    this.#toldSuspended = suspended;
  }

  /// Takes notifications out of the queue, by `id` or by what is equal; answers how many.
  async dequeue(filter = {}) {
    const id = this.#lasting.dequeued(filter);
    return (await this.#call("dequeue", { ...filter, id })).removed;
  }

  /// Enters a mode of the queue and answers its lease, which ends with the connection.
  enterMode(mode, limits) {
    return this.#call("enterMode", { mode, ...limits });
  }

  /// Leaves a mode that was entered.
  async leaveMode({ token }, limits) {
    await this.#call("leaveMode", { token, ...limits });
  }

  /// Ends the connection, and with it every observer of this center object.
  close() {
    if (this.#state === "closed") return;
    this.#removeClient();
    const error = new BelfryError("it was closed", null, null, "closed");
    this.#disconnect(error, 1000);
    this.#finish(1000, error);
  }

  // What the page and the program do.

  /// A page that is left gives its observers back at once, and one that the browser brings back
  /// from its cache registers them again. What may have changed the line is a reason to look at it.
  #listen(suspendWhenHidden) {
    const { signal } = this.#listening;
    const listen = (type, run, at = globalThis) => at?.addEventListener?.(type, run, { signal });
    listen("pagehide", ({ persisted }) => this.#leave(persisted));
    for (const type of ["pageshow", "online", "offline"]) listen(type, () => this.#look());
    const looked = () => {
      const isHidden = document.visibilityState === "hidden";
      if (suspendWhenHidden) this.#isHidden = isHidden;
      this.#tellSuspended();
      if (!isHidden) this.#look();
    };
    listen("visibilitychange", looked, globalThis.document);
    if (suspendWhenHidden) this.#isHidden = globalThis.document?.visibilityState === "hidden";
  }

  /// Sees to it that the broker knows whether this client is suspended.
  #tellSuspended() {
    const suspended = this.#isSuspended || this.#isHidden;
    if (!this.#isWelcomed || suspended === this.#toldSuspended) return;
    this.#toldSuspended = suspended;
    this.#send("setSuspended", { suspended }).catch(() => { this.#toldSuspended = null; });
  }

  #write(method, object, keyPath, { timeout, signal, ...members }) {
    const params = { ...place(object, keyPath), ...given(members, "value", "patch") };
    const write = this.#call(method, { ...params, timeout, signal }).then((answer) => {
      this.#lasting.written(method, params, answer);
      if (this.#line?.transport !== "websocket" && answer.id !== undefined) {
        this.#written.add(answer.id);
        trim(this.#written, bufferLimit);
      }
      return answer;
    }, (error) => {
      this.#lasting.written(method, params, null, error);
      throw error;
    }).finally(() => this.#writes.delete(write));
    this.#writes.add(write);
    return write;
  }

  #add(members, limits) {
    const registration = {
      // What a responder implements; null is any other observer.
      selectors: null,
      target: null,
      // Where it begins as long as nothing has come, and the number that the broker had then.
      start: {}, joined: 0, position: null,
      ...members,
      id: null, token: null, isRegistered: false, isRemoved: false,
      buffer: [], wake: () => {},
      // What was not answered, by its key.
      owed: new Map(),
      // The value, if it observes one, whether it was told, and the change that is looked at.
      value: undefined, isKnown: false, turn: null,
    };
    registration.answer = (key, answer) => this.#answer(registration, key, answer);
    const observer = new Observer(registration, () => this.#remove(registration));
    registration.observer = observer;
    const { signal = null } = limits;
    const begin = (resolve, reject) => {
      this.#registrations.add(registration);
      registration.confirm = () => resolve(observer);
      registration.refuse = reject;
      if (this.#isWelcomed && !this.#claim(registration)) this.#register(registration);
      return () => this.#forget(registration);
    };
    return this.#limited(limits, begin).then(() => {
      signal?.addEventListener("abort", () => observer.remove().catch(report), { once: true });
      return observer;
    });
  }

  // Calls.

  /// What is made of calls, with its limits.
  #limited({ timeout, wait = 0, signal }, begin) {
    if (this.#state === "closed") return Promise.reject(this.#error);
    const time = timeout ?? this.#timeout + wait;
    const tooLate = () => {
      const why = this.#error === null ? "" : `: ${this.#error.message}`;
      return new BelfryError(
        `no answer within ${Number(time.toFixed(1))} s${why}`, null, this.#error?.problem ?? null, "timeout");
    };
    return limited(time, [signal, this.#listening.signal].filter(Boolean), tooLate, begin);
  }

  /// Makes a call once the center is open, or on the line as it is. Its limits are among the
  /// parameters.
  #call(method, { timeout, signal, ...params }, isNow = this.#state === "open") {
    return this.#limited({ timeout, signal, wait: params.wait }, (resolve, reject) => {
      const call = { method, params, resolve, reject };
      if (isNow) this.#sendCall(call);
      else this.#waiting.add(call);
      return () => {
        this.#waiting.delete(call);
        this.#calls.delete(call.id);
      };
    });
  }

  /// Makes a call on the line as it is, which takes as long as the line does.
  #send(method, params) {
    return this.#call(method, { ...params, timeout: Infinity }, true);
  }

  #sendCall(call) {
    call.id = this.#nextCall++;
    try {
      this.#line.send({ jsonrpc: "2.0", id: call.id, method: call.method, params: call.params });
      this.#calls.set(call.id, call);
    } catch (error) {
      call.reject(error);
    }
  }

  /// Work that ends with its limits, by the signal that it gets.
  #apart(limits, work) {
    const ending = new AbortController();
    return this.#limited(limits, (resolve, reject) => {
      work(ending.signal).then(resolve, reject);
      return () => ending.abort();
    });
  }

  /// Makes a call as a request of its own.
  #requestApart(method, { timeout, signal, ...params }) {
    return this.#apart({ timeout, signal, wait: params.wait }, (ending) =>
      this.#fetch(method, given(params, "default"), ending));
  }

  async #fetch(method, params, signal) {
    return callByRequest(this.#base, await this.#freshToken(), method, params, signal);
  }

  /// Makes a call until it has an answer that stays: nobody may have heard it, or the broker may
  /// have a problem that passes.
  async #again(make, mayPass = isPassing) {
    for (;;) {
      try {
        return await make();
      } catch (error) {
        const isUnheard = ["lost", "timeout"].includes(error?.reason);
        if (this.#state === "closed" || !(isUnheard || mayPass(error?.problem))) throw error;
        await pause(error.retryAfter ?? askAgainDelay);
      }
    }
  }

  // Asks.

  /// Asks by a call that waits for the answer, or for long.
  #asked(params, { keep, signal, ...limits }) {
    const { wait = 0, ttl, once } = params;
    const isStored = wait > shortWait || (wait && (keep || ttl));
    // What is shown once is not asked again, unless the program has a key for that.
    if (isStored || ((wait || ttl) && !once)) params = { idempotencyKey: randomText(), ...params };
    if (isStored) return this.#askStored(params, { keep, signal, ...limits });
    return this.#apart({ wait, signal, ...limits }, (ending) => {
      const ask = { ...params, timeout: Infinity, signal: ending };
      const make = () => signal ? this.#requestApart("ask", ask) : this.#call("ask", ask);
      return params.idempotencyKey === undefined ? make() : this.#again(make, isUnsure);
    });
  }

  /// Asks once, by a key, and waits for the end of the ask. Who gives that up withdraws it.
  async #askStored({ wait, ...rest }, { keep, ...limits }) {
    const params = { ttl: wait, ...rest };
    // Where the ask itself lives for the wait, the broker says how it ended.
    const end = params.ttl > wait ? seconds() + wait : Infinity;
    let asking;
    try {
      return await this.#apart({ wait, ...limits }, async (signal) => {
        for (let unknown = null, epoch; ;) {
          await this.#again(() => this.#call("ping", { timeout: Infinity, signal }));
          // A broker that has kept nothing over its restart is asked anew.
          if (unknown !== null && this.#identity.epoch === epoch) throw unknown;
          ({ epoch } = this.#identity);
          asking = this.#again(() => this.#requestApart("ask", params), isOfNow);
          const asked = await asking;
          if (asked.outcome === undefined) return asked;
          try {
            return await this.#endOf(asked.id, end, signal);
          } catch (error) {
            if (error?.problem?.status !== 404 || params.once) throw error;
            unknown = error;
          }
        }
      });
    } catch (error) {
      if (!keep && error?.reason !== "refused") {
        // What became of a request that `close` has ended, the key tells.
        asking?.catch(() => this.#fetch("ask", params)).then(({ id, outcome }) =>
          outcome && this.#again(() => this.#fetch("withdraw", { id }))).catch(() => {});
      }
      throw error;
    }
  }

  /// How an ask has ended, or at the end of the time that it is open still.
  async #endOf(id, end, signal) {
    for (;;) {
      const wait = Math.max(0, Math.min(end - seconds(), longestWait));
      const fate = await this.#again(() => this.#requestApart("fate", { id, wait, signal }));
      if (fate.state !== "asked" || wait === 0) return endingOf(fate);
      // A broker that stops answers before the time.
      await pause(askAgainDelay);
    }
  }

  // The connection.

  async #freshToken() {
    try {
      return typeof this.#token === "function" ? await this.#token() : this.#token;
    } catch (error) {
      throw lost(`the token function has failed: ${textOf(error)}`);
    }
  }

  async #connect() {
    this.#timer = null;
    this.#enter("connecting");
    const attempt = (this.#attempt = {});
    // Who has lost a session to another page has one of its own after it.
    if (this.#keepsSessions && this.#identity?.session !== null) {
      const identity = await this.#sessions.take(this.#identity);
      if (attempt !== this.#attempt) return;
      if (identity !== this.#identity) this.#goOnWith(identity);
    }
    let token = null;
    if (this.#token !== null) {
      try {
        token = await this.#freshToken();
      } catch (error) {
        report(error);
      }
      // Meanwhile the page may have been left, or the center closed.
      if (attempt !== this.#attempt) return;
      if (token === null) return this.#reconnectLater(null);
    }
    this.#open(token);
  }

  /// Takes a session over that another page has left, or begins without one.
  #goOnWith(identity) {
    this.#identity = identity;
    this.#isLeftSession = identity !== null;
    if (identity === null) return;
    this.#seenSeq = identity.seq ?? 0;
    // What it told the broker of its suspension is not known here.
    this.#toldSuspended = null;
  }

  #open(token) {
    const epoch = this.#foundEpoch ?? this.#identity?.epoch ?? null;
    this.#welcomedAt = null;
    const ended = (code) => {
      const error = lost(`the connection ended (${code})`);
      const isWelcomed = this.#welcomedAt !== null;
      this.#disconnect(error);
      if (isWelcomed) this.#ended(code, error);
      else this.#explain(code, token);
    };
    const hear = (text) => {
      this.#heardAt = seconds();
      if (text !== "") this.#read(text);
    };
    this.#watcher = after(openingTime, () => {
      if (!this.#isWelcomed) ended(deadCloseCode);
    });
    try {
      this.#line = this.#makeLine(
        { root: this.#root, base: this.#base, token, epoch, hear, end: ended });
    } catch (error) {
      // A page may be forbidden to open a line to there.
      this.#finish(1008, error);
    }
  }

  /// A line has ended that was open, or is given up.
  #ended(code, error) {
    const canRenew = typeof this.#token === "function";
    const verdict = verdictOf({ code, isWelcomed: true, canRenew });
    if (verdict.isFinal && !(code === takenOverCloseCode && this.#yieldSession())) {
      this.#finish(code, error);
    } else this.#reconnectLater(code, error, verdict);
  }

  /// Leaves the session to the page that has taken it over: two that open one storage at the same
  /// moment may take the same. Tells whether sessions are stored, so that it may have been so.
  #yieldSession() {
    if (!this.#keepsSessions) return false;
    this.#sessions.leave();
    Object.assign(this.#identity, { client: null, session: null });
    return true;
  }

  /// A line did not open: browsers do not say why, but the broker does.
  async #explain(code, token) {
    const attempt = (this.#attempt = {});
    const error = await whyRefused(this.#root, this.#base, token);
    if (attempt !== this.#attempt) return;
    this.#error = error;
    this.#blocked = error === null ? this.#blocked + 1 : 0;
    if (error?.isForeign && !this.#isForeignTold) {
      this.#isForeignTold = true;
      console.warn(error.message);
    }
    const verdict = verdictOf({ code, error, canRenew: typeof this.#token === "function" });
    if (verdict.isFinal) return this.#finish(1008, error);
    // The broker is there: another kind of line is tried at once.
    if (this.#blocked === blockedLimit) return this.#connect();
    this.#reconnectLater(verdict.isBusy ? 1013 : code, error, verdict);
  }

  /// Looks at the line when something may have changed it.
  #look() {
    if (this.#state === "waiting") {
      // It will say when it is on line again.
      if (globalThis.navigator?.onLine === false) return;
      clearTimeout(this.#timer);
      this.#connect();
    } else if (this.#isWelcomed && this.#pingInterval < Infinity) {
      this.#ping(Math.min(wakeTime, this.#pingInterval / 2));
    }
  }

  /// Asks the line when nothing has come for an interval.
  #watch() {
    clearTimeout(this.#watcher);
    this.#watcher = after(this.#heardAt + this.#pingInterval - seconds(), () => {
      if (seconds() - this.#heardAt < this.#pingInterval) this.#watch();
      else this.#ping(this.#pingInterval / 2);
    });
  }

  /// Asks the line, which is dead when nothing comes in that time.
  #ping(time) {
    clearTimeout(this.#watcher);
    const askedAt = seconds();
    this.#send("ping", {}).catch(() => {}); // A refusal is a sign of life, too.
    this.#watcher = after(time, () => {
      if (this.#heardAt > askedAt) return this.#watch();
      this.#giveUp("the broker does not answer any more");
    });
  }

  /// Gives a line up on which something is wrong.
  #giveUp(text) {
    const error = lost(text);
    this.#disconnect(error, deadCloseCode);
    this.#reconnectLater(deadCloseCode, error);
  }

  /// The page is left; `isKept` when the browser may bring it back as it is.
  #leave(isKept) {
    if (this.#state === "closed") return;
    if (!isKept && !this.#keepsSessions) this.#removeClient();
    clearTimeout(this.#timer);
    this.#attempt = null;
    this.#disconnect(lost("the page was left"));
    this.#sessions.leave();
    this.#enter("waiting");
  }

  /// Removes the client of a session that would outlive its connection, with its observers.
  ///
  /// By HTTP, which also gets through when the page is being left.
  #removeClient() {
    if (!this.#resumes || !this.#identity?.session) return;
    const { client, session } = this.#identity;
    this.#identity = null;
    this.#sessions.drop();
    fetch(`${this.#base}/clients/${client}`, {
      method: "DELETE", headers: { "Belfry-Session": session }, keepalive: true,
    }).catch(() => {}); // Without the broker its observers end with their lease.
  }

  /// Doubles the wait after each connection that did not last, and spreads it so that the pages
  /// of a restarted broker do not all come back in the same moment.
  #reconnectLater(code, error = null, verdict = verdictOf({ code, error })) {
    if (this.#welcomedAt !== null && seconds() - this.#welcomedAt > steadyTime) {
      this.#failures = this.#badFrames = 0;
    }
    this.#welcomedAt = null;
    if (verdict.isBusy) this.#failures = Math.max(this.#failures, 3);
    const bound = Math.min(delayLimit, firstDelay * 2 ** this.#failures);
    // The first wait may be none, and is spread as far as the second.
    const least = this.#announcedDelay ?? verdict.least ?? (this.#failures === 0 ? 0 : bound / 2);
    const delay = least + Math.max(firstDelay, bound / 2) * Math.random();
    this.#announcedDelay = null;
    this.#failures += 1;
    this.#timer = after(delay, () => this.#connect());
    this.#enter("waiting", { code, delay, error });
  }

  /// Forgets the connection. Nothing of it is heard any more, calls without an answer fail.
  #disconnect(error, code) {
    const line = this.#line;
    this.#line = null;
    this.#attempt = null;
    if (this.#isWelcomed) this.#lostAt = seconds();
    clearTimeout(this.#watcher);
    clearTimeout(this.#claimTimer);
    line?.close(code);
    if (line?.epoch && this.#identity !== null) {
      this.#identity.epoch ??= line.epoch;
      this.#foundEpoch = line.foundEpoch ?? line.epoch;
    }
    // Everything below the highest number that came has come for all observers, because the numbers
    // of one client never decrease (law 2). Of that number itself only its own frames are known.
    // What came live before a registration says nothing of the past that it was to get.
    for (const registration of this.#registrations) {
      if (registration.isRegistered && registration.joined < this.#highestSeq) {
        registration.position = Math.max(registration.position, this.#highestSeq - 1);
      }
      registration.isRegistered = false;
      // What the broker did not ask again on this connection, it does not want to know.
      for (const [key, owed] of registration.owed) {
        owed.isAsked = false;
        if (owed.answer !== null && this.#isWelcomed) registration.owed.delete(key);
      }
    }
    if (this.#highestSeq > 0) this.#seenSeq = this.#highestSeq;
    this.#highestSeq = 0;
    if (this.#isWelcomed) this.#save();
    this.#isWelcomed = false;
    this.#unclaimed = [];
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const { reject } of calls) reject(error);
  }

  #finish(code, error) {
    clearTimeout(this.#timer);
    this.#attempt = null;
    // A client that was removed is nobody's; one that was taken over is another page's now.
    if (code === 4002) this.#sessions.drop();
    else this.#sessions.leave();
    const text = `the center is closed: ${error.message}`;
    this.#error = new BelfryError(text, error.code ?? null, error.problem ?? null, "closed");
    const refused = error.reason === "refused" ? error : this.#error;
    this.#listening.abort(refused);
    for (const registration of this.#registrations) this.#forget(registration);
    this.#enter("closed", { code, error: refused });
  }

  #enter(state, detail = {}) {
    if (this.#state === state) return;
    this.#state = state;
    this.dispatchEvent(new CustomEvent("state", { detail: { state, ...detail } }));
  }

  // What comes in.

  #read(text) {
    const frame = jsonOf(text);
    if (!isObject(frame)) return this.#readBad();
    try {
      this.#receive(frame);
    } catch (error) {
      report(error);
      this.#passOver(frame);
    }
  }

  /// A frame that is no JSON ends the line, so that it comes again with all that is behind it. One
  /// that comes so again is passed over, and everybody is told that something may be lost.
  #readBad() {
    this.#badFrames += 1;
    if (this.#badFrames < badFrameLimit) {
      return this.#giveUp("a frame of the broker is not a JSON object");
    }
    for (const registration of [...this.#registrations]) {
      if (registration.isRegistered) this.#tellUnknown(registration);
    }
  }

  /// A frame that is not of the protocol would come again with each connection: so it is passed
  /// over, told to those that it was for, and refused where it wants an answer.
  #passOver({ id, method, params }) {
    if (method === "belfry.welcome") return this.#giveUp("the welcome is not that of a broker");
    if (typeof method !== "string" || method.startsWith("belfry.")) return;
    const seq = Number.isFinite(params?.seq) ? params.seq : null;
    const numbers = seq === null ? { lost: null } : { lost: 1, firstSeq: seq, lastSeq: seq };
    for (const registration of [...this.#registrations]) {
      if (!registration.isRegistered || !takes(registration, method)) continue;
      registration.position = Math.max(registration.position, seq ?? 0);
      this.#tellUnknown(registration, numbers);
    }
    const error = { code: refusalCode, message: "the frame could not be taken" };
    if (id !== undefined) this.#line?.send({ jsonrpc: "2.0", id, error });
  }

  #receive({ id, method, params, result, error }) {
    if (method === undefined) return this.#answered(id, result, error);
    switch (method) {
      case "belfry.welcome": return this.#welcome(params);
      case "belfry.gap": return this.#gap(params);
      case "belfry.removed": return this.#removed(params);
      case "belfry.settled": return this.#settled(params);
      case "belfry.position": return this.#reached(params);
      case "belfry.draining": {
        const delay = params?.reconnectAfter;
        if (delay >= 0) this.#announcedDelay = Math.min(delay, askedDelayLimit);
        return;
      }
      default: if (Number.isFinite(params?.seq)) this.#take(method, params, id);
    }
  }

  /// An event stream has told where an observer is, which may have got nothing.
  #reached({ observer, seq }) {
    const registration = this.#registration(observer);
    if (this.#line.transport !== "events" || registration === undefined) return;
    if (registration.position !== null) {
      registration.position = Math.max(registration.position, seq);
    }
  }

  /// Ends a call. What has not the shape of its result is no answer.
  #answered(id, result, error = null) {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#calls.delete(id);
    const { method, resolve, reject } = call;
    if (error !== null) {
      const { code = null, message, data = null, reason, retryAfter } = Object(error);
      const problem = isObject(data) ? data : null;
      const refused = refusal(problem, { code, message, method });
      reject(Object.assign(refused, given({ reason, retryAfter })));
    } else if (method in shapes && !hasShape(result, shapes[method])) {
      const text = `the answer to ${method} is not that of a broker`;
      reject(lost(text));
      // Without it the line is of no use.
      if (method === "addObserver" || method === "resume") this.#giveUp(text);
    } else resolve(result);
  }

  #welcome({ client, session, epoch, pingInterval }) {
    const line = this.#line;
    const isOfBroker = typeof epoch === "string" || (epoch === null && line.transport === "events");
    if (!isOfBroker) return this.#giveUp("the welcome is not that of a broker");
    this.#welcomedAt = seconds();
    this.#pingInterval = pingInterval > 0 ? Math.max(pingInterval, leastPingInterval) : Infinity;
    this.#error = null;
    // After an event stream a WebSocket is tried once.
    this.#blocked = line.transport === "events" ? blockedLimit - 1 : 0;
    const earlier = this.#identity?.session ?? null;
    const mayResume = this.#resumes && session !== null && earlier !== null;
    const begin = (resumed) => {
      if (mayResume && this.#isLeftSession && resumed === null) this.#tellSessionGone();
      if (mayResume) this.#isLeftSession = false;
      this.#begin({ client, session, epoch }, resumed);
    };
    if (mayResume) this.#resume(begin);
    else begin(null);
  }

  /// What was held for the page before is gone with its session. Which observers it had nobody
  /// knows: those that register soon are told.
  #tellSessionGone() {
    this.#unclaimedGaps = [];
    this.#sessionGoneUntil = seconds() + claimTime;
    this.#tellUnknown();
  }

  /// Registers what is not at the broker, and opens the center.
  async #begin({ client, session, epoch }, resumed) {
    const line = this.#line;
    const earlier = this.#identity;
    const isOtherEpoch = earlier !== null && (earlier.epoch ?? epoch) !== epoch;
    this.#identity = resumed === null ? { client, session, epoch } : { ...earlier, epoch };
    this.#foundEpoch = null;
    this.#isWelcomed = true;
    this.#watch();
    if (isOtherEpoch) this.#seenSeq = 0;
    if (resumed !== null) this.#continue(resumed.observers, isOtherEpoch);
    else this.#toldSuspended = false;
    this.#tellSuspended();
    this.#save();
    const away = resumed === null ? null : seconds() - this.#lostAt;
    const lasting = line.transport === "events" ? null
      : this.#lasting.makeAgain((...call) => this.#send(...call), away);
    const missing = [...this.#registrations].filter(({ isRegistered }) => !isRegistered);
    await Promise.all(missing.map((registration) => {
      if (isOtherEpoch && registration.id !== null) this.#beginAnew(registration);
      return this.#register(registration);
    }));
    await lasting;
    if (line !== this.#line) return;
    this.#enter("open");
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const call of waiting) this.#sendCall(call);
  }

  /// Another epoch counts from its own beginning: what was missed in between nobody knows, and all
  /// that this one has is asked for.
  #beginAnew(registration) {
    this.#forgetNumbers(registration);
    // A value comes whole.
    if (registration.filter.keyPath !== undefined) return;
    this.#tellUnknown(registration);
  }

  // Going on with a session.

  /// Asks for the session of the connection before; `begin` is called with null when the broker
  /// does not go on with it.
  #resume(begin) {
    const { session, epoch } = this.#identity;
    const after = this.#position();
    const params = { session, epoch, ...(after !== null && { after }) };
    const line = this.#line;
    this.#sendCall({ method: "resume", params, resolve: begin, reject: (error) => {
      // It was lost, or the center was closed.
      if (line !== this.#line || error.reason === "lost") return;
      if (!(error.problem?.status >= 500)) return begin(null);
      // It has too much to do; the session waits.
      this.#disconnect(error);
      this.#reconnectLater(1013, error);
    } });
  }

  /// The number up to which all observers have everything; what one of them has above it is not
  /// delivered twice. If only frames of the last number may be missing, it is that one: the broker
  /// gives those again to all observers but the first, whose frame has come.
  #position() {
    const least = Math.min(...[...this.#unclaimed, ...this.#registrations].flatMap(
      ({ id, position, start }) => id === null ? [] : position || Number(start?.since) || 0));
    if (least === Infinity) return this.#identity.seq ?? null;
    return least === this.#seenSeq - 1 ? this.#seenSeq : least;
  }

  /// Takes over the observers that the broker has kept.
  #continue(rows, isOtherEpoch) {
    const kept = new Map(rows.map((row) => [row.id, row]));
    for (const registration of [...this.#registrations]) {
      if (registration.id === null) continue;
      if (kept.delete(registration.id)) {
        registration.isRegistered = true;
        if (isOtherEpoch) this.#forgetNumbers(registration);
        continue;
      }
      this.#lose(registration, { reason: "removed" });
    }
    const position = isOtherEpoch ? 0 : Math.max(0, (this.#identity.seq ?? 0) - 1);
    this.#unclaimed = [...kept.values()].map((row) => ({ row, position, frames: [] }));
    for (const registration of this.#registrations) {
      if (registration.id === null) this.#claim(registration);
    }
    const unclaimed = this.#unclaimed;
    this.#claimTimer = after(claimTime, () => this.#removeUnclaimed(unclaimed));
  }

  /// Gives an observer of an earlier page to one of this page that is the same; tells whether.
  #claim(registration) {
    const { filter, target, selector, selectors } = registration;
    // What this one does not have, the other one must not have.
    const terms = Object.entries({
      acknowledge: false, name: null, names: null, namePrefix: null, object: null,
      objectPrefix: null, where: null, keyPath: null, target, selector, implements: selectors,
      ...given({ ...registration.terms, ...filter }, "lease"),
    });
    const index = this.#unclaimed.findIndex(({ row }) =>
      terms.every(([key, value]) => isSame(row[key] ?? null, value)));
    if (index < 0) return false;
    const [{ row, position, frames, overflow }] = this.#unclaimed.splice(index, 1);
    if (filter.keyPath !== undefined) {
      // What the value was, the earlier page knew: a new observer is told.
      this.#send("removeObserver", { observer: row.id }).catch(() => {});
      return false;
    }
    Object.assign(registration, { id: row.id, position, isRegistered: true });
    registration.confirm();
    // The promise of `addObserver` settles before the first notification comes.
    queueMicrotask(() => {
      this.#tellUnclaimedGaps(row.id);
      if (overflow) this.#gap(overflow);
      for (const [method, params, id] of frames) {
        this.#take(method, params, id);
      }
    });
    return true;
  }

  #removeUnclaimed(unclaimed) {
    if (unclaimed !== this.#unclaimed) return;
    for (const { row } of unclaimed.splice(0)) {
      this.#send("removeObserver", { observer: row.id }).catch(() => {});
      this.#tellUnclaimedGaps(row.id);
    }
  }

  #tellUnclaimedGaps(id) {
    const gaps = this.#unclaimedGaps;
    this.#unclaimedGaps = gaps.filter(({ observer }) => observer !== id);
    for (const gap of gaps) if (gap.observer === id) this.#gap(gap);
  }

  #save() {
    if (!this.#keepsSessions || !this.#identity?.session) return;
    this.#sessions.keep({ ...this.#identity, seq: this.#position() });
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
    const { seq } = notification;
    this.#count(notification);
    for (const place of this.#unclaimed) {
      if (takes(place.row, selector)) this.#keepFrame(place, [selector, notification]);
    }
    for (const registration of [...this.#registrations]) {
      const { filter, terms, position, isRemoved } = registration;
      if (!takes(registration, selector) || isRemoved || position === null) continue;
      if (filter.keyPath !== undefined) {
        this.#follow(notification, registration);
        continue;
      }
      if (seq <= position || "change" in notification) continue;
      if (!accepts({ ...terms, ...filter }, notification)) continue;
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
    const { object, keyPath, change } = notification;
    const { filter, terms, turn } = registration;
    if (change === undefined || object !== filter.object || keyPath !== filter.keyPath) return;
    if (terms.own !== false || this.#line?.transport === "websocket") {
      return this.#change(notification, registration);
    }
    // Over this line changes from here come, too; the answers to the writes tell which those are.
    registration.turn = Promise.allSettled([turn, ...this.#writes]).then(() => {
      if (!registration.isRemoved) this.#change(notification, registration);
    });
  }

  #change(notification, registration) {
    const { id, seq, change: { kind, initial, new: changed } } = notification;
    const { position, terms, isKnown } = registration;
    // An initial one has a number that the observer may have, any other comes once.
    if (!initial && seq <= position) return;
    if (kind === "merge" && terms.own === false && this.#line?.transport === "websocket") {
      // It is told against a value with the writes from here, which were not told.
      this.#lookAgain(notification, registration);
      return;
    }
    let value = kind === "removed" ? undefined : changed;
    if (kind === "merge") value = merged(registration.value, changed);
    if (initial && isKnown && isSame(value, registration.value)) return;
    const isOwn = terms.own === false && this.#written.has(id);
    this.#tellValue(value, seq, notification, registration, isOwn && !initial);
  }

  async #lookAgain(notification, registration) {
    const { object, keyPath } = registration.filter;
    const found = await this.#send("value", place(object, keyPath)).catch(() => null);
    // A later change has come meanwhile, or comes with the next connection.
    if (found === null || found.seq <= registration.position || registration.isRemoved) return;
    this.#tellValue(found.value, found.seq, notification, registration);
  }

  #tellValue(value, seq, notification, registration, isOwn = false) {
    registration.position = Math.max(registration.position, seq);
    Object.assign(registration, { value, isKnown: true });
    if (isOwn) return;
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
      registration.owed.set(key, { id, seq, isAsked: true, answer: null, abort });
      // Another frame may have the number of an action.
      if (key !== id) registration.position = Math.max(registration.position, seq);
      this.#hand(selector, notification, registration, key);
    } else {
      Object.assign(owed, { id, isAsked: true });
      if (owed.answer !== null) this.#answer(registration, key, owed.answer);
    }
  }

  #count({ seq, redelivered }) {
    if (!redelivered && seq > this.#highestSeq) this.#highestSeq = seq;
  }

  #keepFrame(place, frame) {
    const { row, frames, overflow } = place;
    frames.push(frame);
    if (frames.length <= bufferLimit) return;
    const [, { seq }, id] = frames.shift();
    // What is to be answered comes again.
    if (id !== undefined) return;
    const { lost, firstSeq } = overflow ?? { lost: 0, firstSeq: seq };
    const reason = "overflow";
    place.overflow = { observer: row.id, lost: lost + 1, firstSeq, lastSeq: seq, reason };
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
      report(error);
    }
  }

  async #handleAndAnswer(selector, notification, { handler, selectors, answer, owed }, key) {
    const signal = owed.get(key)?.abort.signal ?? null;
    const ask = {
      ...notification, selector, signal,
      pass: () => ({ [response]: { error: { code: passCode, message: "handed on" } } }),
      answer: (value = null, { reason } = {}) => ({ [response]: { result: value, data: { reason } } }),
    };
    try {
      const value = await handler(notification, ask);
      answer(key, value?.[response] ?? { result: selectors === null ? null : value ?? null });
    } catch (error) {
      answer(key, { error: { code: refusalCode, message: textOf(error) } });
      if (signal === null) report(error);
    }
  }

  /// Answers a delivery, an ask or an action, once. What the broker has not asked on this connection
  /// is kept until it does. What is no JSON throws, and leaves the answer due.
  #answer(registration, key, answer) {
    const owed = registration.owed.get(key);
    if (owed === undefined) return;
    const frame = { jsonrpc: "2.0", id: owed.id, ...answer };
    if (owed.isAsked) {
      this.#line.send(frame);
      registration.owed.delete(key);
    } else {
      JSON.stringify(frame);
      owed.answer = answer;
    }
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
  #forgetNumbers(registration) {
    registration.position = 0;
    registration.start = { since: 0 };
    const { selectors, owed } = registration;
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
    if (this.#unclaimed.some(({ row }) => row.id === params.observer)) {
      this.#unclaimedGaps.push(params);
    } else this.#tell("belfry.gap", params, this.#registration(params.observer));
  }

  #removed(params) {
    const registration = this.#registration(params.observer);
    if (registration !== undefined) this.#lose(registration, params);
  }

  #lose(registration, params) {
    this.#forget(registration);
    this.#tell("belfry.removed", { observer: registration.id, ...params }, registration);
  }

  #tell(type, params, registration) {
    const detail = { ...params, token: registration?.observer ?? null };
    if (type === "belfry.gap" && registration?.onGap) {
      this.#handle(detail, { handler: registration.onGap });
    }
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  /// Tells of a loss of which the broker has said nothing; without an observer it is the session's.
  #tellUnknown(registration, numbers = { lost: null }) {
    const gap = { observer: registration?.id ?? null, ...numbers, reason: "unknown" };
    this.#tell("belfry.gap", gap, registration);
  }

  #registration(id) {
    for (const registration of this.#registrations) if (registration.id === id) return registration;
  }

  // What goes out.

  /// Registers an observer. What comes of it is taken at once: some WebSockets hand over an answer
  /// and the frames behind it in a row.
  #register(registration) {
    const { filter, target, selector, selectors, terms, position, owed, start } = registration;
    const lifetime = this.#resumes ? "token" : "connection";
    const params = { ...terms, ...given(filter), lifetime };
    if (selectors !== null) params.implements = selectors;
    else params.selector = selector;
    if (target !== null) params.target = target;
    if (this.#line.transport !== "websocket") delete params.own;
    // What is owed comes again, so that its answer finds the way. A responder begins anew, an
    // observer with a target is owed nothing, and a value comes whole.
    const goesOn = selectors === null && target === null && filter.keyPath === undefined;
    if (goesOn) {
      Object.assign(params, position
        ? { since: Math.min(position, ...[...owed.values()].map(({ seq }) => seq - 1)) } : start);
    }
    return new Promise((done) => {
      const ended = (take) => (outcome) => done(take.call(this, registration, outcome));
      const resolve = ended(this.#registered);
      this.#sendCall({ method: "addObserver", params, resolve, reject: ended(this.#refused) });
    });
  }

  #registered(registration, { id, token, since }) {
    Object.assign(registration, { id, token, isRegistered: true });
    // It may have been removed, or given up, meanwhile.
    if (registration.isRemoved) return void this.#takeBack(registration).catch(() => {});
    // An observer that was told a position is told by the broker; a value comes whole.
    const { position, filter, onGap, start } = registration;
    const isNew = position === null && filter.keyPath === undefined;
    registration.position = Math.min(position || Number(start.since) || (position ?? since), since);
    registration.joined = since;
    // The last ones of a later time would be others, and those between would be missing.
    registration.start = { since: start.since ?? since };
    this.#save();
    registration.confirm();
    if (!isNew || !onGap || seconds() > this.#sessionGoneUntil) return;
    const gap = { observer: id, lost: null, reason: "unknown", token: registration.observer };
    queueMicrotask(() => this.#handle(gap, { handler: onGap }));
  }

  #refused(registration, error) {
    // A lost connection is not a refusal: the next one registers the observer again.
    if (error.reason === "lost" || registration.isRemoved) return;
    this.#lose(registration, { reason: "refused", problem: error.problem });
    registration.refuse(error);
  }

  async #remove(registration) {
    if (registration.isRemoved) return;
    const { isRegistered } = registration;
    this.#forget(registration);
    if (isRegistered) await this.#takeBack(registration);
  }

  /// Removes an observer at the broker. With the connection it goes, too.
  async #takeBack({ id, token }) {
    const params = token === null ? { observer: id } : { token };
    try {
      await this.#call("removeObserver", params, true);
    } catch (error) {
      if (error.reason !== "lost") throw error;
    }
  }

  #forget(registration) {
    registration.isRemoved = true;
    this.#registrations.delete(registration);
    registration.wake();
    for (const { abort } of registration.owed.values()) abort.abort();
  }
}
