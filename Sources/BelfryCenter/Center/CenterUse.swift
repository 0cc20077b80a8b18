/// The counts of the state of a center that a client may come back for.
///
/// A center without any can end: it only has a past (the replay ring, the fates of posts, the
/// tombstones of observers), which is bounded and forgotten in any case.
public struct CenterUse: Sendable, Equatable {
    /// WebSockets, event streams and mailboxes, also disconnected ones.
    public let clientCount: Int
    /// Observers.
    public let observerCount: Int
    /// Entries of the queue.
    public let queueCount: Int
    /// Timers.
    public let timerCount: Int
    /// Notifications that are held.
    public let heldCount: Int
    /// Leases on modes.
    public let modeCount: Int
    /// Open asks, and those whose ends are stored: they can be looked up for some minutes.
    public let askCount: Int
    /// Values of objects.
    public let valueCount: Int
    /// Idempotency keys that are remembered.
    public let keyCount: Int
    /// Archives, also those whose notifications are still to go; of those of the configuration file
    /// the ones that keep something.
    public let archiveCount: Int

    /// Whether all counts are zero.
    public var isNone: Bool {
        clientCount == 0 && observerCount == 0 && queueCount == 0 && timerCount == 0
            && heldCount == 0 && modeCount == 0 && askCount == 0 && valueCount == 0 && keyCount == 0
            && archiveCount == 0
    }
}
