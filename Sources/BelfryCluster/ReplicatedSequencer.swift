public import BelfryCenter

/// Puts the commands of one broker into a shared log, and reads that log for its shard.
///
/// A pure machine: the journal does the I/O, and each call brings the time of a clock that never
/// goes back. In each turn its host calls ``next(_:at:into:)`` until it is nil, writes to its
/// connections, and calls ``endTurn(at:)``; at least each 100 ms it calls ``tick(_:at:)``. How a
/// broker gets on with the log is one value, ``stage``:
///
///     loading → catchingUp → comingUp → up → leaving → left
///                   ▲____________________|      any → stopped → recovering → catchingUp
///
/// A life begins with `comingUp`, and ends with the way back: then the host closes the connections
/// of all clients.
public final class ReplicatedSequencer {
    /// The settings.
    public let options: ClusterOptions
    let journal: any Journal
    var phase: Phase
    /// The reason for the end of the last life; nil before that.
    private var lastFence: FenceReason?
    /// Happenings that the host has not seen yet: many commands may fail at once.
    var happenings: ArraySlice<Happening> = []
    var log: AppliedLog
    var requests = LogRequests()
    var outgoing: OutgoingEntries
    var watch: BrokerWatch
    var dueWork = DueWork()
    var snapshots: SnapshotSchedule
    /// The count of gaps before an entry that had come, or a known one, that were asked for.
    public internal(set) var holeCount: UInt64 = 0
    /// Hears of each entry of this broker that the log has shown.
    public var hearAppended: (AppendedEntry) -> Void = { _ in }
    let random: () -> UInt64
    private let wallMilliseconds: () -> Int64

    /// One thing that a host must act on.
    public enum Happening: Sendable {
        /// A snapshot is the shard now: what the host knows of its centers begins anew.
        case loaded
        /// A step of an entry; the effects include those for other brokers' connections.
        case step(Shard.Step)
        /// A command of this broker has failed, or its outcome is unknown.
        case failed(CommandID, CommandFailure)
        /// A life has begun: connections have this seat in their names.
        case began(seat: UInt32)
        /// Another broker has come or gone, or has ended the life of this one.
        case broker([UInt8], BrokerChange)
        /// The life has ended: clients must be closed with 1012, and none is taken before the next.
        case fenced(FenceReason)
        /// The broker has left the log in order.
        case left
        /// The broker cannot continue: all clients must be closed, and it is not ready any more.
        case stopped(StopReason)
    }

    /// Begins with what the journal has.
    ///
    /// - Parameters:
    ///   - now: the time by the clock that all further calls bring, in nanoseconds.
    ///   - random: 64 bits from the system each time.
    ///   - wallMilliseconds: the wall clock, in milliseconds since 1970.
    ///   - beginSnapshot: begins to make a snapshot, if it can now; nil makes each at once.
    public init(
        _ options: ClusterOptions, journal: any Journal, at now: Int64,
        random: @escaping () -> UInt64, wallMilliseconds: @escaping () -> Int64,
        beginSnapshot: ((Shard) -> (any SnapshotWork)?)? = nil
    ) {
        self.options = options
        self.journal = journal
        self.random = random
        self.wallMilliseconds = wallMilliseconds
        phase = .loading(askedAt: now)
        log = AppliedLog(at: now)
        outgoing = OutgoingEntries(behind: log.last)
        watch = BrokerWatch(at: now)
        snapshots = SnapshotSchedule(
            at: now, makeWork: beginSnapshot ?? { DoneSnapshotWork($0) })
        journal.load()
    }

    /// The stage of the broker in the log.
    public var stage: Stage { phase.stage }

    /// The life of the broker that runs, or begins; 0 before the first.
    public var life: UInt64 { outgoing.life }

    /// The number of the life in the names of connections and commands; 0 while none runs.
    public var seat: UInt32 { outgoing.seat }

    /// How many entries the log is known to have that this broker has not applied.
    public var lag: UInt64 { log.lag }

    /// Whether commands are under way.
    public var isWaiting: Bool { !outgoing.isEmpty }

    var isUp: Bool { if case .up = phase { true } else { false } }
    var isLoading: Bool { if case .loading = phase { true } else { false } }
    private var isLeaving: Bool { if case .leaving = phase { true } else { false } }

    var wallNow: Int64 { wallMilliseconds() }

    /// A life later than all of this name, by the clock, and by chance within a millisecond.
    func newLife(after last: UInt64) -> UInt64 {
        max(UInt64(clamping: wallNow) << 20, last + 1) + random() & 0xF_FFFF
    }

    // MARK: Commands

    /// Adds a command to the next entry.
    ///
    /// - Returns: the name under which its step comes, or its failure.
    /// - Throws: the reason that the broker accepts none.
    public func submit(
        _ action: ShardCommand.Action, at now: Int64
    ) throws(Unavailability) -> CommandID {
        let comesAnyway = action.mustHappen && isLeaving
        if let reason = unavailability, !comesAnyway { throw reason }
        guard !outgoing.waiting.isFull || action.mustHappen else { throw .busy }
        let command = outgoing.numbered(action)
        guard command.byteCount <= options.commandByteLimit || action.mustHappen else {
            throw .tooLarge(byteLimit: options.commandByteLimit)
        }
        return outgoing.enqueue(command, at: now)
    }

    /// The reason that the broker accepts no command; nil where it accepts them.
    public var unavailability: Unavailability? {
        switch phase {
        case .up: nil
        case .loading, .catchingUp, .comingUp:
            switch lastFence {
            case nil: .catchingUp
            case .noQuorum?: .noQuorum
            case .heardNothing?, .declaredDown?, .tooSlow?: .fenced
            }
        case .recovering: .catchingUp
        case .leaving, .left: .draining
        case .stopped(let reason): .stopped(reason)
        }
    }

    /// Ends the life behind all commands that were accepted.
    ///
    /// Commands that must happen are accepted until then: each end of a connection states how far
    /// it was written.
    public func leave() {
        switch phase {
        case .up: phase = .leaving(isAnnounced: false)
        case .loading, .catchingUp, .comingUp, .recovering: end(in: .left, with: .left)
        case .leaving, .left, .stopped: break
        }
    }

    // MARK: Ends

    /// Ends the life: commands that wait for the log fail.
    ///
    /// - Parameter isKnown: whether the log shows that the entries under way are not in it.
    func fence(_ reason: FenceReason, isKnown: Bool = false) {
        guard seat != 0 else { return }
        if isLeaving { return end(in: .left, with: .left) }
        phase = .catchingUp
        lastFence = reason
        dropCommands(isKnown ? .unavailable(.fenced) : .unknownOutcome)
        happenings.append(.fenced(reason))
        requests.finishRead()
    }

    /// Stops for good, unless the broker has left or stopped already.
    func stop(_ reason: StopReason) {
        switch phase {
        case .left, .stopped: return
        case .loading, .catchingUp, .comingUp, .up, .leaving, .recovering:
            end(in: .stopped(reason), with: .stopped(reason))
        }
    }

    private func end(in phase: Phase, with happening: Happening) {
        self.phase = phase
        dropCommands(.unknownOutcome)
        log.abandonCurrent()
        happenings.append(happening)
    }

    private func dropCommands(_ failure: CommandFailure) {
        for entry in outgoing.underWay where !entry.isGivenUp { fail(entry.commands, failure) }
        fail(outgoing.removeRefusable(), .unavailable(unavailability ?? .fenced))
        outgoing.endLife()
    }

    /// Fails commands that a submitter waits for.
    func fail(_ commands: [Entry.Numbered], _ failure: CommandFailure) {
        for command in commands where !command.action.mustHappen {
            happenings.append(.failed(outgoing.id(of: command.counter), failure))
        }
    }
}
