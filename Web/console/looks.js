// Things to look at: each a sentence with its figure, its age, and one link to what it is about.
// One is gone when its reason is gone; there is nothing to dismiss.

import { entriesWait } from "./queue.js";
import { limitsOf } from "./limits.js";
import { breakable, clientLink, code } from "./parts.js";
import { link } from "./route.js";
import { bytes, count, date, duration, isKnown, percent, plural, spoken } from "./words.js";

const dayTime = 86_400_000;
/// Days before its end from which the certificate is told of, and from which it is urgent.
const certificateDays = [30, 7];
const minuteTime = 60_000;

const levels = ["bad", "warn", "info"];

/// All of them, the most urgent first: `{ level, key, title, text, since, to }`.
export function looksOf(app) {
  const {
    reading,
    reports: { latest },
    readings,
  } = app;
  if (reading === null) return [];
  return [
    ...ofStore(reading),
    ...ofLosses(readings),
    ...ofLimits(reading),
    ...ofUnheard(latest),
    ...ofSlow(latest),
    ...ofForgotten(latest, reading),
    ...ofMode(latest, reading),
    ...ofCertificate(reading),
  ].sort((left, right) => levels.indexOf(left.level) - levels.indexOf(right.level));
}

const ofStore = ({ store }) =>
  store === null || store === undefined || store.accepts
    ? []
    : [
        {
          level: "bad",
          key: "store",
          title: ["The store refuses writes."],
          text: "Requests that must be stored are refused until it accepts writes again.",
          to: ["Metrics", "metrics"],
        },
      ];

function ofLosses(readings) {
  const { lost } = readings.lost(minuteTime);
  return lost === 0
    ? []
    : [
        {
          level: "bad",
          key: "lost",
          title: [
            `${plural(lost, "notification")} ${lost === 1 ? "was" : "were"} lost in the last ` +
              `minute.`,
          ],
          text: "Each observer receives a gap.",
          to: ["Show observers", link("observers", null, { sort: "-dropped" })],
        },
      ];
}

const ofLimits = (reading) =>
  limitsOf(reading)
    .filter(({ value, limit }) => value >= 0.8 * limit)
    .map(({ name, value, limit, href, so, format }) => ({
      level: value >= 0.95 * limit ? "bad" : "warn",
      key: `limit ${name}`,
      title: [
        `${name}: ${percent(value, limit)} of the limit`,
        ` (${format(value)} of ${format(limit)}).`,
      ],
      text: `At the limit: ${so[0].toLowerCase()}${so.slice(1)}`,
      to: ["Largest first", href],
    }));

function ofUnheard(reports) {
  const rows = reports?.unheard?.postedNeverObserved ?? [];
  return rows.slice(0, 3).map(({ name, posts }) => {
    const near = reports.nearest.get(name);
    return {
      level: near ? "warn" : "info",
      key: `unheard ${name}`,
      title: [`${plural(posts, "post")} of `, breakable(name), " had no observer."],
      text: nearWords(near),
      to: near
        ? ["Near matches", link("explain", null, { name })]
        : ["Show channel", link("channel", name)],
    };
  });
}

function nearWords(near) {
  if (!near) return "No observer has a similar name.";
  if (near.reason === "object-differs") return "Its observers expect another object.";
  if (near.reason === "where-false") return "The conditions of its observers are false.";
  return [
    "Near match: ",
    breakable(near.name),
    " (",
    spoken(near.reason).replace("name differs", "differs"),
    ").",
  ];
}

const ofSlow = (reports) =>
  (reports?.slow?.clients ?? []).slice(0, 3).map(({ id, unsentBytes, held, stateSince }) => ({
    level: "warn",
    key: `slow ${id}`,
    title: [clientLink(id), " reads too slowly."],
    text: [
      isKnown(unsentBytes) ? `${bytes(unsentBytes)} are unsent; the client` : "The client",
      ` is suspended, and ${plural(held, "notification")} ${held === 1 ? "is" : "are"} held.`,
    ],
    since: stateSince,
    to: [`Show ${id}`, link("client", id)],
  }));

function ofForgotten(reports, reading) {
  const { observers = [], next = null, total } = reports?.leaks ?? {};
  if (observers.length === 0) return [];
  const known = total ?? (next === null ? observers.length : null);
  const held = observers.reduce((sum, row) => sum + (row.held ?? 0), 0);
  const number = known ?? observers.length;
  const all = reading.held?.count;
  return [
    {
      level: "warn",
      key: "forgotten",
      title: [
        known === null
          ? `More than ${number} observers look abandoned.`
          : `${plural(known, "observer")} ${known === 1 ? "looks" : "look"} abandoned.`,
      ],
      text:
        held === 0
          ? "Their clients have been away for a long time."
          : [
              `The first ${observers.length} hold ${plural(held, "notification")}`,
              all > held ? `, ${percent(held, all)} of everything held.` : ".",
            ],
      since: observers[0].stateSince,
      to: [known === null ? "Show all" : `Show ${count(known)}`, link("forgotten")],
    },
  ];
}

function ofMode(reports, reading) {
  const { modes } = reports ?? {};
  if (!modes || modes.current === "default") return [];
  const entries = reading.queue?.entries ?? 0;
  return [
    {
      level: "info",
      key: "mode",
      title: ["The center is in mode ", code(modes.current), "."],
      text:
        entries === 0
          ? "No post is waiting for another mode."
          : `${entriesWait(entries)} in the queue.`,
      to: ["Queue and modes", link("queue")],
    },
  ];
}

const inDays = (time) =>
  time < 2 * dayTime ? duration(time) : `${Math.floor(time / dayTime)} days`;

function ofCertificate({ certificate, asOf }) {
  if (!certificate?.notAfter) return [];
  const end = Date.parse(certificate.notAfter);
  const left = end - asOf;
  const [soon, urgent] = certificateDays;
  if (left > soon * dayTime) return [];
  const level = left <= 0 ? "bad" : left < urgent * dayTime ? "warn" : "info";
  return [
    {
      level,
      key: "certificate",
      title: [
        left <= 0 ? "The certificate has expired." : `The certificate expires in ${inDays(left)}.`,
      ],
      text: `Valid until ${date(end)}. SIGHUP makes the broker read a new file.`,
      to: ["Metrics", "metrics"],
    },
  ];
}
