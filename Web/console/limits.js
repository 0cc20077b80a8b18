// The limits of the broker that something can fill.

import { link } from "./route.js";
import { bytes, count, isKnown } from "./words.js";

/// Each limit of a reading with what it is now, and what follows when it is full.
export function limitsOf({ connections, observers, queue, held, unsent, values, timers, centers }) {
  return [
    {
      name: "Connections",
      value: connections.open,
      limit: connections.limit,
      so: "New connections are refused; those that are open are not affected.",
      href: link("clients"),
    },
    {
      name: "Observers",
      value: observers.count + observers.own,
      limit: observers.limit,
      so: "New observers are refused.",
      href: link("observers"),
    },
    // Each center may have so many entries: of several centers the sum says nothing.
    {
      name: "Queue entries",
      value: centers.count === 1 ? queue.entries : null,
      limit: queue.limitEntriesOfCenter,
      so: "New posts with a posting style are refused.",
      href: link("queue"),
    },
    {
      name: "Queued bytes",
      value: queue.bytes,
      limit: queue.limitBytes,
      size: true,
      so: "New posts with a posting style are refused.",
      href: link("queue"),
    },
    {
      name: "Held notifications",
      value: held.bytes,
      limit: held.limitBytes,
      size: true,
      so:
        "Further notifications for suspended clients are dropped, and their observers receive " +
        "a gap.",
      href: link("observers", null, { sort: "-held" }),
    },
    {
      name: "Unsent bytes",
      value: unsent.bytes,
      limit: unsent.limitBytes,
      size: true,
      so: "Clients that do not read are suspended.",
      href: link("clients", null, { state: "slow" }),
    },
    {
      name: "Values",
      value: values.bytes,
      limit: values.limitBytes,
      size: true,
      so: "New values are refused.",
      href: link("values"),
    },
    {
      name: "Timers",
      value: timers.bytes,
      limit: timers.limitBytes,
      size: true,
      so: "New timers are refused.",
      href: link("timers"),
    },
    {
      name: "Centers",
      value: centers.count,
      limit: centers.limit,
      so: "New centers are refused.",
      href: link("overview"),
    },
  ]
    .filter(({ value, limit }) => limit > 0 && isKnown(value))
    .map((one) => ({ ...one, format: one.size ? bytes : count }));
}

export const fullLimits = (reading) =>
  limitsOf(reading).filter(({ value, limit }) => value >= limit);
