/// The kinds of memory that a center keeps: each has a share of the broker's memory.
public enum KeptKind: Int, Sendable, CaseIterable {
    /// Observers and their clients, with objects and selectors.
    case observers
    /// Names with their counts, observed or not.
    case channels
    /// The replay ring.
    case replay
    /// Answers to requests with an idempotency key.
    case keys
    /// Fates of recent posts, and the intervals of observers with a `minInterval`.
    case fates
    /// Tombstones of removed observers.
    case tombstones
    /// Notifications that clients cannot get now, or have not acknowledged.
    case held
    /// The queue, timers, open asks and values, with the key paths of their observers.
    case queue
    /// Notifications that archives keep.
    case archives
}
