import BelfryCenter

/// An entry of this broker that it has not applied yet.
struct PendingEntry {
    /// What is appended, each time: what it says of the past must be no later than its commands.
    ///
    /// A connection that ends while it is under way was written less than what is applied by then.
    private(set) var entry: Entry
    /// Which attempt is under way.
    var attempt: UInt64 = 0
    /// How often it was appended.
    var appendCount = 0
    /// When it was appended first.
    var firstAppendedAt: Int64 = 0
    /// When it was appended last; nil while it waits for the entry before it.
    var appendedAt: Int64?
    /// Whether those who wait for its commands were told that nobody knows.
    var isGivenUp = false

    init(_ entry: Entry) { self.entry = entry }

    var number: UInt64 { entry.number }
    var commands: [Entry.Numbered] { entry.commands }

    /// Takes the commands away that the log will never have.
    mutating func keepWhatMustHappen() {
        entry = Entry(
            node: entry.node, life: entry.life, number: entry.number,
            appliedIndex: entry.appliedIndex, chain: entry.chain, elapsed: entry.elapsed,
            wallMilliseconds: entry.wallMilliseconds,
            commands: entry.commands.filter(\.action.mustHappen))
    }
}

/// The commands that wait for the next entry.
struct WaitingLine {
    private(set) var commands: [(command: Entry.Numbered, submittedAt: Int64)] = []
    private(set) var byteCount = 0

    var isEmpty: Bool { commands.isEmpty }
    var isFull: Bool {
        commands.count >= ClusterOptions.waitingLimit
            || byteCount >= ClusterOptions.waitingByteLimit
    }

    mutating func append(_ command: Entry.Numbered, at now: Int64) {
        commands.append((command, now))
        byteCount += command.byteCount
    }

    /// Takes as many as an entry may have, and at least one.
    mutating func takeEntry() -> [Entry.Numbered] {
        var count = 0
        var bytes = 0
        while count < min(commands.count, ClusterOptions.commandLimit) {
            let more = commands[count].command.byteCount
            if count > 0, bytes + more > ClusterOptions.entryByteLimit { break }
            bytes += more
            count += 1
        }
        let taken = commands[..<count].map(\.command)
        commands.removeFirst(count)
        byteCount -= bytes
        return taken
    }

    /// Takes those away whose submitter need not wait any longer, and that were submitted no later than this.
    mutating func takeRefusable(submittedBy time: Int64 = .max) -> [Entry.Numbered] {
        let taken = commands.filter {
            $0.submittedAt <= time && !$0.command.action.mustHappen
        }
        if taken.isEmpty { return [] }
        commands.removeAll { $0.submittedAt <= time && !$0.command.action.mustHappen }
        byteCount -= taken.reduce(0) { $0 + $1.command.byteCount }
        return taken.map(\.command)
    }
}

extension ShardCommand.Action {
    /// Whether nobody waits for it, and what it says has happened already: it may be late, but it must come.
    var mustHappen: Bool {
        switch self {
        case .tell(_, let action): action.mustHappen
        case .nodeUp, .nodeDown: true
        case .makeCenter, .endCenter, .level, .useTicket, .nothing: false
        }
    }
}

extension Command.Action {
    fileprivate var mustHappen: Bool {
        switch self {
        case .disconnect, .becomeSlow, .drain, .detachReader, .withdraw, .leaveAsk,
            .showAnnounced, .endTurn, .idle, .passTime, .terminate, .trimHeld, .trim, .trimOwned:
            true
        case .configure, .connect, .resume, .setSuspended, .post, .postBatch, .acknowledge, .ask,
            .answer, .setValue, .mergeValue, .removeValue, .addObserver, .removeObserver,
            .removeObservers, .removeClient, .readMailbox, .attachStream, .dequeue, .dequeueEntry,
            .enterMode, .leaveMode:
            false
        }
    }
}
