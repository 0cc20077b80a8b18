// The limits of the broker that something can fill.

import { link } from "./route.js";
import { bytes, count, isKnown } from "./words.js";

/// Each limit of a reading with what it is now, and what follows when it is full.
export function limitsOf({ connections, observers, queue, held, unsent, values, timers, centers }) {
  return [
    {
      name: "Connections",
      is: "are",
      value: connections.open,
      limit: connections.limit,
      so: "New ones are refused. Who is connected is served as before.",
      href: link("clients"),
    },
    {
      name: "Observers",
      is: "are",
      value: observers.count,
      limit: observers.limit,
      so: "New ones are refused.",
      href: link("observers"),
    },
    // Each center may have so many entries: of several centers the sum says nothing.
    {
      name: "The queue",
      is: "is",
      value: centers.count === 1 ? queue.entries : null,
      limit: queue.limitEntriesOfCenter,
      so: "New posts with a style are refused.",
      href: link("queue"),
    },
    {
      name: "Queued bytes",
      is: "are",
      value: queue.bytes,
      limit: queue.limitBytes,
      size: true,
      so: "New posts with a style are refused.",
      href: link("queue"),
    },
    {
      name: "Held notifications",
      is: "are",
      value: held.bytes,
      limit: held.limitBytes,
      size: true,
      so: "What would be held is dropped, and its observers are told a gap.",
      href: link("observers", null, { sort: "-held" }),
    },
    {
      name: "Unsent bytes",
      is: "are",
      value: unsent.bytes,
      limit: unsent.limitBytes,
      size: true,
      so: "Clients that do not read are suspended.",
      href: link("clients", null, { state: "slow" }),
    },
    {
      name: "Values",
      is: "are",
      value: values.bytes,
      limit: values.limitBytes,
      size: true,
      so: "New ones are refused.",
      href: link("values"),
    },
    {
      name: "Timers",
      is: "are",
      value: timers.bytes,
      limit: timers.limitBytes,
      size: true,
      so: "New ones are refused.",
      href: link("timers"),
    },
    {
      name: "Centers",
      is: "are",
      value: centers.count,
      limit: centers.limit,
      so: "New ones are refused.",
      href: link("overview"),
    },
  ]
    .filter(({ value, limit }) => limit > 0 && isKnown(value))
    .map((one) => ({ ...one, format: one.size ? bytes : count }));
}

export const fullLimits = (reading) =>
  limitsOf(reading).filter(({ value, limit }) => value >= limit);
