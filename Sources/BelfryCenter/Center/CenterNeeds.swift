/// What a center asks of whoever gives it commands, and how much it keeps.
///
/// It is found out once after each command, so that asking costs nothing: a look into a center from
/// another room would copy all of it.
public struct CenterNeeds: Sendable, Equatable {
    /// Whether an `endTurn` command would do something.
    public internal(set) var turnEnd = false
    /// Whether an `endTurn` command would go on with entries that an earlier one has left.
    public internal(set) var turnGoesOn = false
    /// Whether an `idle` command would do something.
    public internal(set) var idle = false
    /// When a `passTime` command is due next, on the monotonic clock in nanoseconds; `Int64.max` is
    /// never.
    public internal(set) var deadline = Int64.max
    /// When a `passTime` command is due next for timers, on their own clock in nanoseconds; `Int64.max` is never.
    public internal(set) var timerDeadline = Int64.max
    /// Bytes of name, object and userInfo of all notifications that are held for somebody.
    public internal(set) var heldByteCount = 0
    /// How many notifications are held, each once for all who hold it.
    public internal(set) var heldCount = 0
    /// Bytes of name, object and userInfo of the queue.
    public internal(set) var queueByteCount = 0
    /// How many entries the queue has.
    public internal(set) var queueCount = 0
    /// How many observers are registered.
    public internal(set) var observerCount = 0

    /// Needs nothing, and keeps nothing.
    public init() {}

    /// Whether a `passTime` command would do something at a time.
    public func isDue(at time: CommandTime) -> Bool {
        deadline <= time.monotonicNanoseconds || timerDeadline <= time.timerNanoseconds
    }

    /// When a `passTime` command is due next, on the monotonic clock, as far apart as both clocks are now.
    public func nextDeadline(at time: CommandTime) -> Int64 {
        if timerDeadline == .max { return deadline }
        return min(
            deadline, timerDeadline - (time.timerNanoseconds - time.monotonicNanoseconds))
    }
}

extension NotificationCenter {
    /// Finds out what the center needs now.
    mutating func noteNeeds() {
        let hasQueue = queue.count > 0
        let hasWalks = usesAsks && !asks.sequel.isEmpty
        needs.turnEnd =
            hasQueue && queue.hasAsap || !reports.isEmpty || watch.hasCrossings || hasWalks
        needs.turnGoesOn = queue.snapshotGoesOn() || hasWalks
        needs.idle = hasQueue && queue.hasIdle
        needs.deadline = nextDeadline ?? .max
        needs.heldByteCount = held.byteCount
        needs.heldCount = held.notificationCount
        needs.queueByteCount = queue.byteCount
        needs.queueCount = queue.count
        needs.observerCount = observers.count
        if usesTimers { needs.timerDeadline = timerDeadline }
        if hasTally { noteTally() }
    }
}
