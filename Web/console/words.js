// Figures, times and sizes as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const fullDate = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "long" });
const shortDate = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

export const unknown = "–";

/// `1,905,330`; what is not known is a dash, never 0.
export const count = (number) => (isKnown(number) ? whole.format(number) : unknown);

/// A rate: with a tenth below 100.
export function rate(number) {
  if (!isKnown(number)) return unknown;
  if (number === 0) return "0";
  return number < 99.95 ? tenths.format(number) : whole.format(number);
}

export const isKnown = (number) => number !== null && number !== undefined && !Number.isNaN(number);

/// `1 observer`, `3 observers`.
export const plural = (number, word, words = `${word}s`) =>
  `${count(number)} ${number === 1 ? word : words}`;

/// A part of a hundred: with a tenth below 10, `3.1 %`.
export const percent = (part, of) => {
  const share = (100 * part) / of;
  return `${share > 0 && share < 10 ? tenths.format(share) : whole.format(share)} %`;
};

const units = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytes(number) {
  if (!isKnown(number)) return unknown;
  const power = number < 1 ? 0 : Math.min(Math.floor(Math.log2(number) / 10), units.length - 1);
  const amount = number / 1024 ** power;
  const text = power === 0 || amount >= 100 ? whole.format(amount) : tenths.format(amount);
  return `${text.replace(/\.0$/, "")} ${units[power]}`;
}

/// `41 s`, `2 min 12 s`, `12 min`, `1 h 12 min`, `6 d 4 h`.
export function duration(milliseconds) {
  if (!isKnown(milliseconds)) return unknown;
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [minutes, hours, days] = [60, 3600, 86400].map((unit) => Math.floor(seconds / unit));
  const pair = (big, bigUnit, small, smallUnit) =>
    small === 0 ? `${big} ${bigUnit}` : `${big} ${bigUnit} ${small} ${smallUnit}`;
  if (seconds < 60) return `${seconds} s`;
  if (minutes < 10) return pair(minutes, "min", seconds % 60, "s");
  if (minutes < 60) return `${minutes} min`;
  if (hours < 24) return pair(hours, "h", minutes % 60, "min");
  return pair(days, "d", hours % 24, "h");
}

/// How long ago a time was; the last second is now.
export const age = (time, now) => {
  const passed = now - Date.parse(time);
  return passed < 1000 ? "now" : duration(passed);
};

const two = (number) => String(number).padStart(2, "0");

/// `08:41:07`.
export function clock(time) {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
}

/// `08:41:07.412`.
export const clockWithMilliseconds = (time) =>
  `${clock(time)}.${String(new Date(time).getMilliseconds()).padStart(3, "0")}`;

export const date = (time) => fullDate.format(new Date(time));
export const day = (time) => shortDate.format(new Date(time));

/// A word as it begins a text.
export const capitalized = (word) => word[0].toUpperCase() + word.slice(1);

/// How each transport is called.
export const transportNames = {
  websocket: "WebSocket",
  events: "event stream",
  mailbox: "mailbox",
};

/// How the state of a client is called, and why it is suspended.
export const stateName = (word) => (word === "asked" ? "paused by client" : spoken(word));

/// `name-differs-in-case` is said `name differs in case`.
export const spoken = (code) => code.replaceAll("-", " ");
