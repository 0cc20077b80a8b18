// Readings of the broker, over all its centers: one answer, so one time for all figures of a page.
// The broker keeps the counters of the last ten minutes and of the last day; here they become
// rates.

import { ask } from "./broker.js";
import { isKnown } from "./words.js";

/// Points of a gauge that are kept: the last minute, at a reading each 2 s.
const gaugeLimit = 30;
const minute = 60_000;
const lossTime = 600_000;

/// How each gauge is called here, and where it stands in a reading.
const gauges = {
  held: (reading) => reading.held?.count,
  queue: (reading) => reading.queue?.entries,
  connections: (reading) => reading.connections?.open,
};

/// A reading without the observers and clients of the page, which it had before it was asked for;
/// of those that it has since then, or that are under way, only the broker knows whether it
/// counted them.
function withoutOwn(reading, before, after) {
  const doubtful = Math.max(after.observers + after.pending - before.observers, before.pending);
  const others = reading.observers.count - before.observers;
  const clients = { ...reading.clients };
  for (const transport of ["websocket", "events"]) {
    clients[transport] = Math.max(clients[transport] - before[transport], 0);
  }
  const number = others <= doubtful ? 0 : others;
  const own = reading.observers.count - number;
  return { ...reading, clients, observers: { ...reading.observers, count: number, own } };
}

/// A reading where there is one center, else null: of several it has sums alone.
export const ofOneCenter = (reading) => (reading?.centers?.count === 1 ? reading : null);

/// The clients of a reading, of all transports.
export const clientCount = ({ clients }) =>
  clients && (clients.websocket ?? 0) + (clients.events ?? 0) + (clients.mailbox ?? 0);

/// Points `[seq, time, counter…]` of one step, from the oldest to the newest.
class Ring {
  points = [];
  step = 1;

  /// Takes the points that are new; all of them when the broker started anew. One counter is
  /// without what `own` tells of the page. It never falls: of what other loops of the broker
  /// delivered, a point may know later than the page.
  add({ step, points }, column, own) {
    this.step = step * 1000;
    const last = this.points.at(-1)?.[1] ?? -Infinity;
    for (const point of points.filter(([, time]) => time > last)) {
      const others = point[column] - own.deliveredUntil(point[1]);
      const before = this.points.at(-1)?.[column] ?? -Infinity;
      this.points.push(point.with(column, Math.max(others, before)));
    }
  }

  /// Drops what is older than so many steps.
  trim(steps) {
    const oldest = (this.points.at(-1)?.[1] ?? 0) - steps * this.step;
    while (this.points[0]?.[1] < oldest) this.points.shift();
  }

  /// Rates a second of one counter, one for each step, with null where a point is missing.
  rates(column) {
    const rates = [];
    const times = [];
    for (let place = 1; place < this.points.length; place += 1) {
      const [before, after] = [this.points[place - 1], this.points[place]];
      const passed = after[1] - before[1];
      if (passed > 2.5 * this.step) {
        rates.push(null);
        times.push(after[1]);
        continue;
      }
      rates.push(Math.max(after[column] - before[column], 0) / (passed / 1000));
      times.push(after[1]);
    }
    return { rates, times };
  }
}

export class Readings {
  latest = null;
  recent = new Ring();
  day = new Ring();
  #columns = [];
  /// What was lost by `{ time, lost }` of each reading, of the last ten minutes.
  #losses = [];
  #gauges = Object.fromEntries(Object.keys(gauges).map((name) => [name, []]));

  /// Reads; `own` is what at the broker is the page's.
  async read(own) {
    const since = this.recent.points.at(-1)?.[0];
    const before = own.now();
    const reading = await ask("/v1/overview", { query: { since } });
    if (this.latest !== null && reading.startedAt !== this.latest.startedAt) {
      // Another life of the broker, or another broker: its counters begin at 0.
      [this.recent, this.day, this.#losses] = [new Ring(), new Ring(), []];
      if (since !== undefined) return this.read(own);
    }
    const { counters, recent, day } = reading.series;
    this.#columns = counters;
    const deliveries = counters.indexOf("deliveries") + 2;
    this.recent.add(recent, deliveries, own);
    this.recent.trim(150);
    this.day.add(day, deliveries, own);
    this.day.trim(288);
    own.forgetDelivered(this.day.points.at(-1)?.[1] ?? 0);
    for (const [name, of] of Object.entries(gauges)) {
      const values = this.#gauges[name];
      values.push(of(reading) ?? null);
      if (values.length > gaugeLimit) values.shift();
    }
    this.#countLosses(reading);
    const others = withoutOwn(reading, before, own.now());
    this.latest = { ...others, asOf: Date.parse(reading.asOf) };
    return this.latest;
  }

  gauge(name) {
    return this.#gauges[name];
  }

  /// Rates of a counter, with their times; `ring` is `recent` or `day`.
  rates(name, ring = this.recent) {
    const place = this.#columns.indexOf(name);
    return place < 0 ? { rates: [], times: [] } : ring.rates(place + 2);
  }

  /// How much a counter grew a second in the last points, about 12 s; null when it is not known.
  rate(name) {
    const last = this.rates(name).rates.slice(-3).filter(isKnown);
    return last.length === 0 ? null : last.reduce((sum, one) => sum + one, 0) / last.length;
  }

  lastMinute(name) {
    return this.rates(name).rates.slice(-Math.ceil(minute / this.recent.step));
  }

  /// What has its place taken by a later one was asked for by its observer; all else is a loss.
  #countLosses({ asOf, dropped }) {
    const { coalesced: _, ...others } = dropped;
    const lost = Object.values(others).reduce((sum, one) => sum + one, 0);
    const time = Date.parse(asOf);
    this.#losses.push({ time, lost });
    while (time - this.#losses[0].time > lossTime) this.#losses.shift();
  }

  /// How many notifications were lost in the last milliseconds, or since the page was opened.
  lost(span = lossTime) {
    const last = this.#losses.at(-1);
    const first = this.#losses.find(({ time }) => time >= last.time - span);
    return { lost: last.lost - first.lost, span: last.time - this.#losses[0].time };
  }

  /// What a counter is now, since the start of the broker.
  total(name) {
    const place = this.#columns.indexOf(name) + 2;
    return this.recent.points.at(-1)?.[place] ?? null;
  }
}
