/// What a center keeps, by kind: each kind has a share of the broker's memory.
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
    /// What remains of removed observers.
    case tombstones
    /// Notifications for clients that cannot have them now, or have not acknowledged them.
    case held
    /// The queue, timers, open asks and values, with the key paths of their observers.
    case queue
}
