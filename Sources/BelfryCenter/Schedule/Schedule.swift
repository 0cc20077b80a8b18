/// The notifications that wait for a time or a mode, and the deadlines of everything else.
struct Schedule: Sendable {
    var queue: NotificationQueue
    /// Whether the full queue was reported since it was half empty.
    var hasReportedOverflow = false
    var modeStack = ModeStack()
    var timers: TimerTable
    /// Whether the center had a timer: most never have one.
    var usesTimers = false
    var deadlines = DeadlineHeap<Deadline>()
    /// How many deadlines were left when they were swept last.
    var livingDeadlineCount = 512

    init(limits: CenterLimits, seed: HashSeed) {
        queue = NotificationQueue(seed: seed, commonModes: limits.commonModes)
        timers = TimerTable(seed: seed)
    }

    /// Lets a full queue be reported again once it is half empty.
    mutating func endOverflow(below count: Int) {
        if hasReportedOverflow, queue.count <= count { hasReportedOverflow = false }
    }

    /// Adds the memory of its tables, each to its kind.
    func addFootprint(to kept: inout KeptMemory) {
        kept[.queue] += queue.footprint + modeStack.footprint + timers.footprint
        kept[.observers] += deadlines.footprint
    }
}
