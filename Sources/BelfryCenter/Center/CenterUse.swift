/// What a center has that somebody may come back for, counted.
///
/// A center that has nothing of it can end: what is left then is the past (the replay ring, what became of
/// posts, what remains of removed observers), which is bounded and forgotten in any case.
public struct CenterUse: Sendable, Equatable {
    /// WebSockets, event streams and mailboxes, those that are away among them.
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
    /// Asks that are open, and those whose ends are stored: they can be looked at for some minutes.
    public let askCount: Int
    /// Values of objects.
    public let valueCount: Int
    /// Idempotency keys that are remembered.
    public let keyCount: Int

    /// Whether there is nothing of it.
    public var isNone: Bool {
        clientCount == 0 && observerCount == 0 && queueCount == 0 && timerCount == 0
            && heldCount == 0 && modeCount == 0 && askCount == 0 && valueCount == 0 && keyCount == 0
    }
}
