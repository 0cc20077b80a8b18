/// The commands that a center needs from its host, and the size of its contents.
///
/// They are computed once after each command, so that reading them costs nothing: a function of
/// another room would copy the whole center.
public struct CenterNeeds: Sendable, Equatable {
    /// Whether an `endTurn` command would do something.
    public internal(set) var turnEnd = false
    /// Whether an `endTurn` command would continue with entries that an earlier one has left.
    public internal(set) var turnGoesOn = false
    /// Whether an `idle` command would do something.
    public internal(set) var idle = false
    /// The next `passTime` command, on the monotonic clock in nanoseconds; `Int64.max` is never.
    public internal(set) var deadline = Int64.max
    /// The next `passTime` command for timers, on their clock in nanoseconds; `Int64.max` is never.
    public internal(set) var timerDeadline = Int64.max
    /// Bytes of name, object and userInfo of all held notifications.
    public internal(set) var heldByteCount = 0
    /// The number of held notifications, each once for all its holders.
    public internal(set) var heldCount = 0
    /// Bytes of name, object and userInfo of the queue.
    public internal(set) var queueByteCount = 0
    /// How many entries the queue has.
    public internal(set) var queueCount = 0
    /// How many observers are registered.
    public internal(set) var observerCount = 0
    /// Whether the center ever had anything that its tally counts.
    public internal(set) var hasTally = false

    /// Makes needs of nothing.
    public init() {}

    /// Whether a `passTime` command would do something at a time.
    public func isDue(at time: CommandTime) -> Bool {
        deadline <= time.monotonicNanoseconds || timerDeadline <= time.timerNanoseconds
    }

    /// The next `passTime` command on the monotonic clock, by the present distance of both clocks.
    public func nextDeadline(at time: CommandTime) -> Int64 {
        if timerDeadline == .max { return deadline }
        return min(
            deadline, timerDeadline - (time.timerNanoseconds - time.monotonicNanoseconds))
    }
}

extension NotificationCenter {
    /// Computes the present needs of the center.
    mutating func noteNeeds() {
        let hasQueue = schedule.queue.count > 0
        let hasWalks = asks.isUsed && !asks.open.sequel.isEmpty
        needs.turnEnd =
            hasQueue && schedule.queue.hasAsap || !reports.isEmpty || registry.watch.hasCrossings
            || hasWalks
        needs.turnGoesOn = schedule.queue.snapshotGoesOn() || hasWalks
        needs.idle = hasQueue && schedule.queue.hasIdle
        needs.deadline = nextDeadlineOfOthers ?? .max
        needs.heldByteCount = backlog.held.byteCount
        needs.heldCount = backlog.held.notificationCount
        needs.queueByteCount = schedule.queue.byteCount
        needs.queueCount = schedule.queue.count
        needs.observerCount = registry.observers.count
        if schedule.usesTimers { needs.timerDeadline = timerDeadline }
        if archiveBox.value.isUsed {
            needs.deadline = min(needs.deadline, archiveBox.value.nextDeadline)
        }
        if hasTally {
            needs.hasTally = true
            noteTally()
        }
    }
}
