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
    /// How far the broker is with the log.
    public internal(set) var stage = Stage.loading
    /// Which life of the broker runs, or begins; 0 before the first.
    public internal(set) var life: UInt64 = 0
    /// The number of the life in the names of connections and commands; 0 while none runs.
    public internal(set) var seat: UInt32 = 0
    /// Why the last life has ended; nil before that.
    var lastFence: FenceReason?
    /// Happenings that the host has not been told yet: many commands may fail at once.
    var happenings: ArraySlice<Happening> = []

    // MARK: Writing

    var waiting = WaitingLine()
    /// By their numbers.
    var underWay: [PendingEntry] = []
    var lastNumber: UInt64 = 0
    var lastCounter: UInt64 = 0
    /// The last entry whose effects were handed to the connections; entries report no later one.
    var handed: Mark
    /// The last entry that entries report.
    ///
    /// It does not advance while an end of a connection waits for a later entry: that connection
    /// was not written the effects since.
    var said: Mark
    /// Whether the log has had commands since this broker last told how far it is.
    var isUntold = false
    /// Whether the end of the life is under way.
    var isLeaveWritten = false
    var lastAppendAt: Int64 = 0
    /// Told of each entry of this broker that the log has shown.
    public var hearAppended: (AppendedEntry) -> Void = { _ in }

    // MARK: Reading

    /// The last entry that was applied.
    var applied: Mark
    /// The entry whose steps are under way, and why it has none.
    var reading: (entry: Entry, skip: Shard.Skip?)?
    var readAskedAt: Int64?
    /// The count of gaps before an entry that had come, or a known one, that were asked for.
    public internal(set) var holeCount: UInt64 = 0
    var loadAskedAt: Int64?
    /// The highest index that the log is known to have.
    var knownIndex: UInt64 = 0
    var recent = RecentEntries()
    /// The first index that the log has, as far as is known.
    var firstKnownIndex: UInt64 = 0
    /// How many snapshots in a row did not go up to there.
    var uselessLoadCount = 0
    /// The bytes of log since the last snapshot.
    var loggedByteCount = 0

    // MARK: Watching

    /// When the broker last heard the engine, or another broker.
    var contactAt: Int64
    var tickedAt: Int64
    var beatAt: Int64
    /// When each other broker was last heard.
    var heardAt: [[UInt8]: Int64] = [:]
    /// The time since which this broker could hear the others: silence before does not count.
    var hearsSince: Int64
    /// When the end of a life was last asked for.
    var endAskedAt: [[UInt8]: Int64] = [:]
    /// The last index at which this broker wrote an entry for due work.
    var dueIndex: UInt64?
    var dueSince: Int64?
    var snapshotAt: Int64
    /// The entry behind which the log continues with the state of this broker, in a recovery.
    var recovery: Recovery?
    /// The snapshot that is being made.
    var snapshotWork: (any SnapshotWork)?
    /// The snapshot before the last one.
    var trimIndex: UInt64?
    let random: () -> UInt64
    private let wallMilliseconds: () -> Int64
    let beginSnapshot: (Shard) -> (any SnapshotWork)?

    /// An entry that was applied.
    struct Mark {
        var index: UInt64
        var chain: UInt64
        /// By the clock of this broker.
        var appliedAt: Int64
    }

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
        self.beginSnapshot = beginSnapshot ?? { DoneSnapshotWork($0) }
        applied = Mark(index: 0, chain: 0, appliedAt: now)
        handed = applied
        said = applied
        contactAt = now
        hearsSince = now
        tickedAt = now
        beatAt = now
        snapshotAt = now
        loadAskedAt = now
        journal.load()
    }

    /// How many entries the log is known to have that this broker has not applied.
    public var lag: UInt64 { knownIndex - min(knownIndex, applied.index) }

    /// Whether commands are under way.
    public var isWaiting: Bool { !waiting.isEmpty || !underWay.isEmpty }

    var wallNow: Int64 { wallMilliseconds() }

    /// A life later than all of this name, by the clock, and by chance within a millisecond.
    func newLife(after last: UInt64) -> UInt64 {
        max(UInt64(clamping: wallNow) << 20, last + 1) + random() & 0xF_FFFF
    }

    // MARK: Commands

    /// Takes a command; it is in the next entry.
    ///
    /// - Returns: the name under which its step comes, or its failure.
    /// - Throws: why the broker takes none.
    public func submit(
        _ action: ShardCommand.Action, at now: Int64
    ) throws(Unavailability) -> CommandID {
        let comesAnyway = action.mustHappen && stage == .leaving
        if let reason = unavailability, !comesAnyway { throw reason }
        guard !waiting.isFull || action.mustHappen else { throw .busy }
        let command = Entry.Numbered(counter: lastCounter + 1, action: action)
        guard command.byteCount <= options.commandByteLimit || action.mustHappen else {
            throw .tooLarge(byteLimit: options.commandByteLimit)
        }
        return write(command, at: now)
    }

    /// Why the broker takes no command; nil where it takes them.
    public var unavailability: Unavailability? {
        switch stage {
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

    /// Ends the life behind all commands that were taken.
    ///
    /// Commands that must happen are taken until then: each end of a connection states how far it
    /// was written.
    public func leave() {
        switch stage {
        case .up: stage = .leaving
        case .loading, .catchingUp, .comingUp, .recovering: end(with: .left, telling: .left)
        case .leaving, .left, .stopped: break
        }
    }

    func write(_ action: ShardCommand.Action, at now: Int64) {
        _ = write(Entry.Numbered(counter: lastCounter + 1, action: action), at: now)
    }

    private func write(_ command: Entry.Numbered, at now: Int64) -> CommandID {
        lastCounter = command.counter
        waiting.append(command, at: now)
        return id(of: lastCounter)
    }

    func id(of counter: UInt64) -> CommandID {
        CommandID(node: seat, incarnation: life, counter: counter)
    }

    // MARK: The end of a life, and of all

    /// Ends the life: commands that wait for the log fail.
    ///
    /// - Parameter isKnown: whether the log shows that the entries under way are not in it.
    func fence(_ reason: FenceReason, isKnown: Bool = false) {
        guard seat != 0 else { return }
        if stage == .leaving { return end(with: .left, telling: .left) }
        stage = .catchingUp
        lastFence = reason
        dropCommands(isKnown ? .unavailable(.fenced) : .unknownOutcome)
        happenings.append(.fenced(reason))
        readAskedAt = nil
    }

    func stop(_ reason: StopReason) {
        switch stage {
        case .left, .stopped: return
        case .loading, .catchingUp, .comingUp, .up, .leaving, .recovering:
            end(with: .stopped(reason), telling: .stopped(reason))
        }
    }

    func end(with stage: Stage, telling happening: Happening) {
        self.stage = stage
        dropCommands(.unknownOutcome)
        reading = nil
        happenings.append(happening)
    }

    private func dropCommands(_ failure: CommandFailure) {
        for entry in underWay where !entry.isGivenUp { fail(entry.commands, failure) }
        fail(waiting.takeRefusable(), .unavailable(unavailability ?? .fenced))
        underWay = []
        waiting = WaitingLine()
        seat = 0
    }

    func fail(_ commands: [Entry.Numbered], _ failure: CommandFailure) {
        for command in commands where !command.action.mustHappen {
            happenings.append(.failed(id(of: command.counter), failure))
        }
    }
}
