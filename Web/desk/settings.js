// What the desk is told by its link or by its reader, and what the browser keeps of that.

import { base, keepToken, token } from "../console/broker.js";

const place = "belfry desk";
const tokenPlace = "belfry desk token";
const workPlace = `belfry desk ${base}`;

/// A text with commas as a list of names.
export const namesIn = (text) => [
  ...new Set(text.split(",").map((name) => name.trim()).filter((name) => name !== "")),
];

/// The storage of this tab, or of the browser; null where it keeps nothing.
function storage(isLasting) {
  try {
    return isLasting ? localStorage : sessionStorage;
  } catch {
    return null;
  }
}

/// What a storage has at a place, or else this.
function read(isLasting, name, none) {
  try {
    return JSON.parse(storage(isLasting)?.getItem(name)) ?? none;
  } catch {
    return none;
  }
}

function write(isLasting, name, value) {
  try {
    if (value === null) storage(isLasting)?.removeItem(name);
    else storage(isLasting)?.setItem(name, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing is asked again on the next page.
  }
}

/// The settings: those of the link before those that were kept.
export function readSettings() {
  const query = new URLSearchParams(location.search);
  const named = (name) => namesIn(query.getAll(name).join(","));
  const kept = read(true, place, {});
  const [addresses, selectors] = [named("address"), named("selectors")];
  takeLinkedToken();
  if (token() === null) keepToken(read(true, tokenPlace, null));
  return {
    addresses: addresses.length > 0 ? addresses : kept.addresses ?? [],
    selectors: selectors.length > 0 ? selectors : kept.selectors ?? [],
    isLoud: kept.isLoud ?? false,
    isLasting: kept.isLasting ?? false,
  };
}

/// Keeps the settings for the next page; the token only where its reader wants that.
export function keepSettings(settings) {
  write(true, place, settings);
  write(true, tokenPlace, settings.isLasting ? token() : null);
}

/// A link may bring a token behind its `#`, which no browser sends to a server. The token leaves the
/// address at once.
function takeLinkedToken() {
  const linked = new URLSearchParams(location.hash.slice(1)).get("token");
  if (linked === null) return;
  keepToken(linked);
  history.replaceState(null, "", location.pathname + location.search);
}

/// Where the session of this tab is kept; null where the browser keeps nothing.
export const sessions = storage(false);

/// The work that the page before has left: answers that were not sent, ends, tokens of observers.
export const readWork = () => read(false, workPlace, {});
export const keepWork = (work) => write(false, workPlace, work);
