public import BelfrySystem

/// Sockets, timers and mailboxes of one thread, as a row of events that the caller pulls.
///
/// A turn: wait; hand out ready events, with at most one read for each connection; due timers and
/// deadlines; `.turnEnds`; the flush, in which each socket with output is written once, those with
/// deliveries alone before those with answers; `.idle` if nothing is ready then; the next wait. A
/// flush that takes long lets another turn in between, in which connections with unwritten answers
/// are not read.
///
/// The loop copies no output: callers append bytes to `output` and refer to ranges of it, from as
/// many connections as they like. A range is good until the next call of `nextEvent`. Output for
/// many connections has an arena of its own, `frames`, in the same way.
public struct EventLoop: ~Copyable {
    /// The output arena of this turn; append to it, and remove nothing.
    public var output: [UInt8] = []
    /// The arena of what goes to many connections; append to it, and remove nothing.
    ///
    /// With nothing else between them, the frames of a turn lie side by side: a connection that
    /// gets all of them is handed one range.
    public var frames: [UInt8] = []
    /// The monotonic time at which the turn began.
    public internal(set) var now: MonotonicTime
    /// The wall time at which the turn began.
    public internal(set) var wallNow: WallTime
    var wallClock: SteadyWallClock
    /// The nanoseconds in which the loop did not run although it wanted to, without a beat each.
    ///
    /// A pause of the process or of the machine, or a turn that took very long.
    public internal(set) var missedNanoseconds: Int64 = 0
    /// How many connections are open, without refused ones.
    public internal(set) var connectionCount = 0
    /// How many bytes full sockets did not take, of all connections.
    public internal(set) var unsentByteTotal = 0
    /// How many connections were refused at once, past those that were told as `.refused`.
    public internal(set) var directRefusalCount = 0
    /// How often accepting failed because descriptors had run out.
    public internal(set) var exhaustionCount = 0
    /// Whether idle moments are told; setting it asks to be told of the present one again.
    ///
    /// Without it a quiet turn saves one system call.
    public var reportsIdle = true {
        didSet { idleIsDue = reportsIdle }
    }

    /// The filter of the output of some connections; see `filterOutput(of:)`.
    public var filter: (any OutputFilter)?

    let configuration: LoopConfiguration
    let turnWorkNanoseconds: Int64
    let flushShareNanoseconds: Int64
    let kernel: KernelCalls
    var slots: [ConnectionSlot] = []
    var freeSlots: [UInt32] = []
    /// Slots that were freed in this turn: stale events of the turn may still name them.
    var releasedSlots: [UInt32] = []
    var refusedCount = 0
    /// The connections that the next flush looks at, in the order in which they came.
    var dirty: [UInt32] = []
    /// The progress of the flush, which ready events may interrupt.
    var flushed = FlushProgress()
    /// The connections that got output since the flush was interrupted.
    var late = LateOutput()
    /// Whether an answer must wait for others that came after its connection.
    var hasLaterAnswers = false
    /// Whether some output of this turn is urgent.
    var hasUrgent = false
    /// The connections that got the last frames.
    var row = FrameRow()

    var ready: [ReadyEntry] = []
    var readyPosition = 0
    /// Events that came up besides the ready list.
    var pending: [LoopEvent] = []
    var pendingPosition = 0
    /// The connections that send much, in the order in which they are read; from `linePosition` on.
    var line: [ConnectionID] = []
    var linePosition = 0
    /// The bytes that were read in this turn from connections that send much.
    var turnInputByteCount = 0
    var phase = Phase.waiting
    var idleIsDue = true
    /// Whether a turn begins even if nothing is ready.
    var turnIsWanted = false

    var listeners: [ListenerSlot] = []
    /// Whether the connections that listeners take are handed out as `.arrived`, for any loop.
    public var sharesArrivals = false
    var arrival: Arrival?
    var acceptedInARow = 0
    var acceptResumeTime = MonotonicTime.distantFuture

    var timers = TimerHeap()
    /// Timers from this serial number on wait for the next turn.
    var timerFence: UInt64 = 0
    /// No deadline is earlier than this.
    var earliestDeadline = MonotonicTime.distantFuture
    var earliestSweep: MonotonicTime
    /// The connections whose deadline has passed; from `duePosition` on they are to hear of it.
    var due: [ConnectionID] = []
    var duePosition = 0
    /// Whether this turn has told one of them.
    var dueIsTaken = false

    var wakes: [LoopWake] = []
    var signals: SignalDescriptor?

    enum Phase {
        case handingOut
        case due
        case flushing
        case flushed
        case waiting
    }

    struct ListenerSlot {
        var socket: Socket
        var isOpen = true
        var isResting = false
        /// The answer to a connection past all limits before it is closed.
        var refusal: [UInt8] = []
    }

    /// The low half of an epoll token that is not a connection's; the high half is a number.
    enum Token {
        static let mail = UInt32.max
        static let signals = UInt32.max - 1
        static let listener = UInt32.max - 2

        static func make(_ kind: UInt32, number: Int) -> UInt64 {
            UInt64(number) << 32 | UInt64(kind)
        }
    }

    /// Creates a loop without listeners.
    ///
    /// - Throws: `SystemCallError` when the process may have no more descriptors.
    public init(
        _ configuration: LoopConfiguration, kernel: Kernel
    ) throws(SystemCallError) {
        self.configuration = configuration
        turnWorkNanoseconds = configuration.turnWorkLimit.nanoseconds
        flushShareNanoseconds = configuration.flushShare.nanoseconds
        self.kernel = try KernelCalls(kernel)
        now = self.kernel.now()
        wallClock = SteadyWallClock(at: now, reading: self.kernel.wallNanoseconds())
        wallNow = wallClock.time(at: now)
        earliestSweep = now
    }

    deinit {
        for slot in slots where slot.flags.contains(.open) { kernel.close(slot.socket) }
        for listener in listeners where listener.isOpen { kernel.close(listener.socket) }
    }

    /// The time at this moment, and not when the turn began; it reads the clock.
    public var clock: MonotonicTime { kernel.now() }

    /// Whether the turn has taken so long that what can wait for the next one should; it reads the
    /// clock.
    public var turnIsLong: Bool {
        clock.nanoseconds - now.nanoseconds >= turnWorkNanoseconds
    }

    /// Hands out what happens next, and blocks only when nothing is left to do.
    ///
    /// Bytes of a `.received` event lie at the start of `input`, which is never empty; 64 KiB or
    /// more serve well. `output` may be flushed and emptied by this call.
    ///
    /// - Throws: `SystemCallError` when the kernel refuses to wait, which ends the loop.
    public mutating func nextEvent(
        into input: inout [UInt8]
    ) throws(SystemCallError) -> LoopEvent {
        precondition(!input.isEmpty, "the input buffer has no room")
        flushEarlyIfNeeded()
        while true {
            switch phase {
            case .handingOut:
                if let event = try nextReady(into: &input) { return event }
                if let event = nextInLine(into: &input) { return event }
                beginDue()
                phase = .due
            case .due:
                if let payload = timers.popDue(at: now, before: timerFence) {
                    return .timer(payload)
                }
                if !due.isEmpty, let event = nextDeadline() { return event }
                if let event = takePending() { return event }
                reuseSlots()
                phase = .flushing
                return .turnEnds
            case .flushing:
                if try flushInShares() { phase = .flushed }
            case .flushed:
                if let event = takePending() { return event }
                phase = .waiting
            case .waiting:
                if let event = try wait() { return event }
            }
        }
    }

    // MARK: Waiting

    /// Polls or waits; gives an event when there is no turn to begin.
    private mutating func wait() throws(SystemCallError) -> LoopEvent? {
        reuseSlots()
        let hasWork = turnIsWanted || !dirty.isEmpty || pendingPosition < pending.count
        turnIsWanted = false
        let polls = hasWork || (reportsIdle && idleIsDue)
        let asked = polls ? 0 : nanosecondsToNextDue()
        try kernel.wait(timeoutNanoseconds: asked, into: &ready)
        readClocks(afterWaiting: asked)
        let isDisturbed = !ready.isEmpty || nextDueTime <= now
        if isDisturbed || hasWork {
            if isDisturbed { idleIsDue = true }
            beginHandingOut()
            return nil
        }
        if polls {
            idleIsDue = false
            return .idle
        }
        return kernel.neverBlocks ? .waiting : nil
    }

    /// Begins to hand out ready events.
    mutating func beginHandingOut() {
        readyPosition = 0
        acceptedInARow = 0
        turnInputByteCount = 0
        dueIsTaken = false
        phase = .handingOut
    }

    /// Makes freed slots available again, when no event is left that could name one.
    private mutating func reuseSlots() {
        if releasedSlots.isEmpty { return }
        freeSlots += releasedSlots
        releasedSlots.removeAll(keepingCapacity: true)
    }

    var nextDueTime: MonotonicTime {
        var time = min(timers.firstTime ?? .distantFuture, acceptResumeTime)
        if earliestDeadline < .distantFuture {
            time = min(time, max(earliestDeadline, earliestSweep))
        }
        return time
    }

    /// Nanoseconds and not a `Duration`, whose 128-bit arithmetic costs 1,600 instructions a turn.
    ///
    /// Never more than a beat: in a long wait a pause would not be seen.
    private mutating func nanosecondsToNextDue() -> Int64? {
        let time = nextDueTime
        guard time < .distantFuture else { return nil }
        return min(max(time.nanoseconds - kernel.now().nanoseconds, 0), Self.beatNanoseconds)
    }

    /// Takes the next event besides the ready list that is not out of date.
    private mutating func takePending() -> LoopEvent? {
        if pending.isEmpty { return nil }
        while pendingPosition < pending.count {
            let event = pending[pendingPosition]
            pendingPosition += 1
            switch event {
            case .overHighWater(let id), .drained(let id):
                guard index(of: id) != nil else { continue }
                return event
            default:
                return event
            }
        }
        pending.removeAll(keepingCapacity: true)
        pendingPosition = 0
        return nil
    }

    // MARK: Times

    /// Asks for one `.timer(payload)` at a time.
    public mutating func schedule(at time: MonotonicTime, _ payload: UInt64) -> TimerID {
        TimerID(serial: timers.insert(at: time, payload: payload))
    }

    /// Cancels a timer; one that has fired does not matter.
    ///
    /// - Complexity: O(n) in the count of timers, which are few.
    public mutating func cancel(_ timer: TimerID) {
        timers.remove(serial: timer.serial)
    }

    /// Sets the one deadline of a connection, or none.
    ///
    /// It is coarse: `.deadline` comes up to a sweep interval late, never early.
    public mutating func setDeadline(_ id: ConnectionID, at time: MonotonicTime?) {
        guard let index = index(of: id), !slots[index].flags.contains(.closing) else { return }
        setDeadline(index, at: time ?? .distantFuture)
    }

    mutating func setDeadline(_ index: Int, at time: MonotonicTime) {
        slots[index].deadline = time
        slots[index].flags.remove(.deadlineDue)
        earliestDeadline = min(earliestDeadline, time)
    }

    private mutating func beginDue() {
        timerFence = timers.nextSerial
        if acceptResumeTime <= now { resumeAccepting() }
        if earliestDeadline <= now && earliestSweep <= now { sweepDeadlines() }
    }

    /// Finds the due deadlines of all slots: cheaper than a timer for each connection.
    ///
    /// Nearly all deadlines are moved before they pass.
    private mutating func sweepDeadlines() {
        var earliest = MonotonicTime.distantFuture
        for index in slots.indices where slots[index].deadline < .distantFuture {
            if slots[index].deadline > now {
                earliest = min(earliest, slots[index].deadline)
                continue
            }
            slots[index].deadline = .distantFuture
            slots[index].flags.insert(.deadlineDue)
            due.append(id(at: index))
        }
        earliestDeadline = earliest
        earliestSweep = now + configuration.deadlineSweepInterval
    }

    /// The next deadline that has passed: one in any case, and more while the turn has time.
    ///
    /// Thousands of connections may have one deadline.
    private mutating func nextDeadline() -> LoopEvent? {
        while duePosition < due.count {
            if dueIsTaken, turnIsLong {
                turnIsWanted = true
                return nil
            }
            let id = due[duePosition]
            duePosition += 1
            // A deadline that was moved meanwhile is not due.
            guard let index = index(of: id), slots[index].flags.contains(.deadlineDue)
            else { continue }
            dueIsTaken = true
            slots[index].flags.remove(.deadlineDue)
            guard slots[index].flags.contains(.closing) else { return .deadline(id) }
            let isFlushed = slots[index].flags.contains(.outputEnded)
            return closeByLoop(index, isFlushed ? .finished : .timedOut)
        }
        due.removeAll(keepingCapacity: due.capacity <= 1_024)
        duePosition = 0
        return nil
    }
}
