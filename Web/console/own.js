// What at the broker is this page's own: its connections, its observers, and what they were
// delivered. Views mark it, and sums and charts leave it out.

import { askIfAllowed, path } from "./broker.js";

/// Entries of the tally; past it every other one goes, which costs resolution alone.
const tallyLimit = 10_000;

/// Counts over time, by the broker's clock.
class Tally {
  /// `[time, count until then]`, the oldest first.
  #entries = [[-Infinity, 0]];

  count(time) {
    const last = this.#entries.at(-1);
    if (time <= last[0]) {
      last[1] += 1;
      return;
    }
    this.#entries.push([time, last[1] + 1]);
    if (this.#entries.length > tallyLimit) {
      this.#entries = this.#entries.filter((_, place) => place % 2 === 0);
    }
  }

  until(time) {
    return this.#entries.findLast(([one]) => one <= time)[1];
  }

  /// Forgets what only times before this one need.
  forget(time) {
    const first = this.#entries.findLastIndex(([one]) => one <= time);
    this.#entries.splice(0, first);
  }
}

export class Own {
  /// The observers that are registered, each with its connection.
  #observers = new Map();
  #pending = 0;
  /// For each connection an observer of it, by its id, and the client that has it.
  #clients = new Map();
  #delivered = new Tally();

  /// Registers an observer of this page.
  async observe(connection, filter, take) {
    this.#pending += 1;
    try {
      const observer = await connection.addObserver(filter, (...given) => {
        this.#delivered.count(Date.parse(given.at(-1).postedAt));
        take(...given);
      });
      this.#observers.set(observer, connection);
      this.#learnClient(connection);
      return observer;
    } finally {
      this.#pending -= 1;
    }
  }

  /// Takes out the observers of a connection that is closed.
  close(connection) {
    for (const [observer, of] of this.#observers) {
      if (of === connection) this.#observers.delete(observer);
    }
    this.#clients.delete(connection);
    connection.close();
  }

  /// What is there now; `pending` are observers of which only the broker knows whether they are.
  now() {
    const observers = this.#present();
    const connections = new Set(observers.map(([, connection]) => connection));
    const transports = [...connections].map(({ transport }) => transport);
    for (const connection of connections) this.#learnClient(connection);
    return {
      observers: observers.length,
      pending: this.#pending,
      websocket: transports.filter((one) => one === "websocket").length,
      events: transports.filter((one) => one === "events").length,
    };
  }

  /// Whether an observer, by its id, is one of this page.
  hasObserver(id) {
    return this.#present().some(([observer]) => observer.id === id);
  }

  /// Whether a client, by its id, is one of this page.
  hasClient(id) {
    return [...this.#clients.values()].some(({ client }) => client === id);
  }

  /// How many observers of this page have the name in their filter.
  countOf(name) {
    return this.#present().filter(([observer]) => observer.name === name).length;
  }

  /// How many observers of this page get what is posted to the name: those of all names, too.
  matching(name) {
    const isOfAll = ([observer]) => observer.name === null && observer.keyPath === null;
    const ofAll = name.startsWith("belfry.") ? [] : this.#present().filter(isOfAll);
    return this.countOf(name) + ofAll.length;
  }

  deliveredUntil(time) {
    return this.#delivered.until(time);
  }

  forgetDelivered(time) {
    this.#delivered.forget(time);
  }

  #present() {
    for (const observer of this.#observers.keys()) {
      if (observer.isRemoved) this.#observers.delete(observer);
    }
    return [...this.#observers];
  }

  /// Asks for the client of a connection, once for each session of it.
  async #learnClient(connection) {
    const [observer] = this.#present().find(([, of]) => of === connection) ?? [];
    if (observer === undefined || this.#clients.get(connection)?.id === observer.id) return;
    const learned = { id: observer.id, client: null };
    this.#clients.set(connection, learned);
    const row = await askIfAllowed(path("observers", observer.id)).catch(() => null);
    learned.client = row?.client ?? null;
  }
}
