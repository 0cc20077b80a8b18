// What the overview tells beside its figures: who is not heard, what waits, what looks forgotten.
// It is asked for each 10 s while the overview is shown, and at once after an act.

import { ask, askIfAllowed, ifAllowed } from "./broker.js";

const lifetime = 10_000;
/// Rows of each table.
export const shownLimit = 5;
/// Near misses are asked for with this many names at most.
const nearLimit = 5;

/// Channels that are looked at for what was observed once and is not now.
const channelLimit = 100;

/// Names that are posted and reach nobody, those with the most posts first. The report has names
/// that were never observed; what was once, as by a tail of all names, is found among the channels
/// with the most posts.
export async function unheardNames(limit) {
  const [report, { channels }] = await Promise.all([
    ask("reports/unmatched", { query: { limit } }),
    ask("channels", { query: { sort: "-posts", limit: channelLimit } }),
  ]);
  const posts = new Map(report.postedNeverObserved.map((row) => [row.name, row.posts]));
  for (const { name, observers, unmatched } of channels) {
    if (observers === 0 && unmatched > 0) posts.set(name, unmatched);
  }
  const names = [...posts].map(([name, number]) => ({ name, posts: number }));
  names.sort((left, right) => right.posts - left.posts);
  return {
    postedNeverObserved: names.slice(0, limit),
    // The broker's own channels wait for what they tell.
    observedNeverPosted: report.observedNeverPosted.filter(
      ({ name }) => !name.startsWith("belfry."),
    ),
  };
}

export class Reports {
  /// Null until they were asked for.
  latest = null;
  #askedAt = -Infinity;

  forget() {
    this.#askedAt = -Infinity;
  }

  /// Asks anew when what is known is old. What a caller may not see is null.
  async read(app) {
    if (app.route.view !== "overview" && this.latest !== null) return;
    if (performance.now() - this.#askedAt < lifetime) return;
    this.#askedAt = performance.now();
    const list = (path, query) => askIfAllowed(path, { query: { limit: shownLimit, ...query } });
    const [unheard, leaks, slow, waiting, queue, asks, modes] = await Promise.all([
      unheardNames(shownLimit).catch(ifAllowed),
      list("reports/leaks"),
      list("clients", { state: "slow" }),
      list("observers", { sort: "-held" }),
      list("queue", { waiting: false }),
      list("asks"),
      askIfAllowed("modes"),
    ]);
    const nearest = await this.#nearest(unheard?.postedNeverObserved ?? []);
    this.latest = { unheard, nearest, leaks, slow, waiting, queue, asks, modes };
  }

  /// For each of these names the observer that nearly gets it, and why not.
  async #nearest(rows) {
    const known = this.latest?.nearest ?? new Map();
    const pairs = await Promise.all(
      rows.slice(0, nearLimit).map(async ({ name }) => {
        const told = await askIfAllowed("explain", { query: { name, limit: 1 } });
        const [near] = told?.near ?? [];
        if (near === undefined) return [name, null];
        const same = known.get(name);
        if (same?.id === near.id) return [name, same];
        const observer = await askIfAllowed(`observers/${near.id}`);
        return [name, { ...near, name: observer?.name ?? null }];
      }),
    );
    return new Map(pairs);
  }
}
