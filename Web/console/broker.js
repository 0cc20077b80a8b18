// Requests to the broker that served this page: where it is, what it is shown, and what it refuses.
// Addresses are relative to this file, so that a path prefix in front of the broker does not
// matter.

import { queryText } from "./route.js";

/// The broker, without a slash at the end.
export const address = new URL("..", import.meta.url).href.replace(/\/$/, "");

export const centerName = new URLSearchParams(location.search).get("center") ?? "default";

/// Where the center is in the API.
export const base =
  centerName === "default"
    ? `${address}/v1`
    : `${address}/v1/centers/${encodeURIComponent(centerName)}`;

/// What the broker refused, with its problem document (RFC 9457); without a status it did not
/// answer.
class Refusal extends Error {
  constructor(text, status = null, problem = null) {
    super(text);
    this.name = "Refusal";
    this.status = status;
    this.problem = problem;
  }
}

/// Milliseconds after which a question of the page counts as not answered.
const patience = 8000;

const tokenPlace = "belfry token";

/// The token that the broker is shown, or null. It stays with this tab alone.
export function token() {
  try {
    return sessionStorage.getItem(tokenPlace);
  } catch {
    return null;
  }
}

export function keepToken(text) {
  try {
    if (text === null) sessionStorage.removeItem(tokenPlace);
    else sessionStorage.setItem(tokenPlace, text);
  } catch {
    // A browser that keeps nothing asks again on the next page.
  }
}

/// A request, and its answer as `{ status, headers, text }`; `path` is relative to the center, or
/// with a slash in front to the broker. What is refused is thrown with its problem; a broker that
/// does not answer, or stops in the middle of an answer, has no status.
export async function request(
  path,
  { query = {}, headers = {}, wait = patience, ...options } = {},
) {
  const text = queryText(query);
  const url = path.startsWith("/") ? address + path : `${base}/${path}`;
  const shown = token();
  const all = shown === null ? headers : { Authorization: `Bearer ${shown}`, ...headers };
  let response, content;
  try {
    response = await fetch(text === "" ? url : `${url}?${text}`, {
      cache: "no-store",
      signal: AbortSignal.timeout(wait),
      ...options,
      headers: all,
    });
    content = await response.text();
  } catch {
    throw new Refusal("The broker is not responding.");
  }
  const { status, headers: told } = response;
  if (response.ok) return { status, headers: told, text: content };
  const problem = problemOf(content);
  throw new Refusal(problem?.title ?? `Status ${status}`, status, problem);
}

/// The problem document, or null where the answer has none, as that of a proxy.
function problemOf(content) {
  try {
    return JSON.parse(content);
  } catch {
    return null;
  }
}

/// The JSON of an answer, or null where there is none.
export async function ask(path, options) {
  const { status, text } = await request(path, options);
  return status === 204 ? null : JSON.parse(text);
}

/// Sends JSON that was typed, as it was typed: a round trip through JavaScript would change
/// numbers.
export const send = (path, method, body, { headers = {}, ...options } = {}) =>
  ask(path, {
    method,
    body,
    headers: { "Content-Type": "application/json", ...headers },
    ...options,
  });

/// A path of the API from its segments.
export const path = (...segments) => segments.map(encodeURIComponent).join("/");

/// Null for what the broker refuses; what concerns the whole page is thrown on.
export function ifAllowed(error) {
  if (error.status === null || error.status === 401) throw error;
  return null;
}

/// The answer, or null where the broker refuses it, or does not have it.
export const askIfAllowed = (path, options) => ask(path, options).catch(ifAllowed);
