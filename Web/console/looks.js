// Things to look at: each a sentence with its figure, its age, and one link to what it is about.
// One is gone when its reason is gone; there is nothing to dismiss.

import { entriesWait } from "./queue.js";
import { limitsOf } from "./limits.js";
import { code, clientLink } from "./parts.js";
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
          title: ["The store takes nothing new."],
          text: "What must survive a restart is refused until it does.",
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
          text: "Each observer is told its gap.",
          to: ["Who lost them", link("observers", null, { sort: "-dropped" })],
        },
      ];
}

const ofLimits = (reading) =>
  limitsOf(reading)
    .filter(({ value, limit }) => value >= 0.8 * limit)
    .map(({ name, is, value, limit, href, so, format }) => ({
      level: value >= 0.95 * limit ? "bad" : "warn",
      key: `limit ${name}`,
      title: [
        `${name} ${is} at ${percent(value, limit)} of the limit`,
        `: ${format(value)} of ${format(limit)}.`,
      ],
      text: so.replace(/^New/, "When it is reached, new"),
      to: ["Who has most", href],
    }));

function ofUnheard(reports) {
  const rows = reports?.unheard?.postedNeverObserved ?? [];
  return rows.slice(0, 3).map(({ name, posts }) => {
    const near = reports.nearest.get(name);
    return {
      level: near ? "warn" : "info",
      key: `unheard ${name}`,
      title: [`${plural(posts, "post")} of `, code(name), " reached nobody."],
      text: nearWords(near),
      to: near
        ? ["Who nearly gets it", link("explain", null, { name })]
        : ["Channel", link("channel", name)],
    };
  });
}

function nearWords(near) {
  if (!near) return "No observer has a name like it.";
  if (near.reason === "object-differs") return "It is observed, of another object.";
  return [
    "Somebody waits for ",
    code(near.name),
    ": ",
    spoken(near.reason).replace("name differs", "they differ"),
    ".",
  ];
}

const ofSlow = (reports) =>
  (reports?.slow?.clients ?? []).slice(0, 3).map(({ id, unsentBytes, held, stateSince }) => ({
    level: "warn",
    key: `slow ${id}`,
    title: [clientLink(id), " reads too slowly."],
    text: [
      isKnown(unsentBytes) ? `${bytes(unsentBytes)} wait for its socket; it` : "It",
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
          ? `More than ${number} observers look forgotten.`
          : `${plural(known, "observer")} ${known === 1 ? "looks" : "look"} forgotten.`,
      ],
      text:
        held === 0
          ? "Nobody came back for them for long."
          : [
              `The first ${observers.length} hold ${plural(held, "notification")}`,
              all > held ? `, ${percent(held, all)} of all that is held.` : ".",
            ],
      since: observers[0].stateSince,
      to: [known === null ? "Show them" : `Show the ${count(known)}`, link("forgotten")],
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
        entries === 0 ? "Nothing waits for another mode." : `${entriesWait(entries)} in the queue.`,
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
        left <= 0 ? "The certificate has ended." : `The certificate ends in ${inDays(left)}.`,
      ],
      text: `Until ${date(end)}. A new file is read on SIGHUP.`,
      to: ["Metrics", "metrics"],
    },
  ];
}
