import BelfryCenter

/// The loop's own record of a center that lives on it.
struct HostedCenter {
    /// The time of the last submitted command.
    var time: CommandTime
    /// The loop's own work for it that is not applied yet.
    var ownWork: OwnWork = []
    /// The number of accepted posts, which is a part of their identifiers (decision 45).
    var postCount: UInt64 = 0
    /// The owner of the center, and of its own memory.
    var owner = Owner.none
    /// The page of the witness; nil without one.
    var page: Int?
    /// The highest number that the page covers.
    var witnessedThrough: UInt64 = 0
    /// Whether it is in the list of the centers that got a command in this turn.
    var isTouched = false
    /// The number of observers after the last command, where a sequencer returns commands.
    var observerCount: Int
    /// Its needs when the last turn ended.
    var known = CenterNeeds()
    /// Its tally of asks, timers and values then.
    private var knownTally = CenterTally()
    /// Its clients of each sort then.
    private(set) var knownClients = ClientCounts()
    /// The losses of its observers then.
    var knownLosses = Losses()
    /// The changes of this turn to store; empty without a store.
    private var changes: [Change] = []
    /// The indices of changed values among these.
    private var valuePlaces: [[UInt8]: Int] = [:]

    init(time: CommandTime, observerCount: Int) {
        self.time = time
        self.observerCount = observerCount
    }

    /// Keeps the changes of a command to store; for a value only its last change in the turn.
    mutating func keep(_ effects: borrowing Effects) {
        guard effects.hasValues else { return changes += effects.changes }
        for change in effects.changes {  // Bound: effects
            let object: [UInt8]
            switch change {
            case .value(let record): object = record.object
            case .valueRemoved(let removed): object = removed
            default:
                changes.append(change)
                continue
            }
            if let place = valuePlaces[object] {
                // Rows of values are independent of others: their order does not matter.
                changes[place] = change
            } else {
                valuePlaces[object] = changes.count
                changes.append(change)
            }
        }
    }

    /// Adds the growth of each sort of client since the last turn to the totals.
    mutating func add(_ counts: ClientCounts, to totals: borrowing CenterTotals) {
        totals.add(counts, since: knownClients)
        knownClients = counts
    }

    /// Adds the growth of asks, timers and values since the last turn to the totals.
    mutating func add(_ tally: CenterTally, to totals: borrowing CenterTotals) {
        tally.forEachGrowth(since: knownTally) { totals.add($1, to: $0) }
        knownTally = tally
    }

    /// Takes the changes of a turn to store, in the order in which they happened.
    mutating func endOfTurn() -> [Change] {
        if changes.isEmpty { return [] }
        var handed: [Change] = []
        swap(&handed, &changes)
        if !valuePlaces.isEmpty { valuePlaces = [:] }
        return handed
    }
}

/// Work that a loop does for a center by itself; it submits no other while one is under way.
struct OwnWork: OptionSet {
    let rawValue: UInt8

    static let turnEnd = OwnWork(rawValue: 1)
    static let time = OwnWork(rawValue: 2)
    static let idle = OwnWork(rawValue: 4)
    static let trim = OwnWork(rawValue: 8)
}

extension OwnWork {
    /// The work that a command does; none for a command on request.
    init(_ action: borrowing Command.Action) {
        switch action {
        case .endTurn: self = .turnEnd
        case .passTime: self = .time
        case .idle: self = .idle
        case .trim, .trimHeld, .trimOwned: self = .trim
        default: self = []
        }
    }
}
