// The console page at `/`: posts, observes, lists and explains with the public API only.
//
// Observers and what they get go through belfry.js. A post goes over HTTP with the userInfo as it
// was typed, because a round trip through JavaScript's numbers would change long ones.

import { BelfryError, NotificationCenter } from "/belfry.js";

/// Notifications on the page, and those that wait while it is paused; the oldest go.
const shownLimit = 200;
const pageSize = 50;
/// Rows of the tables that have one page only.
const rowLimit = 100;
/// A screen reader hears of arrivals at most this often, in milliseconds.
const newsInterval = 4000;
const healthInterval = 10_000;

const centerName = new URLSearchParams(location.search).get("center") ?? "default";
const base = centerName === "default" ? "/v1" : `/v1/centers/${encodeURIComponent(centerName)}`;
/// The token that the broker is shown; it stays with this tab alone.
const token = sessionStorage.getItem("belfry token");
const credentials = token === null ? {} : { Authorization: `Bearer ${token}` };
const center = new NotificationCenter(location.origin, {
  center: centerName === "default" ? null : centerName, token,
});

const mine = new Set();
const find = (id) => document.getElementById(id);

/// Makes an element; properties starting with `aria-` or `data-` become attributes.
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-") || key === "scope") element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children);
  return element;
}

/// A name or object as text; none is shown as such, so that it cannot be taken for a value.
const shown = (text, none = "any") =>
  text === null || text === undefined
    ? make("span", { className: "any" }, none)
    : make("code", {}, text);

/// `+` is itself in the broker's queries, so a blank is written as %20.
const queryText = (query) => String(query).replaceAll("+", "%20");

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const clock = (time) => (time ? new Date(time).toLocaleTimeString() : "never");

/// The content of an answer of the API, or null.
async function ask(path, options) {
  const response = await request(path, options);
  return response.status === 204 ? null : response.json();
}

/// A request to the API; a refusal is thrown with its problem document.
async function request(path, options) {
  let response;
  try {
    const headers = { ...credentials, ...options?.headers };
    response = await fetch(base + path, { cache: "no-store", ...options, headers });
  } catch {
    throw new BelfryError("The broker cannot be reached.");
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => null);
  throw new BelfryError(problem?.title ?? `Status ${response.status}`, response.status, problem);
}

function showProblem(area, error) {
  const { title, detail, errors = [], status } = error.problem ?? {};
  area.className = "answer refused";
  area.replaceChildren(make("p", {}, make("strong", {}, title ?? error.message)));
  if (detail) area.append(make("p", { className: "hint" }, detail));
  for (const { pointer, parameter, detail: text } of errors) {
    const place = make("code", {}, pointer ?? parameter);
    area.append(make("p", { className: "hint" }, place, ` ${text}`));
  }
  if (status) area.append(make("p", { className: "hint" }, `Status ${status}`));
}

function mark(field, text) {
  find(`${field.id}-error`).textContent = text;
  if (text === "") field.removeAttribute("aria-invalid");
  else field.setAttribute("aria-invalid", "true");
  return text === "";
}

// Post.

/// Says what is wrong with a userInfo, or nothing.
function userInfoFault(text) {
  if (text.trim() === "") return "";
  try {
    const value = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? "" : "This is JSON, but not an object: it needs { } around it.";
  } catch (error) {
    return `Not JSON: ${error.message}`;
  }
}

function showReceipt(receipt, curl) {
  const area = find("receipt");
  const words = postedWords(receipt);
  const counts = make("dl");
  for (const [key, value] of Object.entries(receipt)) {
    if (key === "observers" || value === 0) continue;
    const number = make("dd", { className: "mono" }, String(value));
    counts.append(make("div", {}, make("dt", {}, key), number));
  }
  area.className = "answer";
  area.replaceChildren(make("p", {}, make("strong", {}, words)), counts);
  const rows = receipt.observers ?? [];
  if (rows.length > 0) {
    const list = make("ul", { className: "mono" });
    for (const row of rows) list.append(make("li", {}, `${row.id} ${outcomeWords(row)}`));
    area.append(make("details", {}, make("summary", {}, "Each observer"), list));
  }
  const summary = make("summary", {}, "The same with curl");
  area.append(make("details", {}, summary, make("pre", {}, curl)));
}

/// What an observer made of a notification; with a target, where the action went.
function outcomeWords({ outcome, target, observer, reason, path }) {
  if (target === undefined) return outcome;
  const way = (path ?? [target]).join(", then ");
  const end = observer ?? reason?.replaceAll("-", " ");
  return `${outcome}: ${way}${end === undefined ? "" : ` (${end})`}`;
}

function postedWords({ outcome, into, dueAt, matched, delivered, held }) {
  if (dueAt !== undefined) return `It enters the queue at ${clock(dueAt)}.`;
  if (outcome === "queued") return "It waits in the queue.";
  if (outcome === "coalesced") return `${into}, which waits in the queue, stands for it.`;
  if (matched === 0) return "Posted. Nobody observes it.";
  const kept = held > 0 ? `, ${held} held` : "";
  return `Posted. ${plural(matched, "observer")} matched, ${delivered} delivered${kept}.`;
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function curlLine(name, object, userInfo, style) {
  const parameters = Object.entries({ object, style }).filter(([, value]) => value !== "");
  const pairs = parameters.map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  const query = pairs.length === 0 ? "" : `?${pairs.join("&")}`;
  const url = `${location.origin}${base}/channels/${encodeURIComponent(name)}${query}`;
  return `curl -d ${quoted(userInfo.trim())} ${quoted(url)}`;
}

find("post").addEventListener("submit", async (event) => {
  event.preventDefault();
  const [name, object, userInfo] = ["post-name", "post-object", "post-userinfo"].map(find);
  const isNamed = mark(name, name.value === "" ? "A notification needs a name." : "");
  const isValid = mark(userInfo, userInfoFault(userInfo.value));
  find("receipt").replaceChildren();
  if (!isNamed || !isValid) {
    (isNamed ? userInfo : name).focus();
    return;
  }
  const fields = [`"name":${JSON.stringify(name.value)}`];
  if (object.value !== "") fields.push(`"object":${JSON.stringify(object.value)}`);
  if (userInfo.value.trim() !== "") fields.push(`"userInfo":${userInfo.value}`);
  const style = find("post-style").value;
  if (style !== "") fields.push(`"style":${JSON.stringify(style)}`);
  try {
    const receipt = await ask("/notifications?report=observers", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: `{${fields.join(",")}}`,
    });
    showReceipt(receipt, curlLine(name.value, object.value, userInfo.value, style));
    listQueue();
  } catch (error) {
    showProblem(find("receipt"), error);
  }
});
find("post-name").addEventListener("input", ({ target }) => mark(target, ""));
find("post-userinfo").addEventListener("input", ({ target }) => {
  // While somebody types, a fault only goes away. It is told by the button, and not when the
  // field is left: its text would move the button from under the pointer that presses it.
  if (userInfoFault(target.value) === "") mark(target, "");
});

// Ask.

/// How long the page waits for an answer, in seconds.
const askWait = 60;

/// Says what is wrong with a default, or nothing.
function defaultFault(text) {
  if (text.trim() === "") return "";
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return `Not JSON: ${error.message}`;
  }
}

/// Who is asked, and for what; null when that is not said, which is marked.
function askPlace() {
  const [object, selector] = ["ask-object", "ask-selector"].map(find);
  const hasObject = mark(object, object.value === "" ? "Who is asked? It needs an address." : "");
  const hasSelector = mark(selector, selector.value === "" ? "For what? It needs a selector." : "");
  if (!hasObject || !hasSelector) {
    (hasObject ? selector : object).focus();
    return null;
  }
  return { object: object.value, selector: selector.value };
}

find("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const area = find("ask-answer");
  area.replaceChildren();
  const place = askPlace();
  if (place === null) return;
  const [userInfo, fallback] = ["ask-userinfo", "ask-default"].map(find);
  const isValid = mark(userInfo, userInfoFault(userInfo.value));
  const hasDefault = mark(fallback, defaultFault(fallback.value));
  if (!isValid || !hasDefault) {
    (isValid ? fallback : userInfo).focus();
    return;
  }
  const given = fallback.value.trim();
  const query = given === "" ? "" : `?default=${encodeURIComponent(given)}`;
  const [object, selector] = [place.object, place.selector].map(encodeURIComponent);
  area.className = "answer";
  area.textContent = "Asked. Waiting for the answer…";
  const answer = ask(`/responders/${object}/${selector}${query}`, {
    method: "POST", body: userInfo.value,
    headers: { "Content-Type": "application/json", Prefer: `wait=${askWait}` },
  });
  try {
    showAnswer(await answer);
  } catch (error) {
    showProblem(area, error);
  }
  listResponders();
  listAsks();
});
for (const id of ["ask-object", "ask-selector"]) {
  find(id).addEventListener("input", ({ target }) => mark(target, ""));
}
for (const [id, fault] of [["ask-userinfo", userInfoFault], ["ask-default", defaultFault]]) {
  find(id).addEventListener("input", ({ target }) => {
    if (fault(target.value) === "") mark(target, "");
  });
}

function showAnswer({ answer, by, observer, reason, path }) {
  const area = find("ask-answer");
  const source = by === "responder" ? `by ${observer}` : `by default (${reason})`;
  area.className = "answer";
  area.replaceChildren(
    make("p", {}, make("strong", {}, "Answered "), source),
    make("pre", {}, JSON.stringify(answer)),
    make("p", { className: "hint" }, `Asked: ${path.join(", then ") || "nobody"}`));
}

find("ask-explain").addEventListener("click", async () => {
  const area = find("ask-answer");
  area.replaceChildren();
  const place = askPlace();
  if (place === null) return;
  try {
    const pairs = Object.entries(place).map(([key, text]) => `${key}=${encodeURIComponent(text)}`);
    const { ask: told } = await ask(`/explain?${pairs.join("&")}`);
    const { outcome, observer = "Nobody", path, skipped = [] } = told;
    area.className = "answer";
    area.replaceChildren(
      make("p", {}, make("strong", {}, observer), `: ${outcome.replaceAll("-", " ")}`),
      make("p", { className: "hint" }, `On the way: ${path.join(", then ") || "nobody"}`));
    if (skipped.length === 0) return;
    const rows = skipped.map(({ object, observer: id, reason }) =>
      make("li", {}, make("code", {}, id ?? object), ` ${reason.replaceAll("-", " ")}`));
    area.append(make("p", {}, "Stepped over:"), make("ul", {}, ...rows));
  } catch (error) {
    showProblem(area, error);
  }
});

// Values.

/// What was shown last: its path, and what tells it from any other value.
let shownValue = { path: "", etag: null };

/// The path of the value that is named; null when none is, which is marked.
function valuePath() {
  const [object, keyPath] = ["value-object", "value-path"].map(find);
  if (!mark(object, object.value === "" ? "Whose value? It needs an object." : "")) {
    object.focus();
    return null;
  }
  const segments = keyPath.value === "" ? [object.value] : [object.value, keyPath.value];
  return `/values/${segments.map(encodeURIComponent).join("/")}`;
}

/// Shows the value as the broker has it: a round trip through JavaScript's numbers would change
/// long ones.
async function showValue() {
  const path = valuePath();
  if (path === null) return;
  try {
    const response = await request(path);
    const text = await response.text();
    shownValue = { path, etag: response.headers.get("ETag") };
    find("value-json").value = text;
    mark(find("value-json"), "");
    tellValue("This is the value.");
  } catch (error) {
    shownValue = { path, etag: null };
    showProblem(find("value-answer"), error);
  }
}

/// Writes the value, or removes it; `method` has no content then.
async function writeValue(method, type = null) {
  const path = valuePath();
  if (path === null) return;
  const json = find("value-json");
  const headers = type === null ? {} : { "Content-Type": type };
  if (type !== null && !mark(json, valueFault(json.value))) {
    json.focus();
    return;
  }
  if (find("value-match").checked && shownValue.path === path && shownValue.etag !== null) {
    headers["If-Match"] = shownValue.etag;
  }
  try {
    const body = type === null ? undefined : json.value;
    const { changed, etag, matched } = await ask(path, { method, headers, body });
    shownValue = { path, etag: etag ?? null };
    const told = matched === 0 ? "Nobody observes it." : `${plural(matched, "observer")} matched.`;
    tellValue(changed ? `Changed. ${told}` : "It was so already.");
  } catch (error) {
    showProblem(find("value-answer"), error);
  }
  listValues();
}

function tellValue(text) {
  find("value-answer").className = "answer";
  find("value-answer").replaceChildren(make("p", {}, make("strong", {}, text)));
}

const valueFault = (text) =>
  text.trim() === "" ? "What is the value? It needs JSON." : defaultFault(text);

find("value").addEventListener("submit", (event) => {
  event.preventDefault();
  showValue();
});
find("value-set").addEventListener("click", () => writeValue("PUT", "application/json"));
find("value-merge").addEventListener(
  "click", () => writeValue("PATCH", "application/merge-patch+json"));
find("value-remove").addEventListener("click", () => writeValue("DELETE"));
find("value-object").addEventListener("input", ({ target }) => mark(target, ""));
find("value-json").addEventListener("input", ({ target }) => {
  if (valueFault(target.value) === "") mark(target, "");
});
find("value-watch").addEventListener("click", async () => {
  if (valuePath() === null) return;
  const [object, keyPath] = ["value-object", "value-path"].map((id) => find(id).value);
  try {
    await observe({ object, keyPath });
    tellValue("It is watched: its changes arrive among the notifications.");
  } catch (error) {
    showProblem(find("value-answer"), error);
  }
});

// Observe.

/// Registers an observer of this page, which is listed, and shows what it gets.
async function observe(filter) {
  const observer = await center.addObserver(filter, (...told) => {
    // What an observer of a value is told ends with the notification. The first one can only come
    // after the answer, so `entry` is there.
    const notification = told.at(-1);
    entry.count += 1;
    entry.counter.textContent = `${entry.count} delivered`;
    arrive(notification, observer.id);
  });
  const entry = addMine(observer);
  find("mine-news").textContent = `Observer ${observer.id} was added.`;
  listAll();
}

find("observe").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = find("observe-name").value || null;
  const object = find("observe-object").value || null;
  find("observe-error").textContent = "";
  try {
    await observe({ name, object });
  } catch (error) {
    const { errors = [] } = error.problem ?? {};
    const reasons = errors.map(({ pointer, detail }) => ` ${pointer}: ${detail}`);
    find("observe-error").textContent = error.message + reasons.join("");
  }
});

const describe = ({ name, object, keyPath = null }) =>
  keyPath !== null ? `${keyPath || "the value"} of ${object}`
  : object === null ? (name ?? "any name") : `${name ?? "any name"} of ${object}`;

function addMine(observer) {
  const counter = make("span", { className: "quiet" }, "0 delivered");
  const identity = make("code", { className: "quiet" }, observer.id);
  const button = make("button", { type: "button", className: "small" }, "Remove");
  button.setAttribute("aria-label", `Remove observer ${observer.id}, ${describe(observer)}`);
  const path = observer.keyPath;
  const place = path === null ? shown(observer.name, "any name") : shown(path || null, "the value");
  const what = make("span", { className: "what" }, place);
  if (observer.object !== null) what.append(" of ", shown(observer.object));
  const entry = { observer, counter, identity, button, count: 0 };
  entry.item = make("li", {}, what, counter, identity, button);
  button.addEventListener("click", () => removeMine(entry));
  mine.add(entry);
  find("mine").append(entry.item);
  showMine();
  return entry;
}

function showMine() {
  find("mine-none").hidden = mine.size > 0;
  for (const { observer, identity, button } of mine) {
    identity.textContent = observer.id;
    button.setAttribute("aria-label", `Remove observer ${observer.id}, ${describe(observer)}`);
  }
}

/// Takes an observer off the page, and keeps the focus near the place where it was.
function forgetMine(entry) {
  const hadFocus = entry.item.contains(document.activeElement);
  const next = entry.item.nextElementSibling ?? entry.item.previousElementSibling;
  mine.delete(entry);
  entry.item.remove();
  showMine();
  if (hadFocus) (next?.querySelector("button") ?? find("mine-title")).focus();
}

async function removeMine(entry) {
  const { id } = entry.observer;
  forgetMine(entry);
  try {
    await entry.observer.remove();
    find("mine-news").textContent = `Observer ${id} was removed.`;
  } catch (error) {
    find("observe-error").textContent = `Observer ${id} was not removed: ${error.message}`;
  }
  listAll();
}

// Notifications.

let isPaused = false;
let shownCount = 0;
let unheard = [];
let newsTimer = null;
const waiting = [];

function arrive(notification, observerID) {
  add(notificationItem(notification, observerID));
  tell(notification.name);
}

function add(item) {
  if (isPaused) {
    waiting.push(item);
    if (waiting.length > shownLimit) waiting.shift();
  } else {
    show(item);
  }
  showCount();
}

function show(item) {
  const list = find("arrived");
  list.prepend(item);
  while (list.childElementCount > shownLimit) list.lastElementChild.remove();
  shownCount += 1;
  find("arrived-none").hidden = true;
}

function showCount() {
  const count = find("arrived-count");
  if (isPaused) count.textContent = `paused, ${waiting.length} waiting`;
  else if (shownCount > shownLimit) count.textContent = `the last ${shownLimit} of ${shownCount}`;
  else count.textContent = shownCount === 0 ? "" : `${shownCount}`;
}

function notificationItem(notification, observerID) {
  const { seq, name, object, userInfo, postedAt, redelivered, change } = notification;
  const what = change === undefined ? name : notification.keyPath || "the value";
  const line = make("div", { className: "line" }, make("span", { className: "name mono" }, what));
  if (object !== undefined && object !== null) {
    line.append(make("span", { className: "object" }, "of ", make("code", {}, object)));
  }
  if (redelivered) line.append(make("span", { className: "quiet" }, "redelivered"));
  const time = make("time", { dateTime: postedAt }, clock(postedAt));
  line.append(make("span", { className: "seq" }, `${observerID} · seq ${seq} · `, time));
  const item = make("li", {}, line);
  if (userInfo) item.append(make("pre", {}, JSON.stringify(userInfo)));
  if (change !== undefined) {
    item.append(make("pre", {}, JSON.stringify(notification.value) ?? "no value"));
  }
  return item;
}

const addNews = (text) => add(make("li", {}, make("p", { className: "news" }, text)));

/// One sentence for all that arrived since the last one; a busy channel must not talk for ever.
function tell(name) {
  unheard.push(name);
  newsTimer ??= setTimeout(() => {
    newsTimer = null;
    const names = new Set(unheard);
    const what = names.size === 1 ? ` ${[...names][0]}` : "";
    find("arrived-news").textContent = `${plural(unheard.length, "notification")}${what} arrived.`;
    unheard = [];
  }, newsInterval);
}

find("pause").addEventListener("click", ({ target }) => {
  isPaused = !isPaused;
  target.setAttribute("aria-pressed", String(isPaused));
  if (!isPaused) for (const item of waiting.splice(0)) show(item);
  showCount();
});

find("clear").addEventListener("click", () => {
  find("arrived").replaceChildren();
  waiting.length = 0;
  shownCount = 0;
  find("arrived-none").hidden = false;
  showCount();
});

center.addEventListener("belfry.gap", ({ detail: { observer, lost, reason } }) => {
  const count = (lost ?? null) === null ? "an unknown number" : plural(lost, "notification");
  addNews(`Gap: observer ${observer} lost ${count} (${reason}).`);
});

center.addEventListener("belfry.removed", ({ detail: { observer, reason, removedBy, token } }) => {
  const by = removedBy === undefined ? "" : ` by ${removedBy}`;
  addNews(`Observer ${observer} was removed${by} (${reason}).`);
  for (const entry of [...mine]) if (entry.observer === token) forgetMine(entry);
  listAll();
});

// All observers.

/// The cursors of the pages before the one that is shown; the first page has none.
const cursors = [null];
let nextCursor = null;
/// The target of the observers that are shown; empty is all observers.
let wantedTarget = "";
let listing = 0;

async function listAll() {
  listClients();
  listResponders();
  listAsks();
  listValues();
  listQueue();
  const turn = ++listing;
  const cursor = cursors.at(-1);
  const query = new URLSearchParams({ limit: pageSize });
  if (cursor !== null) query.set("cursor", cursor);
  if (wantedTarget !== "") query.set("target", wantedTarget);
  try {
    const { observers, next = null } = await ask(`/observers?${queryText(query)}`);
    if (turn !== listing) return;
    nextCursor = next;
    find("all-error").textContent = "";
    showAll(observers);
  } catch (error) {
    if (turn !== listing) return;
    find("all-error").textContent = `The observers cannot be listed: ${error.message}`;
  }
}

function showAll(observers) {
  const focused = document.activeElement?.dataset?.observer;
  find("all").replaceChildren(...observers.map(observerRow));
  const page = cursors.length;
  const isOnePage = page === 1 && nextCursor === null;
  find("all-count").textContent =
    observers.length === 0 ? "none" : isOnePage ? `${observers.length}` : `page ${page}`;
  find("previous").disabled = page === 1;
  find("next").disabled = nextCursor === null;
  if (focused === undefined) return;
  const button = find("all").querySelector(`[data-observer="${CSS.escape(focused)}"]`);
  (button ?? find("refresh")).focus();
}

function observerRow({
  id, name, object, target, selector, implements: selectors, client, state, delivered, held,
  dropped, lastDeliveredAt,
}) {
  const entry = [...mine].find(({ observer }) => observer.id === id);
  const removal = make("td");
  if (entry !== undefined) {
    const button = make("button", { type: "button", className: "small" }, "Remove");
    button.dataset.observer = id;
    button.setAttribute("aria-label", `Remove observer ${id}, ${describe(entry.observer)}`);
    button.addEventListener("click", () => removeMine(entry));
    removal.append(button);
  } else {
    removal.append(make("span", { className: "quiet" }, "its owner"));
  }
  const row = make("tr", {},
    make("th", { scope: "row", className: "mono" }, id),
    make("td", { className: "text" }, shown(selectors?.join(", ") ?? name)),
    make("td", { className: "text" }, shown(object)),
    make("td", { className: "text" }, shown(target, "its client")),
    make("td", { className: "text" }, shown(selector, "the name")),
    make("td", { className: "mono" }, client),
    make("td", {}, state),
    ...[delivered, held, dropped].map(numberCell),
    make("td", {}, clock(lastDeliveredAt)),
    removal);
  if (entry !== undefined) row.className = "mine";
  return row;
}

find("refresh").addEventListener("click", listAll);
find("all-filter").addEventListener("submit", (event) => {
  event.preventDefault();
  wantedTarget = find("all-target").value;
  cursors.length = 1;
  listAll();
});
find("next").addEventListener("click", () => {
  cursors.push(nextCursor);
  listAll();
});
find("previous").addEventListener("click", () => {
  cursors.pop();
  listAll();
});

// Clients and queue: one page, the first rows.

const numberCell = (number) => make("td", { className: "number" }, String(number ?? ""));

const listings = new Map();

/// Shows the first rows of a listing; of two that are asked for at once the later one counts.
async function listRows(place, path, key, row) {
  const turn = (listings.get(place) ?? 0) + 1;
  listings.set(place, turn);
  let rows = [];
  let text = "";
  let next = null;
  try {
    ({ [key]: rows, next = null } = await ask(`${path}?limit=${rowLimit}`));
  } catch (error) {
    text = `This cannot be listed: ${error.message}`;
  }
  if (turn !== listings.get(place)) return;
  find(`${place}-error`).textContent = text;
  const focused = document.activeElement?.dataset?.entry;
  find(place).replaceChildren(...rows.map(row));
  find(`${place}-count`).textContent =
    rows.length === 0 ? "none" : next === null ? `${rows.length}` : `the first ${rows.length}`;
  if (focused === undefined) return;
  const button = find(place).querySelector(`[data-entry="${CSS.escape(focused)}"]`);
  (button ?? find(`${place}-refresh`)).focus();
}

const listClients = () => listRows("clients", "/clients", "clients", clientRow);

function clientRow({ id, transport, state, stateSince, observers, held, unsentBytes }) {
  return make("tr", {},
    make("th", { scope: "row", className: "mono" }, id),
    make("td", {}, transport), make("td", {}, state), make("td", {}, clock(stateSince)),
    ...[observers, held, unsentBytes].map(numberCell));
}

const listResponders = () =>
  listRows("responders", "/responders", "responders", responderRow);

function responderRow({
  id, object, implements: selectors, next, client, state, openAsks, asked, answered,
}) {
  return make("tr", {},
    make("th", { scope: "row", className: "mono" }, id),
    make("td", { className: "text" }, shown(object)),
    make("td", { className: "text" }, shown(selectors.join(", ") || null, "nothing")),
    make("td", { className: "text" }, shown(next, "none")),
    make("td", { className: "mono" }, client), make("td", {}, state),
    ...[openAsks, asked, answered].map(numberCell));
}

const listAsks = () => listRows("asks", "/asks", "asks", askRow);

function askRow({ id, object, selector, observer, state, askedAt, answerBy }) {
  const button = make("button", { type: "button", className: "small" }, "Withdraw");
  button.dataset.entry = id;
  button.setAttribute("aria-label", `Withdraw ${selector} at ${object}`);
  button.addEventListener("click", () => withdraw(id));
  return make("tr", {},
    make("th", { scope: "row", className: "mono" }, id),
    make("td", { className: "text" }, shown(object)),
    make("td", { className: "text" }, shown(selector)),
    make("td", { className: "mono" }, observer), make("td", {}, state),
    make("td", {}, clock(askedAt)), make("td", {}, clock(answerBy)), make("td", {}, button));
}

async function withdraw(id) {
  let text = "";
  try {
    await ask(`/notifications/${id}`, { method: "DELETE" });
  } catch (error) {
    text = `It was not withdrawn: ${error.message}`;
  }
  await listAsks();
  find("asks-error").textContent = text;
}

const listValues = () => listRows("values", "/values", "values", valueRow);

function valueRow({ object, bytes, observers, changedAt }) {
  const button = make("button", { type: "button", className: "small" }, "Show");
  button.dataset.entry = object;
  button.setAttribute("aria-label", `Show the value of ${object}`);
  button.addEventListener("click", () => {
    find("value-object").value = object;
    find("value-path").value = "";
    showValue();
  });
  return make("tr", {},
    make("th", { scope: "row", className: "text mono" }, object),
    ...[bytes, observers].map(numberCell),
    make("td", {}, clock(changedAt)), make("td", {}, button));
}

async function listQueue() {
  await listRows("queue", "/queue", "entries", entryRow);
  const modes = await ask("/modes").catch(() => null);
  find("mode").textContent = modes === null ? "" : `in mode ${modes.current}`;
}

function entryRow({ id, name, object, style, modes, coalesce, merged, enqueuedAt, ...timer }) {
  const button = make("button", { type: "button", className: "small" }, "Remove");
  button.dataset.entry = id;
  button.setAttribute("aria-label", `Remove ${describe({ name, object: object ?? null })}`);
  button.addEventListener("click", () => dequeue(id));
  return make("tr", {},
    make("th", { scope: "row", className: "text mono" }, name),
    make("td", { className: "text" }, shown(object, "none")),
    make("td", {}, style), make("td", { className: "text" }, modes.join(", ")),
    make("td", {}, coalesce.join(", ") || "nothing"), numberCell(merged),
    make("td", {}, clock(enqueuedAt)), make("td", { className: "text" }, dueWords(timer)),
    make("td", {}, button));
}

/// When a post enters the queue that is not there yet.
function dueWords({ dueAt, every, fired, missed, onDisconnect }) {
  const words = [];
  if (dueAt !== undefined) words.push(clock(dueAt));
  if (onDisconnect !== undefined) words.push(`without ${onDisconnect}`);
  if (every !== undefined) {
    words.push(`every ${every} s`, `${fired} fired${missed > 0 ? `, ${missed} missed` : ""}`);
  }
  return words.join(", ") || "is there";
}

async function dequeue(id) {
  let text = "";
  try {
    await ask(`/queue/${id}`, { method: "DELETE" });
  } catch (error) {
    text = `It was not removed: ${error.message}`;
  }
  await listQueue();
  find("queue-error").textContent = text;
}

find("responders-refresh").addEventListener("click", listResponders);
find("asks-refresh").addEventListener("click", listAsks);
find("values-refresh").addEventListener("click", listValues);
find("clients-refresh").addEventListener("click", listClients);
find("queue-refresh").addEventListener("click", listQueue);

// Explain.

find("explain").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = find("explain-name");
  const object = find("explain-object").value;
  if (!mark(name, name.value === "" ? "Which notification? It needs a name." : "")) {
    name.focus();
    return;
  }
  const query = new URLSearchParams({ name: name.value });
  if (object !== "") query.set("object", object);
  try {
    showExplanation(await ask(`/explain?${queryText(query)}`));
  } catch (error) {
    showProblem(find("explanation"), error);
  }
});
find("explain-name").addEventListener("input", ({ target }) => mark(target, ""));

function showExplanation({ observers, near = [], partial = false }) {
  const area = find("explanation");
  area.className = "answer";
  const words = observers.length === 0 ? "Nobody." : `${plural(observers.length, "observer")}:`;
  area.replaceChildren(make("p", {}, make("strong", {}, words)));
  const list = (rows) => make("ul", {}, ...rows.map(([id, text]) =>
    make("li", {}, make("code", {}, id), ` ${text}`)));
  if (observers.length > 0) {
    area.append(list(observers.map((row) => [row.id, `${row.state}: ${outcomeWords(row)}`])));
  }
  if (near.length > 0) {
    area.append(make("p", {}, "Near misses:"));
    area.append(list(near.map(({ id, reason }) => [id, reason.replaceAll("-", " ")])));
  }
  if (partial) area.append(make("p", {}, "There may be more near misses."));
}

// State of connection and broker.

function showState(id, level, text) {
  const element = find(id);
  element.dataset.state = level;
  // The same text again would be read out again.
  if (element.textContent !== text) element.textContent = text;
}

function showConnection({ code } = {}) {
  switch (center.state) {
    case "open":
      showState("connection", "good", "Connected");
      showMine();
      listAll();
      break;
    case "closed":
      showState("connection", "bad", `Closed by the broker (${code})`);
      for (const entry of [...mine]) forgetMine(entry);
      break;
    case "connecting":
    case "waiting":
      showState("connection", "warn", "Connecting…");
      break;
  }
}
center.addEventListener("state", ({ detail }) => showConnection(detail));
showConnection();

async function askHealth() {
  if (document.hidden) return;
  try {
    const { status } = await fetch("/readyz", { cache: "no-store" });
    if (status === 200) showState("health", "good", "Broker ready");
    else showState("health", "warn", `Broker not ready (${status})`);
  } catch {
    showState("health", "bad", "Broker cannot be reached");
  }
}
setInterval(askHealth, healthInterval);
document.addEventListener("visibilitychange", askHealth);
askHealth();

async function listCenters() {
  const answer = await fetch("/v1/centers", { cache: "no-store", headers: credentials });
  const { centers } = await answer.json();
  const parts = ["Centers: "];
  for (const { name } of centers) {
    const link = make("a", { href: `/?center=${encodeURIComponent(name)}` }, name);
    if (name === centerName) link.setAttribute("aria-current", "page");
    parts.push(link, " ");
  }
  find("centers").replaceChildren(...parts);
}

find("token").value = token ?? "";
find("credentials").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = find("token").value.trim();
  if (text === "") sessionStorage.removeItem("belfry token");
  else sessionStorage.setItem("belfry token", text);
  location.reload();
});
find("center").textContent = centerName;
document.title = centerName === "default" ? "Belfry console" : `${centerName} · Belfry console`;
listCenters().catch(() => find("centers").remove());
