// Selectors of responders. The broker lists them as names that are observed, but they are asked
// and not posted, so that no list of channels has them.

import { askIfAllowed } from "./broker.js";

/// Responders that are looked at, and milliseconds for which what was found holds.
const lookLimit = 1000;
const lifetime = 10_000;

const isSuspect = ({ posts, named }) => posts === 0 && named > 0;

export class Selectors {
  /// How many responders implement each.
  #counts = new Map();
  #readAt = -Infinity;
  /// The names that were asked about then.
  #names = new Set();

  /// Asks which of these channels are selectors, where that is not known or what is known is old.
  async read(channels) {
    const names = channels.filter(isSuspect).map(({ name }) => name);
    const isFresh = performance.now() - this.#readAt < lifetime;
    if (isFresh && names.every((name) => this.#names.has(name))) return;
    this.#readAt = performance.now();
    this.#names = new Set(names);
    const told = await askIfAllowed("responders", { query: { limit: lookLimit } });
    this.#counts.clear();
    for (const one of (told?.responders ?? []).flatMap((row) => row.implements)) {
      this.#counts.set(one, (this.#counts.get(one) ?? 0) + 1);
    }
  }

  /// Whether the row of a channel is a selector alone.
  has(channel) {
    return isSuspect(channel) && (this.#counts.get(channel.name) ?? 0) >= channel.named;
  }
}
